/** The ledger: one row for each run that ended, and for each wait that somebody ended. */
import type { FinalState } from "../../core/job.ts";
import type { Fault, OutcomeName } from "../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../codes.ts";
import type { JobKey } from "../store.ts";
import type { LeaseRow } from "./rows.ts";
import type { Session } from "./session.ts";

export interface LedgerEntry {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  /** Null when it had not begun. */
  readonly startedAt: number | null;
  readonly outcome: OutcomeName;
  /** Null when the job goes on. */
  readonly state: FinalState | null;
  readonly fault: Fault | null;
  readonly result: string | null;
  readonly reason: string | null;
  readonly nextRunAt: number | null;
}

/**
 * Writes how a run ended, under the lease that held it, if any did. A run that has its row already
 * is an error: the primary key is the second line behind the lease.
 */
export function writeLedger(
  { sql }: Session,
  lease: LeaseRow | null,
  entry: LedgerEntry,
  now: number,
): void {
  const { fault, state } = entry;
  sql.run("insert_attempt", {
    key: entry.key,
    n: entry.n,
    tries: entry.tries,
    crashes: entry.crashes,
    worker: lease?.worker ?? null,
    fence: lease?.number ?? null,
    claimed_at: lease?.claimed_at ?? null,
    started_at: entry.startedAt,
    finished_at: now,
    outcome: outcomeCodec.code[entry.outcome],
    state: state === null ? null : stateCodec.code[state],
    error_class: fault === null ? null : errorClassCodec.code[fault.class],
    error: fault === null ? null : JSON.stringify(fault),
    result: entry.result,
    reason: entry.reason,
    next_run_at: entry.nextRunAt,
  });
}
