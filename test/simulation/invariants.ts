/**
 * What must be true of the database at every moment, and of every step from one moment to the next.
 * The numbers are those of the list of invariants in RELIABILITY.md.
 */
import { idFromBytes } from "../../src/core/ids.ts";
import {
  finalState,
  type AttemptRow,
  type EventRow,
  type JobRow,
  type Snapshot,
} from "./snapshot.ts";

export interface Rules {
  readonly crashCap: number;
  /** By the code of the final state. */
  readonly finishedMs: Readonly<Record<number, number>>;
  readonly deadLetterMs: number;
  readonly idempotencyMs: number;
  readonly leaseMs: number;
}

export type Report = (invariant: string, what: string) => void;

const CRASHED = 4;
const COMPLETED = 4;
const FAILED = 6;

/** Every job is in exactly one place, and everything that hangs on it agrees with it. */
export function checkState(now: Snapshot, rules: Rules, report: Report): void {
  for (const job of now.jobs.values()) {
    checkPlace(now, job, report);
    checkLedger(now, job, rules, report);
    checkKeys(now, job, report);
    for (const name of [job.type, job.tenant, job.lane]) {
      if (!now.names.has(name)) report("I19", `job ${job.key} has a name ${name} nobody knows`);
    }
  }
  for (const [name, key] of now.dedup) {
    if (!now.jobs.has(key) || finalState(now, key) !== null) {
      report("I9", `dedup key ${name} is held by job ${key}, which is over`);
    }
  }
  for (const key of now.asked) {
    if (!now.held.has(key)) report("I8", `job ${key} does not run but is asked to be cancelled`);
  }
  for (const key of now.places.keys()) {
    if (!now.jobs.has(key)) report("I19", `job ${key} waits but does not exist`);
  }
}

function checkPlace(now: Snapshot, { key, ...job }: JobRow, report: Report): void {
  const places = now.places.get(key) ?? [];
  const held = now.held.get(key) ?? [];
  const isOver = finalState(now, key) !== null;
  const count = places.length + held.length;
  if (isOver && count > 0) report("I6", `job ${key} is over and yet waits or runs`);
  if (!isOver && count === 0) report("I1", `job ${key} is neither over nor anywhere`);
  if (held.length > 1) report("I3", `job ${key} is in ${held.length} leases`);
  else if (count > 1) report("I3", `job ${key} is in ${count} places`);
  const last = now.attempts.get(key)?.at(-1);
  const expected = (last?.n ?? 0) + 1;
  for (const { n } of [...places, ...held]) {
    if (n !== expected) report("I7", `job ${key} would run as ${n}, not ${expected}`);
  }
  for (const place of places) {
    const isSame =
      place.lane === job.lane &&
      place.priority === job.priority &&
      place.type === job.type &&
      place.tenant === job.tenant &&
      place.tries === (last?.tries ?? 0) &&
      place.crashes === (last?.crashes ?? 0);
    if (!isSame) report("I19", `the place of job ${key} tells another story than the job`);
  }
}

function checkLedger(now: Snapshot, job: JobRow, rules: Rules, report: Report): void {
  let before = { n: 0, tries: 0, crashes: 0, fence: 0, isOver: false };
  for (const { n, tries, crashes, fence, outcome, state } of now.attempts.get(job.key) ?? []) {
    if (n !== before.n + 1) report("I7", `run ${n} of job ${job.key} follows ${before.n}`);
    if (before.isOver) report("I6", `job ${job.key} has run ${n} after its end`);
    if (tries < before.tries || crashes < before.crashes) {
      report("I7", `job ${job.key} has forgotten attempts at run ${n}`);
    }
    if (tries > before.tries + 1 || crashes > before.crashes + 1) {
      report("I7", `run ${n} of job ${job.key} is charged twice`);
    }
    if (outcome === CRASHED && tries > before.tries !== crashes > before.crashes) {
      report("I7", `run ${n} of job ${job.key} crashed: tries and crashes differ`);
    }
    if (tries > job.max_attempts) report("I7", `job ${job.key} has too many attempts`);
    if (crashes > rules.crashCap) report("I7", `job ${job.key} has too many crashes`);
    if (state === null && (tries >= job.max_attempts || crashes >= rules.crashCap)) {
      report("I7", `job ${job.key} goes on without any attempt left`);
    }
    if (fence !== null && fence <= before.fence) {
      report("I3", `the fence of job ${job.key} did not grow at run ${n}`);
    }
    before = { n, tries, crashes, fence: fence ?? before.fence, isOver: state !== null };
  }
}

