/** The end of a run: its row in the ledger, and the release of what the run and the job hold. */
import type { FinalState } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { endOf, type End } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { dropCancelRequests } from "./cancel-requests.ts";
import { releaseRunLocks } from "./locks.ts";

/** A run that ends, with its lease and settlement. */
export interface EndedRun {
  /** Null for a waiting job, whose wait an operator ends. */
  readonly lease: LeaseRow | null;
  readonly key: JobKey;
  readonly n: number;
  /** The due time of the job, in microseconds. */
  readonly rank: number;
  /** Null when the run had not started. */
  readonly startedAt: number | null;
  readonly settlement: Settlement;
}

/**
 * Inserts the ledger row of a run. A second row for the same run violates the primary key, which
 * guards the ledger in addition to the lease.
 */
export function insertAttempt(
  { sql }: Session,
  { lease, key, n, startedAt, settlement }: Omit<EndedRun, "rank">,
  end: End & { readonly nextRunAt: number | null },
  now: number,
): void {
  const { fault, state } = end;
  // After the clock was set back, a run begins and ends at the end.
  const notAfterEnd = (at: number | null): number | null =>
    at === null ? null : Math.min(at, now);
  sql.run("insert_attempt", {
    key,
    n,
    tries: settlement.tries,
    crashes: settlement.crashes,
    worker: lease?.worker ?? null,
    fence: lease?.number ?? null,
    claimed_at: notAfterEnd(lease?.claimed_at ?? null),
    started_at: notAfterEnd(startedAt),
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

/** A job whose run or wait has ended. */
export interface EndedJob {
  readonly key: JobKey;
  /** Null when the job waits again. */
  readonly state: FinalState | null;
}

/**
 * Releases the locks of ended runs. For final jobs it also releases the dedup key, deletes their
 * own dependencies and stores them as finished dependencies. Answers whether other jobs depend on
 * them: then the caller must resolve dependencies.
 */
export function releaseEnded(session: Session, ends: readonly EndedJob[]): boolean {
  if (ends.length === 0) return false;
  const { sql } = session;
  releaseRunLocks(
    session,
    ends.map(({ key }) => key),
  );
  const final = ends.filter(({ state }) => state !== null).map(({ key }) => key);
  if (final.length === 0) return false;
  const keys = JSON.stringify(final);
  sql.run("delete_dedup", { keys });
  sql.run("delete_dependencies", { keys });
  return sql.run("insert_finished_dependency", { keys }).changes > 0;
}

/** A job that was taken out of its place or its lease before it started. */
export interface UnstartedJob {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Cancels the jobs. Answers whether other jobs depend on them, as `releaseEnded` does. */
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
