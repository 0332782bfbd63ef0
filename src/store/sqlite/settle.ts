/** settle: the one door out of `running`. The rescuer and the operator go through it too. */
import type { FinalState } from "../../core/job.ts";
import type { Fault, Settlement } from "../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../codes.ts";
import type { EventKind, JobKey, Lease, SettleItem } from "../store.ts";
import { dropCancelRequests, findCancelRequests } from "./cancel.ts";
import { insertDeadLetter } from "./dead-letter.ts";
import { enqueueWithin } from "./enqueue.ts";
import { closeIfDone, runsOf, type HeldRun } from "./lease.ts";
import type { LeaseRow } from "./rows.ts";
import { putWaiting, type Session } from "./session.ts";

const EVENT_OF: Readonly<Record<FinalState, EventKind>> = {
  completed: "job:completed",
  completed_with_errors: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
};

/** A run that ended, under the lease that allows to say so. */
export interface EndedRun {
  /** Null when nobody held the job: an operator ended its wait. */
  readonly lease: LeaseRow | null;
  readonly key: JobKey;
  readonly n: number;
  /** Null when it had not begun. */
  readonly startedAt: number | null;
  readonly settlement: Settlement;
}

/** Applies settlements whose lease still stands; the others are `stale` and change nothing. */
export function settle(session: Session, items: readonly SettleItem[]): ("settled" | "stale")[] {
  const leases = new Map<string, KnownLease | null>();
  const runs = items.map(({ lease: proof, key, n, settlement }) => {
    const lease = findLease(session, leases, proof);
    const held = lease?.runs.get(key);
    if (lease === null || held?.n !== n || held.startedAt === null) return null;
    return { lease: lease.row, key, n, startedAt: held.startedAt, settlement };
  });
  const settled = endRuns(
    session,
    runs.filter((run) => run !== null),
  );
  for (const lease of leases.values()) {
    if (lease !== null) closeIfDone(session, lease.row);
  }
  const answers = runs.map((run) => (run !== null && settled.has(run) ? "settled" : "stale"));
  enqueueChildren(
    session,
    items.filter((_, index) => answers[index] === "settled"),
  );
  return answers;
}

/** What a success brings into being. A child that is refused or exists already harms nothing. */
function enqueueChildren(session: Session, items: readonly SettleItem[]): void {
  for (const { settlement, children = [] } of items) {
    if (!isSuccess(settlement)) continue;
    for (const child of children) enqueueWithin(session, child);
  }
}

function isSuccess({ to }: Settlement): boolean {
  return to === "completed" || to === "completed_with_errors";
}

interface KnownLease {
  readonly row: LeaseRow;
  readonly runs: ReadonlyMap<JobKey, HeldRun>;
}

/** The lease with this proof, looked up once per call. */
function findLease(
  { sql }: Session,
  known: Map<string, KnownLease | null>,
  { number, secret }: Lease,
): KnownLease | null {
  const proof = `${number}.${secret}`;
  const found = known.get(proof);
  if (found !== undefined) return found;
  const row = sql.get("find_lease", { number, secret });
  const runs = row === undefined ? [] : runsOf(row);
  const lease =
    row === undefined ? null : { row, runs: new Map(runs.map((run) => [run.key, run])) };
  known.set(proof, lease);
  return lease;
}

/**
 * Writes ledger rows and moves the jobs on. Answers the runs that had not ended before: the
 * ledger's primary key is the second line behind the lease.
 */
