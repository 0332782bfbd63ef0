/** Reads the next items of a bulk operation, and prepares the jobs that repeat them. */
import type { Clock } from "../../core/clock.ts";
import { chunkSize } from "../../core/control/bulk.ts";
import { isFinal, type JobId } from "../../core/job.ts";
import type { LetterPlace } from "../../store/types/letters.ts";
import type { JobStore } from "../../store/store.ts";
import type { ChunkItem, OperationPlan, OperationRecord } from "../../store/types/operations.ts";
import type { DeadLetterRecord, JobRecord } from "../../store/types/records.ts";
import { letterSuccessor } from "../letter-successor.ts";
import { hasNothingToRetry, type TypeFacts } from "../nothing-to-retry.ts";
import { successorOf } from "../retry-as-new-job.ts";

/** Pages of letters that one chunk reads to find open ones. */
const PAGES_MAX = 10;
/** The bytes of the copies in one chunk of letters: a transaction is to stay short. */
const BYTES_MAX = 4_000_000;

export interface ChunkParts {
  readonly store: JobStore;
  readonly clock: Pick<Clock, "now">;
  readonly newId: () => JobId;
  readonly known: TypeFacts;
}

/** `to` is the cursor behind the items; null: the walk has ended. */
export interface ReadChunk {
  readonly items: readonly ChunkItem[];
  readonly to: string | null;
}

export async function readChunk(parts: ChunkParts, operation: OperationRecord): Promise<ReadChunk> {
  const { plan } = operation;
  if ("ids" in plan) return readIds(parts, operation, plan.ids);
  if ("jobs" in plan) return readJobs(parts, operation, plan);
  return readLetters(parts, operation, plan);
}

/** The tenant of the operation goes before that of its filter. */
function scopeOf({ tenant }: OperationRecord): { readonly tenant?: string } {
  return tenant === null ? {} : { tenant };
}

async function readJobs(
  parts: ChunkParts,
  operation: OperationRecord,
  plan: Extract<OperationPlan, { readonly jobs: object }>,
): Promise<ReadChunk> {
  const filter = { ...plan.jobs, ...scopeOf(operation) };
  const page = { after: Number(operation.cursor), limit: sizeOf(operation) };
  const { jobs, next } = await parts.store.list(filter, page);
  const items: ChunkItem[] = [];
  for (const job of jobs) items.push(await itemOfJob(parts, operation, job));
  return { items, to: next === null ? null : String(next) };
}

function sizeOf({ chunk, rate }: OperationRecord): number {
  return chunkSize(chunk, rate);
}

async function itemOfJob(
  { store, known, newId }: ChunkParts,
  { plan }: OperationRecord,
  job: JobRecord,
): Promise<ChunkItem> {
  const { id } = job;
  if (plan.action !== "retry" || !isFinal(job.state)) return { id };
  if (await hasNothingToRetry(store, known, job)) return { id, skip: "nothing_to_retry" };
  return { id, successor: successorOf(job, newId()) };
}

/** The walk begins behind the newest letter of the start. Closed letters do not belong to it. */
async function readLetters(
  parts: ChunkParts,
  operation: OperationRecord,
  plan: Extract<OperationPlan, { readonly deadLetters: object }>,
): Promise<ReadChunk> {
  const filter = { ...plan.deadLetters, ...scopeOf(operation) };
  const limit = sizeOf(operation);
  const items: ChunkItem[] = [];
  let cursor = operation.cursor;
  let bytes = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const letters = await parts.store.deadLetters(filter, { ...placeOf(cursor), limit });
    for (const letter of letters) {
      cursor = cursorOf(letter);
      if (!isOpen(letter)) continue;
      items.push(itemOfLetter(parts, operation, letter));
      bytes += letter.spec.length;
      if (items.length === limit || bytes >= BYTES_MAX) return { items, to: cursor };
    }
    if (letters.length < limit) return { items, to: null };
  }
  return { items, to: cursor };
}

/** A place, and not a letter: the walk goes on if its last letter is removed. */
function cursorOf({ diedAt, id }: DeadLetterRecord): string {
  return `${diedAt} ${id}`;
}

function placeOf(cursor: string): { readonly behind: LetterPlace } {
  const [diedAt, id = null] = cursor.split(" ");
  return { behind: { diedAt: Number(diedAt), id } };
}

function isOpen({ status }: DeadLetterRecord): boolean {
  return status === "pending_review" || status === "acknowledged";
}

function itemOfLetter(
  { clock, newId }: ChunkParts,
  { plan, actor }: OperationRecord,
  letter: DeadLetterRecord,
): ChunkItem {
  const { id } = letter;
  if (plan.action !== "reprocess") return { id };
  try {
    return { id, successor: letterSuccessor(letter, newId(), { actor, nowMs: clock.now() }) };
  } catch {
    // The copy of the request is damaged: the letter stays open, for `doctor` and people.
    return { id, fail: "STORE_REFUSED" };
  }
}

async function readIds(
  parts: ChunkParts,
  operation: OperationRecord,
  ids: readonly JobId[],
): Promise<ReadChunk> {
  const { store } = parts;
  const { tenant, plan } = operation;
  const from = Number(operation.cursor);
  const part = ids.slice(from, from + sizeOf(operation));
  const tenants = tenant === null ? [] : await store.tenantsOf(part);
  const items: ChunkItem[] = [];
  for (const [index, id] of part.entries()) {
    const isOther = tenant !== null && tenants[index] !== tenant;
    if (isOther) items.push({ id, skip: "unknown" });
    else if (plan.action === "retry") items.push(await retried(parts, operation, id));
    else if (plan.action === "reprocess") items.push(await reprocessed(parts, operation, id));
    else items.push({ id });
  }
  const to = from + part.length;
  return { items, to: to >= ids.length ? null : String(to) };
}

async function retried(
  parts: ChunkParts,
  operation: OperationRecord,
  id: JobId,
): Promise<ChunkItem> {
  const job = await parts.store.get(id);
  return job === null ? { id, skip: "unknown" } : itemOfJob(parts, operation, job);
}

async function reprocessed(
  parts: ChunkParts,
  operation: OperationRecord,
  id: JobId,
): Promise<ChunkItem> {
  const letter = await parts.store.deadLetter(id);
  return letter === null ? { id, skip: "unknown" } : itemOfLetter(parts, operation, letter);
}
