import { closest } from "../lib/closest.ts";
import type { Millrace } from "../api/client.ts";

/** The number of newest jobs whose types are known. */
const NEWEST = 200;

/** The known type that is closest to an unknown type; `null` when the type is known. */
export async function nearestType(mill: Millrace, type: string): Promise<string | null> {
  const { jobs: ofType } = await mill.jobs.list({ type, limit: 1 });
  if (ofType.length > 0) return null;
  const { jobs: newest } = await mill.jobs.list({ limit: NEWEST });
  return closest(type, [...new Set(newest.map((job) => job.type))]);
}
