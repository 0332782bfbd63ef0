/** join, renew, leave, silent and rescue: the life of a worker as the store sees it. */
import { idBytes, idFromBytes } from "../../core/ids.ts";
import { stateCodec } from "../codes.ts";
import type {
  Renewal,
  Rescue,
  RescueRequest,
  SilentWorker,
  WorkerId,
  WorkerInfo,
} from "../store.ts";
import { endUnstarted } from "./cancel.ts";
import { keepInLease, policyOf, splitByRequest } from "./claim.ts";
import type { LeaseRow } from "./rows.ts";
import { closeIfDone, endRuns } from "./settle.ts";
import { putBack, type Session } from "./session.ts";

export function join({ sql, clock }: Session, worker: WorkerInfo): void {
  const now = clock.now();
  sql.run("join_worker", {
    id: idBytes(worker.id),
    host: worker.host,
    pid: worker.pid,
    version: worker.version,
    protocol: worker.protocol,
    now,
    until: now + worker.leaseMs,
  });
}

export function leave({ sql, clock }: Session, worker: WorkerId): void {
  const id = idBytes(worker);
  const holdsNothing = sql.get("leases_of_worker", { worker: id }) === undefined;
  if (holdsNothing) sql.run("delete_worker", { id });
  else sql.run("expire_worker", { id, now: clock.now() });
}

export function renew({ sql, clock }: Session, worker: WorkerId, leaseMs: number): Renewal {
  const id = idBytes(worker);
  const row = sql.get("renew_worker", { id, until: clock.now() + leaseMs });
  if (row === undefined) return { status: "lost" };
  const cancel = sql.all("cancel_requests_of_worker", { worker: id });
  return { status: "renewed", cancel, quiet: row.quiet === 1 };
}

export function silent({ sql, clock }: Session, limit: number): SilentWorker[] {
  const now = clock.now();
  return sql.all("silent_workers", { now, limit }).map((row) => ({
    id: idFromBytes(row.id),
    beats: row.beats,
    silentMs: now - row.until,
  }));
}

/** Takes back what a silent worker holds, lease by lease, until the limit is reached. */
export function rescue(session: Session, request: RescueRequest): Rescue {
  const { sql, clock } = session;
  const id = idBytes(request.worker);
  const { beats, limit } = request;
  if (sql.get("worker_is_silent", { id, beats, now: clock.now() }) === undefined) {
    return { returned: 0, settled: [], done: false };
  }
  const settled: Rescue["settled"][number][] = [];
  let returned = 0;
  for (const lease of sql.all("leases_of_worker", { worker: id })) {
    const room = limit - returned - settled.length;
    if (room <= 0) return { returned, settled, done: false };
    if (lease.started_at === null) returned += returnBuffer(session, lease, room);
    else settled.push(...endCrashed(session, lease, room, request));
  }
  if (sql.get("leases_of_worker", { worker: id }) !== undefined) {
    return { returned, settled, done: false };
  }
  sql.run("delete_worker", { id });
  return { returned, settled, done: true };
}

/** Unstarted jobs go back uncharged, except those that somebody asked to cancel. */
function returnBuffer(session: Session, lease: LeaseRow, room: number): number {
  const { asked, others } = splitByRequest(session, lease);
  endUnstarted(session, asked);
  const back = others.slice(0, room);
  for (const job of back) putBack(session, job);
  keepInLease(session, lease, others.slice(room));
  return back.length;
}

/** Started jobs go through the settle door with what the core decides about a crash. */
function endCrashed(
  session: Session,
  lease: LeaseRow,
  room: number,
  { decide }: RescueRequest,
): Rescue["settled"][number][] {
  const { sql } = session;
  const jobs = sql.all("unfinished_jobs", { number: lease.number }).slice(0, room);
  endRuns(
    session,
    jobs.map((job) => ({
      lease,
      key: job.key,
      n: job.n,
      settlement: decide({ tries: job.tries, crashes: job.crashes, ...policyOf(job) }),
    })),
  );
  closeIfDone(session, lease);
  return jobs.map((job) => {
    const row = sql.get("job_by_key", { key: job.key });
    if (row === undefined) throw new Error(`job ${job.key} vanished while it was rescued`);
    return { id: idFromBytes(job.id), to: stateCodec.word(row.state) };
  });
}
