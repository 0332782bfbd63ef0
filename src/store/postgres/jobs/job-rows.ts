/** A job as the statements take it: its names are integers. */
import { flagsOf } from "../../shared/codes.ts";
import type { NewJob } from "../../types/jobs-and-runs.ts";
import type { InternedName, InternedNames } from "../database/interned-names.ts";
import type { Due } from "../queue/places.ts";
import type { Bound } from "../database/statements.ts";
import { list, texts, uuidOf, uuids } from "../database/values.ts";

/** A job whose names are known. */
export interface Filed {
  readonly job: NewJob;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | undefined;
}

/**
 * Interns the names of jobs, outside any transaction. Null stands for a job with a name that the
 * database does not take.
 */
export async function fileJobs(
  names: InternedNames,
  jobs: readonly NewJob[],
): Promise<readonly (Filed | null)[]> {
  const filed = jobs.map((job) => fileOne(names, job));
  if (!filed.includes(null)) return filed;
  await names.intern(jobs.flatMap(namesOf));
  return jobs.map((job) => fileOne(names, job));
}

function fileOne(names: InternedNames, job: NewJob): Filed | null {
  const type = names.known("type", job.type);
  const tenant = names.known("tenant", job.tenant);
  const lane = names.known("lane", job.lane);
  const category = job.category === null ? undefined : names.known("category", job.category);
  if (type === undefined || tenant === undefined || lane === undefined) return null;
  if (job.category !== null && category === undefined) return null;
  return { job, type, tenant, lane, category };
}

function namesOf({ type, tenant, lane, category }: NewJob): InternedName[] {
  const names: InternedName[] = [
    { kind: "type", text: type },
    { kind: "tenant", text: tenant },
    { kind: "lane", text: lane },
  ];
  if (category !== null) names.push({ kind: "category", text: category });
  return names;
}

/** The row of a job. `key` is the number that was drawn for it, if one was. */
export function rowOf(filed: Filed, key?: number): object {
  const { job } = filed;
  return {
    key,
    id: uuidOf(job.id),
    ...kindOf(filed),
    payload: job.payload ?? undefined,
    retry_of: job.retryOf === null ? undefined : uuidOf(job.retryOf),
    idempotency: job.idempotency?.key,
    dedup: job.dedup?.key,
  };
}

/** Jobs of one kind. */
type Alike = Omit<Bound<"enqueue_alike">, "channel" | "word">;

/** What a job without keys is besides its id and its payload. Many of a batch share it. */
interface Kind extends Omit<Alike, "ids" | "payloads" | "tags"> {
  readonly tags: NewJob["tags"] | null;
}

function kindOf({ job, type, tenant, lane, category }: Filed): Kind {
  return {
    type,
    tenant,
    lane,
    category: category ?? null,
    priority: job.priority,
    due_at: null,
    delay_ms: null,
    ...dueOf(job),
    max_attempts: job.maxAttempts,
    timeout_ms: job.timeoutMs,
    payload_version: job.payloadVersion,
    correlation: job.correlationId === job.id ? null : job.correlationId,
    parent: job.parentId === null ? null : uuidOf(job.parentId),
    concurrency: job.concurrencyKey,
    webhook: job.webhookUrl,
    tags: Object.keys(job.tags).length > 0 ? job.tags : null,
    created_by: job.createdBy,
    flags: flagsOf(job),
  };
}

/** Jobs as `enqueue_alike` takes them; null if they differ in more than their ids and payloads. */
export function alikeOf(jobs: readonly Filed[]): Alike | null {
  const [first] = jobs;
  if (first === undefined) return null;
  if (jobs.length > 1 && !jobs.every((filed) => isAlike(filed, first))) return null;
  const { tags, ...kind } = kindOf(first);
  return {
    ...kind,
    tags: tags === null ? null : JSON.stringify(tags),
    ...idsAndPayloads(jobs),
  };
}

function idsAndPayloads(jobs: readonly Filed[]): { ids: string; payloads: string } {
  return {
    ids: uuids(jobs.map(({ job }) => job.id)),
    payloads: texts(jobs.map(({ job }) => job.payload)),
  };
}

/** A batch of jobs without keys as `enqueue` takes it: what they have in common is sent once. */
export function batchOf(jobs: readonly Filed[]): Bound<"enqueue"> {
  const kinds = new Map<string, number>();
  let last: { readonly filed: Filed; readonly number: number } | null = null;
  const numbers: number[] = [];
  for (const filed of jobs) {
    if (last === null || !isAlike(filed, last.filed)) {
      const kind = JSON.stringify(kindOf(filed));
      const number = kinds.get(kind) ?? kinds.size + 1;
      kinds.set(kind, number);
      last = { filed, number };
    }
    numbers.push(last.number);
  }
  return {
    kinds: `[${[...kinds.keys()].join()}]`,
    ...idsAndPayloads(jobs),
    kind_of: list(numbers),
  };
}

/** Surely of one kind; a quick look that spares most jobs of a batch the long one. */
function isAlike(left: Filed, right: Filed): boolean {
  const [job, other] = [left.job, right.job];
  return (
    left.type === right.type &&
    left.tenant === right.tenant &&
    left.lane === right.lane &&
    left.category === right.category &&
    job.priority === other.priority &&
    "delayMs" in job.due &&
    "delayMs" in other.due &&
    job.due.delayMs === other.due.delayMs &&
    job.maxAttempts === other.maxAttempts &&
    job.timeoutMs === other.timeoutMs &&
    job.payloadVersion === other.payloadVersion &&
    job.correlationId === null &&
    other.correlationId === null &&
    job.parentId === other.parentId &&
    job.concurrencyKey === other.concurrencyKey &&
    job.webhookUrl === other.webhookUrl &&
    job.tags === other.tags &&
    job.createdBy === other.createdBy &&
    job.onOrphan === other.onOrphan &&
    job.retryOwner === other.retryOwner
  );
}

export function dueOf({ due }: NewJob): Due {
  if ("at" in due) return { due_at: Math.round(Math.max(0, due.at)) };
  return { delay_ms: Math.round(due.delayMs) };
}

/**
 * Jobs whose uniqueness rests on a key, or that are to run after others, go their own way: they may
 * have to wait for somebody.
 */
export function hasKeys({ idempotency, dedup, retryOf, after }: NewJob): boolean {
  return idempotency !== null || dedup !== null || retryOf !== null || after.length > 0;
}
