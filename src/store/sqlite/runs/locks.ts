/**
 * Locks: the concurrency keys of running jobs, and the locks that runs acquire for their units. One
 * row per lock. The row is deleted when the run releases the lock or ends.
 */
import type { JobId } from "../../../core/job.ts";
import { idFromBytes } from "../../../core/ids.ts";
import { lockNames } from "../../shared/decode-notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { AcquiredLocks, OpenRun } from "../../types/notes.ts";
import { findLease, findRun } from "./lease-proof.ts";
import { FIRST_LOCK } from "../database/session-state.ts";
import type { LockRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { putBack } from "../queue/places.ts";

/** How many locks one sweep checks for runs that have ended. */
const SWEEP_MAX = 1_000;

export function acquireLocks(
  session: Session,
  run: OpenRun,
  names: readonly string[],
): AcquiredLocks {
  const { sql } = session;
  const { key, n } = run;
  if (findRun(findLease(session, new Map(), run.lease), run) === null) return { status: "stale" };
  const wanted = lockNames(names);
  for (const name of wanted) sql.run("acquire_lock", { key, n, name });
  const rows = sql.all("locks_of_run", { key, n, names: JSON.stringify(wanted) });
  const held = new Set(rows.map(({ name }) => name));
  return { status: "done", names: [...new Set(names)].filter((name) => held.has(name)) };
}

export function lockHolder({ sql, names }: Session, tenant: string, name: string): JobId | null {
  const id = names.find("tenant", tenant);
  const row = id === undefined ? undefined : sql.get("lock_holder", { tenant: id, name });
  return row === undefined ? null : idFromBytes(row.id);
}

/** A claimed job. */
interface Claimed {
  readonly key: JobKey;
  readonly n: number;
  readonly tenant: number;
  readonly concurrency: string | null;
}

/** Acquires the concurrency keys of claimed jobs. */
export function acquireKeys({ sql }: Session, jobs: readonly Claimed[]): void {
  for (const { key, n, tenant, concurrency } of jobs) {
    if (concurrency === null) continue;
    sql.run("insert_lock", { tenant, name: concurrency, job: key, n });
  }
}

/** Releases locks of a run. */
export function releaseLocks(
  session: Session,
  { key, n }: Pick<Claimed, "key" | "n">,
  names: readonly string[],
): void {
  const wanted = JSON.stringify(lockNames(names));
  unblockNext(session, session.sql.all("release_locks", { key, n, names: wanted }));
}

/** Releases all locks of these jobs, whose runs have ended or will not start. */
export function releaseRunLocks(session: Session, keys: readonly JobKey[]): void {
  unblockNext(session, session.sql.all("delete_locks", { keys: JSON.stringify(keys) }));
}

/** For each released lock, returns the most urgent job that is blocked by it. */
export function unblockNext(session: Session, freed: readonly LockRow[]): void {
  const { sql, outbox, state } = session;
  // Jobs in `ready` may need the lock as their key, and runs may try to acquire it. Claims have
  // passed these jobs, which may be more urgent than those behind.
  if (freed.length > 0) {
    outbox.wake();
    state.claimCursors.forget();
  }
  for (const { tenant, name } of freed) {
    const next = sql.get("next_of_key", { tenant, name });
    if (next !== undefined) unblock(session, next.key);
  }
}

/**
 * Returns the most urgent blocked job of each free key. Also sweeps for locks whose runs have
 * ended. Answers how many jobs were returned.
 */
export function releaseKeys(session: Session, limit: number): number {
  const { sql, outbox } = session;
  const { orphaned, next } = sweepLocks(session);
  session.state.lockSweep = next;
  for (const { tenant, name } of orphaned) {
    sql.run("delete_lock", { tenant, name });
    outbox.wake();
  }
  const rows = sql.all("jobs_of_free_keys", { limit });
  for (const { key } of rows) unblock(session, key);
  return rows.length;
}

/** Whether {@link releaseKeys} would find anything. Called without the write lock. */
export function hasFreeKeys(session: Session): boolean {
  const { orphaned, next } = sweepLocks(session);
  if (orphaned.length > 0) return true;
  session.state.lockSweep = next;
  return session.sql.get("jobs_of_free_keys", { limit: 1 }) !== undefined;
}

/** The orphaned locks among the next ones, and where the sweep continues. */
function sweepLocks(session: Session): {
  readonly orphaned: readonly LockRow[];
  readonly next: LockRow;
} {
  const { tenant, name } = session.state.lockSweep;
  const rows = session.sql.all("locks_after", { tenant, name, limit: SWEEP_MAX });
  const last = rows.length < SWEEP_MAX ? undefined : rows.at(-1);
  return { orphaned: rows.filter((row) => row.is_dead === 1), next: last ?? FIRST_LOCK };
}

function unblock(session: Session, key: JobKey): void {
  const job = session.sql.get("take_blocked", { key });
  if (job === undefined) throw new Error(`job ${key} left blocked inside a transaction`);
  putBack(session, job);
}
