/** promote, pause, resume, hold and release: which waiting jobs can be claimed. */
import { idBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { DECLARED_MS } from "../../roles/schedules.ts";
import { GATE_INSTALLATION, GATE_KEY, limitGate } from "../../shared/codes.ts";
import { paused, resumed } from "../../shared/audit/drafts.ts";
import { NONE_BEHIND, UNKNOWN_NAME } from "../../shared/counts.ts";
import { gateName, INSTALLATION } from "../../shared/decode-jobs.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { CountAhead, CountBehind, Gate, GateName, Promotion } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { bounded } from "../../shared/limits.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import type { QueryRows } from "../database/queries.gen.ts";
import { putBack } from "./places.ts";
import { crashNumbersOf } from "../runs/claim-candidates.ts";
import { fullTargets, queuesWithRoom } from "../runs/claim-limits.ts";
import { hasFreeKeys, releaseKeys } from "../runs/locks.ts";
import { freeRefilledKeys, hasRefilledKeys } from "./key-rates.ts";

/** How many jobs of a lane `hold` scans per job that it may move. */
const HOLD_DEPTH_FACTOR = 20;
/** The same for taken keys, which are scanned more often and hold back fewer jobs each. */
const KEY_DEPTH_FACTOR = 5;
/** The maximum of jobs moved in one transaction. */
const MOVE_MAX = 1_000;
/** How many jobs at the front of a queue of a limit are checked, in each lane. */
const QUEUE_DEPTH = 1_000;

export function promote(session: Session, limit: number): Promotion {
  const { sql, clock, outbox } = session;
  const now = clock.now();
  const due = sql.all("due_keys", { now, limit: bounded(limit, MOVE_MAX) });
  if (due.length > 0) {
    outbox.wake();
    const keys = JSON.stringify(due.map(({ key }) => key));
    sql.run("copy_scheduled_to_ready", { keys });
    sql.run("delete_scheduled", { keys });
  }
  return outlook(session, due.length);
}

/** What {@link promote} answers after it has moved jobs; `nextDueMs: 0`: more jobs are due. */
export function outlook({ sql, clock }: Session, moved = 0): Promotion {
  const now = clock.now();
  const nexts = [sql.get("next_due", {})?.run_at, sql.get("next_refill", { now })?.held_until];
  const next = Math.min(...nexts.map((at) => at ?? Infinity));
  const nextDueMs = next === Infinity ? null : Math.max(0, next - now);
  const row = sql.get("waiting_jobs", { now, declared_since: now - DECLARED_MS });
  const [ready, released, blocked] = [row?.ready === 1, row?.released === 1, row?.blocked === 1];
  const [slotDue, fair] = [row?.slot_due === 1, row?.fair === 1];
  const probeAt = row?.probe_at ?? null;
  const probeInMs = probeAt === null ? null : Math.max(0, probeAt - clock.now());
  return { moved, nextDueMs, probeInMs, waiting: { ready, released, blocked, slotDue, fair } };
}

/** The id of a gate; undefined if no job or gate ever had the name. */
export function findGate({ names }: Session, { kind, name }: GateName): number | undefined {
  return kind === "installation" ? GATE_INSTALLATION : names.find(kind, name);
}

export function pause(
  session: Session,
  gate: GateName,
  why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
): void {
  const { sql, names, clock } = session;
  const { kind, name } = gate;
  const now = clock.now();
  const until = why.forMs === undefined ? null : now + why.forMs;
  const id = kind === "installation" ? GATE_INSTALLATION : names.id(kind, name);
  const before = closedGate(session, id);
  sql.run("close_gate", { name: id, now, until, reason: why.reason, by: why.by });
  // No job is tried behind a gate that an operator has closed.
  if (kind === "type") sql.get("delete_streak", { type: id });
  writeAudits(session, [paused(gate, { by: why.by, reason: why.reason }, before)]);
}

function closedGate({ sql, clock }: Session, id: number): ClosedGate | undefined {
  return sql.all("closed_gates", { now: clock.now() }).find(({ name }) => name === id);
}

type ClosedGate = QueryRows["closed_gates"];

export function resume(session: Session, gate: GateName, act: Act = NO_ACT): boolean {
  const { sql, outbox, state } = session;
  const id = findGate(session, gate);
  if (id === undefined) return false;
  const before = closedGate(session, id);
  sql.run("open_gate", { name: id });
  if (gate.kind === "type") sql.get("delete_streak", { type: id });
  outbox.wake();
  // Claims have passed the jobs of the gate that `hold` has not moved.
  state.claimCursors.forget();
  if (before !== undefined) writeAudits(session, [resumed(gate, act, before)]);
  return before !== undefined;
}

export function countBehind(
  session: Session,
  gate: GateName,
  rows: number,
  only?: string,
): CountBehind {
  const { sql, names, clock } = session;
  const id = findGate(session, gate);
  const tenant = only === undefined ? null : names.find("tenant", only);
  if (id === undefined || tenant === undefined) return NONE_BEHIND;
  const within = { name: id, rows: bounded(rows, Number.MAX_SAFE_INTEGER), now: clock.now() };
  const found = sql.get("count_behind_gate", { ...within, tenant });
  if (found === undefined) return NONE_BEHIND;
  const { jobs, shared } = found;
  return { jobs, isExact: found.exact === 1, shared, isSharedExact: found.shared_exact === 1 };
}

export function countAhead(
  { sql, names, clock }: Session,
  id: JobId,
  wanted: number,
  only?: string,
): CountAhead | null {
  const tenant = only === undefined ? null : (names.find("tenant", only) ?? UNKNOWN_NAME);
  const rows = bounded(wanted, Number.MAX_SAFE_INTEGER);
  const place = sql.get("ready_place", { id: idBytes(id) });
  if (place === undefined) return null;
  const found = sql.get("count_ahead", { ...place, rows, tenant, now: clock.now() });
  return found === undefined ? null : { jobs: found.jobs, isExact: found.exact === 1 };
}

export function gates({ sql, names, clock }: Session): Gate[] {
  return sql.all("closed_gates", { now: clock.now() }).flatMap((row) => {
    const { reason, by, closed_at: closedAt, until } = row;
    const why = { reason, by, closedAt, until };
    if (row.name === GATE_INSTALLATION) return [{ ...INSTALLATION, ...why }];
    const gate = names.name(row.name);
    return gate === undefined ? [] : [{ ...gateName(gate), ...why }];
  });
}

/** A waiting job and what blocks it: a closed gate, a limit, or GATE_KEY for a taken key. */
interface BlockedJob {
  readonly key: JobKey;
  readonly gate: number;
}

/** Moves due jobs with a closed gate or a taken key to `blocked`. */
export function hold(session: Session, wanted: number): number {
  const { sql } = session;
  const blocked = findBlocked(session, wanted);
  for (const { key, gate } of blocked) {
    const job = sql.get("take_ready", { key });
    if (job === undefined) throw new Error(`job ${key} left ready inside a transaction`);
    sql.run("insert_blocked", { ...job, gate });
  }
  return blocked.length + rehome(session, wanted);
}

/** Moves jobs that wait for a limit, although something else blocks them, behind the other. */
function rehome(session: Session, wanted: number): number {
  const { sql, clock } = session;
  const limit = bounded(wanted, MOVE_MAX);
  const full = fullTargets(session);
  const queues = queuesWithRoom(session);
  const move = { full, now: clock.now(), depth: QUEUE_DEPTH, limit };
  const parts = queues.flatMap((gate) =>
    sql.all("queue_lanes", { gate, lanes: null }).map(({ lane }) => ({ gate, lane })),
  );
  return parts.reduce(
    (moved, part) => moved + sql.run("rehome_limited", { ...move, ...part }).changes,
    0,
  );
}

/** True when {@link hold} would move no job. Called without the write lock. */
export function holdsNothing(session: Session, wanted: number): boolean {
  if (session.sql.get("any_limit", {}) !== undefined && queuesWithRoom(session).length > 0) {
    return false;
  }
  return findBlocked(session, wanted).length === 0;
}

/** The jobs that {@link hold} has to move from `ready`, lane by lane. */
function findBlocked(session: Session, wanted: number): readonly BlockedJob[] {
  const { sql, clock } = session;
  const now = clock.now();
  const limit = bounded(wanted, MOVE_MAX);
  const isClosed = sql.get("any_closed_gate", { now }) !== undefined;
  const isTaken = sql.get("any_lock", {}) !== undefined;
  const full = sql.get("any_limit", {}) === undefined ? "[]" : fullTargets(session);
  const isFull = full !== "[]";
  if (!isClosed && !isTaken && !isFull) return [];
  const gateOf = new Map<JobKey, number>();
  const [near, far] = [limit * KEY_DEPTH_FACTOR, limit * HOLD_DEPTH_FACTOR];
  for (const part of readyParts(session)) {
    const front = { ...part, limit: Math.max(0, limit - gateOf.size) };
    const isQueued = isFull && part.crashes === 0;
    const { lane } = part;
    const queued = isQueued
      ? sql.all("jobs_of_full_limits", { lane, limit: front.limit, depth: far, full })
      : [];
    const taken = isTaken ? sql.all("jobs_of_taken_keys", { ...front, depth: near }) : [];
    const behind = isClosed ? sql.all("jobs_behind_gates", { ...front, depth: far, now }) : [];
    for (const { key, name } of queued) gateOf.set(key, limitGate(name));
    for (const { key } of taken) gateOf.set(key, GATE_KEY);
    // If both block a job, the gate is stored.
    for (const { key, gate } of behind) gateOf.set(key, gate);
  }
  return [...gateOf].map(([key, gate]) => ({ key, gate })).slice(0, limit);
}

/** The parts of `ready` whose fronts claims scan: each lane, by the number of crashes. */
function readyParts(session: Session): readonly { lane: number; crashes: number }[] {
  const lanes = session.sql.all("ready_lanes", {}).map((row) => row.lane);
  const crashNumbers = [0, ...crashNumbersOf(session, lanes)];
  return lanes.flatMap((lane) => crashNumbers.map((crashes) => ({ lane, crashes })));
}

/** Returns jobs whose gate has opened or is not theirs any more, and jobs whose key is free. */
export function release(session: Session, wanted: number): number {
  const limit = bounded(wanted, MOVE_MAX);
  freeRefilledKeys(session, limit);
  const opened = releaseGates(session, limit);
  const moved = opened + releaseMisplaced(session, limit - opened);
  return moved + releaseKeys(session, limit - moved);
}

/** True when {@link release} would move no job. */
export function releasesNothing(session: Session): boolean {
  const { sql, clock } = session;
  const now = clock.now();
  if (sql.get("open_gates", { now }) !== undefined) return false;
  if (sql.get("any_park_ahead", { now }) !== undefined) return false;
  if (sql.get("misplaced_types", {}) !== undefined) return false;
  return !hasRefilledKeys(session) && !hasFreeKeys(session);
}

function releaseGates(session: Session, limit: number): number {
  const { sql, clock } = session;
  let moved = 0;
  sql.run("end_parks_ahead", { now: clock.now() });
  for (const { name } of sql.all("open_gates", { now: clock.now() })) {
    moved += unblock(session, sql.all("blocked_keys", { gate: name, limit: limit - moved }));
    if (moved >= limit) return moved;
    sql.run("delete_gate", { name, now: clock.now() });
    sql.run("delete_park", { gate: name });
    session.state.claimCursors.forget();
  }
  return moved;
}

/** Returns jobs behind the gate of a service that their type does not use any more. */
function releaseMisplaced(session: Session, limit: number): number {
  const { sql } = session;
  let moved = 0;
  for (const { gate, type } of sql.all("misplaced_types", {})) {
    if (moved >= limit) break;
    moved += unblock(session, sql.all("misplaced_keys", { gate, type, limit: limit - moved }));
  }
  return moved;
}

function unblock(session: Session, rows: readonly { readonly key: JobKey }[]): number {
  for (const { key } of rows) {
    const job = session.sql.get("take_blocked", { key });
    if (job === undefined) throw new Error(`job ${key} left blocked inside a transaction`);
    putBack(session, job);
  }
  return rows.length;
}
