/** The three places where jobs wait, and how whole batches go in and out. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { Outdated } from "../database/errors.ts";
import type { WaitingRow } from "../database/queries.gen.ts";
import type { JobWriter } from "../database/session.ts";
import { list } from "../database/values.ts";

/** A job on its way into a place where it waits. */
export type Waiting = WaitingRow;

/** When a job is due: an instant, or a length from the store's now. */
export type Due = { readonly due_at: number } | { readonly delay_ms: number };

/** Takes those of these jobs that wait out of whichever place they lie in. */
export async function takeWaiting(
  transaction: JobWriter,
  keys: readonly JobKey[],
): Promise<Map<JobKey, Waiting>> {
  if (keys.length === 0) return new Map();
  const rows = await transaction.all("take_waiting", { keys: list(keys) });
  const taken = new Map(rows.map((row) => [row.key, row]));
  const missed = keys.filter((key) => !taken.has(key));
  if (missed.length === 0) return taken;
  const moved = await transaction.all("still_waiting", { keys: list(missed) });
  if (moved.length > 0) throw new Outdated("a job moved from place to place");
  return taken;
}

/**
 * Puts jobs where they belong by their due time, or back behind those that they wait for. Answers
 * how each one waits now.
 */
export async function putWaiting(
  transaction: JobWriter,
  jobs: readonly (Omit<Waiting, "rank"> & Due)[],
): Promise<Map<JobKey, "scheduled" | "queued">> {
  if (jobs.length === 0) return new Map();
  transaction.outbox.wake();
  const rows = await transaction.all("put_waiting", { jobs: JSON.stringify(jobs) });
  return new Map(rows.map(({ key, waits }) => [key, waits ? "scheduled" : "queued"]));
}

/** Puts jobs back into `ready` exactly as they lay there. */
export async function putBack(transaction: JobWriter, jobs: readonly Waiting[]): Promise<void> {
  if (jobs.length === 0) return;
  transaction.outbox.wake();
  await transaction.run("put_back", { jobs: JSON.stringify(jobs) });
}

interface Unstarted {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Writes the end of jobs that were cancelled before they began. */
export async function endUnstarted(
  transaction: JobWriter,
  jobs: readonly Unstarted[],
): Promise<void> {
  if (jobs.length === 0) return;
  const row = await transaction.get("end_unstarted", { jobs: JSON.stringify(jobs) });
  if (row?.awaited === true) transaction.outbox.leaveAwaited();
  transaction.outbox.tell({ kind: "job:cancelled", jobs: jobs.map(({ key }) => key) });
}
