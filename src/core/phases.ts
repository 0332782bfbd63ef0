/**
 * The states of a job's phases. They are not stored but derived from the completed phases, the
 * phase of the last run and the state of the job, so that they always agree with these.
 */
import { isFinal, type State } from "./job.ts";
import type { OutcomeName } from "./outcome.ts";

export type PhaseState = "pending" | "running" | "completed" | "failed" | "cancelled";

export interface PhaseFacts {
  /** In the order in which they run. */
  readonly names: readonly string[];
  readonly completed: ReadonlySet<string>;
  /** The phase of the last run; `null` when none had started. */
  readonly current: string | null;
  /** The state of the job. */
  readonly state: State;
  /** The outcome of the last run; `null` when no run has ended. */
  readonly lastOutcome: OutcomeName | null;
}

/** The outcomes that make the phase of the run a failed phase. */
const FAILURES: ReadonlySet<OutcomeName> = new Set(["failed", "timed_out", "crashed"]);

export function phaseStates(
  facts: PhaseFacts,
): readonly { readonly name: string; readonly state: PhaseState }[] {
  return facts.names.map((name) => ({ name, state: stateOf(name, facts) }));
}

function stateOf(name: string, facts: PhaseFacts): PhaseState {
  const { completed, current, state, lastOutcome } = facts;
  if (completed.has(name)) return "completed";
  if (state === "cancelled") return "cancelled";
  if (name !== current) return "pending";
  if (state === "running") return "running";
  const hasFailed = lastOutcome !== null && FAILURES.has(lastOutcome);
  return state === "failed" || (!isFinal(state) && hasFailed) ? "failed" : "pending";
}

/** A phase that has completed. */
export interface PhaseEnd {
  /** The run that completed the phase; 0: the phase was taken over from another job. */
  readonly n: number;
  readonly at: number;
  /** `null`: not known. */
  readonly runStartedAt: number | null;
}

export interface PhaseTimeFacts {
  /** In the order of completion. */
  readonly completed: ReadonlyMap<string, PhaseEnd>;
  /** The run that reported the current phase, if any. `finishedAt` is `null` while it goes on. */
  readonly run: {
    readonly n: number;
    readonly startedAt: number | null;
    readonly finishedAt: number | null;
  } | null;
  /** The phase of that run. */
  readonly current: string | null;
}

/** When a phase started and ended, as far as this is known. */
export interface PhaseTime {
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

const UNKNOWN: PhaseTime = { startedAt: null, finishedAt: null };

/**
 * The times of all phases, in the order given. The phases of one run follow each other: a phase
 * starts when the phase before it ends, and the first phase of a run starts with the run. The time
 * of a phase that took several runs is its time in the last of them.
 */
export function phaseTimes(
  phases: readonly { readonly name: string; readonly state: PhaseState }[],
  { completed, run, current }: PhaseTimeFacts,
): readonly PhaseTime[] {
  /** When each run ended its last phase so far. */
  const reached = new Map<number, number>();
  const times = new Map<string, PhaseTime>();
  for (const [name, { n, at, runStartedAt }] of completed) {
    const startedAt = reached.get(n) ?? runStartedAt;
    reached.set(n, at);
    times.set(name, n === 0 ? UNKNOWN : { startedAt, finishedAt: at });
  }
  return phases.map(({ name, state }) => {
    const known = times.get(name);
    if (known !== undefined) return known;
    if (run === null || name !== current || state === "pending") return UNKNOWN;
    const startedAt = reached.get(run.n) ?? run.startedAt;
    return { startedAt, finishedAt: state === "running" ? null : run.finishedAt };
  });
}
