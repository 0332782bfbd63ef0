/** A job as `insert_jobs` takes it: its names are integers, and what is absent is left out. */
import { flagsOf } from "../codes.ts";
import type { NewJob } from "../store.ts";
import type { Name, Names } from "./names.ts";
import type { Due } from "./places.ts";
import type { Bound } from "./statements.ts";
import { list, texts, uuidOf, uuids } from "./values.ts";

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
  names: Names,
  jobs: readonly NewJob[],
): Promise<readonly (Filed | null)[]> {
  const filed = jobs.map((job) => fileOne(names, job));
  if (!filed.includes(null)) return filed;
  await names.intern(jobs.flatMap(namesOf));
  return jobs.map((job) => fileOne(names, job));
}

function fileOne(names: Names, job: NewJob): Filed | null {
  const type = names.known("type", job.type);
  const tenant = names.known("tenant", job.tenant);
  const lane = names.known("lane", job.lane);
  const category = job.category === null ? undefined : names.known("category", job.category);
  if (type === undefined || tenant === undefined || lane === undefined) return null;
  if (job.category !== null && category === undefined) return null;
  return { job, type, tenant, lane, category };
}

function namesOf({ type, tenant, lane, category }: NewJob): Name[] {
  const names: Name[] = [
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

/** What a job without keys is besides its id and its payload. Many of a batch share it. */
function kindOf({ job, type, tenant, lane, category }: Filed): object {
  // JSON leaves out what is undefined, and most of it is.
  return {
    type,
    tenant,
    lane,
    category,
    priority: job.priority,
    ...dueOf(job),
    max_attempts: job.maxAttempts,
    timeout_ms: job.timeoutMs ?? undefined,
    payload_version: job.payloadVersion ?? undefined,
    correlation: job.correlationId === job.id ? undefined : (job.correlationId ?? undefined),
    parent: job.parentId === null ? undefined : uuidOf(job.parentId),
    concurrency: job.concurrencyKey ?? undefined,
    webhook: job.webhookUrl ?? undefined,
    tags: Object.keys(job.tags).length > 0 ? job.tags : undefined,
    created_by: job.createdBy ?? undefined,
    flags: flagsOf(job),
  };
}

/** A batch of jobs without keys as `enqueue` takes it: what they have in common is sent once. */
export function batchOf(jobs: readonly Filed[]): Bound<"enqueue"> {
  const kinds = new Map<string, number>();
  const numbers = jobs.map((filed) => {
    const kind = JSON.stringify(kindOf(filed));
    const known = kinds.get(kind);
    if (known !== undefined) return known;
    kinds.set(kind, kinds.size + 1);
    return kinds.size;
  });
  return {
    kinds: `[${[...kinds.keys()].join()}]`,
    ids: uuids(jobs.map(({ job }) => job.id)),
    payloads: texts(jobs.map(({ job }) => job.payload)),
    kind_of: list(numbers),
  };
}

export function dueOf({ due }: NewJob): Due {
  if ("at" in due) return { due_at: Math.round(Math.max(0, due.at)) };
  return { delay_ms: Math.round(due.delayMs) };
}

/** Jobs whose uniqueness rests on a key go their own way: they may have to wait for others. */
export function hasKeys({ idempotency, dedup, retryOf }: NewJob): boolean {
  return idempotency !== null || dedup !== null || retryOf !== null;
}
