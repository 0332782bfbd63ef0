/** rescue: takes the jobs of a silent worker back. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { stateCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import type { CrashFacts, JobKey, RescueAnswer, RescueRequest } from "../../types/jobs-and-runs.ts";
import type { LeaseRow, QueryRows } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { countLoneDeath } from "../queue/crash-streaks.ts";
import { factsOf, keepRuns, openRuns, withFacts, type HeldRun } from "./lease.ts";
import { dropMissing, splitMissing } from "./missing-jobs.ts";
import { returnUnstarted } from "./prefetch.ts";
import { endRuns } from "./settle.ts";
import { deleteWorker } from "./workers.ts";

/** The maximum of jobs moved in one transaction. */
const RESCUE_MAX = 500;

/** Takes the jobs of a silent worker back, lease by lease, up to the limit. */
export function rescue(session: Session, request: RescueRequest): RescueAnswer {
  const { sql, clock } = session;
  const id = idBytes(request.worker);
  const { beats } = request;
  const silent = sql.get("worker_is_silent", { id, beats, now: clock.now() });
  if (silent === undefined) return { returned: 0, settled: [], missing: [], done: false };
  const isAlone = begunRuns(session, silent) === 1;
  const decide = (job: CrashFacts): Settlement => request.decide(job, isAlone);
  const settled: RescueAnswer["settled"][number][] = [];
  const missing: JobKey[] = [];
  let [returned, moved] = [0, 0];
  const leases = sql.all("leases_of_worker", { worker: id });
  for (const lease of leases) {
    const room = bounded(request.limit, RESCUE_MAX) - moved;
    if (room <= 0) return { returned, settled, missing, done: false };
    const rescued = rescueLease(session, lease, room, decide);
    moved += rescued.moved;
    returned += rescued.returned;
    settled.push(...rescued.settled);
    missing.push(...rescued.missing);
  }
  if (sql.get("leases_of_worker", { worker: id }) !== undefined) {
    return { returned, settled, missing, done: false };
  }
  deleteWorker(session, id);
  return { returned, settled, missing, done: true };
}

/**
 * How many runs the workers of the dead process had begun. Counted before the first run is moved,
 * and stored for the later chunks and for the rescues of the other workers.
 */
function begunRuns(
  session: Session,
  { process, died_with }: QueryRows["worker_is_silent"],
): number {
  if (died_with !== null) return died_with;
  const { sql } = session;
  const open = sql
    .all("leases_of_process", { process })
    .flatMap((lease) => openRuns(session, lease));
  const begun = open.filter(({ startedAt }) => startedAt !== null).length;
  sql.run("set_died_with", { process, begun });
  return begun;
}

/**
 * Settles started runs. Prefetched jobs are returned uncharged, or cancelled if requested. `moved`
 * is how many runs left the lease.
 */
export function rescueLease(
  session: Session,
  lease: LeaseRow,
  room: number,
  decide: (job: CrashFacts) => Settlement,
): Omit<RescueAnswer, "done"> & { readonly moved: number } {
  const open = openRuns(session, lease);
  const chunk = open.slice(0, room);
  const { present: runs, missing } = splitMissing(session, chunk);
  dropMissing(session, missing);
  const returned = returnUnstarted(
    session,
    runs.filter(({ startedAt }) => startedAt === null),
  );
  const settled = endCrashed(session, lease, runs, decide);
  const taken = new Set(chunk.map(({ key }) => key));
  keepRuns(
    session,
    lease,
    open.filter(({ key }) => !taken.has(key)),
  );
  return { returned, settled, missing, moved: chunk.length };
}

function endCrashed(
  session: Session,
  lease: LeaseRow,
  runs: readonly HeldRun[],
  decide: (job: CrashFacts) => Settlement,
): RescueAnswer["settled"] {
  const { sql } = session;
  const begun = withFacts(session, runs).flatMap((job) => {
    const { key, n, rank, startedAt } = job;
    if (startedAt === null) return [];
    const settlement = decide(factsOf(session, job));
    return [{ lease, key, n, rank, startedAt, settlement, type: job.type }];
  });
  endRuns(session, begun);
  for (const { settlement, type } of begun) {
    if (settlement.to === "failed" && settlement.hasDiedAlone) countLoneDeath(session, type);
  }
  return begun.map(({ key }) => {
    const row = sql.get("job_by_key", { key });
    if (row === undefined) throw new Error(`job ${key} was deleted while it was rescued`);
    return { id: idFromBytes(row.id), to: stateCodec.word(row.state) };
  });
}
