/** What the model shows, what people do with dead letters, and what retention removes. */
import type { DeadLetterQuery } from "../../../src/store/types/letters.ts";
import { idUuid, parseId } from "../../../src/core/ids.ts";
import { isFinal, type JobId } from "../../../src/core/job.ts";
import type { Listing, ListFilter, MatchCount, Page } from "../../../src/store/types/lists.ts";
import type {
  AttemptRecord,
  DeadLetterRecord,
  FeedEntry,
  JobEnd,
  Pruned,
  ReprocessAnswer,
  Retention,
  Review,
  ReviewAnswer,
  Stats,
} from "../../../src/store/types/records.ts";
import type { JobKey, NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { enqueueOne } from "./enqueue.ts";
import { recordOf } from "./records.ts";
import { isHeldBack } from "./waiting.ts";
import {
  atMost,
  endOf,
  inOrder,
  jobById,
  jobNamed,
  stateOf,
  tell,
  type ModelJob,
  type World,
} from "./world.ts";

/** The differential test does not read ends; the record of a job says the same. */
export function jobEnd(world: World, id: JobId): JobEnd {
  return { status: jobNamed(world, id) === undefined ? "missing" : "open" };
}

export function listed(
  world: World,
  filter: ListFilter,
  { after = Infinity, limit }: Page,
): Listing {
  const later = matching(world, filter).filter(({ key }) => key < after);
  const jobs = later.slice(0, limit).map((job) => recordOf(world, job));
  const next = later.length > limit ? (jobs.at(-1)?.key ?? null) : null;
  return { jobs, next, isCutShort: false };
}

export function counted(world: World, filter: ListFilter, max: number): MatchCount {
  return { count: Math.min(max, matching(world, filter).length), isExact: true };
}

/** The jobs that pass a filter, newest first. */
function matching(world: World, filter: ListFilter): ModelJob[] {
  return [...world.jobs.values()].toReversed().filter((job) => {
    const { asked } = job;
    return (
      (filter.states?.includes(stateOf(job)) ?? true) &&
      isAsked(filter.type, asked.type) &&
      isAsked(filter.tenant, asked.tenant) &&
      isAsked(filter.category, asked.category) &&
      isCorrelated(filter.correlationId, asked) &&
      isAsked(filter.parentId, asked.parentId) &&
      (filter.createdFrom ?? 0) <= job.createdAt &&
      job.createdAt < (filter.createdBefore ?? Infinity) &&
      Object.entries(filter.tags ?? {}).every(([name, value]) => asked.tags[name] === value)
    );
  });
}

/** The first job of a chain is found by its own id. */
function isCorrelated(wanted: string | undefined, { id, correlationId }: NewJob): boolean {
  if (wanted === undefined) return true;
  const first = parseId(wanted);
  if (correlationId === null) return first === id;
  return wanted === correlationId || (first !== null && idUuid(first) === correlationId);
}

function isAsked(wanted: string | undefined, found: string | null): boolean {
  return wanted === undefined || wanted === found;
}

/** The ledger of a job, without what only the model keeps there. */
export function attempts(world: World, id: JobId): AttemptRecord[] {
  const rows = jobNamed(world, id)?.ledger ?? [];
  return rows.map(({ state: _state, result: _result, ...row }) => row);
}

/** The jobs that one waits for and that are not over, and those whose code is not over. */
export function openDependencies(world: World, id: JobId): JobId[] {
  return (jobNamed(world, id)?.needs ?? []).flatMap(({ key }) => {
    const parent = world.jobs.get(Math.abs(key));
    if (parent === undefined || (key > 0 && isFinal(stateOf(parent)))) return [];
    return [parent.asked.id];
  });
}

export function stats(world: World, max: number): Stats {
  const jobs = [...world.jobs.values()];
  const lying = (kind: string): ModelJob[] => jobs.filter(({ place }) => place?.kind === kind);
  const upTo = (found: readonly ModelJob[]): number => Math.min(max, found.length);
  const due = lying("ready");
  const ready = due.filter((job) => !isHeldBack(world, job));
  const oldest = Math.min(...ready.map(({ place }) => place?.runAt ?? Infinity));
  return {
    scheduled: upTo(lying("scheduled")),
    retrying: upTo(lying("scheduled").filter((job) => job.ledger.length > 0)),
    queued: upTo(ready),
    held: upTo([...lying("blocked"), ...due.filter((job) => isHeldBack(world, job))]),
    running: upTo(jobs.filter((job) => stateOf(job) === "running")),
    failed: upTo(jobs.filter((job) => stateOf(job) === "failed")),
    oldestQueuedMs: ready.length === 0 ? null : Math.max(0, world.clock.now() - oldest),
    isOldestExact: true,
    cutShort: [],
  };
}

export function feed(world: World, position: number, limit: number): FeedEntry[] {
  const later = world.events.filter((event) => event.position > position);
  return atMost(later, limit).map(({ position: place, kind, at, id, key, detail }) => {
    const isThere = key === null || world.jobs.has(key);
    const details = detail === null ? null : isThere ? [detail] : [];
    const named = isThere ? { jobs: [id], places: [0] } : { jobs: [], places: [] };
    return { position: place, kind, at, ...named, details };
  });
}

export function deadLetters(
  world: World,
  filter: DeadLetterQuery,
  { after, limit }: { readonly after?: JobId; readonly limit: number },
): DeadLetterRecord[] {
  const newest = [...world.letters.values()].toSorted(
    (left, right) => right.diedAt - left.diedAt || (left.id < right.id ? 1 : -1),
  );
  const seen = after === undefined ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && seen === 0) return [];
  const found = newest.slice(seen).filter((letter) => {
    return (
      isAsked(filter.status, letter.status) &&
      isAsked(filter.type, letter.type) &&
      isAsked(filter.tenant, letter.tenant)
    );
  });
  return atMost(found, limit);
}

