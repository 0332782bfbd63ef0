/** join, renew, leave, quiet, silent and rescue: the life of a worker as the store sees it. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import { stateCodec } from "../../shared/codes.ts";
import type {
  JobKey,
  Renewal,
  Rescue,
  RescueRequest,
  SilentWorker,
  WorkerId,
  WorkerInfo,
} from "../../types/jobs-and-runs.ts";
import type { WorkerRecord } from "../../types/records.ts";
import { isCertain, lastStartOf } from "../../shared/crash-charge.ts";
import { returnUnstarted } from "./prefetch.ts";
import { factsOf } from "./claim.ts";
import { endedRuns, keepRuns, openRuns, splitByRequest, withFacts, type HeldRun } from "./lease.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import { endRuns } from "./settle.ts";

/** Jobs moved in one transaction. */
const RESCUE_MAX = 500;
/** Workers named in one answer. */
const WORKERS_MAX = 1_000;

export function register({ sql, clock }: Session, worker: WorkerInfo): void {
  const now = clock.now();
  sql.run("register_worker", {
    id: idBytes(worker.id),
    host: worker.host,
    pid: worker.pid,
    version: worker.version,
    protocol: worker.protocol,
    types: JSON.stringify(worker.types),
    lanes: JSON.stringify(worker.lanes),
    slots: worker.slots,
    tenant: worker.tenant,
    now,
    until: now + worker.leaseMs,
  });
}

export function deregister({ sql, clock }: Session, worker: WorkerId): void {
  const id = idBytes(worker);
  const holdsNothing = sql.get("leases_of_worker", { worker: id }) === undefined;
  if (holdsNothing) sql.run("delete_worker", { id });
  else sql.run("expire_worker", { id, now: clock.now() });
}

export function renew(session: Session, worker: WorkerId, leaseMs: number): Renewal {
  const { sql, clock } = session;
  const id = idBytes(worker);
  const now = clock.now();
  const row = sql.get("renew_worker", { id, until: now + leaseMs });
  if (row === undefined) return { status: "lost" };
  const leases = sql
    .all("leases_of_worker", { worker: id })
    .map((lease) => ({ lease, open: openRuns(session, lease) }));
  const cancel = leases
    .flatMap(({ open }) => splitByRequest(session, open).asked)
    .map(({ key, n, reason }) => ({ key, n, reason }));
  const ended = leases
    .flatMap(({ lease, open }) => endedRuns(lease, open))
    .map(({ key, n }) => ({ key, n }));
  const [isQuiet, outdated] = [row.quiet === 1, row.outdated === 1];
  return { status: "renewed", now, cancel, quiet: isQuiet, outdated, ended };
}

export function quiet({ sql }: Session, worker: WorkerId): boolean {
  return sql.run("quiet_worker", { id: idBytes(worker) }).changes > 0;
}

export function workers(session: Session, limit: number): WorkerRecord[] {
  const { sql } = session;
  return sql.all("list_workers", { limit: bounded(limit, WORKERS_MAX) }).map((row) => {
    const open = sql
      .all("leases_of_worker", { worker: row.id })
      .flatMap((lease) => openRuns(session, lease));
    const buffered = open.filter(({ startedAt }) => startedAt === null).length;
    const types: string[] = JSON.parse(row.types);
    const lanes: string[] = JSON.parse(row.lanes);
    return {
      id: idFromBytes(row.id),
      host: row.host,
      pid: row.pid,
      version: row.version,
      joinedAt: row.joined_at,
      until: row.until,
      beats: row.beats,
      quiet: row.quiet === 1,
      types,
      lanes,
      slots: row.slots,
      tenant: row.tenant,
      running: open.length - buffered,
      buffered,
    };
  });
}

export function silent({ sql, clock }: Session, limit: number): SilentWorker[] {
  const now = clock.now();
  return sql.all("silent_workers", { now, limit: bounded(limit, WORKERS_MAX) }).map((row) => ({
    id: idFromBytes(row.id),
    beats: row.beats,
    silentMs: now - row.until,
  }));
}

/** Takes back what a silent worker holds, lease by lease, until the limit is reached. */
export function rescue(session: Session, request: RescueRequest): Rescue {
  const { sql, clock } = session;
  const id = idBytes(request.worker);
  const { beats } = request;
  if (sql.get("worker_is_silent", { id, beats, now: clock.now() }) === undefined) {
    return { returned: 0, settled: [], done: false };
  }
  const settled: Rescue["settled"][number][] = [];
  let [returned, moved] = [0, 0];
  const leases = sql.all("leases_of_worker", { worker: id });
  const lastWave = lastStartOf(leases.flatMap((lease) => openRuns(session, lease)));
  for (const lease of leases) {
    const room = bounded(request.limit, RESCUE_MAX) - moved;
    if (room <= 0) return { returned, settled, done: false };
    const rescued = rescueLease(session, lease, room, { ...request, lastWave });
    moved += rescued.moved;
    returned += rescued.returned;
    settled.push(...rescued.settled);
  }
  if (sql.get("leases_of_worker", { worker: id }) !== undefined) {
    return { returned, settled, done: false };
  }
  sql.run("delete_worker", { id });
  return { returned, settled, done: true };
}

interface Decision extends Pick<RescueRequest, "decide"> {
  readonly lastWave: ReadonlySet<JobKey>;
}

/**
 * What had begun goes through the settle door; what only lay in the prefetch goes back uncharged,
 * or ends if somebody asked for that. `moved` is how many left the lease.
 */
export function rescueLease(
  session: Session,
  lease: LeaseRow,
  room: number,
  decision: Decision,
): Omit<Rescue, "done"> & { readonly moved: number } {
  const open = openRuns(session, lease);
  const runs = open.slice(0, room);
  const returned = returnUnstarted(
    session,
    runs.filter(({ startedAt }) => startedAt === null),
  );
  const settled = endCrashed(session, lease, runs, decision);
  const taken = new Set(runs.map(({ key }) => key));
  keepRuns(
    session,
    lease,
    open.filter(({ key }) => !taken.has(key)),
  );
  return { returned, settled, moved: runs.length };
}

function endCrashed(
  session: Session,
  lease: LeaseRow,
  runs: readonly HeldRun[],
  { decide, lastWave }: Decision,
): Rescue["settled"] {
  const { sql } = session;
  const begun = withFacts(session, runs).flatMap((job) => {
    const { key, n, startedAt } = job;
    if (startedAt === null) return [];
    const settlement = decide(factsOf(session, job), isCertain(job, lastWave));
    return [{ lease, key, n, startedAt, settlement }];
  });
  endRuns(session, begun);
  return begun.map(({ key }) => {
    const row = sql.get("job_by_key", { key });
    if (row === undefined) throw new Error(`job ${key} vanished while it was rescued`);
    return { id: idFromBytes(row.id), to: stateCodec.word(row.state) };
  });
}