function checkKeys(now: Snapshot, job: JobRow, report: Report): void {
  if (job.dedup !== null && finalState(now, job.key) === null) {
    const holder = now.dedup.get(`${job.tenant}.${job.type}.${job.dedup}`);
    if (holder !== job.key) report("I9", `job ${job.key} lives without its dedup key`);
  }
  if (job.idempotency === null) return;
  const holder = now.idempotency.get(`${job.tenant}.${job.idempotency}`);
  if (holder?.job_id !== job.id) report("I9", `job ${job.key} has lost its idempotency key`);
}

/** What a step has to tell in the feed: kind and job. */
export type Told = readonly [kind: number, job: number | string];

const ENQUEUED = 1;
const STARTED = 2;
const RETRYING = 4;
const DELETED = 7;
const EVENT_OF: Readonly<Record<number, number>> = { 4: 3, 5: 3, 6: 5, 7: 6 };

/** One step from one moment to the next. Answers what the feed must tell of it. */
export function checkStep(
  before: Snapshot,
  after: Snapshot,
  nowMs: number,
  rules: Rules,
  report: Report,
): readonly Told[] {
  return [
    ...newJobs(before, after, nowMs, report),
    ...goneJobs(before, after, nowMs, rules, report),
    ...newRows(before, after, nowMs, report),
    ...newStarts(before, after, nowMs, report),
    ...moves(before, after, nowMs, report),
  ];
}

function newJobs(before: Snapshot, after: Snapshot, nowMs: number, report: Report): Told[] {
  const fresh = [...after.jobs.values()].filter(({ key }) => !before.jobs.has(key));
  for (const { key } of fresh) {
    const place = after.places.get(key)?.[0];
    if (place?.place === "ready" && place.rank / 1000 > nowMs + 1) {
      report("I8", `job ${key} is ready before its time`);
    }
  }
  return fresh.map(({ key }) => [ENQUEUED, key]);
}

function goneJobs(
  before: Snapshot,
  after: Snapshot,
  nowMs: number,
  rules: Rules,
  report: Report,
): Told[] {
  const gone = [...before.jobs.values()].filter(({ key }) => !after.jobs.has(key));
  for (const { key } of gone) {
    const last = before.attempts.get(key)?.at(-1);
    const keptMs = rules.finishedMs[last?.state ?? 0] ?? Infinity;
    const isOutlived = last !== undefined && last.finished_at + keptMs <= nowMs;
    if (!isOutlived) report("I1", `job ${key} was removed before its time`);
  }
  const ids = new Map(gone.map(({ id, key }) => [id, key]));
  for (const [name, { job_id, expires_at }] of before.idempotency) {
    if (after.idempotency.has(name)) continue;
    // Its job may go in the same step, and the key with it if that was over long ago.
    const finishedAt = before.attempts.get(ids.get(job_id) ?? 0)?.at(-1)?.finished_at;
    const keptUntil = expires_at ?? (finishedAt ?? Infinity) + rules.idempotencyMs;
    if (keptUntil > nowMs) report("I9", `key ${name} was removed too early`);
  }
  for (const [id, { died_at }] of before.letters) {
    if (after.letters.has(id)) continue;
    if (died_at + rules.deadLetterMs > nowMs) report("I1", `letter ${id} was removed too early`);
  }
  return gone.map(({ id }) => [DELETED, id]);
}

