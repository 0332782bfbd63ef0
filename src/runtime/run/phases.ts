/**
 * A pipeline: its phases in the order of the definition, each with the stored results of those
 * before it.
 *
 * Phases are known by their names. One that an earlier run has completed is skipped; one that the
 * definition has lost is not looked at; a new one runs where it stands. A phase begins when the
 * result of the one before it is stored; the result of the last is stored with the end of the run.
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
  /** Of the last phase. */
  readonly result: JsonText | null;
  /** What is to be stored with the end of the run; null: all phases had ended before. */
  readonly completed: PhaseResult | null;
}

export async function carryOutPhases(
  parts: PhaseParts,
  phases: readonly Phase[],
): Promise<PipelineEnd> {
  const { runNotes } = parts;
  await runNotes.recall();
  const lastToRun = phases.findLast(({ name }) => runNotes.memory.phase(name) === undefined);
  const results: Record<string, unknown> = {};
  let completed: PhaseResult | null = null;
  let result: JsonText | null = null;
  for (const phase of phases) {
    const known = runNotes.memory.phase(phase.name);
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
  await phaseScope.unitsLeft;
  if (runNotes.isCutShort) checkpoint();
  const { text } = encodeResult(result);
  const ended = { name, result: text };
  if (!isStoredHere) return ended;
  phaseScope.end();
  await runNotes.complete(ended, phaseScope.children);
  return ended;
}