export function endRuns(session: Session, runs: readonly EndedRun[]): ReadonlySet<EndedRun> {
  const { sql, clock, tidings } = session;
  const now = clock.now();
  const asked = findCancelRequests(
    session,
    runs.map(({ key }) => key),
  );
  const settled = new Map<EndedRun, Ending>();
  for (const run of runs) {
    const ending = endingOf(run.settlement, now, asked.has(run.key) ? askedFor(asked, run) : null);
    if (!insertAttempt(session, run, ending, now)) continue;
    settled.set(run, ending);
    if (ending.nextRunAt !== null) waitAgain(session, run, ending.nextRunAt, now);
    if (ending.state === "failed") insertDeadLetter(session, run.key, run.settlement, now);
  }
  for (const [kind, keys] of eventsOf(settled)) tidings.tell(kind, keys);
  const over = [...settled].filter(([, { state }]) => state !== null).map(([{ key }]) => key);
  sql.run("delete_dedup", { keys: JSON.stringify(over) });
  dropCancelRequests(
    session,
    [...settled.keys()].map(({ key }) => key).filter((key) => asked.has(key)),
  );
  return new Set(settled.keys());
}

/** What the ledger row says besides who ran it. */
interface Ending {
  readonly state: FinalState | null;
  readonly nextRunAt: number | null;
  readonly fault: Fault | null;
  readonly result: string | null;
  readonly reason: string | null;
}

interface CancelRequest {
  readonly reason: string | null;
}

function askedFor(asked: ReadonlyMap<JobKey, string | null>, { key }: EndedRun): CancelRequest {
  return { reason: asked.get(key) ?? null };
}

/** A job that somebody asked to cancel never goes back to waiting; an end of its own stands. */
function endingOf(settlement: Settlement, now: number, request: CancelRequest | null): Ending {
  const open: Ending = { state: null, nextRunAt: null, fault: null, result: null, reason: null };
  switch (settlement.to) {
    case "completed":
    case "completed_with_errors": {
      const { to: state, result, fault } = settlement;
      return { ...open, state, result, fault };
    }
    case "failed":
      return { ...open, state: "failed", fault: settlement.fault };
    case "cancelled":
      return { ...open, state: "cancelled", reason: settlement.reason };
    case "scheduled":
    case "queued": {
      const { fault, delayMs } = settlement;
      if (request !== null) return { ...open, state: "cancelled", fault, reason: request.reason };
      return { ...open, fault, nextRunAt: now + Math.max(0, Math.round(delayMs)) };
    }
  }
}

function insertAttempt({ sql }: Session, run: EndedRun, ending: Ending, now: number): boolean {
  const { lease, settlement } = run;
  const { changes } = sql.run("insert_attempt", {
    key: run.key,
    n: run.n,
    tries: settlement.tries,
    crashes: settlement.crashes,
    worker: lease?.worker ?? null,
    fence: lease?.number ?? null,
    claimed_at: lease?.claimed_at ?? null,
    started_at: run.startedAt,
    finished_at: now,
    outcome: outcomeCodec.code[settlement.outcome],
    state: ending.state === null ? null : stateCodec.code[ending.state],
    error_class: ending.fault === null ? null : errorClassCodec.code[ending.fault.class],
    error: ending.fault === null ? null : JSON.stringify(ending.fault),
    result: ending.result,
    reason: ending.reason,
    next_run_at: ending.nextRunAt,
  });
  return changes > 0;
}

function waitAgain(session: Session, run: EndedRun, runAt: number, now: number): void {
  const { key, n, settlement } = run;
  const place = session.sql.get("waiting_fields", { key });
  if (place === undefined) throw new Error(`job ${key} has ended a run but has no row`);
  const { tries, crashes } = settlement;
  putWaiting(session, { ...place, key, rank: 0, n: n + 1, tries, crashes }, runAt, now);
}

/** What the feed is told, by kind. */
function eventsOf(settled: ReadonlyMap<EndedRun, Ending>): Map<EventKind, JobKey[]> {
  const events = new Map<EventKind, JobKey[]>();
  for (const [{ key }, { state }] of settled) {
    const kind = state === null ? "job:retrying" : EVENT_OF[state];
    const keys = events.get(kind) ?? [];
    keys.push(key);
    events.set(kind, keys);
  }
  return events;
}
