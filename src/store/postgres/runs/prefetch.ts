/** start and returnPrefetched: a prefetch is a lease whose jobs have not all begun. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { findCancelRequests, keepRuns, ownLease, withFacts } from "./lease.ts";
import { endUnstarted, putBack } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { RunRow } from "../database/rows-runs.ts";

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
  // Those that somebody asked to cancel have not begun: they end here.
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
      const runs = await ownLease(transaction, lease);
      if (runs === null) return 0;
      const leaving = runs.filter((run) => isWaiting(run) && wanted.has(run.key));
      if (leaving.length === 0) return 0;
      const returned = await returnUnstarted(transaction, leaving);
      await keepRuns(transaction, runs, new Set(leaving.map(({ key }) => key)));
      return returned;
    }),
  );
}

/**
 * Puts unstarted runs back as they lay. One that somebody asked to cancel ends instead. Answers how
 * many were put back.
 */
export async function returnUnstarted(
  transaction: SessionTransaction,
  runs: readonly RunRow[],
): Promise<number> {
  const jobs = await withFacts(transaction, runs);
  const asked = await findCancelRequests(
    transaction,
    runs.map(({ key }) => key),
  );
  const others = jobs.filter(({ key }) => !asked.has(key));
  await endUnstarted(
    transaction,
    jobs
      .filter(({ key }) => asked.has(key))
      .map((job) => ({ ...job, reason: asked.get(job.key) ?? null })),
  );
  await putBack(transaction, others);
  return others.length;
}

export function isWaiting({ started_at: startedAt, ended }: RunRow): boolean {
  return startedAt === null && !ended;
}
