/** Whether a successor of a completed job would have nothing to do. */
import type { JobStore } from "../store/store.ts";
import type { JobRecord } from "../store/types/records.ts";

/** What a process knows of types, as far as it has their definitions. */
export interface TypeFacts {
  phasesOf(type: string): readonly string[];
  restarts(type: string): boolean;
}

/** A successor keeps completed phases: of a completed pipeline, all of them. */
export async function hasNothingToRetry(
  store: Pick<JobStore, "progress">,
  known: TypeFacts,
  { id, type, state }: Pick<JobRecord, "id" | "type" | "state">,
): Promise<boolean> {
  if (state !== "completed" || known.restarts(type)) return false;
  const found = await store.progress(id);
  const defined = known.phasesOf(type);
  const phases = defined.length > 0 ? defined : (found?.progress?.phases ?? []);
  const completed = new Set(found?.phases.map(({ name }) => name));
  return phases.length > 0 && phases.every((phase) => completed.has(phase));
}
