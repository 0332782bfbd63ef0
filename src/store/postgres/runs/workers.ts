/**
 * register, renew, reportCode, deregister, quiet, resumeWorker, stopWorker, silent, workers and
 * time.
 */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { workerAsked, type AuditDraft } from "../../shared/audit/drafts.ts";
import type {
  CodeReport,
  Renewal,
  SilentWorker,
  WorkerId,
  WorkerInfo,
  WorkerVitals,
} from "../../types/jobs-and-runs.ts";
import type { WorkerRecord, WorkerResumed } from "../../types/records.ts";
import { repeating } from "../database/retry.ts";
import { bounded } from "../../shared/limits.ts";
import { dropPermits } from "../queue/limits.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list, uuidOf } from "../database/values.ts";

/** Workers in one answer. */
const WORKERS_MAX = 1_000;
/** Expired leases from SQL that are ended at once. */
const SWEPT_MAX = 100;

export async function register(session: Session, worker: WorkerInfo): Promise<void> {
  const warn = (warning: string): void => session.warnings.report(warning);
  await session.heartbeatConnection?.reserve(worker.id, warn);
  const row = {
    id: uuidOf(worker.id),
    process: uuidOf(worker.process),
    host: worker.host,
    pid: worker.pid,
    version: worker.version,
    protocol: worker.protocol,
    types: JSON.stringify(worker.types),
    lanes: JSON.stringify(worker.lanes),
    slots: worker.slots,
    lane_slots: JSON.stringify(worker.laneSlots),
    tenant: worker.tenant,
    app: worker.appVersion,
    lease_ms: Math.round(worker.leaseMs),
    beat_ms: Math.round(worker.beatMs),
    quiet: worker.quiet,
  };
  await repeating(session.dice, async () => {
    const { id, app } = row;
    if (app === null) return void (await session.write.run("register_worker", row));
    await session.transaction(async (sql) => {
      // Of workers that register at the same time, one is the first.
      await sql.get("lock_deploys", {});
      await sql.run("register_worker", row);
      await sql.run("insert_deploy", { worker: id, app });
    });
  });
}

/** Locks the row first: a claim in progress may still add a lease to the worker. */
export async function deregister(session: Session, worker: WorkerId): Promise<void> {
  const id = uuidOf(worker);
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      await transaction.get("lock_worker", { id });
      const isDeleted = (await transaction.run("delete_worker", { id })) > 0;
      if (!isDeleted) return void (await transaction.run("expire_worker", { id }));
      await deletePartsOf(transaction, id);
      await dropPermits(transaction, id);
    }),
  );
  session.state.lostClaims.forget(worker);
  session.heartbeatConnection?.release(worker);
}

/** What was stored about a worker that is removed. */
export async function deletePartsOf(transaction: StoreTransaction, worker: string): Promise<void> {
  await dropEndedRuns(transaction, worker, null);
  await transaction.run("delete_worker_types", { worker });
}

export async function reportCode(
  session: Session,
  id: WorkerId,
  { left = [], ended = [] }: CodeReport,
): Promise<void> {
  const worker = uuidOf(id);
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const runs = JSON.stringify(left);
      if (left.length > 0) await transaction.run("insert_ended_runs", { worker, runs });
      if (ended.length > 0) await dropEndedRuns(transaction, worker, JSON.stringify(ended));
    }),
  );
}

/** Jobs that wait for the code of these runs may start. Null: all ended runs of the worker. */
async function dropEndedRuns(
  transaction: StoreTransaction,
  worker: string,
  runs: string | null,
): Promise<void> {
  const rows = await transaction.all("delete_ended_runs", { worker, runs });
  if (rows.length === 0) return;
  const keys = list(rows.map(({ key }) => key));
  if ((await transaction.run("insert_ended_code", { keys })) > 0) transaction.outbox.addAwaited();
}

