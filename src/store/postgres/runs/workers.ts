/** register, renew, deregister, quiet, silent and workers: the registration of workers. */
import type { Renewal, SilentWorker, WorkerId, WorkerInfo } from "../../types/jobs-and-runs.ts";
import type { WorkerRecord } from "../../types/records.ts";
import { repeating } from "../database/retry.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

export { rescue } from "./rescue.ts";

/** Workers in one answer. */
const WORKERS_MAX = 1_000;

export async function register(session: Session, worker: WorkerInfo): Promise<void> {
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
      lease_ms: Math.round(worker.leaseMs),
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
      if (isDeleted) await transaction.run("delete_ended_runs", { worker: id });
      else await transaction.run("expire_worker", { id });
    }),
  );
  session.state.lostClaims.forget(worker);
}

export async function renew(session: Session, worker: WorkerId, leaseMs: number): Promise<Renewal> {
  const row = await repeating(session.dice, () =>
    session.write.get("renew_worker", { id: uuidOf(worker), lease_ms: Math.round(leaseMs) }),
  );
  if (row === undefined) return { status: "lost" };
  const { now, busy, quiet: isQuiet, outdated } = row;
  const [cancel, ended] = [JSON.parse(row.cancel ?? "[]"), JSON.parse(row.ended ?? "[]")];
  return { status: "renewed", now, cancel, busy, quiet: isQuiet, outdated, ended };
}

export async function quiet(session: Session, worker: WorkerId): Promise<boolean> {
  const changed = await repeating(session.dice, () =>
    session.write.run("quiet_worker", { id: uuidOf(worker) }),
  );
  return changed > 0;
}

export async function workers(session: Session, limit: number): Promise<readonly WorkerRecord[]> {
  const rows = await session.read.all("list_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ types, lanes, joined_at: joinedAt, buffered: prefetched, ...row }) => ({
    ...row,
    joinedAt,
    prefetched,
    types: JSON.parse(types),
    lanes: JSON.parse(lanes),
  }));
}

export async function silent(session: Session, limit: number): Promise<readonly SilentWorker[]> {
  const rows = await session.read.all("silent_workers", { limit: bounded(limit, WORKERS_MAX) });
  return rows.map(({ id, beats, silent_ms: silentMs }) => ({ id, beats, silentMs }));
}
