/** Verbs of the registry of workers: from register to silent, workers and time. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type {
  CodeReport,
  Renewal,
  SilentWorker,
  SlotsByLane,
  WorkerId,
  WorkerInfo,
  WorkerVitals,
} from "../../types/jobs-and-runs.ts";
import type { WorkerRecord, WorkerResumed } from "../../types/records.ts";
import { openAmong, openRuns, runsOf, splitByRequest, withFacts, type HeldRun } from "./lease.ts";
import { workerAsked } from "../../shared/audit/drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { endCode } from "../queue/dependencies.ts";
import { dropPermits } from "../queue/limits.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

/** The maximum of workers in one answer. */
const WORKERS_MAX = 1_000;

export function register({ sql, clock }: Session, worker: WorkerInfo): void {
  const now = clock.now();
  sql.run("register_worker", {
    id: idBytes(worker.id),
    process: idBytes(worker.process),
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
    now,
    until: now + worker.leaseMs,
    beat_ms: Math.round(worker.beatMs),
    quiet: worker.quiet ? 1 : 0,
  });
  const { appVersion: app } = worker;
  if (app !== null) sql.run("insert_deploy", { worker: idBytes(worker.id), app, now });
}

export function deregister(session: Session, worker: WorkerId): void {
  const { sql, clock } = session;
  const id = idBytes(worker);
  const holdsNothing = sql.get("leases_of_worker", { worker: id }) === undefined;
  if (holdsNothing) deleteWorker(session, id);
  else sql.run("expire_worker", { id, now: clock.now() });
}

export function renew(
  session: Session,
  worker: WorkerId,
  leaseMs: number,
  vitals: WorkerVitals | null = null,
): Renewal {
  const { sql, clock } = session;
  const id = idBytes(worker);
  const now = clock.now();
  const row = sql.get("renew_worker", {
    id,
    now,
    until: now + leaseMs,
    memory_bytes: vitals?.memoryBytes ?? null,
    loop_lag_ms: vitals?.loopLagMs ?? null,
  });
  if (row === undefined) return { status: "lost" };
  const open = openAmong(session, sql.all("leases_of_worker", { worker: id }).flatMap(runsOf));
  const { toCancel } = splitByRequest(session, open);
  const cancel = toCancel.map(({ key, n, reason }) => ({ key, n, reason }));
  const ended = sql.all("ended_runs", { worker: id }).map(({ key, n }) => ({ key, n }));
  const [isQuiet, stop, outdated] = [row.quiet === 1, row.stopping === 1, row.outdated === 1];
  const busy = open.length > 0;
  return { status: "renewed", now, cancel, busy, quiet: isQuiet, stop, outdated, ended };
}

export function reportCode(
  session: Session,
  id: WorkerId,
  { left = [], ended = [] }: CodeReport,
): void {
  const { sql } = session;
  const worker = idBytes(id);
  if (left.length > 0) sql.run("insert_ended_runs", { worker, runs: JSON.stringify(left) });
  if (ended.length > 0) dropEndedRuns(session, worker, JSON.stringify(ended));
}

/** Jobs that wait for the code of these runs may start. Null: all ended runs of the worker. */
function dropEndedRuns(session: Session, worker: Uint8Array, runs: string | null): void {
  const rows = session.sql.all("delete_ended_runs", { worker, runs });
  endCode(
    session,
    rows.map(({ key }) => key),
  );
}

/** Removes a worker that holds nothing. */
export function deleteWorker(session: Session, id: Uint8Array): void {
  const { sql } = session;
  dropPermits(session, id);
  dropEndedRuns(session, id, null);
  sql.run("delete_worker_types", { worker: id });
  sql.run("delete_worker", { id });
}

export function quiet(session: Session, worker: WorkerId, act: Act = NO_ACT): boolean {
  const isKnown = session.sql.run("quiet_worker", { id: idBytes(worker) }).changes > 0;
  if (isKnown) writeAudits(session, [workerAsked("worker_quieted", worker, act)]);
  return isKnown;
}

export function resumeWorker(session: Session, worker: WorkerId, act: Act = NO_ACT): WorkerResumed {
  const { sql } = session;
  const id = idBytes(worker);
  if (sql.run("resume_worker", { id }).changes > 0) {
    writeAudits(session, [workerAsked("worker_resumed", worker, act)]);
    return "resumed";
  }
  const row = sql.get("is_stopping", { id });
  if (row === undefined) return "unknown";
  return row.stopping === 1 ? "stopping" : "resumed";
}

export function stopWorker(session: Session, worker: WorkerId, act: Act = NO_ACT): boolean {
  const isKnown = session.sql.run("stop_worker", { id: idBytes(worker) }).changes > 0;
  if (isKnown) writeAudits(session, [workerAsked("worker_stop_requested", worker, act)]);
  return isKnown;
}

export function workers(session: Session, limit: number): WorkerRecord[] {
  const { sql, clock } = session;
  const now = clock.now();
  return sql.all("list_workers", { limit: bounded(limit, WORKERS_MAX) }).map((row) => {
    const open = sql
      .all("leases_of_worker", { worker: row.id })
      .flatMap((lease) => openRuns(session, lease));
    const started = open.filter(({ startedAt }) => startedAt !== null);
    const types: string[] = JSON.parse(row.types);
    const lanes: string[] = JSON.parse(row.lanes);
    const laneSlots: SlotsByLane = JSON.parse(row.lane_slots);
    return {
      id: idFromBytes(row.id),
      host: row.host,
      pid: row.pid,
      version: row.version,
      joinedAt: row.joined_at,
      until: row.until,
      leaseLeftMs: row.until - now,
      beatMs: row.beat_ms,
      beatAgoMs: now - row.renewed_at,
      beats: row.beats,
      quiet: row.quiet === 1,
      stopping: row.stopping === 1,
      types,
      lanes,
      slots: row.slots,
      laneSlots,
      tenant: row.tenant,
      appVersion: row.app,
      memoryBytes: row.memory_bytes,
      loopLagMs: row.loop_lag_ms,
      takenBy: null,
      running: started.length,
      prefetched: open.length - started.length,
      ...kindsOf(session, started),
    };
  });
}

/** The lanes and the crashes of started jobs. */
function kindsOf(
  session: Session,
  started: readonly HeldRun[],
): Pick<WorkerRecord, "runningByLane" | "crashedOnce" | "crashedOften"> {
  const jobs = withFacts(session, started);
  const runningByLane = new Map<string, number>();
  for (const { lane } of jobs) {
    const name = session.names.text(lane);
    runningByLane.set(name, (runningByLane.get(name) ?? 0) + 1);
  }
  return {
    runningByLane: Object.fromEntries(runningByLane),
    crashedOnce: jobs.filter(({ crashes }) => crashes === 1).length,
    crashedOften: jobs.filter(({ crashes }) => crashes > 1).length,
  };
}

export function time({ clock }: Session): number {
  return clock.now();
}

export function silent({ sql, clock }: Session, limit: number): SilentWorker[] {
  const now = clock.now();
  return sql.all("silent_workers", { now, limit: bounded(limit, WORKERS_MAX) }).map((row) => ({
    id: idFromBytes(row.id),
    beats: row.beats,
    silentMs: now - row.until,
  }));
}
