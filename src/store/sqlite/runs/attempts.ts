/** The ledger: one row for each run that ended, and for each wait that somebody ended. */
import type { FinalState } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { endOf, type End } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { LeaseRow } from "../database/rows.ts";
import type { Session } from "../database/session.ts";
import { dropCancelRequests } from "./cancel-requests.ts";
import { releaseRunLocks } from "./locks.ts";

/** An open run that has ended, under the lease that allows to say so. */
export interface EndedRun {
  /** Null when nobody held the job: an operator ended its wait. */
  readonly lease: LeaseRow | null;
  readonly key: JobKey;
  readonly n: number;
  /** Null when it had not begun. */
  readonly startedAt: number | null;
  readonly settlement: Settlement;
}

/**
 * Writes how a run ended. A run that has its row already is an error: the primary key is the second
 * line behind the lease.
 */
export function insertAttempt(
  { sql }: Session,
  { lease, key, n, startedAt, settlement }: EndedRun,
  end: End & { readonly nextRunAt: number | null },
  now: number,
): void {
  const { fault, state } = end;
  sql.run("insert_attempt", {
    key,
    n,
    tries: settlement.tries,
    crashes: settlement.crashes,
    worker: lease?.worker ?? null,
    fence: lease?.number ?? null,
    claimed_at: lease?.claimed_at ?? null,
    started_at: startedAt,
    finished_at: now,
    outcome: outcomeCodec.code[end.outcome],
    state: state === null ? null : stateCodec.code[state],
    error_class: fault === null ? null : errorClassCodec.code[fault.class],
    error: fault === null ? null : JSON.stringify(fault),
    result: end.result,
    reason: end.reason,
    next_run_at: end.nextRunAt,
  });
}

/** How a run, or a wait, has ended. */
export interface EndedJob {
  readonly key: JobKey;
  /** Null when the job goes on. */
  readonly state: FinalState | null;
}

/**
 * The run gives up what it had; a job that is over also its dedup key, and what it waited for
 * itself. Answers whether others wait for the end of any of them: then `resolveDependencies` has to
 * be called.
 */
export function releaseEnded(session: Session, ends: readonly EndedJob[]): boolean {
  if (ends.length === 0) return false;
  const { sql } = session;
  releaseRunLocks(
    session,
    ends.map(({ key }) => key),
  );
  const over = ends.filter(({ state }) => state !== null).map(({ key }) => key);
  if (over.length === 0) return false;
  const keys = JSON.stringify(over);
  sql.run("delete_dedup", { keys });
  sql.run("delete_dependencies", { keys });
  return sql.run("insert_finished_dependency", { keys }).changes > 0;
}

/** A job that lies in no place any more. */
export interface UnstartedJob {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Writes their ends. Answers whether others wait for any of them, as `closeEnds` does. */
export function cancelUnstarted(session: Session, jobs: readonly UnstartedJob[]): boolean {
  if (jobs.length === 0) return false;
  const { clock, outbox } = session;
  for (const { key, n, tries, crashes, reason } of jobs) {
    const settlement: Settlement = {
      to: "cancelled",
      outcome: "cancelled",
      tries,
      crashes,
      reason,
    };
    const run = { lease: null, key, n, startedAt: null, settlement };
    insertAttempt(session, run, { ...endOf(settlement, reason), nextRunAt: null }, clock.now());
  }
  const keys = jobs.map(({ key }) => key);
  dropCancelRequests(session, keys);
  outbox.add({ kind: "job:cancelled", jobs: keys });
  return releaseEnded(
    session,
    keys.map((key) => ({ key, state: "cancelled" })),
  );
}
