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
