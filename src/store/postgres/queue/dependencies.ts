/**
 * after: jobs that wait for others, behind gate 0. Whatever ends one of those writes its key to
 * `ended` in the same transaction; `resolveDependencies` takes it from there, in transactions of
 * its own that follow the commit. It locks those that wait first, in the order of their keys, and
 * looks at what they wait for afterwards: of two that deal with two dependencies of one job, the
 * second sees what the first has done.
 */
import type { JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { afterReason } from "../../shared/run-end.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { DependencyTask } from "./dependency-tasks.ts";
import { keptBy } from "../database/session-state.ts";
import { endUnstarted, takeWaiting } from "./places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

/** Jobs that move in one call, and depends_on that it looks at; more only for an dependencyTask. */
const PROCEED_MAX = 1_000;
/** Ends that one transaction deals with. */
const ENDS_MAX = 100;

/** Deals with what has ended, and with ends among the next depends_on that nobody wrote down. */
export async function resolveDependencies(session: Session, wanted: number): Promise<number> {
  const limit = bounded(wanted, PROCEED_MAX);
  // What this process is at already would be passed over.
  await session.dependencyTasks.done();
  const { waiting = false, ended = false } =
    (await session.read.get("dependencies_in_use", {})) ?? {};
  if (waiting) await sweep(session, limit);
  return waiting || ended ? resolveUpTo(session, limit) : 0;
}

/** What is left to be done after a commit. */
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
  const page = { id: uuidOf(id), limit: bounded(limit, PROCEED_MAX) };
  return (await read.all("open_dependencies", page)).map((row) => row.id);
}

/** Where the sweep of an open store has come to. */
const sweeps = keptBy(() => ({ job: 0, depends_on: 0 }));

async function sweep(session: Session, limit: number): Promise<void> {
  const { write, dice } = session;
  const last = sweeps(session);
  const row = await repeating(dice, () => write.get("sweep_dependencies", { ...last, limit }));
  // At the end it begins anew.
  Object.assign(last, row ?? { job: 0, depends_on: 0 });
}

/** Answers how many jobs have moved. */
async function resolveUpTo(session: Session, limit: number): Promise<number> {
  let moved = 0;
  while (moved < limit) {
    const room = Math.min(limit - moved, PROCEED_MAX);
    const step = await repeating(session.dice, () =>
      session.transaction((transaction) => resolveOnce(transaction, room)),
    );
    moved += step.moved;
    if (step.isLast) break;
  }
  return moved;
}

interface Step {
  readonly moved: number;
  /** There was nothing to be done. */
  readonly isLast: boolean;
}

async function resolveOnce(transaction: SessionTransaction, limit: number): Promise<Step> {
  const rows = await transaction.all("take_finished_dependencies", { limit: ENDS_MAX });
  if (rows.length === 0) return { moved: 0, isLast: true };
  const [ended, strays] = [true, false].map((isOver) =>
    list(rows.filter((row) => row.is_over === isOver).map(({ key }) => key)),
  );
  const keys = ended ?? list([]);
  const dependants = await transaction.all("dependants_of", { keys, limit });
  const jobs = await transaction.all("lock_dependants", { keys: keysOf(dependants) });
  const cancelled = await cancelSpoilt(transaction, keysOf(jobs), keys);
  const others = keysOf(dependants.filter(({ key }) => !jobs.some((job) => job.key === key)));
  const told = await transaction.run("drop_dependencies", { keys, jobs: keysOf(jobs), others });
  const freed = (await transaction.get("let_go_on", { jobs: keysOf(jobs) }))?.count ?? 0;
  if (freed > 0) transaction.outbox.wake();
  const heard = await transaction.run("delete_finished_dependency", {
    keys,
    strays: strays ?? list([]),
  });
  return { moved: cancelled + freed, isLast: cancelled + told + heard === 0 };
}

function keysOf(rows: readonly { readonly key: JobKey }[]): string {
  return list(rows.map(({ key }) => key));
}

/** Those that wait for these in turn are dealt with by the next step. */
async function cancelSpoilt(
  transaction: SessionTransaction,
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
