/** Exclusive names, jobs that wait for others, and the two stages of retention. */
import { idFromBytes } from "../../../src/core/ids.ts";
import { comesBefore } from "./order.ts";
import type { Report, Rules, Step, Told } from "./invariants.ts";
import type { JobEnd } from "../fleet/retention.ts";
import type { JobRow, PlaceRow } from "./rows.ts";
import { finalState, type Snapshot } from "./snapshot.ts";

/** What a job was asked to wait for, by the hex of ids. */
export interface Wanted {
  readonly after: readonly string[];
  readonly onFailed: "cancel" | "run";
  /** It takes nothing over from the job that it repeats. */
  readonly afresh: boolean;
  /** Its dedup key, and where that is unique. */
  readonly dedup: { readonly key: string; readonly type: string; readonly tenant: string } | null;
}

export const GATE_AFTER = 0;
export const GATE_KEY = -1;

const STALE = 10;
const FAILED = 6;
const CANCELLED = 7;

/** Where a new job names one that gave way to the holder of its key, that is what it waits for. */
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

/** Who has the key now, or had it before: runs end before the children of others come to be. */
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

/** Answers what the feed must tell of it. */
export function checkFlows(step: Step, rules: Rules, report: Report): readonly Told[] {
  checkSlots(step, report);
  checkNeeds(step, report);
  for (const key of step.changed) {
    checkBegun(step, key, report);
    checkCancelled(step, key, report);
  }
  return newMarks(step, rules, report);
}

/** Names belong to runs that are open, and a run of a job with a key has that. */
function checkSlots({ before, after, changed }: Step, report: Report): void {
  if (before.slots === after.slots && before.held === after.held) return;
  for (const [name, { job, n }] of after.slots) {
    const run = after.held.get(job)?.[0];
    if (run?.n !== n) report("I14", `name ${name} is had by run ${n} of job ${job}, which is over`);
    const old = before.slots.get(name);
    if (old !== undefined && (old.job !== job || old.n !== n)) {
      report("I14", `name ${name} was taken away from job ${old.job}`);
    }
  }
  for (const key of changed) {
    const [job, run] = [after.jobs.get(key), after.held.get(key)?.[0]];
    if (job === undefined || run === undefined || job.concurrency === null) continue;
    const slot = after.slots.get(`${job.tenant}.${job.concurrency}`);
    if (slot?.job !== key || slot.n !== run.n) report("I14", `job ${key} runs without its key`);
    if (run.start === null) report("I14", `job ${key} has a key and lies in a prefetch`);
  }
  for (const name of before.slots.keys()) {
    if (!after.slots.has(name)) checkHandOn(before, after, name, report);
  }
}

/** Of those that were moved away for the sake of a name, the most urgent comes back with it. */
function checkHandOn(before: Snapshot, after: Snapshot, name: string, report: Report): void {
  const first = waitingFor(before, name)[0];
  if (first === undefined) return;
  const place = after.places.get(first.key)?.[0];
  if (place?.gate === GATE_KEY) report("I14", `name ${name} is free, and job ${first.key} waits`);
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

/** Who waits for others lies behind gate 0, and they hear of every end. */
function checkNeeds({ before, after, changed }: Step, report: Report): void {
  for (const key of changed) {
    const isBehind = after.places.get(key)?.[0]?.gate === GATE_AFTER;
    if (isBehind !== after.dependencies.has(key)) {
      report(
        "I8",
        `job ${key} waits for others: its place says ${isBehind}, its dependencies do not`,
      );
    }
  }
  for (const key of after.ended) {
    if (finalState(after, key) === null) report("I8", `job ${key} counts as over and is not`);
  }
  if (before.dependencies === after.dependencies && before.attempts === after.attempts) return;
  for (const { key, dependsOn } of [...after.dependencies.values()].flat()) {
    if (!after.jobs.has(dependsOn))
      report("I8", `job ${key} waits for job ${dependsOn}, which is gone`);
    const isUnheard = finalState(after, dependsOn) !== null && !after.ended.has(dependsOn);
    if (isUnheard)
      report("I8", `job ${key} waits for job ${dependsOn} and will not hear of its end`);
  }
}

/** Nobody begins before those are over that it waits for, and have ended as it wants. */
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

/** Who is cancelled for the sake of another has asked for that, and the other has ended badly. */
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

/** A job is marked once, after its time, and whoever wanted to know has been told. */
function newMarks({ before, after, nowMs }: Step, rules: Rules, report: Report): Told[] {
  if (before.stale === after.stale) return [];
  const told: Told[] = [];
  for (const key of after.stale.keys()) {
    if (before.stale.has(key)) continue;
    told.push([STALE, key]);
    const job = after.jobs.get(key);
    const id = job?.id ?? "";
    const isDue = rules.retention.isDue("stale", id, endOf(after, key), nowMs);
    if (!isDue) report("I27", `job ${key} was marked as stale before its time`);
    if (!rules.retention.isTold("stale", id)) {
      report("I27", `job ${key} was marked as stale, and nobody has been told`);
    }
  }
  return told;
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
    report("I27", `job ${key} was removed, and nobody has been told`);
  }
  if (retention.hasHooks && !before.stale.has(key)) {
    report("I27", `job ${key} was removed before it was stale`);
  }
  for (const { key: waiting, dependsOn } of [...before.dependencies.values()].flat()) {
    if (dependsOn === key) report("I8", `job ${key} was removed, and job ${waiting} waits for it`);
  }
}
