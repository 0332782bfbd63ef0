/**
 * Dependencies (`after`): jobs that wait for other jobs. When a dependency becomes final, its key
 * is written to `finished_dependency`. `resolveDependencies` then moves the dependants: within the
 * same transaction up to {@link DEPENDENCIES_MAX}, the rest in later transactions.
 */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { GATE_AFTER, stateCodec } from "../../shared/codes.ts";
import { CHAIN_MAX } from "../../shared/limits.ts";
import { afterReason } from "../../shared/run-end.ts";
import { bounded } from "../../shared/limits.ts";
import type { KeyHolders } from "../../shared/key-holders.ts";
import type { EnqueueAnswer, JobKey, NewJob } from "../../types/jobs-and-runs.ts";
import { FIRST_DEPENDENCY, type SessionState } from "../database/session-state.ts";
import type { QueryRows } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { putWaiting, type WaitingJob } from "./places.ts";
import { cancelUnstarted } from "../runs/attempts.ts";

/** The maximum of dependencies resolved in one transaction. */
const DEPENDENCIES_MAX = 1_000;

type FinishedDependency = QueryRows["next_finished_dependency"];

/**
 * The keys of the dependencies of a new job, or its refusal if a dependency does not exist. A
 * negated key names a job whose code the new job waits for.
 */
export function dependenciesOf(
  session: Session,
  { after, retryOf }: NewJob,
  keyHolders: KeyHolders,
): ReadonlySet<JobKey> | EnqueueAnswer {
  const { sql } = session;
  const dependencies = new Set<JobKey>(retryOf === null ? [] : codeBefore(session, retryOf));
  for (const id of after) {
    const row = sql.get("find_key", { id: idBytes(keyHolders.get(id) ?? id) });
    const isUnknown = row === undefined && !keyHolders.has(id);
    if (isUnknown) return { status: "refused", code: "AFTER_UNKNOWN", holder: id };
    // Without a key, the dependency was removed: it counts as completed.
    if (row !== undefined && row.key !== null) dependencies.add(row.key);
  }
  return dependencies;
}

/** The negated keys of the jobs whose code a successor of this job waits for. */
function codeBefore({ sql }: Session, id: JobId): readonly JobKey[] {
  const bounds = { depth: CHAIN_MAX, limit: DEPENDENCIES_MAX };
  return sql.all("awaited_code", { id: idBytes(id), ...bounds }).map(({ key }) => -key);
}

/** Code of ended runs of these jobs has ended: jobs that wait for it may start. */
export function endCode(session: Session, keys: readonly JobKey[]): void {
  if (keys.length === 0) return;
  const { changes } = session.sql.run("insert_ended_code", { keys: JSON.stringify(keys) });
  if (changes > 0) resolveSomeDependencies(session);
}

/**
 * Inserts a new job that waits for its dependencies. Dependencies that are final already are left
 * to `resolveDependencies`.
 */
export function putBehind(
  { sql }: Session,
  job: WaitingJob,
  dependencies: ReadonlySet<JobKey>,
  { onFailed, runAt }: Pick<NewJob, "onFailed"> & { readonly runAt: number },
): void {
  for (const depends_on of dependencies) {
    const tolerant = onFailed === "run" || depends_on < 0 ? 1 : 0;
    sql.run("insert_dependency", { job: job.key, depends_on, tolerant });
  }
  sql.run("insert_blocked", { ...job, rank: runAt * 1000, gate: GATE_AFTER });
  sql.run("insert_finished_dependencies", { job: job.key });
}

/** Lets a job wait again for its open dependencies. Answers whether it has any. */
export function putBackBehind({ sql }: Session, job: WaitingJob, runAt: number): boolean {
  if (sql.get("has_dependencies", { job: job.key }) === undefined) return false;
  sql.run("insert_blocked", { ...job, rank: runAt * 1000, gate: GATE_AFTER });
  return true;
}

/** Changes the due time of a job that waits for dependencies. Answers whether it does. */
export function setDue({ sql }: Session, key: JobKey, runAt: number): boolean {
  return sql.run("set_rank_of_dependant", { key, rank: runAt * 1000 }).changes > 0;
}

