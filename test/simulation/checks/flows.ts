/** Checks of locks, dependencies, and the two stages of retention. */
import { idFromBytes } from "../../../src/core/ids.ts";
import { comesBefore } from "./order.ts";
import type { ExpectedEvent } from "./feed-events.ts";
import type { Report, Rules, Step } from "./invariants.ts";
import type { JobEnd } from "../fleet/retention.ts";
import type { JobRow, PlaceRow } from "./rows.ts";
import { finalState, isOver, type Snapshot } from "./snapshot.ts";

/** The dependencies that a job was enqueued with, by the hex of ids. */
export interface Wanted {
  readonly after: readonly string[];
  readonly onFailed: "cancel" | "run";
  /** It takes over no checkpoints of the job that it repeats. */
  readonly ignoreCheckpoints: boolean;
  /** Its dedup key, and where that is unique. */
  readonly dedup: WantedKey | null;
}

interface WantedKey {
  readonly key: string;
  readonly type: string;
  readonly tenant: string;
  readonly onConflict: string;
}

export const GATE_AFTER = 0;
export const GATE_KEY = -1;

const STALE = 10;
const FAILED = 6;
const CANCELLED = 7;

/** Replaces dependencies that were rejected as duplicates by the holders of their keys. */
export function noteHolders(
  step: Step,
  wanted: Map<string, Wanted>,
  count: (name: string) => void,
): void {
  const { before, after, changed, ends } = step;
  for (const key of changed) {
    const id = before.jobs.has(key) ? undefined : after.jobs.get(key)?.id;
    const want = wanted.get(id ?? "");
    if (id === undefined || want === undefined) continue;
    const parents = want.after.map((parent) => {
      if (after.keys.has(parent) || ends.has(parent)) return parent;
      count("dependant of one that gave way");
      return holderOf(step, wanted.get(parent)?.dedup) ?? parent;
    });
    wanted.set(id, { ...want, after: parents });
  }
}

/** The job that holds the key now, or held it before: runs end before children are enqueued. */
function holderOf({ before, after }: Step, dedup: Wanted["dedup"] = null): string | undefined {
  if (dedup === null) return undefined;
  const { names } = after;
  const rivals = [...after.jobs.values()].filter(
    ({ type, tenant, ...row }) =>
      row.dedup === dedup.key &&
      names.get(type) === dedup.type &&
      names.get(tenant) === dedup.tenant,
  );
  const hasIt = ({ key, type, tenant }: JobRow): boolean =>
    after.dedup.get(`${tenant}.${type}.${dedup.key}`) === key;
  const holder = rivals.find(hasIt) ?? rivals.find(({ key }) => finalState(before, key) === null);
  return holder?.id;
}

/** Whether a job of the same call may have given the new job another due time. */
export function isExtended({ after, wanted }: Step, job: JobRow): boolean {
  const { names } = after;
  return [...wanted].some(
    ([id, { dedup }]) =>
      dedup?.onConflict === "extend" &&
      dedup.key === job.dedup &&
      dedup.type === names.get(job.type) &&
      dedup.tenant === names.get(job.tenant) &&
      !after.keys.has(id),
  );
}

/** Answers the events that the feed must have. */
export function checkFlows(step: Step, rules: Rules, report: Report): readonly ExpectedEvent[] {
  checkLocks(step, report);
  checkDependencies(step, report);
  for (const key of step.changed) {
    checkBegun(step, key, report);
    checkCancelled(step, key, report);
  }
  return newlyStale(step, rules, report);
}

/** Locks belong to open runs, and the run of a job with a key holds its lock. */
function checkLocks({ before, after, changed }: Step, report: Report): void {
  if (before.locks === after.locks && before.held === after.held) return;
  for (const [name, { job, n }] of after.locks) {
    const run = after.held.get(job)?.[0];
    if (run?.n !== n)
      report("I14", `lock ${name} is held by run ${n} of job ${job}, which has ended`);
    const old = before.locks.get(name);
    if (old !== undefined && (old.job !== job || old.n !== n)) {
      report("I14", `lock ${name} was taken from job ${old.job}`);
    }
  }
  for (const key of changed) {
    const [job, run] = [after.jobs.get(key), after.held.get(key)?.[0]];
    if (job === undefined || run === undefined || job.concurrency === null) continue;
    const lock = after.locks.get(`${job.tenant}.${job.concurrency}`);
    if (lock?.job !== key || lock.n !== run.n) report("I14", `job ${key} runs without its key`);
    const isPlain = after.leases.get(run.fence)?.alone !== 1;
    if (run.start === null && isPlain) report("I14", `job ${key} has a key and is prefetched`);
  }
  for (const name of before.locks.keys()) {
    if (!after.locks.has(name)) checkUnblocked(before, after, name, report);
  }
}

/** When a lock is released, the most urgent job that it blocked is returned. */
function checkUnblocked(before: Snapshot, after: Snapshot, name: string, report: Report): void {
  const first = waitingFor(before, name)[0];
  if (first === undefined) return;
  const place = after.places.get(first.key)?.[0];
  if (place?.gate === GATE_KEY) report("I14", `lock ${name} is free, and job ${first.key} waits`);
  for (const { key } of waitingFor(before, name).slice(1)) {
    const isBack = after.places.get(key)?.[0]?.place === "ready";
    if (isBack)
      report("I11", `job ${key} comes back before job ${first.key}, which is more urgent`);
  }
}

