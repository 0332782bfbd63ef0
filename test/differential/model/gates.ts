/** The closed gates of the model, and the jobs that they hold back. */
import type { Gate, GateName, HeldBy } from "../../../src/store/types/records.ts";
import { inOrder, type ModelJob, type World } from "./world.ts";

export function closedGates({ gates, clock }: World): Gate[] {
  const now = clock.now();
  return [...gates.values()].filter(({ until }) => until === null || until > now);
}

/** The closed gates that a job stands behind, the one that was named first in front. */
export function gatesBefore(world: World, { asked }: ModelJob): GateName[] {
  const behind = closedGates(world).filter(
    ({ kind, name }) => kind !== "installation" && kind !== "service" && asked[kind] === name,
  );
  return inOrder(behind, ({ kind, name }) => [world.names.indexOf(`${kind} ${name}`)]).map(
    ({ kind, name }) => ({ kind, name }),
  );
}

/** What a job shows: a closed gate holds a due job back before `hold` has moved the job. */
export function heldBy(world: World, job: ModelJob): HeldBy | null {
  if (job.place?.kind === "blocked") return job.place.gate;
  if (job.place?.kind !== "ready") return null;
  const whole = closedGates(world).find(({ kind }) => kind === "installation");
  const [gate = whole] = gatesBefore(world, job);
  return gate === undefined ? null : { kind: gate.kind, name: gate.name };
}
