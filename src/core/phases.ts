/**
 * Where the phases of a job stand. Nobody writes that down: it follows from what was completed, the
 * phase that the last run was in, and how the job stands, so that the three can never disagree.
 */
import { isFinal, type State } from "./job.ts";
import type { OutcomeName } from "./outcome.ts";

export type PhaseState = "pending" | "running" | "completed" | "failed" | "cancelled";

export interface PhaseFacts {
  /** In the order in which they run. */
  readonly names: readonly string[];
  readonly completed: ReadonlySet<string>;
  /** The one that the last run was in; null when none had begun. */
  readonly current: string | null;
  /** Of the job. */
  readonly state: State;
  /** How its last run ended; null when none has. */
  readonly lastOutcome: OutcomeName | null;
}

/** How a run ends that counts against the phase it was in. */
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
