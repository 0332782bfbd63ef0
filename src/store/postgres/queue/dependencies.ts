/**
 * Resolves dependencies (`after`). A job with open dependencies is blocked behind gate 0. The
 * transaction that makes a dependency final inserts its key into `finished_dependency`;
 * `resolveDependencies` takes the key from there, in later transactions. Such a transaction locks
 * the dependants first, in the order of their keys, and reads their dependencies after that: of two
 * transactions that resolve two dependencies of one job, the second sees the result of the first.
 */
import type { JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { afterReason } from "../../shared/run-end.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { DependencyTask } from "./dependency-tasks.ts";
import { endUnstarted, takeWaiting } from "./places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

/** Jobs moved and dependencies swept in one call; a dependency task moves all jobs. */
const RESOLVE_MAX = 1_000;
/** Finished dependencies resolved in one transaction. */
const FINISHED_MAX = 100;

/** Resolves finished dependencies, and sweeps for finished ones that were not recorded. */
export async function resolveDependencies(session: Session, wanted: number): Promise<number> {
  const limit = bounded(wanted, RESOLVE_MAX);
  // Rows that a task of this process has locked would be skipped.
  await session.dependencyTasks.done();
  const { waiting = false, ended = false } =
    (await session.read.get("dependencies_in_use", {})) ?? {};
  if (waiting) await sweep(session, limit);
  return waiting || ended ? resolveUpTo(session, limit) : 0;
}

/** Runs the task of one or more commits. */
export async function runDependencyTask(
  session: Session,
  { dependants, isAwaited }: DependencyTask,
): Promise<void> {
  const { write, dice } = session;
  const jobs = list(dependants);
  const found =
    dependants.length > 0
      ? await repeating(dice, () => write.run("insert_finished_dependencies", { jobs }))
      : 0;
  if (found > 0 || isAwaited) await resolveUpTo(session, Infinity);
}

export async function openDependencies(
  { read }: Session,
  id: JobId,
  limit: number,
): Promise<readonly JobId[]> {
  const page = { id: uuidOf(id), limit: bounded(limit, RESOLVE_MAX) };
  return (await read.all("open_dependencies", page)).map((row) => row.id);
}

async function sweep(session: Session, limit: number): Promise<void> {
  const { write, dice } = session;
  const last = session.state.dependencySweep;
  const row = await repeating(dice, () => write.get("sweep_dependencies", { ...last, limit }));
  // At the end of the table the sweep starts over.
  Object.assign(last, row ?? { job: 0, depends_on: 0 });
}

/** Answers how many jobs were released or cancelled. */
async function resolveUpTo(session: Session, limit: number): Promise<number> {
  let moved = 0;
  while (moved < limit) {
    const room = Math.min(limit - moved, RESOLVE_MAX);
    const step = await repeating(session.dice, () =>
      session.transaction((transaction) => resolveOnce(transaction, room)),
    );
    moved += step.moved;
    if (step.isLast) break;
  }
  return moved;
}

interface ResolveStep {
  readonly moved: number;
  /** Nothing was left to resolve. */
  readonly isLast: boolean;
}

async function resolveOnce(transaction: StoreTransaction, limit: number): Promise<ResolveStep> {
  const rows = await transaction.all("take_finished_dependencies", { limit: FINISHED_MAX });
  if (rows.length === 0) return { moved: 0, isLast: true };
  const [finished, unfinished] = [true, false].map((isOver) =>
    list(rows.filter((row) => row.is_over === isOver).map(({ key }) => key)),
  );
  const keys = finished ?? list([]);
  const dependants = await transaction.all("dependants_of", { keys, limit });
  const jobs = await transaction.all("lock_dependants", { keys: keysOf(dependants) });
  const cancelled = await cancelDependants(transaction, keysOf(jobs), keys);
  const others = keysOf(dependants.filter(({ key }) => !jobs.some((job) => job.key === key)));
  const dropped = await transaction.run("drop_dependencies", { keys, jobs: keysOf(jobs), others });
  const freed = (await transaction.get("let_go_on", { jobs: keysOf(jobs) }))?.count ?? 0;
  if (freed > 0) transaction.outbox.wakeForReturned();
  const deleted = await transaction.run("delete_finished_dependency", {
    keys,
    strays: unfinished ?? list([]),
  });
  return { moved: cancelled + freed, isLast: cancelled + dropped + deleted === 0 };
}

function keysOf(rows: readonly { readonly key: JobKey }[]): string {
  return list(rows.map(({ key }) => key));
}

/** Cancels dependants of failed jobs. Their own dependants follow in the next step. */
async function cancelDependants(
  transaction: StoreTransaction,
  jobs: string,
  keys: string,
): Promise<number> {
  const spoilt = await transaction.all("spoilt_dependants", { jobs, keys });
  const waiting = await takeWaiting(
    transaction,
    spoilt.map(({ key }) => key),
  );
  const ends = spoilt.flatMap(({ key, id, state }) => {
    const job = waiting.get(key);
    const end = state === stateCodec.code.failed ? "failed" : "cancelled";
    return job === undefined ? [] : [{ ...job, reason: afterReason(id, end) }];
  });
  await endUnstarted(transaction, ends);
  return ends.length;
}
