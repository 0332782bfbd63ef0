/**
 * What must be true of the database at every moment, and of every step from one moment to the next.
 * The numbers are those of the list of invariants in RELIABILITY.md.
 */
import { idFromBytes } from "../../../src/core/ids.ts";
import { DELETED, type ExpectedEvent } from "./feed-events.ts";
import {
  checkFlows,
  isExtended,
  checkRemoved,
  GATE_AFTER,
  GATE_KEY,
  type Wanted,
} from "./flows.ts";
import {
  isClaimable,
  isLimitGate,
  isServiceGateClosed,
  isUsedUp,
  limitOfGate,
} from "./control/barriers.ts";
import { checkNotes, checkSuccess, checkTakenOver } from "./notes.ts";
import { isBehindGate, isCrashGate, isClosed } from "./order.ts";
import type { RetentionRules } from "../fleet/retention.ts";
import type { AttemptRow, HeldRow, JobRow, PlaceRow } from "./rows.ts";
import { finalState, type Snapshot } from "./snapshot.ts";

export interface Rules {
  readonly crashCap: number;
  readonly retention: RetentionRules;
  readonly deadLetterMs: number;
  readonly idempotencyMs: number;
  readonly leaseMs: number;
}

export type Report = (invariant: string, what: string) => void;

const CRASHED = 4;
/** Codes of outcomes: cancelled, interrupted, snoozed. */
const FREE: ReadonlySet<number> = new Set([5, 6, 7]);
/** Succeeded, failed, timed out. */
const CHARGED: ReadonlySet<number> = new Set([1, 2, 3]);
/** Completed, with errors or without. */
const SUCCESSES: ReadonlySet<number> = new Set([4, 5]);
const FAILED = 6;

/**
 * Every job is in exactly one place, and everything that hangs on it agrees with it. Of jobs only
 * those are looked at that something has changed about.
 */
export function checkState(
  now: Snapshot,
  changed: ReadonlySet<number>,
  rules: Rules,
  report: Report,
): void {
  for (const key of changed) {
    const job = now.jobs.get(key);
    if (job === undefined) {
      checkGone(now, key, report);
      continue;
    }
    checkPlace(now, job, report);
    checkLedger(now, job, report);
    checkKeys(now, job, report);
    for (const name of [job.type, job.tenant, job.lane, job.category ?? job.type]) {
      if (!now.names.has(name)) report("I19", `job ${job.key} has an unknown name ${name}`);
    }
    if (now.asked.has(key) && !now.held.has(key)) {
      report("I8", `job ${key} does not run but is asked to be cancelled`);
    }
  }
  for (const [name, key] of now.dedup) {
    if (!now.jobs.has(key) || finalState(now, key) !== null) {
      report("I9", `dedup key ${name} is held by job ${key}, which is over`);
    }
  }
  for (const { number, worker } of now.leases.values()) {
    // A rescue looks for workers that are silent.
    if (!now.workers.has(worker)) report("I21", `lease ${number} belongs to no worker`);
  }
}

/** What was removed has left nothing behind. */
function checkGone(now: Snapshot, key: number, report: Report): void {
  const { places, held, attempts, asked, dependencies, runs, phases, units, logs, stale } = now;
  const all = [places, held, attempts, asked, dependencies, runs, phases, units, logs, stale];
  if (all.some((each) => each.has(key)))
    report("I19", `job ${key} does not exist and yet is somewhere`);
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
      place.concurrency === job.concurrency &&
      place.tries === (last?.tries ?? 0) &&
      place.crashes === (last?.crashes ?? 0);
    if (!isSame) report("I19", `the place of job ${key} tells another story than the job`);
  }
}

