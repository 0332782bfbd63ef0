import { closest } from "../lib/closest.ts";
import type { OperatorMill } from "./operator-mill.ts";
import { plain } from "../lib/plain-text.ts";

/** The number of newest jobs whose types are known. */
const NEWEST = 200;

/** The known type that is closest to an unknown type; `null` when the type is known. */
export async function nearestType(mill: OperatorMill, type: string): Promise<string | null> {
  const { jobs: ofType } = await mill.jobs.list({ type, limit: 1 });
  if (ofType.length > 0) return null;
  const { jobs: newest } = await mill.jobs.list({ limit: NEWEST });
  return closest(type, [...new Set(newest.map((job) => job.type))]);
}

/** Says that no job and no worker has a type; `null` when one has. */
export async function unknownType(mill: OperatorMill, type: string): Promise<string | null> {
  const { jobs } = await mill.jobs.list({ type, limit: 1 });
  if (jobs.length > 0) return null;
  const workers = await mill.workers.list();
  if (workers.some(({ types }) => types.includes(type))) return null;
  const near = await nearestType(mill, type);
  const advice = near === null ? "" : ` Did you mean ${plain(near)}?`;
  return `There is no job of type ${plain(type)}, and no worker takes it.${advice}`;
}