export async function renew(
  session: Session,
  worker: WorkerId,
  leaseMs: number,
  vitals: WorkerVitals | null = null,
): Promise<Renewal> {
  const lease = { id: uuidOf(worker), lease_ms: Math.round(leaseMs) };
  const { memoryBytes: memory_bytes = null, loopLagMs: loop_lag_ms = null } = vitals ?? {};
  const parameters = { ...lease, memory_bytes, loop_lag_ms };
  const row = await onHeartbeatConnection(session, (sql) => sql.get("renew_worker", parameters));
  if (row === undefined) return { status: "lost" };
  const { now, busy, quiet: isQuiet, stopping: stop, outdated } = row;
  const [cancel, ended] = [JSON.parse(row.cancel ?? "[]"), JSON.parse(row.ended ?? "[]")];
  return { status: "renewed", now, cancel, busy, quiet: isQuiet, stop, outdated, ended };
}

/** A connection of the pool serves as well if the one of the heartbeat fails. */
async function onHeartbeatConnection<Answer>(
  { heartbeat, write, dice }: Session,
  renewal: (sql: Sql) => Promise<Answer>,
): Promise<Answer> {
  try {
    if (heartbeat !== null) return await renewal(heartbeat);
  } catch {
    // A repeated renewal is harmless, and the pool tells why it fails.
  }
  return repeating(dice, () => renewal(write));
}

export async function quiet(
  session: Session,
  worker: WorkerId,
  act: Act = NO_ACT,
): Promise<boolean> {
  return ask(session, "quiet_worker", workerAsked("worker_quieted", worker, act));
}

export async function resumeWorker(
  session: Session,
  worker: WorkerId,
  act: Act = NO_ACT,
): Promise<WorkerResumed> {
  const isResumed = await ask(session, "resume_worker", workerAsked("worker_resumed", worker, act));
  if (isResumed) return "resumed";
  const row = await session.read.get("is_stopping", { id: uuidOf(worker) });
  if (row === undefined) return "unknown";
  return row.stopping ? "stopping" : "resumed";
}

export async function stopWorker(
  session: Session,
  worker: WorkerId,
  act: Act = NO_ACT,
): Promise<boolean> {
  return ask(session, "stop_worker", workerAsked("worker_stop_requested", worker, act));
}

async function ask(
  session: Session,
  query: "quiet_worker" | "resume_worker" | "stop_worker",
  draft: AuditDraft,
): Promise<boolean> {
  const id = uuidOf(draft.subject.name);
  return repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      if ((await transaction.run(query, { id })) === 0) return false;
      await writeAudits(transaction, [draft], isRepeat);
      return true;
    }),
  );
}

export async function workers(session: Session, limit: number): Promise<readonly WorkerRecord[]> {
  const rows = await session.read.all("list_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ joined_at, buffered, beat_ms, beat_ago_ms, lane_slots, ...rest }) => {
    const { app, memory_bytes, loop_lag_ms, taken_by, lease_left_ms, ...others } = rest;
    const { running_by_lane, crashed_once, crashed_often, ...row } = others;
    return {
      ...row,
      leaseLeftMs: lease_left_ms,
      runningByLane: JSON.parse(running_by_lane),
      crashedOnce: crashed_once,
      crashedOften: crashed_often,
      appVersion: app,
      memoryBytes: memory_bytes,
      loopLagMs: loop_lag_ms,
      takenBy: taken_by,
      joinedAt: joined_at,
      prefetched: buffered,
      beatMs: beat_ms,
      beatAgoMs: beat_ago_ms,
      types: JSON.parse(row.types),
      lanes: JSON.parse(row.lanes),
      laneSlots: JSON.parse(lane_slots),
    };
  });
}

export async function time(session: Session): Promise<number> {
  const [row] = await session.read.all("store_time", {});
  return row!.at;
}

/** Leases that were taken from SQL and have expired are ended on the way. */
export async function silent(session: Session, limit: number): Promise<readonly SilentWorker[]> {
  const swept = await session.write.get("sweep_expired_leases", { limit: SWEPT_MAX });
  if ((swept?.ended ?? 0) > 0) session.wakeForReturned("ready");
  const rows = await session.read.all("silent_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ id, beats, silent_ms: silentMs }) => ({ id, beats, silentMs }));
}
