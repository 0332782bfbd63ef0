/** The ledger: one row for each run that ended, and for each wait that somebody ended. */
import type { Settlement } from "../../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../../shared/codes.ts";
import type { End } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

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
export function insertAttempts(
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
