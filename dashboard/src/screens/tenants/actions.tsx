/** What a person can do to the jobs of a tenant. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Tenant } from "../../api/operations.gen.ts";
import { numberText } from "../../lib/format.ts";
import { may } from "../../lib/session.ts";
import { problemText } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { ask, Dialog, Field, openDialog } from "../../parts/dialog.tsx";
import { formOf, PERIODS, quotaOf, type QuotaForm } from "./quota.ts";

interface Scope {
  readonly tenant: Tenant;
  readonly reload: () => Promise<void>;
}

export function PauseButton({ tenant, reload }: Scope): JSX.Element | null {
  if (tenant.pause === null) {
    if (!may("pause")) return null;
    return (
      <Button icon="pause" onClick={() => askPause({ tenant, reload })}>
        Pause…
      </Button>
    );
  }
  if (!may("resume")) return null;
  return (
    <Button icon="play" onClick={() => askResume({ tenant, reload })}>
      Resume…
    </Button>
  );
}

function waitingOf({ counts }: Tenant): number {
  return counts.scheduled + counts.queued + counts.held;
}

function askPause({ tenant, reload }: Scope): void {
  const { tenant: name } = tenant;
  ask({
    title: `Pause ${name}?`,
    text: `No worker starts a job of this tenant. ${numberText(waitingOf(tenant))} jobs wait; running jobs go on.`,
    // A pause changes no job, so that no number needs to be typed.
    count: 1,
    verb: "Pause 1 tenant",
    keep: "Leave it running",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("pause", { params: { kind: "tenant", name }, body: { reason } });
      await reload();
    },
  });
}

function askResume({ tenant, reload }: Scope): void {
  const { tenant: name, pause } = tenant;
  ask({
    title: `Resume ${name}?`,
    text: `Paused by ${pause?.pausedBy ?? "the application"}: ${pause?.reason ?? ""}. ${numberText(waitingOf(tenant))} jobs wait.`,
    count: 1,
    verb: "Resume 1 tenant",
    keep: "Leave it paused",
    act: async () => {
      await call("resume", { params: { kind: "tenant", name } });
      await reload();
    },
  });
}

export function IntakeButton({ tenant, reload }: Scope): JSX.Element | null {
  const { tenant: name, intake } = tenant;
  const params = { kind: "tenant", name } as const;
  if (intake === null && may("closeIntake")) {
    const close = (): void =>
      ask({
        title: `Close the intake of ${name}?`,
        text: "New jobs of this tenant are refused. Jobs that wait or run go on.",
        count: 1,
        verb: "Close 1 intake",
        keep: "Keep it open",
        isDangerous: true,
        reason: "required",
        act: async (reason) => {
          await call("closeIntake", { params, body: { reason } });
          await reload();
        },
      });
    return (
      <Button icon="stop" onClick={close}>
        Close intake…
      </Button>
    );
  }
  if (intake === null || !may("openIntake")) return null;
  const open = (): void =>
    ask({
      title: `Open the intake of ${name}?`,
      text: `Closed by ${intake.closedBy ?? "the application"}: ${intake.reason}`,
      count: 1,
      verb: "Open 1 intake",
      keep: "Keep it closed",
      act: async () => {
        await call("openIntake", { params });
        await reload();
      },
    });
  return (
    <Button icon="play" onClick={open}>
      Open intake…
    </Button>
  );
}

export function QuotaButtons({ tenant, reload }: Scope): JSX.Element {
  const { tenant: name, quota } = tenant;
  const remove = (): void =>
    ask({
      title: `Remove the quota of ${name}?`,
      text: "The tenant may then enqueue as many jobs as it wants.",
      count: 1,
      verb: "Remove 1 quota",
      keep: "Keep it",
      isDangerous: true,
      reason: "required",
      act: async (reason) => {
        await call("removeQuota", { params: { tenant: name }, query: { reason } });
        await reload();
      },
    });
  const edit = (): void =>
    openDialog((close) => <QuotaDialog tenant={tenant} reload={reload} close={close} />);
  return (
    <>
      {may("removeQuota") && quota !== null && (
        <Button kind="danger" onClick={remove}>
          Remove…
        </Button>
      )}
      {may("setQuota") && (
        <Button icon="edit" onClick={edit}>
          {quota === null ? "Set quota…" : "Change…"}
        </Button>
      )}
    </>
  );
}

function QuotaDialog({ tenant, reload, close }: Scope & { close: () => void }): JSX.Element {
  const [form, setForm] = useState(() => formOf(tenant.quota));
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const read = quotaOf(form);
  const save = async (): Promise<void> => {
    if ("problem" in read) return setProblem(read.problem);
    if (reason.trim() === "") return setProblem("Write a reason: the audit keeps it.");
    try {
      const body = { ...read.rule, reason: reason.trim() };
      await call("setQuota", { params: { tenant: tenant.tenant }, body });
      await reload();
      close();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <Dialog
      title={`Quota of ${tenant.tenant}`}
      close={close}
      foot={
        <>
          <Button onClick={close}>Leave it</Button>
          <Button kind="primary" onClick={() => void save()}>
            Set quota
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <QuotaFields form={form} set={(changes) => setForm({ ...form, ...changes })} />
        <Field label="Reason" hint="Shown in the audit trail">
          <input
            class="field"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </Field>
        {problem !== null && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="sr" tabIndex={-1} aria-hidden="true" />
      </form>
    </Dialog>
  );
}

function QuotaFields(props: {
  form: QuotaForm;
  set: (changes: Partial<QuotaForm>) => void;
}): JSX.Element {
  const { form, set } = props;
  const number = (name: keyof QuotaForm, label: string, hint?: string): JSX.Element => (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        class="field"
        inputMode="numeric"
        value={form[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
  return (
    <>
      {number("waiting", "Jobs that wait at the same time", "Empty: no limit")}
      <div class="quota-rate">
        {number("limit", "New jobs")}
        <Field label="per">
          <select
            class="field"
            value={form.perMs}
            onChange={(event) => set({ perMs: event.currentTarget.value })}
          >
            {PERIODS.every(([ms]) => ms !== form.perMs) && (
              <option value={form.perMs}>{form.perMs} ms</option>
            )}
            {PERIODS.map(([ms, text]) => (
              <option key={ms} value={ms}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        {number("burst", "At once")}
      </div>
      {number("payloadBytes", "Bytes of a payload", "Empty: the limit of the installation")}
    </>
  );
}
