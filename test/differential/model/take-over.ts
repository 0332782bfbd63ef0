/** What a successor has from its predecessor. */
import type { PhaseResult } from "../../../src/store/types/notes.ts";
import { jobById, type ModelJob, type World } from "./world.ts";

/** A successor has what its predecessor has completed, if it asks for the same. */
export function takeOver(world: World, job: ModelJob): void {
  const { retryOf, ignoreCheckpoints, payload } = job.asked;
  const old = retryOf === null ? undefined : jobById(world, retryOf);
  if (old === undefined || ignoreCheckpoints === true || old.asked.payload !== payload) return;
  const { phases, units, progress } = old.notes;
  const failed = new Set(units.filter(({ state }) => state === "failed").map((each) => each.phase));
  const order = progress?.progress.phases ?? [];
  const firstFailed = order.findIndex((name) => failed.has(name));
  const isSound = ({ name }: PhaseResult): boolean =>
    !failed.has(name) && (firstFailed === -1 || order.indexOf(name) <= firstFailed);
  job.notes.phases = phases.filter(isSound).map((phase) => ({ ...phase, n: 0 }));
  job.notes.units = units
    .filter(({ state }) => state === "completed")
    .map((unit) => ({ ...unit, n: 0 }));
}