export function openDependencies({ sql }: Session, id: JobId, limit: number): readonly JobId[] {
  const rows = sql.all("open_dependencies", {
    id: idBytes(id),
    limit: bounded(limit, DEPENDENCIES_MAX),
  });
  return rows.map((row) => idFromBytes(row.id));
}

/** True when {@link resolveDependencies} would move no job. Called without the write lock. */
export function resolvesNothing(session: Session, limit: number): boolean {
  if (session.sql.get("next_finished_dependency", {}) !== undefined) return false;
  const { finished, next } = sweepDependencies(session, limit);
  if (finished.length === 0) session.state.dependencySweep = next;
  return finished.length === 0;
}

/**
 * Resolves finished dependencies. Also sweeps the next dependencies for final jobs that are missing
 * in `finished_dependency`.
 */
export function resolveDependencies(session: Session, wanted: number): number {
  const limit = bounded(wanted, DEPENDENCIES_MAX);
  const { finished, next } = sweepDependencies(session, limit);
  session.state.dependencySweep = next;
  session.sql.run("insert_finished_dependency", { keys: JSON.stringify(finished) });
  return resolveUpTo(session, limit);
}

/** The part of {@link resolveDependencies} that runs with the end of a run or with an enqueue. */
export function resolveSomeDependencies(session: Session): void {
  resolveUpTo(session, DEPENDENCIES_MAX);
}

/** The final jobs among the next dependencies, and where the sweep continues. */
function sweepDependencies(
  session: Session,
  wanted: number,
): { readonly finished: readonly JobKey[]; readonly next: SessionState["dependencySweep"] } {
  const limit = bounded(wanted, DEPENDENCIES_MAX);
  const { job, depends_on } = session.state.dependencySweep;
  const rows = session.sql.all("dependencies_after", { job, depends_on, limit });
  const finished = rows.filter((row) => row.is_over === 1).map((row) => row.depends_on);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { finished: [...new Set(finished)], next: last ?? FIRST_DEPENDENCY };
}

/** Resolves at most `limit` dependencies. Answers how many jobs have moved. */
function resolveUpTo(session: Session, limit: number): number {
  const { sql } = session;
  let [moved, room] = [0, limit];
  while (room > 0) {
    const dependency = sql.get("next_finished_dependency", {});
    if (dependency === undefined) return moved;
    const of = { depends_on: dependency.key, limit: room };
    const dependants = isFinished(dependency) ? sql.all("dependants_of", of) : [];
    for (const { job, tolerant } of dependants) {
      if (resolveOne(session, job, dependency, tolerant === 1)) moved += 1;
    }
    if (dependants.length < room) sql.run("delete_finished_dependency", { key: dependency.key });
    room -= dependants.length;
  }
  return moved;
}

/** Guards against a wrong row: only final or removed jobs belong into the table. */
function isFinished({ id, state }: FinishedDependency): boolean {
  return id === null || state !== null;
}

/** Removes a finished dependency of a job. Answers whether the job has moved. */
function resolveOne(
  session: Session,
  job: JobKey,
  dependency: FinishedDependency,
  isTolerant: boolean,
): boolean {
  const { sql, clock } = session;
  const reason = isTolerant ? null : failureOf(dependency);
  sql.run("delete_dependency", { job, depends_on: dependency.key });
  if (reason === null && sql.get("has_dependencies", { job }) !== undefined) return false;
  const waiting = sql.get("take_dependant", { key: job });
  if (waiting === undefined) return false;
  if (reason === null) {
    putWaiting(session, waiting, Math.floor(waiting.rank / 1000), clock.now());
  } else {
    // Its own dependants follow: its key is in `finished_dependency` now.
    cancelUnstarted(session, [{ ...waiting, reason }]);
  }
  return true;
}

/** Why its dependants are cancelled; null if the dependency has succeeded. */
function failureOf({ id, state }: FinishedDependency): string | null {
  const word = state === null ? "cancelled" : stateCodec.word(state);
  if (word !== "failed" && word !== "cancelled") return null;
  return afterReason(id === null ? null : idFromBytes(id), word);
}
