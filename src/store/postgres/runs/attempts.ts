/**
 * Ends runs, for a worker, its heartbeat, a rescuer or an operator. Each end inserts an attempt
 * record and moves the job to its next place or to a final state.
 */
import type { State } from "../../../core/job.ts";
import { isSuccess, type Settlement } from "../../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { endOf, outboxEventsOf, type End } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { insertDeadLetters, type FailedRun } from "./dead-letter.ts";
import { isDuplicate, Outdated } from "../database/errors.ts";
import { findCancelRequests, withFacts } from "./lease.ts";
import { putWaiting } from "../queue/places.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

/** A run that ends, or a wait that an operator ends. */
export interface EndedRun {
  /** The number of the locked lease that names the job. Null: no lease names the job. */
  readonly fence: number | null;
  readonly key: JobKey;
  readonly n: number;
  /** The due time of the job, in microseconds. */
  readonly rank: number;
  /** Null: the run had not started. */
  readonly startedAt: number | null;
  readonly settlement: Settlement;
}

type RunEnd = EndedRun & End;

/** Inserts attempt records for open runs and moves their jobs. Answers the new states. */
export async function endRuns(
  transaction: StoreTransaction,
  runs: readonly EndedRun[],
): Promise<ReadonlyMap<JobKey, State>> {
  if (runs.length === 0) return new Map();
  const cancelRequests = await findCancelRequests(
    transaction,
    runs.map(({ key }) => key),
  );
  const ends = runs.map((run) => ({
    ...run,
    ...endOf(run.settlement, cancelRequests.get(run.key)),
  }));
  const rows = await insertAttempts(transaction, ends);
  for (const event of outboxEventsOf(ends)) transaction.outbox.add(event);
  await insertDeadLetters(transaction, ends.flatMap(failedRun));
  const final = ends.filter(({ state }) => state !== null);
  await releaseLocks(transaction, ends, final);
  if (cancelRequests.size > 0) {
    await transaction.run("delete_cancel_requests", { keys: list([...cancelRequests.keys()]) });
  }
  const states = await putBackWaiting(transaction, ends, rows);
  for (const { key, state } of final) if (state !== null) states.set(key, state);
  return states;
}

/** A duplicate row means that a concurrent transaction has ended the run under the same lease. */
async function insertAttempts(
  transaction: StoreTransaction,
  ends: readonly RunEnd[],
): Promise<readonly { readonly key: JobKey; readonly next_run_at: number | null }[]> {
  try {
    const rows = ends.map(attemptRow);
    return await transaction.all("insert_attempts", { ends: JSON.stringify(rows) });
  } catch (error) {
    if (isDuplicate(error)) throw new Outdated("another transaction has ended the run");
    throw error;
  }
}

function attemptRow({ settlement, fault, state, ...end }: RunEnd): object {
  return {
    key: end.key,
    n: end.n,
    tries: settlement.tries,
    crashes: settlement.crashes,
    fence: end.fence,
    rank: end.rank,
    started_at: end.startedAt,
    outcome: outcomeCodec.code[end.outcome],
    state: state === null ? null : stateCodec.code[state],
    error_class: fault === null ? null : errorClassCodec.code[fault.class],
    error: fault === null ? null : JSON.stringify(fault),
    result: end.result,
    reason: end.reason,
    delay_ms: end.delayMs,
  };
}

function failedRun({ key, n, state, fault, settlement }: RunEnd): FailedRun[] {
  if (state !== "failed" || fault === null) return [];
  return [{ key, n, attempts: settlement.tries, fault }];
}

/**
 * Releases the locks of ended runs. For final jobs also releases the dedup key, drops their own
 * dependencies and records them for the jobs that depend on them. A success ends the streak of lone
 * deaths of its type.
 */
async function releaseLocks(
  transaction: StoreTransaction,
  ends: readonly RunEnd[],
  final: readonly RunEnd[],
): Promise<void> {
  const row = await transaction.get("end_runs", {
    jobs: list(ends.map(({ key }) => key)),
    over: list(final.map(({ key }) => key)),
    succeeded: list(final.filter(hasSucceeded).map(({ key }) => key)),
  });
  if (row?.freed === true) transaction.outbox.wakeForReturned();
  if (row?.awaited === true) transaction.outbox.addAwaited();
}

function hasSucceeded({ settlement }: RunEnd): boolean {
  return isSuccess(settlement);
}

/** Jobs that are not final wait until the next run time of their attempt record. */
async function putBackWaiting(
  transaction: StoreTransaction,
  ends: readonly RunEnd[],
  rows: Awaited<ReturnType<typeof insertAttempts>>,
): Promise<Map<JobKey, State>> {
  const dueAt = new Map(rows.map(({ key, next_run_at: at }) => [key, at]));
  const jobs = await withFacts(
    transaction,
    ends
      .filter(({ state }) => state === null)
      .map(({ key, n, settlement: { tries, crashes } }) => ({
        key,
        n: n + 1,
        tries,
        crashes,
        due_at: dueAt.get(key) ?? 0,
      })),
  );
  return putWaiting(transaction, jobs);
}
