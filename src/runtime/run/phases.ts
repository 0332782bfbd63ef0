/**
 * A pipeline: runs the phases in the order of the definition. Each phase gets the stored results of
 * the phases before it.
 *
 * Phases are identified by name. A phase that an earlier run has completed is skipped. A phase that
 * is no longer in the definition is ignored. A new phase runs at its place in the definition. A
 * phase begins when the result of the phase before it is stored; the result of the last phase is
 * stored with the end of the run.
 */
import type { JsonText } from "../../core/job.ts";
import { decode, encodeResult } from "../../core/payload.ts";
import type { Handler, Phase } from "../../api/definition.ts";
import type { PhaseResult } from "../../store/types/notes.ts";
import type { RunNotes } from "../notes/run-notes.ts";
import type { PhaseScope } from "./phase-scope.ts";

export interface PhaseParts {
  readonly runNotes: RunNotes;
  /** Throws if the run has been asked to end. */
  readonly checkpoint: () => void;
  readonly enter: (phase: string) => PhaseScope;
  readonly call: (handler: Handler, phaseScope: PhaseScope, results: object) => unknown;
}

export interface PipelineEnd {
  /** The result of the last phase. */
  readonly result: JsonText | null;
  /** The phase to store with the end of the run; null: earlier runs completed all phases. */
  readonly completed: PhaseResult | null;
}

export async function carryOutPhases(
  parts: PhaseParts,
  phases: readonly Phase[],
): Promise<PipelineEnd> {
  const { runNotes } = parts;
  await runNotes.loadCheckpoints();
  const lastToRun = phases.findLast(({ name }) => runNotes.checkpoints.phase(name) === undefined);
  const results: Record<string, unknown> = {};
  let completed: PhaseResult | null = null;
  let result: JsonText | null = null;
  for (const phase of phases) {
    const known = runNotes.checkpoints.phase(phase.name);
    const ended = known ?? (await carryOut(parts, phase, { ...results }, phase !== lastToRun));
    if (phase === lastToRun) completed = ended;
    ({ result } = ended);
    results[phase.name] = decode(result);
  }
  return { result, completed };
}

async function carryOut(
  { runNotes, checkpoint, enter, call }: PhaseParts,
  { name, handler }: Phase,
  results: object,
  isStoredHere: boolean,
): Promise<PhaseResult> {
  checkpoint();
  runNotes.begin(name);
  const phaseScope = enter(name);
  const result = await call(handler, phaseScope, results);
  // A unit may begin until the last unit has ended.
  for (let left = phaseScope.unitsLeft; left !== null; left = phaseScope.unitsLeft) await left;
  if (runNotes.isCutShort) checkpoint();
  const { text } = encodeResult(result);
  const ended = { name, result: text };
  if (!isStoredHere) return ended;
  phaseScope.end();
  await runNotes.complete(ended, phaseScope.children);
  return ended;
}
