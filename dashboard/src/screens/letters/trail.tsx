/** The trail of a letter. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { AuditEntry, DeadLetter } from "../../api/operations.gen.ts";
import { markedJson } from "../../lib/inexact.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useResource } from "../../live/resource.ts";
import { Panel, Time } from "../../parts/basics.tsx";
import { trailSteps, type TrailStep } from "./trail-steps.ts";

const ENTRIES = 50;

export function Trail({ letter }: { letter: DeadLetter }): JSX.Element {
  const subject = { subject_kind: "job", subject: letter.jobId } as const;
  // A review of the letter makes an entry: the audit is read again when there is one more.
  const audit = useResource(
    `trail ${letter.jobId} ${letter.reviews.length}`,
    async (signal): Promise<{ entries: readonly AuditEntry[] }> =>
      may("listAudit")
        ? call("listAudit", { query: { ...subject, limit: ENTRIES }, signal })
        : { entries: [] },
    { on: [] },
  );
  const steps = trailSteps(letter, audit.data.value?.entries ?? []);
  return (
    <Panel
      title="Audit trail"
      {...(may("listAudit") ? { aside: <a href={href("audit", subject)}>All entries</a> } : {})}
    >
      <ol class="trail">
        {steps.map((step, index) => (
          <Step key={`${step.at} ${index}`} of={step} />
        ))}
      </ol>
    </Panel>
  );
}

function Step({ of: { at, by, text, isBad, changes } }: { of: TrailStep }): JSX.Element {
  return (
    <li class={isBad ? "hot" : ""}>
      <i aria-hidden="true" />
      <div class="wrap">
        {by !== null && <b>{by}</b>} {by === null ? text[0]?.toUpperCase() + text.slice(1) : text}
        {changes.length > 0 && (
          <ul class="mono">
            {changes.map((change) => (
              <li key={change.path}>
                {change.path}: {shown(change.before)} → {shown(change.after)}
              </li>
            ))}
          </ul>
        )}
      </div>
      <span class="dim">
        <Time at={at} />
      </span>
    </li>
  );
}

function shown(value: unknown): string {
  return (markedJson(value) ?? "nothing").slice(0, 200);
}