/** Jobs behind a taken key, most urgent first. */
export function waitingFor({ places }: Snapshot, name: string): readonly PlaceRow[] {
  return [...places.values()]
    .flat()
    .filter(({ gate, tenant, concurrency }) => {
      return gate === GATE_KEY && `${tenant}.${concurrency}` === name;
    })
    .toSorted((left, right) => (comesBefore(left, right) ? -1 : 1));
}

/** The tables that say what jobs wait for, and what is over. */
const FLOWS = ["dependencies", "attempts", "code"] as const;

/** A job with open dependencies is behind gate 0, and no end of a dependency is missed. */
function checkDependencies({ before, after, changed }: Step, report: Report): void {
  for (const key of changed) {
    const isBehind = after.places.get(key)?.[0]?.gate === GATE_AFTER;
    if (isBehind !== after.dependencies.has(key)) {
      report(
        "I8",
        `job ${key} waits for others: its place says ${isBehind}, its dependencies do not`,
      );
    }
  }
  for (const key of after.finished) {
    if (!isOver(after, key)) report("I8", `job ${key} counts as over and is not`);
  }
  if (FLOWS.every((table) => before[table] === after[table])) return;
  for (const { key, depends_on: other } of [...after.dependencies.values()].flat()) {
    const isGone = other > 0 && !after.jobs.has(other);
    if (isGone) report("I8", `job ${key} waits for job ${other}, which is gone`);
    const isMissed = isOver(after, other) && !after.finished.has(other);
    if (isMissed) report("I8", `job ${key} waits for job ${other} and misses its end`);
  }
}

/** No job starts before its dependencies are final, and have ended as `onFailed` demands. */
function checkBegun({ before, after, wanted, ends }: Step, key: number, report: Report): void {
  const [old, run] = [before.held.get(key)?.[0], after.held.get(key)?.[0]];
  const job = after.jobs.get(key);
  if (job === undefined || run === undefined || old?.fence === run.fence) return;
  const { after: parents = [], onFailed } = wanted.get(job.id) ?? {};
  for (const id of parents) {
    const state = finalState(before, before.keys.get(id) ?? 0) ?? ends.get(id);
    if (state === undefined) report("I8", `job ${key} has begun before job ${id} was over`);
    const isBad = state === FAILED || state === CANCELLED;
    if (isBad && onFailed === "cancel") report("I8", `job ${key} has begun although ${id} failed`);
  }
}

/** A job is cancelled for a dependency only if that has failed, and `onFailed` says so. */
function checkCancelled(step: Step, key: number, report: Report): void {
  const { after, wanted, ends } = step;
  const job = after.jobs.get(key);
  const row = newEnd(step, key);
  if (job === undefined || row === null || !row.reason?.includes("it was to run after")) return;
  const want = wanted.get(job.id);
  const bad = want?.after.filter((id) => {
    const state = finalState(after, after.keys.get(id) ?? 0) ?? ends.get(id);
    return state === FAILED || state === CANCELLED;
  });
  const names = bad?.map((id) => idFromBytes(Buffer.from(id, "hex"))) ?? [];
  const isNamed = names.some((id) => row.reason?.includes(id));
  if (want?.onFailed === "cancel" && isNamed) return;
  report("I8", `job ${key} was cancelled for no job that it waits for: ${row.reason}`);
}

/** How a job has ended in this step. */
export function newEnd({ before, after }: Step, key: number) {
  const row = after.attempts.get(key)?.at(-1);
  if (row === undefined || row.state === null) return null;
  return finalState(before, key) === null ? row : null;
}

/** A job is marked as stale once, after its period, and the hook was called before. */
function newlyStale({ before, after, nowMs }: Step, rules: Rules, report: Report): ExpectedEvent[] {
  if (before.stale === after.stale) return [];
  const expected: ExpectedEvent[] = [];
  for (const key of after.stale.keys()) {
    if (before.stale.has(key)) continue;
    expected.push([STALE, key]);
    const job = after.jobs.get(key);
    const id = job?.id ?? "";
    const isDue = rules.retention.isDue("stale", id, endOf(after, key), nowMs);
    if (!isDue) report("I27", `job ${key} was marked as stale before its time`);
    if (!rules.retention.isTold("stale", id)) {
      report("I27", `job ${key} was marked as stale, and no hook has been told`);
    }
  }
  return expected;
}

/** How and when a job has ended; never, if it has not. */
export function endOf({ jobs, attempts, names }: Snapshot, key: number): JobEnd {
  const type = names.get(jobs.get(key)?.type ?? 0) ?? "";
  const { state = null, finished_at: finishedAt = Infinity } = attempts.get(key)?.at(-1) ?? {};
  return state === null ? { type, state: 0, finishedAt: Infinity } : { type, state, finishedAt };
}

/** What must be so when a job is removed. */
export function checkRemoved(
  { before, nowMs }: Step,
  key: number,
  { retention }: Rules,
  report: Report,
): void {
  const id = before.jobs.get(key)?.id ?? "";
  const isDue = retention.isDue("gone", id, endOf(before, key), nowMs);
  if (!isDue) report("I1", `job ${key} was removed before its time`);
  if (!retention.isTold("gone", id)) {
    report("I27", `job ${key} was removed, and no hook has been told`);
  }
  if (retention.hasHooks && !before.stale.has(key)) {
    report("I27", `job ${key} was removed before it was stale`);
  }
  for (const { key: waiting, depends_on: other } of [...before.dependencies.values()].flat()) {
    if (other === key) report("I8", `job ${key} was removed, and job ${waiting} waits for it`);
  }
}