function checkLedger(now: Snapshot, job: JobRow, report: Report): void {
  let before = { n: 0, tries: 0, crashes: 0, fence: 0, isOver: false };
  for (const attempt of now.attempts.get(job.key) ?? []) {
    const { n, tries, crashes, fence, outcome, state } = attempt;
    if (n !== before.n + 1) report("I7", `run ${n} of job ${job.key} follows ${before.n}`);
    if (before.isOver) report("I6", `job ${job.key} has run ${n} after its end`);
    if (tries < before.tries || crashes < before.crashes) {
      report("I7", `job ${job.key} has forgotten attempts at run ${n}`);
    }
    if (tries > before.tries + 1 || crashes > before.crashes + 1) {
      report("I7", `run ${n} of job ${job.key} is charged twice`);
    }
    if (FREE.has(outcome) && tries > before.tries) {
      report("I7", `run ${n} of job ${job.key} is charged and should be free`);
    }
    // An operator may end a job that waits: nothing ran.
    const isFailedWait = state === FAILED && attempt.started_at === null;
    if (CHARGED.has(outcome) && !isFailedWait && tries === before.tries) {
      report("I7", `run ${n} of job ${job.key} is not charged as it should be`);
    }
    if (crashes > before.crashes !== (outcome === CRASHED)) {
      report("I7", `run ${n} of job ${job.key}: its crash is not counted, or was none`);
    }
    if (tries > job.max_attempts) report("I7", `job ${job.key} has too many attempts`);
    if (state === null && tries >= job.max_attempts) {
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

const ENQUEUED = 1;
const STARTED = 2;
const RETRYING = 4;
const EVENT_OF: Readonly<Record<number, number>> = { 4: 3, 5: 3, 6: 5, 7: 6 };

/** One step: what was, what is, and which jobs it has to do with. */
export interface Step {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly changed: ReadonlySet<number>;
  readonly nowMs: number;
  /** Jobs whose progress was written. */
  readonly progressed: ReadonlySet<number>;
  /** What jobs were asked to wait for, and how jobs have ended that are gone. */
  readonly wanted: ReadonlyMap<string, Wanted>;
  readonly ends: ReadonlyMap<string, number>;
  /** How long ago, by a steady clock, a worker has beaten. */
  readonly silentMs: (worker: string) => number;
}

/** Answers what the feed must tell of a step. */
export function checkStep(step: Step, rules: Rules, report: Report): readonly ExpectedEvent[] {
  checkKept(step, rules, report);
  checkRequests(step, report);
  checkGates(step, report);
  checkMoves(step, report);
  return [
    ...newJobs(step, report),
    ...goneJobs(step, rules, report),
    ...newRows(step, rules, report),
    ...newStarts(step, report),
    ...checkFlows(step, rules, report),
    ...checkNotes(step, report),
  ];
}

function newJobs(step: Step, report: Report): ExpectedEvent[] {
  const { before, after, changed, nowMs } = step;
  const expected: ExpectedEvent[] = [];
  for (const key of changed) {
    const [old, job] = [before.jobs.get(key), after.jobs.get(key)];
    if (job === undefined) continue;
    if (old !== undefined) {
      if (old !== job && JSON.stringify(old) !== JSON.stringify(job)) {
        report("I6", `job ${key} was changed`);
      }
      continue;
    }
    expected.push([ENQUEUED, key]);
    const place = after.places.get(key)?.[0];
    // One that is to run after a job that has failed already is over at once.
    const isOver = finalState(after, key) !== null;
    if (!isOver && place?.rank !== job.run_at * 1_000 && !isExtended(step, job)) {
      report("I8", `job ${key} waits for another time`);
    }
    if (place?.place === "ready" && job.run_at > nowMs) {
      report("I8", `job ${key} is ready before its time`);
    }
    checkKin(before, after, job, report);
    checkTakenOver(step, job, report);
  }
  return expected;
}

/**
 * A child comes with the success of its parent, or of a phase or unit of it; a final job has one
 * living successor.
 */
function checkKin(before: Snapshot, after: Snapshot, job: JobRow, report: Report): void {
  const parent = after.keys.get(job.parent ?? "");
  // A successor has the parent of the job that it repeats.
  if (parent !== undefined && !job.retry_of) {
    const isNew = after.attempts.get(parent)?.length !== before.attempts.get(parent)?.length;
    const isSuccess = isNew && SUCCESSES.has(finalState(after, parent) ?? 0);
    const isPhase = after.phases.get(parent) !== before.phases.get(parent);
    const isUnit = after.units.get(parent) !== before.units.get(parent);
    if (!isSuccess && !isPhase && !isUnit)
      report("I2", `job ${job.key} is a child of a run that did not succeed`);
  }
  if (!job.retry_of) return;
  const living = [...after.jobs.values()].filter(({ key, retry_of }) => {
    return retry_of === job.retry_of && finalState(after, key) === null;
  });
  if (living.length > 1) report("I9", `job ${job.retry_of} has ${living.length} successors`);
}

function goneJobs(step: Step, rules: Rules, report: Report): ExpectedEvent[] {
  const { before, after, changed } = step;
  const expected: ExpectedEvent[] = [];
  for (const key of changed) {
    const job = before.jobs.get(key);
    if (job === undefined || after.jobs.has(key)) continue;
    expected.push([DELETED, job.id]);
    checkRemoved(step, key, rules, report);
  }
  return expected;
}

/** What outlives its job goes when its own time is up, and a verdict about a letter stands. */
function checkKept({ before, after, nowMs }: Step, rules: Rules, report: Report): void {
  for (const name of before.names.keys()) {
    if (!after.names.has(name)) report("I19", `the name ${name} was removed`);
  }
  for (const [name, { job_id, expires_at }] of before.idempotency) {
    const now = after.idempotency.get(name);
    if (now !== undefined && now.job_id !== job_id) report("I9", `key ${name} has a new job`);
    if (now !== undefined) continue;
    // Its job may go in the same step, and the key with it if that was over long ago.
    const finishedAt = before.attempts.get(before.keys.get(job_id) ?? 0)?.at(-1)?.finished_at;
    const keptUntil = expires_at ?? (finishedAt ?? Infinity) + rules.idempotencyMs;
    if (keptUntil > nowMs) report("I9", `key ${name} was removed too early`);
  }
  if (before.letters === after.letters) return;
  for (const [id, { died_at, status, successor }] of before.letters) {
    const now = after.letters.get(id);
    const isJudged = status === REPROCESSED || status === DISCARDED;
    if (now !== undefined && isJudged && (now.status !== status || now.successor !== successor)) {
      report("I6", `the verdict about letter ${id} was changed`);
    }
    if (now === undefined && died_at + rules.deadLetterMs > nowMs) {
      report("I1", `letter ${id} was removed too early`);
    }
  }
}

const REPROCESSED = 3;
const DISCARDED = 4;

/** A request to end a run is met: the request stays until the job is over. */
function checkRequests({ before, after, changed }: Step, report: Report): void {
  for (const key of changed) {
    if (!before.asked.has(key) || after.asked.has(key)) continue;
    if (after.jobs.has(key) && finalState(after, key) === null) {
      report("I8", `the request to cancel job ${key} was forgotten`);
    }
  }
}

/** A gate is forgotten when it is open and nothing waits behind it any more. */
function checkGates({ before, after, nowMs }: Step, report: Report): void {
  if (before.gates === after.gates) return;
  for (const gate of before.gates.values()) {
    if (after.gates.has(gate.name)) continue;
    // The limit was set again: its queue goes on.
    if (limitOfGate(after, gate.name) !== null) continue;
    if (isClosed(gate, nowMs)) report("I8", `the pause of gate ${gate.name} was forgotten`);
    const left = [...after.places.values()].flat().filter((place) => place.gate === gate.name);
    if (left.length > 0) report("I21", `gate ${gate.name} has left ${left.length} job(s) behind`);
  }
}

function newRows(step: Step, rules: Rules, report: Report): ExpectedEvent[] {
  const { before, after, changed } = step;
  const expected: ExpectedEvent[] = [];
  for (const key of changed) {
    const rows = after.attempts.get(key) ?? [];
    const known = before.attempts.get(key) ?? [];
    rows.forEach((row, index) => {
      const old = known[index];
      if (old === undefined) {
        checkNewRow(step, row, rules, report);
        if (row.state === FAILED && !after.letters.has(after.jobs.get(key)?.id ?? "")) {
          report("I19", `job ${key} has failed without a dead letter`);
        }
        expected.push([row.state === null ? RETRYING : (EVENT_OF[row.state] ?? 0), key]);
      } else if (!isSameEnd(old, row)) {
        report("I6", `run ${row.n} of job ${key} was changed after its end`);
      }
    });
    if (rows.length < known.length && after.jobs.has(key)) {
      report("I13", `job ${key} has lost runs of its ledger`);
    }
  }
  return expected;
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
  { before, after, nowMs, silentMs }: Step,
  row: AttemptRow,
  rules: Rules,
  report: Report,
): void {
  const { key, n, fence, outcome, state, started_at, reason } = row;
  const held = before.held.get(key)?.find((run) => run.n === n);
  if (fence !== null && held?.fence !== fence) {
    report("I4", `run ${n} of job ${key} was ended by lease ${fence}, which does not hold it`);
  }
  // An operator may take a job out of a prefetch: it counts as interrupted when it was claimed.
  const wasTaken = outcome === 6;
  if (started_at !== null && held !== undefined && held.start === null && !wasTaken) {
    report("I7", `run ${n} of job ${key} ended without a start`);
  }
  if (state === null && before.asked.has(key)) {
    report("I8", `job ${key} waits again although it was to be cancelled`);
  }
  if (state === null) checkWait(after, row, nowMs, report);
  if (row.finished_at !== nowMs) report("I7", `run ${n} of job ${key} ended at another time`);
  const job = before.jobs.get(key);
  if (job !== undefined && SUCCESSES.has(state ?? 0)) checkSuccess(after, job, row, report);
  if (job !== undefined && reason?.includes(idFromBytes(Buffer.from(job.id, "hex")))) {
    report("I1", `job ${key} has made way for itself`);
  }
  if (outcome !== CRASHED || held === undefined) return;
  const until = before.workers.get(held.worker)?.until ?? 0;
  if (until > nowMs) report("I5", `run ${n} of job ${key} was taken from a living worker`);
  // A clock that jumps makes all look silent: who has just beaten is not.
  if (silentMs(held.worker) < rules.leaseMs * SILENT_SHARE) {
    report("I5", `run ${n} of job ${key} was taken from a worker that has just beaten`);
  }
}

/** Two looks find the same silence, a sixth of a lease apart. */
const SILENT_SHARE = 0.9 / 6;

/** A job that goes on waits where and until when its ledger says. */
function checkWait(after: Snapshot, row: AttemptRow, nowMs: number, report: Report): void {
  const { key, next_run_at } = row;
  const place = after.places.get(key)?.[0];
  if (place === undefined || next_run_at === null) return;
  if (place.rank !== next_run_at * 1_000) report("I8", `job ${key} waits for another time`);
  if (place.place === "ready" && next_run_at > nowMs) {
    report("I8", `job ${key} is ready before its time`);
  }
  if (next_run_at < row.finished_at) report("I8", `job ${key} is due before its run ended`);
}

/** Leases that are new, and runs of buffers that have begun. */
function newStarts(step: Step, report: Report): ExpectedEvent[] {
  const { before, after, changed } = step;
  const expected: ExpectedEvent[] = [];
  for (const key of changed) {
    const run = after.held.get(key)?.[0];
    if (run === undefined) continue;
    const old = before.held.get(key)?.[0];
    const isNew = old?.fence !== run.fence;
    if (isNew) checkClaim(step, run, report);
    if (run.start !== null && (isNew || old?.start === null)) {
      expected.push([STARTED, key]);
      if (before.asked.has(key)) report("I8", `job ${key} began after it was to be cancelled`);
    }
    if (!isNew && old !== undefined && old.start !== null && run.start !== old.start) {
      report("I7", `the start of job ${key} was changed`);
    }
  }
  return expected;
}

function checkClaim(step: Step, run: HeldRow, report: Report): void {
  const { before, nowMs } = step;
  const { key } = run;
  const job = before.jobs.get(key);
  const place = before.places.get(key)?.[0];
  const held = before.held.get(key)?.[0];
  // What an unheard claim had put into its prefetch goes back and is claimed in one transaction.
  const isHandedBack = held?.start === null && held.worker === run.worker;
  const isProbe = run.start === null && job !== undefined && isCrashGate(before, job.type);
  const isTried = isProbe && place?.gate === job.type;
  const isExpected = place?.place === "ready" || isHandedBack || isTried || isClaimable(step, run);
  if (job === undefined || !isExpected) {
    report("I3", `job ${key} was claimed although it did not wait`);
    return;
  }
  for (const name of [job.lane, ...(isProbe ? [] : [job.type]), job.tenant]) {
    if (isBehindGate(before, name, nowMs)) report("I8", `job ${key} was claimed behind a gate`);
  }
  if (before.workers.get(run.worker)?.quiet === 1) {
    report("I8", `job ${key} was claimed by a worker that was asked to be quiet`);
  }
  if ((before.workers.get(run.worker)?.until ?? 0) <= nowMs) {
    report("I5", `job ${key} was claimed by a worker without a lease`);
  }
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

/** Jobs that wait elsewhere than before. */
function checkMoves({ before, after, changed, nowMs }: Step, report: Report): void {
  for (const key of changed) {
    const place = after.places.get(key)?.[0];
    const old = before.places.get(key)?.[0];
    const held = before.held.get(key)?.[0];
    if (place === undefined || place.n !== (old ?? held)?.n) continue;
    if (held !== undefined && held.start !== null) {
      report("I7", `job ${key} waits again, and its run is not in the ledger`);
    }
    const isKept = place.rank === (old ?? held)?.rank;
    if (held !== undefined && !isKept) report("I11", `job ${key} came back to another place`);
    if (place.place === "ready" && place.rank / 1_000 > nowMs && !isKept) {
      report("I8", `job ${key} is ready before its time`);
    }
    if (old?.place === "scheduled" && place.place === "ready" && place.rank / 1_000 > nowMs) {
      report("I8", `job ${key} is ready before its time`);
    }
    if (old?.place === "blocked" && place.place === "ready" && !isKept && place.rank / 1000 > nowMs)
      report("I11", `job ${key} came back from its gate to another place`);
    if (old?.gate === GATE_AFTER && place.gate !== GATE_AFTER && !isKept) {
      report("I8", `job ${key} waits for another time than before those that it ran after`);
    }
    if (place.place === "blocked" && old?.place === "ready") {
      if (!isHeldBack(before, place, nowMs)) report("I8", `job ${key} is held by an open gate`);
      if (!isKept) report("I11", `job ${key} has lost its place behind a gate`);
    }
  }
}

function isHeldBack(now: Snapshot, { gate, tenant, concurrency }: PlaceRow, nowMs: number) {
  if (gate === GATE_KEY) return now.locks.has(`${tenant}.${concurrency}`);
  if (isLimitGate(gate)) {
    const limit = limitOfGate(now, gate);
    return limit !== null && isUsedUp(limit, nowMs);
  }
  const isClosedGate = gate !== null && isBehindGate(now, gate, nowMs);
  return isClosedGate || (gate !== null && isServiceGateClosed(now, gate, nowMs));
}