function newRows(before: Snapshot, after: Snapshot, nowMs: number, report: Report): Told[] {
  const told: Told[] = [];
  for (const [key, rows] of after.attempts) {
    const known = before.attempts.get(key) ?? [];
    rows.forEach((row, index) => {
      const old = known[index];
      if (old === undefined) {
        checkNewRow(before, row, nowMs, report);
        if (row.state === FAILED && !after.letters.has(after.jobs.get(key)?.id ?? "")) {
          report("I19", `job ${key} has failed without a dead letter`);
        }
        told.push([row.state === null ? RETRYING : (EVENT_OF[row.state] ?? 0), key]);
      } else if (!isSameEnd(old, row)) {
        report("I6", `run ${row.n} of job ${key} was changed after its end`);
      }
    });
    if (rows.length < known.length) report("I13", `job ${key} has lost runs of its ledger`);
  }
  return told;
}

function isSameEnd(left: AttemptRow, right: AttemptRow): boolean {
  return (
    left.n === right.n &&
    left.outcome === right.outcome &&
    left.state === right.state &&
    left.tries === right.tries &&
    left.fence === right.fence &&
    left.finished_at === right.finished_at &&
    left.result === right.result
  );
}

function checkNewRow(
  before: Snapshot,
  { key, n, fence, outcome, state, started_at, result, reason }: AttemptRow,
  nowMs: number,
  report: Report,
): void {
  const held = before.held.get(key)?.find((run) => run.n === n);
  if (fence !== null && held?.fence !== fence) {
    report("I4", `run ${n} of job ${key} was ended by lease ${fence}, which does not hold it`);
  }
  if (started_at !== null && held !== undefined && held.start === null) {
    report("I7", `run ${n} of job ${key} ended without a start`);
  }
  if (state === null && before.asked.has(key)) {
    report("I8", `job ${key} waits again although it was to be cancelled`);
  }
  if (state === COMPLETED && result !== JSON.stringify(`done ${fence}`)) {
    report("I17", `job ${key} has another result than its handler gave`);
  }
  const job = before.jobs.get(key);
  if (job !== undefined && reason?.includes(idFromBytes(Buffer.from(job.id, "hex")))) {
    report("I1", `job ${key} has made way for itself`);
  }
  if (outcome !== CRASHED || held === undefined) return;
  const until = before.workers.get(held.worker)?.until ?? 0;
  if (until > nowMs) report("I5", `run ${n} of job ${key} was taken from a living worker`);
}

/** Leases that are new, and runs of buffers that have begun. */
function newStarts(before: Snapshot, after: Snapshot, nowMs: number, report: Report): Told[] {
  const told: Told[] = [];
  for (const [key, [run]] of after.held) {
    if (run === undefined) continue;
    const old = before.held.get(key)?.[0];
    const isNew = old?.fence !== run.fence;
    if (isNew) checkClaim(before, key, run, nowMs, report);
    if (run.start !== null && (isNew || old?.start === null)) told.push([STARTED, key]);
    if (!isNew && old !== undefined && old.start !== null && run.start !== old.start) {
      report("I7", `the start of job ${key} was changed`);
    }
  }
  return told;
}

function checkClaim(
  before: Snapshot,
  key: number,
  run: { readonly fence: number; readonly worker: string; readonly start: number | null },
  nowMs: number,
  report: Report,
): void {
  const job = before.jobs.get(key);
  const place = before.places.get(key)?.[0];
  if (job === undefined || place?.place !== "ready") {
    report("I3", `job ${key} was claimed although it did not wait`);
    return;
  }
  for (const name of [job.lane, job.type, job.tenant]) {
    if (isClosed(before, name, nowMs)) report("I8", `job ${key} was claimed behind a gate`);
  }
  if (before.workers.get(run.worker)?.quiet === 1) {
    report("I8", `job ${key} was claimed by a worker that was asked to be quiet`);
  }
  if ((before.workers.get(run.worker)?.until ?? 0) <= nowMs) {
    report("I5", `job ${key} was claimed by a worker without a lease`);
  }
}

