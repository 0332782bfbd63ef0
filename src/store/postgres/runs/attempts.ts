/**
 * How runs end, whoever says so: the worker, its heartbeat, a rescuer, an operator. Each end is a
 * row of the ledger, and moves its job on.
 */
import type { State } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { endOf, outboxEventsOf, type End } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { insertDeadLetters, type Death } from "./dead-letter.ts";
import { isDuplicate, Outdated } from "../database/errors.ts";
import { findCancelRequests, withFacts } from "./lease.ts";
import { putWaiting } from "../queue/places.ts";
import type { SessionTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

/** An open run that has ended, or a wait that an operator has ended. */
export interface EndedRun {
  /** The number of the lease that holds the job, which is locked; null when nobody held it. */
  readonly fence: number | null;
  readonly key: JobKey;
  readonly n: number;
  /** Null when it had not begun. */
  readonly startedAt: number | null;
  readonly settlement: Settlement;
}

type RunEnd = EndedRun & End;

/** Writes ledger rows for open runs and moves their jobs on. Answers where each job is now. */
export async function endRuns(
  transaction: SessionTransaction,
  runs: readonly EndedRun[],
): Promise<ReadonlyMap<JobKey, State>> {
  if (runs.length === 0) return new Map();
  const asked = await findCancelRequests(
    transaction,
    runs.map(({ key }) => key),
  );
  const ends = runs.map((run) => ({ ...run, ...endOf(run.settlement, asked.get(run.key)) }));
  const rows = await writeLedger(transaction, ends);
  for (const tiding of outboxEventsOf(ends)) transaction.outbox.tell(tiding);
  await insertDeadLetters(transaction, ends.flatMap(deathOf));
  const over = ends.filter(({ state }) => state !== null);
  await letGo(transaction, ends, over);
  if (asked.size > 0) {
    await transaction.run("delete_cancel_requests", { keys: list([...asked.keys()]) });
  }
  const states = await waitAgain(transaction, ends, rows);
  for (const { key, state } of over) if (state !== null) states.set(key, state);
  return states;
}

/**
 * A run that has its row by now was ended by somebody else in this very moment, under the same
 * lease: the primary key is the second line behind it.
 */
async function writeLedger(
  transaction: SessionTransaction,
  ends: readonly RunEnd[],
): Promise<readonly { readonly key: JobKey; readonly next_run_at: number | null }[]> {
  try {
    const rows = ends.map(ledgerRow);
    return await transaction.all("insert_attempts", { ends: JSON.stringify(rows) });
  } catch (error) {
    if (isDuplicate(error)) throw new Outdated("a run has ended meanwhile");
    throw error;
  }
}

function ledgerRow({ settlement, fault, state, ...end }: RunEnd): object {
  return {
    key: end.key,
    n: end.n,
    tries: settlement.tries,
    crashes: settlement.crashes,
    fence: end.fence,
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

function deathOf({ key, n, state, fault, settlement }: RunEnd): Death[] {
  if (state !== "failed" || fault === null) return [];
  return [{ key, n, attempts: settlement.tries, fault }];
}

/**
 * A run has its exclusive names until it ends, however it does; a job that is over has no dedup
 * key, waits for nobody, and those who wait for it hear of it.
 */
async function letGo(
  transaction: SessionTransaction,
  ends: readonly RunEnd[],
  over: readonly RunEnd[],
): Promise<void> {
  const row = await transaction.get("end_runs", {
    jobs: list(ends.map(({ key }) => key)),
    over: list(over.map(({ key }) => key)),
  });
  if (row?.freed === true) transaction.outbox.wake();
  if (row?.awaited === true) transaction.outbox.leaveAwaited();
}

/** Jobs that go on wait until the moment that their ledger row names. */
async function waitAgain(
  transaction: SessionTransaction,
  ends: readonly RunEnd[],
  rows: Awaited<ReturnType<typeof writeLedger>>,
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
