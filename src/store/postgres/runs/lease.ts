/**
 * The runs of a lease: which have started, and which are open.
 *
 * Two row locks of the lease order concurrent transactions. Starting and ending runs takes KEY
 * SHARE, which is compatible with itself. Removing jobs from a lease and requesting a cancel take
 * UPDATE, which excludes all others. Neither lock makes a new version of the row. Attempt records,
 * starts and cancel requests are read after the lock, in a statement of its own, which sees what
 * was committed while this transaction waited for the lock.
 */
import { policyOfFlags } from "../../shared/codes.ts";
import type { CrashFacts, JobKey, Lease, WorkerId } from "../../types/jobs-and-runs.ts";
import type { WaitingJob } from "../queue/places.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { FactsRow, RunRow } from "../database/queries.gen.ts";

/** Locks a lease to remove jobs from it. Null: number and secret name no lease. */
export async function lockLease(
  transaction: StoreTransaction,
  { number, secret }: Lease,
): Promise<readonly RunRow[] | null> {
  const row = await transaction.get("own_lease", { number, secret });
  return row === undefined ? null : runsOf(transaction, [number]);
}

/** Locks the lease of a running job, without its secret. */
export async function lockLeaseOfJob(
  transaction: StoreTransaction,
  key: JobKey,
): Promise<{ readonly worker: WorkerId; readonly runs: readonly RunRow[] } | null> {
  const row = await transaction.get("own_lease_of_job", { key });
  if (row === undefined) return null;
  return { worker: row.worker, runs: await runsOf(transaction, [row.number]) };
}

/** All runs of these locked leases, in order. */
export async function runsOf(
  transaction: StoreTransaction,
  numbers: readonly number[],
): Promise<readonly RunRow[]> {
  if (numbers.length === 0) return [];
  return transaction.all("runs_of_leases", { numbers: list(numbers) });
}

/** Adds the facts of their jobs to runs. A run whose job has no row is left out. */
export async function withFacts<Run extends { readonly key: JobKey }>(
  transaction: StoreTransaction,
  runs: readonly Run[],
): Promise<readonly (Run & FactsRow & Omit<WaitingJob, "rank" | "n">)[]> {
  if (runs.length === 0) return [];
  const rows = await transaction.all("job_facts", { keys: list(runs.map(({ key }) => key)) });
  const facts = new Map(rows.map((row) => [row.key, row]));
  return runs.flatMap((run) => {
    const job = facts.get(run.key);
    return job === undefined ? [] : [{ ...job, ...run }];
  });
}

/** Removes the requests, keys, dependencies and locks of jobs without a row. */
export async function dropMissing(
  transaction: StoreTransaction,
  keys: readonly JobKey[],
): Promise<void> {
  if (keys.length === 0) return;
  const row = await transaction.get("drop_missing_jobs", { keys: list(keys) });
  if (row?.freed === true) transaction.outbox.wakeForReturned();
}

/** The facts on which a settlement of a crash is decided. */
export function factsOf(row: FactsRow): CrashFacts {
  const { id, type_name: type, tries, crashes, max_attempts: maxAttempts, flags } = row;
  return { id, type, tries, crashes, maxAttempts, ...policyOfFlags(flags) };
}

/** The reasons of the cancel requests for these jobs. */
export async function findCancelRequests(
  transaction: StoreTransaction,
  keys: readonly JobKey[],
): Promise<ReadonlyMap<JobKey, string | null>> {
  if (keys.length === 0) return new Map();
  const rows = await transaction.all("find_cancel_requests", { keys: list(keys) });
  return new Map(rows.map(({ key, reason }) => [key, reason]));
}

/** Removes ended and leaving runs from leases, and deletes leases without runs. */
export async function narrowLeases(
  transaction: StoreTransaction,
  runs: readonly RunRow[],
  leaving: ReadonlySet<JobKey>,
): Promise<void> {
  const fences = new Set(runs.map(({ fence }) => fence));
  const staying = runs.filter(({ key, ended }) => !ended && !leaving.has(key));
  const kept = Map.groupBy(staying, ({ fence }) => fence);
  for (const [number, rest] of kept) {
    const keys = list(rest.map(({ key }) => key));
    await transaction.run("narrow_lease", { number, keys });
  }
  const empty = [...fences].filter((fence) => !kept.has(fence));
  if (empty.length > 0) await transaction.run("delete_leases", { numbers: list(empty) });
}