export function isClosed({ gates }: Snapshot, name: number, nowMs: number): boolean {
  const until = gates.get(name);
  return until === null || (until !== undefined && until > nowMs);
}

/** A heartbeat gives the lease its full length from the store's now, and no more. */
export function checkBeats(
  before: Snapshot["workers"],
  after: Snapshot["workers"],
  longestUntil: number,
  report: Report,
): void {
  for (const [id, { beats, until }] of after) {
    const hasBeaten = before.get(id)?.beats !== beats;
    if (hasBeaten && until > longestUntil) report("I5", `the lease of worker ${id} is too long`);
  }
}

/** What is claimed together comes before what stays, lane by lane. */
export function checkOrder(before: Snapshot, after: Snapshot, nowMs: number, report: Report) {
  const fresh = [...after.held.values()]
    .flat()
    .filter(({ key, fence }) => before.held.get(key)?.[0]?.fence !== fence);
  if (fresh.length === 0) return;
  const isBuffer = fresh.some(({ start }) => start === null);
  const waiting = [...before.places.values()].flat().filter(({ place }) => place === "ready");
  const taken = new Set(fresh.map(({ key }) => key));
  for (const left of waiting) {
    const names = [left.lane, left.type, left.tenant];
    if (taken.has(left.key) || names.some((name) => isClosed(before, name, nowMs))) continue;
    if (isBuffer && left.crashes > 0) continue;
    const passed = waiting.find(
      (other) => taken.has(other.key) && other.lane === left.lane && comesBefore(left, other),
    );
    if (passed !== undefined) {
      report("I11", `job ${passed.key} was claimed before job ${left.key}, which is more urgent`);
    }
  }
}

interface Ordered {
  readonly priority: number;
  readonly rank: number;
  readonly key: number;
}

function comesBefore(left: Ordered, right: Ordered): boolean {
  return (left.priority - right.priority || left.rank - right.rank || left.key - right.key) < 0;
}

/** Jobs that wait elsewhere than before. */
function moves(before: Snapshot, after: Snapshot, nowMs: number, report: Report): Told[] {
  for (const [key, [place]] of after.places) {
    const old = before.places.get(key)?.[0];
    const held = before.held.get(key)?.[0];
    if (place === undefined || place.n !== (old ?? held)?.n) continue;
    if (held !== undefined && held.start !== null) {
      report("I7", `job ${key} waits again, and its run is not in the ledger`);
    }
    const isKept = place.rank === (old ?? held)?.rank;
    if (held !== undefined && !isKept) report("I11", `job ${key} came back to another place`);
    if (old?.place === "scheduled" && place.place === "ready" && place.rank / 1000 > nowMs + 1) {
      report("I8", `job ${key} is ready before its time`);
    }
    if (old?.place === "blocked" && place.place === "ready" && !isKept && place.rank / 1000 > nowMs)
      report("I11", `job ${key} came back from its gate to another place`);
    if (place.place === "blocked" && old?.place === "ready" && place.gate !== null) {
      if (!isClosed(before, place.gate, nowMs)) report("I8", `job ${key} is held by an open gate`);
    }
  }
  return [];
}

/** The feed tells of every change once, in the transaction that made it. */
export function checkEvents(
  expected: readonly Told[],
  rows: readonly EventRow[],
  lastBefore: number,
  report: Report,
): void {
  const told = rows.flatMap(({ kind, keys, ids }) => {
    const names: (number | string)[] = JSON.parse(keys ?? ids ?? "[]");
    return names.map((name) => `${kind}:${ids === null ? name : "gone"}`);
  });
  const wanted = expected.map(([kind, job]) => `${kind}:${kind === DELETED ? "gone" : job}`);
  const [left, right] = [told.toSorted().join(" "), wanted.toSorted().join(" ")];
  if (left !== right) report("I13", `the feed tells [${left}], what happened is [${right}]`);
  rows.forEach(({ position }, index) => {
    if (position !== lastBefore + index + 1) report("I13", `the feed has a gap at ${position}`);
  });
}
