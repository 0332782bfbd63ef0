/** Jobs as parameters of statements. Their names are interned. */
import { flagsOf } from "../../shared/codes.ts";
import { PROTOCOL } from "../../store.ts";
import type { NewJob } from "../../types/jobs-and-runs.ts";
import type { InternedName, InternedNames } from "../database/interned-names.ts";
import type { Due } from "../queue/places.ts";
import type { Bound } from "../database/statements.ts";
import { list, texts, uuidOf, uuids } from "../database/values.ts";

/** A job with the ids of its names. */
export interface InternedJob {
  readonly job: NewJob;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | undefined;
}

/** Interns the names of jobs, outside any transaction. Null: the database refuses a name. */
export async function internJobs(
  names: InternedNames,
  jobs: readonly NewJob[],
): Promise<readonly (InternedJob | null)[]> {
  const interned = jobs.map((job) => internOne(names, job));
  if (!interned.includes(null)) return interned;
  await names.intern(jobs.flatMap(namesOf));
  return jobs.map((job) => internOne(names, job));
}

function internOne(names: InternedNames, job: NewJob): InternedJob | null {
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

/** The row of a job. `key` was reserved for the job, if given. */
export function jobRow(interned: InternedJob, key?: number): object {
  const { job } = interned;
  return {
    key,
    id: uuidOf(job.id),
    ...sharedFields(interned),
    payload: job.payload ?? undefined,
    retry_of: job.retryOf === null ? undefined : uuidOf(job.retryOf),
    idempotency: job.idempotency?.key,
    dedup: job.dedup?.key,
  };
}

/** The parameters of `enqueue_alike` without the notification and the known quotas. */
type AlikeParameters = Omit<Bound<"enqueue_alike">, "channel" | "word" | "quotas">;

/** The fields of an unkeyed job besides id and payload. Many jobs of a batch share them. */
interface SharedFields extends Omit<AlikeParameters, "ids" | "payloads" | "tags" | "protocol"> {
  readonly tags: NewJob["tags"] | null;
}

function sharedFields({ job, type, tenant, lane, category }: InternedJob): SharedFields {
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
    correlation: job.correlationId,
    parent: job.parentId === null ? null : uuidOf(job.parentId),
    concurrency: job.concurrencyKey,
    webhook: job.webhookUrl,
    tags: Object.keys(job.tags).length > 0 ? job.tags : null,
    created_by: job.createdBy,
    flags: flagsOf(job),
  };
}

/** Null: the jobs differ in more than their ids and payloads. */
export function alikeParameters(jobs: readonly InternedJob[]): AlikeParameters | null {
  const [first] = jobs;
  if (first === undefined) return null;
  if (jobs.length > 1 && !jobs.every((interned) => sharesFields(interned, first))) return null;
  const { tags, ...shared } = sharedFields(first);
  return {
    ...shared,
    tags: tags === null ? null : JSON.stringify(tags),
    ...idsAndPayloads(jobs),
    protocol: PROTOCOL,
  };
}

function idsAndPayloads(jobs: readonly InternedJob[]): { ids: string; payloads: string } {
  return {
    ids: uuids(jobs.map(({ job }) => job.id)),
    payloads: texts(jobs.map(({ job }) => job.payload)),
  };
}

/** A batch of unkeyed jobs for `enqueue`. Shared fields are sent once. */
export function batchParameters(jobs: readonly InternedJob[]): Omit<Bound<"enqueue">, "quotas"> {
  const kinds = new Map<string, number>();
  let last: { readonly interned: InternedJob; readonly number: number } | null = null;
  const numbers: number[] = [];
  for (const interned of jobs) {
    if (last === null || !sharesFields(interned, last.interned)) {
      const kind = JSON.stringify(sharedFields(interned));
      const number = kinds.get(kind) ?? kinds.size + 1;
      kinds.set(kind, number);
      last = { interned, number };
    }
    numbers.push(last.number);
  }
  return {
    kinds: `[${[...kinds.keys()].join()}]`,
    ...idsAndPayloads(jobs),
    kind_of: list(numbers),
    protocol: PROTOCOL,
  };
}

/** Cheap comparison, which saves most jobs of a batch the encoding of their shared fields. */
function sharesFields(left: InternedJob, right: InternedJob): boolean {
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

/** Keyed jobs, successors and jobs with dependencies: they may wait for another transaction. */
export function hasKeys({ idempotency, dedup, retryOf, after }: NewJob): boolean {
  return idempotency !== null || dedup !== null || retryOf !== null || after.length > 0;
}
