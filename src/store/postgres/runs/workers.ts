/** register, renew, deregister, quiet, stopWorker, silent and workers: registered workers. */
import type { Renewal, SilentWorker, WorkerId, WorkerInfo } from "../../types/jobs-and-runs.ts";
import type { WorkerRecord } from "../../types/records.ts";
import { repeating } from "../database/retry.ts";
import { bounded } from "../../shared/limits.ts";
import { dropPermits } from "../queue/limits.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { uuidOf } from "../database/values.ts";

/** Workers in one answer. */
const WORKERS_MAX = 1_000;

export async function register(session: Session, worker: WorkerInfo): Promise<void> {
  const warn = (warning: string): void => session.warnings.report(warning);
  await session.heartbeatConnection?.reserve(worker.id, warn);
  await repeating(session.dice, () =>
    session.write.run("register_worker", {
      id: uuidOf(worker.id),
      process: uuidOf(worker.process),
      host: worker.host,
      pid: worker.pid,
      version: worker.version,
      protocol: worker.protocol,
      types: JSON.stringify(worker.types),
      lanes: JSON.stringify(worker.lanes),
      slots: worker.slots,
      tenant: worker.tenant,
      app: worker.appVersion,
      lease_ms: Math.round(worker.leaseMs),
      beat_ms: Math.round(worker.beatMs),
    }),
  );
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
export async function deletePartsOf(transaction: Sql, worker: string): Promise<void> {
  await transaction.run("delete_ended_runs", { worker });
  await transaction.run("delete_worker_types", { worker });
}

export async function renew(session: Session, worker: WorkerId, leaseMs: number): Promise<Renewal> {
  const parameters = { id: uuidOf(worker), lease_ms: Math.round(leaseMs) };
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

export async function quiet(session: Session, worker: WorkerId): Promise<boolean> {
  const changed = await repeating(session.dice, () =>
    session.write.run("quiet_worker", { id: uuidOf(worker) }),
  );
  return changed > 0;
}

export async function stopWorker(session: Session, worker: WorkerId): Promise<boolean> {
  const changed = await repeating(session.dice, () =>
    session.write.run("stop_worker", { id: uuidOf(worker) }),
  );
  return changed > 0;
}

export async function workers(session: Session, limit: number): Promise<readonly WorkerRecord[]> {
  const rows = await session.read.all("list_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ joined_at, buffered, beat_ms, beat_ago_ms, types, lanes, app, ...row }) => ({
    ...row,
    appVersion: app,
    joinedAt: joined_at,
    prefetched: buffered,
    beatMs: beat_ms,
    beatAgoMs: beat_ago_ms,
    types: JSON.parse(types),
    lanes: JSON.parse(lanes),
  }));
}

export async function silent(session: Session, limit: number): Promise<readonly SilentWorker[]> {
  const rows = await session.read.all("silent_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ id, beats, silent_ms: silentMs }) => ({ id, beats, silentMs }));
}
