/** States of jobs: shape, word and colour. The shape alone tells them apart in black and white. */
import type { JSX } from "preact";

export type StateName =
  | "scheduled"
  | "queued"
  | "held"
  | "running"
  | "retrying"
  | "completed"
  | "completed_with_errors"
  | "failed"
  | "cancelled";

const WORDS: Readonly<Record<StateName, string>> = {
  scheduled: "Scheduled",
  queued: "Queued",
  held: "Held",
  running: "Running",
  retrying: "Retrying",
  completed: "Completed",
  completed_with_errors: "Completed with errors",
  failed: "Failed",
  cancelled: "Cancelled",
};

const SHAPES: Readonly<Record<StateName, JSX.Element>> = {
  scheduled: <path class="ln dash" d="M8 2a6 6 0 1 0 .01 0M8 5v3.2l2.2 1.3" />,
  queued: <path class="ln" d="M8 2.5a5.5 5.5 0 1 0 .01 0" />,
  held: <path class="ln" d="M8 2a6 6 0 1 0 .01 0M6.3 5.8v4.4M9.7 5.8v4.4" />,
  running: <path class="fl" d="M4 2.5l9.5 5.5L4 13.5z" />,
  retrying: <path class="ln" d="M13 8a5 5 0 1 1-1.6-3.7M13.2 1.8v3h-3" />,
  completed: (
    <>
      <path class="fl" d="M8 1.5a6.5 6.5 0 1 0 .01 0" />
      <path class="cut" d="M5 8.3l2.2 2.2L11 6" />
    </>
  ),
  completed_with_errors: (
    <>
      <path class="fl" d="M8 1.5l7 12.5H1z" />
      <path class="cut" d="M8 6v3.6M8 11.7v.1" />
    </>
  ),
  failed: (
    <>
      <path class="fl" d="M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2z" />
      <path class="cut" d="M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" />
    </>
  ),
  cancelled: <path class="ln" d="M8 2a6 6 0 1 0 .01 0M3.8 3.8l8.4 8.4" />,
};

/** The state in which people see a job: held and retrying are buckets of waiting jobs. */
export function shownState(job: {
  readonly state: StateName;
  readonly attempts: number;
  readonly heldBy?: unknown;
}): StateName {
  if (job.state === "queued" && job.heldBy !== null && job.heldBy !== undefined) return "held";
  const isWaiting = job.state === "queued" || job.state === "scheduled";
  if (isWaiting && job.attempts > 0) return "retrying";
  return job.state;
}

export function stateWord(state: StateName): string {
  return WORDS[state];
}

export function StateShape({ state }: { state: StateName }): JSX.Element {
  return (
    <svg class={`shape st-${state}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

/** `short` writes "With errors" for tables; `alone` shows the shape, and the word as hidden text. */
export function State(props: {
  state: StateName;
  pill?: boolean;
  short?: boolean;
  alone?: boolean;
}): JSX.Element {
  const { state, pill = false, short = false, alone = false } = props;
  const word = short && state === "completed_with_errors" ? "With errors" : WORDS[state];
  return (
    <span class={`state st-${state}${pill ? " pill" : ""}`} title={alone ? word : undefined}>
      <StateShape state={state} />
      <span class={alone ? "sr" : ""}>{word}</span>
    </span>
  );
}
