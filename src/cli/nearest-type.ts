import { closest } from "../lib/closest.ts";
import type { Millrace } from "../api/client.ts";

/** How many of the newest jobs tell which types there are. */
const NEWEST = 200;

/** The known type that an unknown one most likely means; `null` when it is known itself. */
export async function nearestType(mill: Millrace, type: string): Promise<string | null> {
  const { jobs: ofType } = await mill.jobs.list({ type, limit: 1 });
  if (ofType.length > 0) return null;
  const { jobs: newest } = await mill.jobs.list({ limit: NEWEST });
  return closest(type, [...new Set(newest.map((job) => job.type))]);
}
