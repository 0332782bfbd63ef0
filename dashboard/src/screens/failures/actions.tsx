/** What a person can decide about all dead letters of one cause. */
import { signal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { FailureGroup } from "../../api/operations.gen.ts";
import { numberText, plural } from "../../lib/format.ts";
import { may } from "../../lib/session.ts";
import { toast } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { ask, Field } from "../../parts/dialog.tsx";
import { SNOOZES, snoozeEnd, type SnoozeId } from "./snooze.ts";
import { errorTitle } from "./status.ts";

export interface GroupScope {
  readonly group: FailureGroup;
  /** The letters of this tenant alone. */
  readonly tenant?: string | undefined;
  readonly reload: () => Promise<void>;
}

export function mayDecide(): boolean {
  return (["retryFailure", "discardFailure", "acknowledgeFailure", "snoozeFailure"] as const).some(
    may,
  );
}

/** The four actions; `bare` shows those that are needed less often as icons. */
export function GroupActions({
  bare = false,
  ...scope
}: GroupScope & { bare?: boolean }): JSX.Element {
  const isDecided = scope.group.status === "acknowledged";
  const named = (text: string): { children: string } | { label: string } =>
    bare ? { label: text } : { children: text };
  return (
    <div class="group-actions">
      {may("acknowledgeFailure") && !isDecided && (
        <Button icon="check" {...named("Acknowledge…")} onClick={() => askAcknowledge(scope)} />
      )}
      {may("snoozeFailure") && (
        <Button icon="schedules" {...named("Snooze…")} onClick={() => askSnooze(scope)} />
      )}
      {may("discardFailure") && (
        <Button
          kind="danger"
          icon="trash"
          {...named("Discard…")}
          onClick={() => askDiscard(scope)}
        />
      )}
      {may("retryFailure") && (
        <Button kind={bare ? "plain" : "primary"} icon="retry" onClick={() => askRetry(scope)}>
          {bare ? "Retry…" : `Retry ${countOf(scope.group)}…`}
        </Button>
      )}
    </div>
  );
}

function countOf({ count, atLeast }: FailureGroup): string {
  return `${numberText(count)}${atLeast ? "+" : ""}`;
}

function lettersOf(group: FailureGroup): string {
  return `${countOf(group)} ${group.count === 1 ? "letter" : "letters"}`;
}

function bodyOf({ tenant }: GroupScope, notes: string): { notes: string; tenant?: string } {
  return tenant === undefined ? { notes } : { notes, tenant };
}

function About({ group, tenant }: GroupScope): JSX.Element {
  return (
    <>
      <code class="wrap">{errorTitle(group.sample.error).slice(0, 300)}</code>
      {tenant !== undefined && ` Of the tenant ${tenant} alone.`}
    </>
  );
}

export function askRetry(scope: GroupScope): void {
  const { group, reload } = scope;
  ask({
    title: `Retry ${lettersOf(group)} of this cause?`,
    text: <About {...scope} />,
    count: group.count,
    verb: `Retry ${lettersOf(group)}`,
    keep: "Leave them",
    reason: "required",
    act: async (notes) => {
      const done = await retryAll(group.cause, bodyOf(scope, notes));
      await reload();
      toast({
        tone: done.left === 0 ? "good" : "bad",
        title: `${plural(done.retried, "new job")} enqueued`,
        ...(done.left === 0
          ? {}
          : {
              text: `${plural(done.left, "letter")} stayed open: another job holds the key, or the copy is damaged.`,
            }),
      });
    },
  });
}

/** The server does so many at a time; it is asked again until all are done or none moves. */
async function retryAll(
  cause: string,
  body: { notes: string; tenant?: string },
): Promise<{ retried: number; left: number }> {
  let retried = 0;
  for (;;) {
    const done = await call("retryFailure", { params: { cause }, body });
    retried += done.retried;
    if (done.complete || done.retried === 0) return { retried, left: done.held + done.refused };
  }
}

export function askDiscard(scope: GroupScope): void {
  const { group, reload } = scope;
  ask({
    title: `Discard ${lettersOf(group)} of this cause?`,
    text: <About {...scope} />,
    count: group.count,
    verb: `Discard ${lettersOf(group)}`,
    keep: "Keep them",
    isDangerous: true,
    reason: "required",
    act: async (notes) => {
      const body = bodyOf(scope, notes);
      for (;;) {
        const done = await call("discardFailure", { params: { cause: group.cause }, body });
        if (done.complete || done.discarded === 0) break;
      }
      await reload();
    },
  });
}

function askAcknowledge(scope: GroupScope): void {
  const { group, reload } = scope;
  ask({
    title: "Acknowledge this cause?",
    text: (
      <>
        <About {...scope} /> The {lettersOf(group)} stay as they are. A newer failure of this cause
        shows as “Came back”.
      </>
    ),
    // Nothing happens to the letters, so that no number needs to be typed.
    count: 1,
    verb: "Acknowledge",
    keep: "Not yet",
    reason: "optional",
    act: async (notes) => {
      const { cause } = group;
      const body = notes === "" ? withTenant(scope) : bodyOf(scope, notes);
      await call("acknowledgeFailure", { params: { cause }, body });
      await reload();
    },
  });
}

function askSnooze(scope: GroupScope): void {
  const { group, reload } = scope;
  const chosen = signal<SnoozeId>("1d");
  ask({
    title: "Snooze this cause?",
    text: <About {...scope} />,
    count: 1,
    verb: "Snooze",
    keep: "Not now",
    reason: "optional",
    extra: <SnoozeField chosen={chosen} />,
    act: async (notes) => {
      const until = snoozeEnd(chosen.value, Date.now());
      const more = notes === "" ? withTenant(scope) : bodyOf(scope, notes);
      await call("snoozeFailure", { params: { cause: group.cause }, body: { until, ...more } });
      await reload();
    },
  });
}

function withTenant({ tenant }: GroupScope): { tenant?: string } {
  return tenant === undefined ? {} : { tenant };
}

function SnoozeField({ chosen }: { chosen: Signal<SnoozeId> }): JSX.Element {
  return (
    <Field label="For" hint="A failure after this time shows as “Came back”">
      <select
        class="field"
        value={chosen.value}
        onChange={(event) => {
          const found = SNOOZES.find(([id]) => id === event.currentTarget.value);
          if (found !== undefined) [chosen.value] = found;
        }}
      >
        {SNOOZES.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}
