/** settle: the one door out of `running`. The rescuer and the operator go through it too. */
import type { FinalState } from "../../core/job.ts";
import type { Settlement } from "../../core/outcome.ts";
import type { EventKind, JobKey, Lease, SettleItem } from "../store.ts";
import { dropCancelRequests, findCancelRequests } from "./cancel.ts";
import { insertDeadLetter } from "./dead-letter.ts";
import { enqueueWithin } from "./enqueue.ts";
import { openRuns, type HeldRun } from "./lease.ts";
import { writeLedger, type LedgerEntry } from "./ledger.ts";
import type { LeaseRow } from "./rows.ts";
import { putWaiting, type Session } from "./session.ts";

type EndEvent = Exclude<EventKind, "job:deleted">;

const EVENT_OF: Readonly<Record<FinalState, EndEvent>> = {
  completed: "job:completed",
  completed_with_errors: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
};

/** An open run that has ended, under the lease that allows to say so. */
interface EndedRun {
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
  const leases = new Map<string, OpenLease | null>();
  const runs = items.map((item) => takeRun(findLease(session, leases, item.lease), item));
  endRuns(
    session,
    runs.filter((run) => run !== null),
  );
  for (const lease of leases.values()) {
    if (lease?.open.size === 0) session.sql.run("delete_lease", { number: lease.row.number });
  }
  enqueueChildren(
    session,
    items.filter((_, index) => runs[index] !== null),
  );
  return runs.map((run) => (run === null ? "stale" : "settled"));
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

interface OpenLease {
  readonly row: LeaseRow;
  /** Its runs that have no ledger row yet. */
  readonly open: Map<JobKey, HeldRun>;
}

/** The lease with this proof, looked up once per call. */
function findLease(
  session: Session,
  known: Map<string, OpenLease | null>,
  { number, secret }: Lease,
): OpenLease | null {
  const proof = `${number}.${secret}`;
  const found = known.get(proof);
  if (found !== undefined) return found;
  const row = session.sql.get("find_lease", { number, secret });
  const runs = row === undefined ? [] : openRuns(session, row);
  const lease =
    row === undefined ? null : { row, open: new Map(runs.map((run) => [run.key, run])) };
  known.set(proof, lease);
  return lease;
}

/** The run that is to end, if the lease still has it. Nobody can take it a second time. */
function takeRun(lease: OpenLease | null, { key, n, settlement }: SettleItem): EndedRun | null {
  const held = lease?.open.get(key);
  if (lease === null || held?.n !== n || held.startedAt === null) return null;
  lease.open.delete(key);
  return { lease: lease.row, key, n, startedAt: held.startedAt, settlement };
}

/** Writes ledger rows for open runs and moves their jobs on. */
export function endRuns(session: Session, runs: readonly EndedRun[]): void {
  const { sql, clock, tidings } = session;
  const now = clock.now();
  const asked = findCancelRequests(
    session,
    runs.map(({ key }) => key),
  );
  const ends = runs.map((run) => {
    const end = endOf(run, now, askedFor(asked, run.key));
    writeLedger(session, run.lease, end, now);
    if (end.nextRunAt !== null) waitAgain(session, end, end.nextRunAt, now);
    if (end.state === "failed") insertDeadLetter(session, run.key, run.settlement, now);
    return end;
  });
  for (const [kind, jobs] of eventsOf(ends)) tidings.tell({ kind, jobs });
  const over = ends.filter(({ state }) => state !== null).map(({ key }) => key);
  sql.run("delete_dedup", { keys: JSON.stringify(over) });
  dropCancelRequests(session, [...asked.keys()]);
}

interface CancelRequest {
  readonly reason: string | null;
}

function askedFor(asked: ReadonlyMap<JobKey, string | null>, key: JobKey): CancelRequest | null {
  return asked.has(key) ? { reason: asked.get(key) ?? null } : null;
}

/** A job that somebody asked to cancel never goes back to waiting; an end of its own stands. */
function endOf(run: EndedRun, now: number, request: CancelRequest | null): LedgerEntry {
  const { key, n, startedAt, settlement } = run;
  const { tries, crashes, outcome } = settlement;
  const open = { key, n, tries, crashes, startedAt, outcome, state: null, fault: null };
  const end: LedgerEntry = { ...open, result: null, reason: null, nextRunAt: null };
  switch (settlement.to) {
    case "completed":
    case "completed_with_errors": {
      const { to: state, result, fault } = settlement;
      return { ...end, state, result, fault };
    }
    case "failed":
      return { ...end, state: "failed", fault: settlement.fault };
    case "cancelled":
      return { ...end, state: "cancelled", reason: settlement.reason };
    case "scheduled":
    case "queued": {
      const { fault, delayMs } = settlement;
      if (request !== null) return { ...end, state: "cancelled", fault, reason: request.reason };
      return { ...end, fault, nextRunAt: now + Math.max(0, Math.round(delayMs)) };
    }
  }
}

function waitAgain(session: Session, end: LedgerEntry, runAt: number, now: number): void {
  const { key, n, tries, crashes } = end;
  const place = session.sql.get("waiting_fields", { key });
  if (place === undefined) throw new Error(`job ${key} has ended a run but has no row`);
  putWaiting(session, { ...place, key, rank: 0, n: n + 1, tries, crashes }, runAt, now);
}

/** What the feed is told, by kind. */
function eventsOf(ends: readonly LedgerEntry[]): Map<EndEvent, JobKey[]> {
  const events = new Map<EndEvent, JobKey[]>();
  for (const { key, state } of ends) {
    const kind = state === null ? "job:retrying" : EVENT_OF[state];
    const keys = events.get(kind) ?? [];
    keys.push(key);
    events.set(kind, keys);
  }
  return events;
}