export function review(world: World, id: JobId, verdict: Review): ReviewAnswer {
  const letter = world.letters.get(id);
  if (letter === undefined) return { status: "unknown" };
  if (isClosed(letter)) return { status: "closed", letter };
  return { status: "reviewed", letter: mark(world, letter, verdict, null) };
}

export function reprocess(
  world: World,
  id: JobId,
  successor: NewJob,
  { by, notes }: { readonly by: string; readonly notes: string | null },
): ReprocessAnswer {
  const letter = world.letters.get(id);
  if (letter === undefined) return { status: "unknown" };
  if (isClosed(letter)) return { status: "closed", letter };
  const answer = enqueueOne(world, successor);
  if (answer.status !== "created") return { status: "reprocessed", letter, answer };
  const marked = mark(world, letter, { status: "reprocessed", by, notes }, answer.id);
  return { status: "reprocessed", letter: marked, answer };
}

function isClosed({ status }: DeadLetterRecord): boolean {
  return status === "reprocessed" || status === "discarded";
}

function mark(
  world: World,
  letter: DeadLetterRecord,
  { status, by, notes }: { status: DeadLetterRecord["status"]; by: string; notes: string | null },
  successor: JobId | null,
): DeadLetterRecord {
  const reviewedAt = world.clock.now();
  const marked = { ...letter, status, reviewedBy: by, reviewedAt, notes, successor };
  world.letters.set(letter.id, marked);
  return marked;
}

/** What prune would remove of jobs, oldest first, without a limit. */
export function expired(world: World, { finishedMs }: Retention): ModelJob[] {
  const leased = new Set<JobKey>();
  for (const { runs } of world.leases.values()) for (const { job } of runs) leased.add(job.key);
  const found = [...world.jobs.values()].filter((job) => {
    const state = stateOf(job);
    if (!isFinal(state) || leased.has(job.key) || isOfLiving(world, job)) return false;
    return finishedAt(job) <= world.clock.now() - finishedMs[state];
  });
  return inOrder(found, (job) => [finishedAt(job)]);
}

/** Whether a parent that is not over may still name the job: as its child, or in place of one. */
function isOfLiving(world: World, { key, asked }: ModelJob): boolean {
  const gaveWay = [...world.aliases.values()].filter(({ holder }) => holder === key);
  const parents = [
    asked.parentId === null ? undefined : jobById(world, asked.parentId),
    ...gaveWay.map(({ parent }) => world.jobs.get(parent)),
  ];
  return parents.some((parent) => parent !== undefined && !isFinal(stateOf(parent)));
}

export function finishedAt(job: ModelJob): number {
  return endOf(job)?.finishedAt ?? Infinity;
}

export function prune(world: World, retention: Retention, limit: number): Pruned {
  const now = world.clock.now();
  const { periods } = world;
  periods.deadLetterMs = Math.max(periods.deadLetterMs, retention.deadLetterMs);
  periods.idempotencyMs = Math.max(periods.idempotencyMs, retention.idempotencyMs);
  const before = world.events.length;
  world.events = world.events.filter(({ at }) => at > now - retention.eventMs);
  const events = before - world.events.length;
  const jobs = atMost(expired(world, retention), limit);
  for (const job of jobs) {
    world.jobs.delete(job.key);
    for (const [id, { holder, parent }] of world.aliases) {
      if (holder === job.key || parent === job.key) world.aliases.delete(id);
    }
    const { asked } = job;
    const held = world.idempotency.get(`${asked.tenant} ${asked.idempotency?.key}`);
    if (held?.job === asked.id) held.expiresAt = finishedAt(job) + periods.idempotencyMs;
    const { type, tenant, correlationId } = asked;
    const gone = { type, tenant, correlationId: correlationId ?? idUuid(asked.id) };
    tell(world, "job:deleted", job, JSON.stringify(gone));
  }
  const keys = atMost(
    [...world.idempotency].filter(([, { expiresAt }]) => expiresAt !== null && expiresAt <= now),
    limit,
  );
  for (const [key] of keys) world.idempotency.delete(key);
  const letters = atMost(
    inOrder(world.letters.values(), ({ diedAt }) => [diedAt]).filter(
      ({ diedAt }) => diedAt <= now - periods.deadLetterMs,
    ),
    limit,
  );
  for (const { id } of letters) world.letters.delete(id);
  const counts = {
    jobs: jobs.length,
    deadLetters: letters.length,
    idempotencyKeys: keys.length,
    events,
    tokens: 0,
    minutes: 0,
    audits: 0,
  };
  return { ...counts, more: Object.values(counts).includes(limit) };
}
