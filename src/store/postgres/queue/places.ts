/** Moves batches of jobs into and out of the three waiting places. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { Outdated } from "../database/errors.ts";
import type { WaitingRow } from "../database/queries.gen.ts";
import type { JobWriter } from "../database/session.ts";
import { list } from "../database/values.ts";

/** A job to put into a waiting place. */
export type WaitingJob = WaitingRow;

/** When a job is due: an instant, or a delay from the store's clock. */
export type Due = { readonly due_at: number } | { readonly delay_ms: number };

/** Removes the waiting ones of these jobs from their places. */
export async function takeWaiting(
  transaction: JobWriter,
  keys: readonly JobKey[],
): Promise<Map<JobKey, WaitingJob>> {
  if (keys.length === 0) return new Map();
  const rows = await transaction.all("take_waiting", { keys: list(keys) });
  const taken = new Map(rows.map((row) => [row.key, row]));
  const missing = keys.filter((key) => !taken.has(key));
  if (missing.length === 0) return taken;
  const moved = await transaction.all("still_waiting", { keys: list(missing) });
  if (moved.length > 0) throw new Outdated("a job was moved to another place");
  return taken;
}

/**
 * Puts jobs into the place for their due time, or behind gate 0 if they have open dependencies.
 * Answers the state of each job.
 */
export async function putWaiting(
  transaction: JobWriter,
  jobs: readonly (Omit<WaitingJob, "rank"> & Due)[],
): Promise<Map<JobKey, "scheduled" | "queued">> {
  if (jobs.length === 0) return new Map();
  transaction.outbox.wake();
  const rows = await transaction.all("put_waiting", { jobs: JSON.stringify(jobs) });
  return new Map(rows.map(({ key, waits }) => [key, waits ? "scheduled" : "queued"]));
}

/** Puts jobs back into `ready`, at the position that they had there. */
export async function putBack(transaction: JobWriter, jobs: readonly WaitingJob[]): Promise<void> {
  if (jobs.length === 0) return;
  transaction.outbox.wakeForReturned();
  await transaction.run("put_back", { jobs: JSON.stringify(jobs) });
}

interface Unstarted {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Ends jobs that were cancelled before they started. */
export async function endUnstarted(
  transaction: JobWriter,
  jobs: readonly Unstarted[],
): Promise<void> {
  if (jobs.length === 0) return;
  const row = await transaction.get("end_unstarted", { jobs: JSON.stringify(jobs) });
  if (row?.awaited === true) transaction.outbox.addAwaited();
  transaction.outbox.add({ kind: "job:cancelled", jobs: jobs.map(({ key }) => key) });
}
