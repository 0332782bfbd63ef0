/** startPrefetched and returnPrefetched: a prefetch is a lease with unstarted runs. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { dropMissing, findCancelRequests, narrowLeases, lockLease, withFacts } from "./lease.ts";
import { endUnstarted, putBack } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { RunRow } from "../database/queries.gen.ts";

export async function startPrefetched(
  session: Session,
  lease: Lease,
  keys: readonly JobKey[],
): Promise<{ status: "started" | "stale"; begun: readonly JobKey[] }> {
  const { number, secret } = lease;
  const row = await repeating(session.dice, () =>
    session.write.get("start_runs", { number, secret, keys: list(keys) }),
  );
  if (row?.held !== true) return { status: "stale", begun: [] };
  session.notifier.wake("events");
  // Runs with a cancel request were not started: they end here.
  if (row.asked.length > 0) await returnPrefetched(session, lease, row.asked);
  return { status: "started", begun: row.begun };
}

export async function returnPrefetched(
  session: Session,
  lease: Lease,
  keys: readonly JobKey[],
): Promise<number> {
  if (keys.length === 0) return 0;
  const wanted = new Set(keys);
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const runs = await lockLease(transaction, lease);
      if (runs === null) return 0;
      const leaving = runs.filter((run) => isUnstarted(run) && wanted.has(run.key));
      if (leaving.length === 0) return 0;
      const missing = leaving.filter((run) => run.missing).map(({ key }) => key);
      await dropMissing(transaction, missing);
      session.warnings.reportMissing("returnPrefetched", missing);
      const returned = await returnUnstarted(transaction, leaving);
      await narrowLeases(transaction, runs, new Set(leaving.map(({ key }) => key)));
      return returned;
    }),
  );
}

/**
 * Returns unstarted runs to their place in the queue. A run with a cancel request is cancelled
 * instead. Answers how many were returned.
 */
export async function returnUnstarted(
  transaction: StoreTransaction,
  runs: readonly RunRow[],
): Promise<number> {
  const jobs = await withFacts(transaction, runs);
  const cancelRequests = await findCancelRequests(
    transaction,
    runs.map(({ key }) => key),
  );
  await releaseLocks(transaction, jobs);
  const others = jobs.filter(({ key }) => !cancelRequests.has(key));
  await endUnstarted(
    transaction,
    jobs
      .filter(({ key }) => cancelRequests.has(key))
      .map((job) => ({ ...job, reason: cancelRequests.get(job.key) ?? null })),
  );
  await putBack(transaction, others);
  return others.length;
}

/** A job that is to run alone has its lock before it starts. */
async function releaseLocks(
  transaction: StoreTransaction,
  jobs: readonly { readonly key: JobKey; readonly concurrency: string | null }[],
): Promise<void> {
  const keyed = jobs.filter(({ concurrency }) => concurrency !== null);
  if (keyed.length === 0) return;
  const keys = list(keyed.map(({ key }) => key));
  const row = await transaction.get("end_runs", {
    jobs: keys,
    over: list([]),
    succeeded: list([]),
  });
  if (row?.freed === true) transaction.outbox.wakeForReturned();
}

export function isUnstarted({ started_at: startedAt, ended }: RunRow): boolean {
  return startedAt === null && !ended;
}
