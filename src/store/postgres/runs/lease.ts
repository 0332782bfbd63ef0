/**
 * A lease from the inside: which runs it names, which have begun, which are still open.
 *
 * Three locks on its row keep everybody apart who must not meet. Whoever ends runs takes KEY SHARE,
 * together with others; `start` takes NO KEY UPDATE, which lets those pass; whoever takes jobs out
 * of a lease, or asks to cancel one, takes UPDATE and is alone. What stands in the ledger is read
 * after the lock, in a statement of its own.
 */
import { policyOfFlags } from "../../shared/codes.ts";
import type { CrashFacts, JobKey, Lease, WorkerId } from "../../types/jobs-and-runs.ts";
import type { Waiting } from "../queue/places.ts";
import type { SessionTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { FactsRow, RunRow } from "../database/rows-runs.ts";

/** Locks a lease for somebody who will take jobs out of it. Null: it is not, or no longer, his. */
export async function ownLease(
  transaction: SessionTransaction,
  { number, secret }: Lease,
): Promise<readonly RunRow[] | null> {
  const row = await transaction.get("own_lease", { number, secret });
  return row === undefined ? null : runsOf(transaction, [number]);
}

/** The same for the lease of a running job, whoever holds it. */
export async function ownLeaseOf(
  transaction: SessionTransaction,
  key: JobKey,
): Promise<{ readonly worker: WorkerId; readonly runs: readonly RunRow[] } | null> {
  const row = await transaction.get("own_lease_of_job", { key });
  if (row === undefined) return null;
  return { worker: row.worker, runs: await runsOf(transaction, [row.number]) };
}

/** Every run that these locked leases name, in their order. */
export async function runsOf(
  transaction: SessionTransaction,
  numbers: readonly number[],
): Promise<readonly RunRow[]> {
  if (numbers.length === 0) return [];
  return transaction.all("runs_of_leases", { numbers: list(numbers) });
}

/** The same runs with the facts of their jobs. */
export async function withFacts<Run extends { readonly key: JobKey }>(
  transaction: SessionTransaction,
  runs: readonly Run[],
): Promise<readonly (Run & FactsRow & Omit<Waiting, "rank" | "n">)[]> {
  if (runs.length === 0) return [];
  const rows = await transaction.all("job_facts", { keys: list(runs.map(({ key }) => key)) });
  const facts = new Map(rows.map((row) => [row.key, row]));
  return runs.map((run) => {
    const job = facts.get(run.key);
    if (job === undefined) throw new Error(`job ${run.key} has a lease but no row`);
    return { ...job, ...run };
  });
}

/** What a decision about a job may look at. */
export function factsOf(row: FactsRow): CrashFacts {
  const { id, type_name: type, tries, crashes, max_attempts: maxAttempts, flags } = row;
  return { id, type, tries, crashes, maxAttempts, ...policyOfFlags(flags) };
}

/** Which of these jobs somebody asked to cancel, and why. */
export async function findCancelRequests(
  transaction: SessionTransaction,
  keys: readonly JobKey[],
): Promise<ReadonlyMap<JobKey, string | null>> {
  if (keys.length === 0) return new Map();
  const rows = await transaction.all("find_cancel_requests", { keys: list(keys) });
  return new Map(rows.map(({ key, reason }) => [key, reason]));
}

/** Narrows a lease to those of its runs that are open and stay; an empty one goes. */
export async function keepRuns(
  transaction: SessionTransaction,
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
