/** settle: the one door out of `running`. The rescuer goes through it too. */
import { isFinal, type FinalState } from "../../core/job.ts";
import type { Fault, Settlement } from "../../core/outcome.ts";
import { errorClassCodec, outcomeCodec, stateCodec } from "../codes.ts";
import type { EventKind, JobKey, Lease, SettleItem } from "../store.ts";
import { dropCancelRequests, findCancelRequests } from "./cancel.ts";
import { insertDeadLetter } from "./dead-letter.ts";
import type { LeaseRow } from "./rows.ts";
import { parseNumbers, putWaiting, type Session } from "./session.ts";

const EVENT_OF: Readonly<Record<FinalState, EventKind>> = {
  completed: "job:completed",
  completed_with_errors: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
};

/** A run that ended, under the lease that allows to say so. */
export interface EndedRun {
  readonly lease: LeaseRow;
  readonly key: JobKey;
  readonly n: number;
  readonly settlement: Settlement;
}

/** Applies settlements whose lease still stands; the others are `stale` and change nothing. */
export function settle(session: Session, items: readonly SettleItem[]): ("settled" | "stale")[] {
  const leases = new Map<string, OpenLease | null>();
  const runs = items.map(({ lease: proof, key, n, settlement }) => {
    const lease = openLease(session, leases, proof);
    const isHeld = lease !== null && lease.runs.get(key) === n;
    return isHeld ? { lease: lease.row, key, n, settlement } : null;
  });
  const settled = endRuns(
    session,
    runs.filter((run) => run !== null),
  );
  for (const lease of leases.values()) {
    if (lease !== null) closeIfDone(session, lease.row);
  }
  return runs.map((run) => (run !== null && settled.has(run) ? "settled" : "stale"));
}

interface OpenLease {
  readonly row: LeaseRow;
  readonly runs: ReadonlyMap<JobKey, number>;
}

/** The started lease with this proof, looked up once per call. */
function openLease(
  { sql }: Session,
  known: Map<string, OpenLease | null>,
  { number, secret }: Lease,
): OpenLease | null {
  const proof = `${number}.${secret}`;
  const found = known.get(proof);
  if (found !== undefined) return found;
  const row = sql.get("find_lease", { number, secret });
  const isStarted = row !== undefined && row.started_at !== null;
  const lease = isStarted ? { row, runs: runsOf(row) } : null;
  known.set(proof, lease);
  return lease;
}

function runsOf(row: LeaseRow): Map<JobKey, number> {
  const ns = parseNumbers(row.ns);
  return new Map(parseNumbers(row.keys).map((key, index) => [key, ns[index] ?? 0]));
}

/**
 * Writes ledger rows and moves the jobs on. Answers the runs that had not ended before: the
 * ledger's primary key is the second line behind the lease.
 */
export function endRuns(session: Session, runs: readonly EndedRun[]): ReadonlySet<EndedRun> {
  const now = session.clock.now();
  const asked = findCancelRequests(
    session,
    runs.map(({ key }) => key),
  );
  const settled = new Set<EndedRun>();
  const over: JobKey[] = [];
  for (const run of runs) {
    const cancelled = asked.has(run.key) && !isFinal(run.settlement.to);
    const ending = cancelled
      ? { ...endingOf(run.settlement, now), ...CANCELLED, reason: asked.get(run.key) ?? null }
      : endingOf(run.settlement, now);
    if (!insertAttempt(session, run, ending, now)) continue;
    settled.add(run);
    if (ending.nextRunAt === null) over.push(run.key);
    moveOn(session, run, ending, now);
  }
  dropCancelRequests(
    session,
    [...settled].map(({ key }) => key).filter((key) => asked.has(key)),
  );
  session.sql.run("delete_dedup", { keys: JSON.stringify(over) });
  return settled;
}

interface Ending {
  readonly state: FinalState | null;
  readonly nextRunAt: number | null;
  readonly fault: Fault | null;
  readonly result: string | null;
  readonly reason: string | null;
}

const CANCELLED = { state: "cancelled", nextRunAt: null } as const;

function endingOf(settlement: Settlement, now: number): Ending {
  const state = isFinal(settlement.to) ? settlement.to : null;
  switch (settlement.to) {
    case "completed":
    case "completed_with_errors": {
      const { result, fault } = settlement;
      return { state, nextRunAt: null, fault, result, reason: null };
    }
    case "failed":
      return { state, nextRunAt: null, fault: settlement.fault, result: null, reason: null };
    case "cancelled":
      return { state, nextRunAt: null, fault: null, result: null, reason: settlement.reason };
    case "scheduled":
    case "queued": {
      const nextRunAt = now + settlement.delayMs;
      return { state, nextRunAt, fault: settlement.fault, result: null, reason: null };
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
    worker: lease.worker,
    fence: lease.number,
    claimed_at: lease.claimed_at,
    started_at: lease.started_at,
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

/** What follows from the ledger row: another place, or the end. */
function moveOn(session: Session, run: EndedRun, ending: Ending, now: number): void {
  const { tidings } = session;
  if (ending.nextRunAt !== null) {
    waitAgain(session, run, ending.nextRunAt, now);
    tidings.tell("job:retrying", [run.key]);
    return;
  }
  if (run.settlement.to === "failed") insertDeadLetter(session, run.key, run.settlement, now);
  if (ending.state !== null) tidings.tell(EVENT_OF[ending.state], [run.key]);
}

function waitAgain(session: Session, run: EndedRun, runAt: number, now: number): void {
  const { key, n, settlement } = run;
  const place = session.sql.get("waiting_fields", { key });
  if (place === undefined) throw new Error(`job ${key} has a lease but no row`);
  const { tries, crashes } = settlement;
  putWaiting(session, { ...place, key, rank: 0, n: n + 1, tries, crashes }, runAt, now);
}

/** Deletes a lease whose jobs have all left. */
export function closeIfDone({ sql }: Session, lease: LeaseRow): void {
  if (sql.get("lease_is_open", { number: lease.number }) !== undefined) return;
  sql.run("delete_lease", { number: lease.number });
}
