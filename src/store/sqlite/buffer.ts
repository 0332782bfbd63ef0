/** start and handBack: a buffer is a lease whose jobs have not all begun. */
import type { JobKey, Lease } from "../store.ts";
import { endUnstarted } from "./cancel.ts";
import { keepRuns, openRuns, runsOf, splitByRequest, withFacts, type HeldRun } from "./lease.ts";
import { putBack, type Session } from "./session.ts";

export function start(
  session: Session,
  { number, secret }: Lease,
  keys: readonly JobKey[],
): { status: "started" | "stale"; begun: JobKey[] } {
  const { sql, clock, tidings } = session;
  const lease = sql.get("find_lease", { number, secret });
  if (lease === undefined) return { status: "stale", begun: [] };

  const wanted = new Set(keys);
  const open = openRuns(session, lease).filter(({ key }) => wanted.has(key));
  const { asked, others } = splitByRequest(session, withFacts(session, open.filter(isWaiting)));
  endUnstarted(session, asked);

  const starting = new Set(others.map(({ key }) => key));
  const ended = new Set(asked.map(({ key }) => key));
  const now = clock.now();
  const runs = runsOf(lease)
    .filter(({ key }) => !ended.has(key))
    .map((run) => (starting.has(run.key) ? { ...run, startedAt: now } : run));
  keepRuns(session, lease, runs);
  tidings.tell("job:started", [...starting]);
  return { status: "started", begun: open.map(({ key }) => key).filter((key) => !ended.has(key)) };
}

export function handBack(
  session: Session,
  { number, secret }: Lease,
  keys: readonly JobKey[],
): number {
  const lease = session.sql.get("find_lease", { number, secret });
  if (lease === undefined) return 0;
  const wanted = new Set(keys);
  const open = openRuns(session, lease).filter((run) => isWaiting(run) && wanted.has(run.key));
  const returned = returnUnstarted(session, open);
  const gone = new Set(open.map(({ key }) => key));
  keepRuns(
    session,
    lease,
    runsOf(lease).filter(({ key }) => !gone.has(key)),
  );
  return returned;
}

/** Puts unstarted runs back as they lay. One that somebody asked to cancel ends instead. */
export function returnUnstarted(session: Session, runs: readonly HeldRun[]): number {
  const { asked, others } = splitByRequest(session, withFacts(session, runs));
  endUnstarted(session, asked);
  for (const job of others) putBack(session, job);
  return others.length;
}

function isWaiting({ startedAt }: HeldRun): boolean {
  return startedAt === null;
}
