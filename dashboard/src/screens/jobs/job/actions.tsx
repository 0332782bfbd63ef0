/** What can be done to one job, by its state and by what the person may do. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import type { Job } from "../../../api/operations.gen.ts";
import { may } from "../../../lib/session.ts";
import { problemText } from "../../../lib/toasts.ts";
import { Button } from "../../../parts/basics.tsx";
import { ask, Dialog, Field, openDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { actOnChosen, retryOne } from "../act.tsx";
import { Popover } from "../popover.tsx";
import { isFinal } from "../list/job-text.ts";
import type { Details } from "./details.ts";

interface Props {
  readonly details: Details;
  readonly reload: () => void;
}

export function Actions({ details, reload }: Props): JSX.Element {
  const { job } = details;
  const isOver = isFinal(job);
  const more = moreActions(details, reload);
  return (
    <>
      {more.length > 0 && (
        <Popover
          class="job-menu"
          summary={
            <>
              More
              <Icon name="down" small />
            </>
          }
        >
          <div class="job-menu-pop">{more}</div>
        </Popover>
      )}
      {!isOver && may("cancelJob") && (
        <Button kind="danger" keycap="c" onClick={() => cancel(job, reload)}>
          Cancel…
        </Button>
      )}
      {canRetry(job) && (
        <Button
          kind="primary"
          icon="retry"
          keycap="r"
          title={retryHint(job)}
          onClick={() => retry(details, reload)}
        >
          {retryWord(job)}
        </Button>
      )}
    </>
  );
}

/** `r` and `c`, where the buttons are shown. */
export function keysOf(details: Details, reload: () => void): Readonly<Record<string, () => void>> {
  const { job } = details;
  return {
    ...(canRetry(job) ? { r: () => retry(details, reload) } : {}),
    ...(!isFinal(job) && may("cancelJob") ? { c: () => cancel(job, reload) } : {}),
  };
}

/** A queued job is due already: to run it now would change nothing. */
function canRetry({ state }: Job): boolean {
  return state !== "running" && state !== "queued" && may("retryJob");
}

function retryWord({ state }: Job): string {
  if (state === "scheduled") return "Run now";
  return state === "completed" ? "Run again" : "Retry";
}

/** What exactly changes. */
function retryHint({ state }: Job): string {
  if (state === "scheduled") return "The job is due now. It keeps its attempts.";
  if (state === "completed") return "A new, linked job does all of the work once more.";
  return "A new, linked job with fresh attempts. What has completed is kept.";
}

/** A completed job has nothing left to do: only a whole repetition makes sense. */
function retry({ job }: Details, reload: () => void): void {
  void retryOne(job, job.state === "completed", reload);
}

function cancel(job: Job, reload: () => void): void {
  actOnChosen("cancel", [job.id], reload);
}

function moreActions(details: Details, reload: () => void): readonly JSX.Element[] {
  const { job, progress } = details;
  const isOver = isFinal(job);
  const isWaiting = !isOver && job.state !== "running";
  const hasParts = progress.phases.length > 0 || progress.units.total > 0;
  const items: readonly (readonly [boolean, string, () => void, string])[] = [
    [isWaiting && may("rescheduleJob"), "Change the run time…", () => openRunTime(job, reload), ""],
    [
      isWaiting && may("setJobPriority"),
      "Change the priority…",
      () => actOnChosen("priority", [job.id], reload),
      "",
    ],
    [
      job.state === "running" && may("releaseJob"),
      "Release from its worker…",
      () => release(details, reload),
      "",
    ],
    [
      isOver && job.state !== "completed" && hasParts && may("retryJob"),
      "Retry from the start",
      () => void retryOne(job, true, reload),
      "",
    ],
    [!isOver && may("failJob"), "Fail…", () => fail(job, reload), "danger"],
    [
      isOver && may("startOperation"),
      "Delete…",
      () => actOnChosen("delete", [job.id], reload),
      "danger",
    ],
  ];
  return items
    .filter(([isShown]) => isShown)
    .map(([, text, act, kind]) => (
      <MenuItem key={text} isDangerous={kind === "danger"} act={act}>
        {text}
      </MenuItem>
    ));
}

function MenuItem(props: {
  children: ComponentChildren;
  isDangerous: boolean;
  act: () => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class={props.isDangerous ? "bad" : ""}
      onClick={(event) => {
        event.currentTarget.closest("details")?.removeAttribute("open");
        props.act();
      }}
    >
      {props.children}
    </button>
  );
}

function release({ job, worker }: Details, reload: () => void): void {
  const isAlive = worker?.isAlive === true;
  ask({
    title: "Release the job from its worker?",
    text: isAlive
      ? "Its worker is alive and is told to stop the run. The job is queued again, and no attempt is charged."
      : "Its worker is silent. The job is queued again, and no attempt is charged.",
    count: 1,
    verb: "Release the job",
    keep: "Let it run",
    isDangerous: isAlive,
    reason: "optional",
    act: async (reason) => {
      const why = reason === "" ? {} : { reason };
      await call("releaseJob", { params: { id: job.id }, body: { force: isAlive, ...why } });
      reload();
    },
  });
}

function fail(job: Job, reload: () => void): void {
  ask({
    title: "End the job as failed?",
    text: "It gets a dead letter, and no attempt is left. The reason becomes the message of its error.",
    count: 1,
    verb: "Fail the job",
    keep: "Leave it",
    isDangerous: true,
    reason: "required",
    act: async (message) => {
      await call("failJob", { params: { id: job.id }, body: { message } });
      reload();
    },
  });
}

function openRunTime(job: Job, reload: () => void): void {
  openDialog((close) => <RunTime job={job} close={close} reload={reload} />);
}

/** The local time in the form of the field: 2026-11-18T14:03. */
function fieldText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function RunTime(props: { job: Job; close: () => void; reload: () => void }): JSX.Element {
  const { job, close, reload } = props;
  const [text, setText] = useState(
    fieldText(Math.max(Date.now(), Date.parse(job.runAt ?? job.scheduledAt))),
  );
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const body = { runAt: new Date(text).toISOString(), ...(reason === "" ? {} : { reason }) };
      await call("rescheduleJob", { params: { id: job.id }, body });
      reload();
      close();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <Dialog title="Change the run time" close={close}>
      <form onSubmit={(event) => void save(event)}>
        <Field
          label="Run at"
          hint="In the time zone of this browser. The attempts so far stay."
          problem={problem}
        >
          <input
            class="field"
            type="datetime-local"
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        <Field label="Reason" hint="Shown in the audit trail">
          <input
            class="field"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </Field>
        <div class="row">
          <Button kind="primary" type="submit">
            Change the run time
          </Button>
          <Button onClick={close}>Leave it</Button>
        </div>
      </form>
    </Dialog>
  );
}
