/** startPrefetched and returnPrefetched: jobs of a lease that have not started. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { endUnstarted } from "../jobs/cancel.ts";
import {
  keepRuns,
  openAmong,
  openRuns,
  runsOf,
  splitByRequest,
  startsOf,
  withFacts,
  type HeldRun,
} from "./lease.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { putBack } from "../queue/places.ts";
import { releaseRunLocks } from "./locks.ts";
import { dropMissing, splitMissing } from "./missing-jobs.ts";

export function startPrefetched(
  session: Session,
  { number, secret }: Lease,
  keys: readonly JobKey[],
): { status: "started" | "stale"; begun: JobKey[] } {
  const { sql, outbox } = session;
  const lease = sql.get("find_lease", { number, secret });
  if (lease === undefined) return { status: "stale", begun: [] };

  const wanted = new Set(keys);
  const runs = runsOf(lease);
  const open = openAmong(
    session,
    runs.filter(({ key }) => wanted.has(key)),
  );
  const prefetched = open.filter(isPrefetched);
  const { toCancel, others } = splitByRequest(session, prefetched);
  if (others.length > 0) markStarted(session, lease, runs, others);
  dropUnstarted(session, lease, toCancel);
  outbox.add({ kind: "job:started", jobs: others.map(({ key }) => key) });
  const ended = new Set(toCancel.map(({ key }) => key));
  return { status: "started", begun: open.map(({ key }) => key).filter((key) => !ended.has(key)) };
}

/** Stores the start of these runs. The other lists of the lease stay as they are. */
function markStarted(
  { sql, clock }: Session,
  lease: LeaseRow,
  runs: readonly HeldRun[],
  starting: readonly HeldRun[],
): void {
  const now = clock.now();
  const keys = new Set(starting.map(({ key }) => key));
  const started = runs.map((run) => (keys.has(run.key) ? { startedAt: now } : run));
  sql.run("set_starts", { number: lease.number, starts: startsOf(started, lease.claimed_at) });
}

export function returnPrefetched(
  session: Session,
  { number, secret }: Lease,
  keys: readonly JobKey[],
): number {
  const lease = session.sql.get("find_lease", { number, secret });
  if (lease === undefined) return 0;
  const wanted = new Set(keys);
  const open = openRuns(session, lease).filter((run) => isPrefetched(run) && wanted.has(run.key));
  return dropUnstarted(session, lease, open);
}

/**
 * Removes unstarted runs from a lease, and the lease with its last open run. Answers how many were
 * returned to their place.
 */
function dropUnstarted(session: Session, lease: LeaseRow, leaving: readonly HeldRun[]): number {
  if (leaving.length === 0) return 0;
  const returned = returnUnstarted(session, leaving);
  const gone = new Set(leaving.map(({ key }) => key));
  // Read again: runs may have been marked as started since the lease was found.
  const now = session.sql.get("lease_by_number", { number: lease.number }) ?? lease;
  keepRuns(
    session,
    lease,
    openRuns(session, now).filter(({ key }) => !gone.has(key)),
  );
  return returned;
}

/** Returns unstarted runs to their place. A job with a cancel request is cancelled instead. */
export function returnUnstarted(session: Session, runs: readonly HeldRun[]): number {
  const { present, missing } = splitMissing(session, runs);
  dropMissing(session, missing);
  session.warnings.reportMissing("returnPrefetched", missing);
  const { toCancel, others } = splitByRequest(session, withFacts(session, present));
  endUnstarted(session, toCancel);
  if (others.length === 0) return 0;
  for (const job of others) putBack(session, job);
  // Jobs with a key are not prefetched, but a lease may be older than this rule.
  releaseRunLocks(
    session,
    others.map(({ key }) => key),
  );
  return others.length;
}

function isPrefetched({ startedAt }: HeldRun): boolean {
  return startedAt === null;
}
