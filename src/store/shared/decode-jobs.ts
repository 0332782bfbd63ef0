/** Decodes rows into records of the port. Both stores pass the same columns, with ids as text. */
import type { FailedRunRecord, ReviewEntry } from "../types/reviews.ts";
import { idUuid } from "../../core/ids.ts";
import { isFinal, type JobId, type JsonText } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import {
  deadLetterCodec,
  errorClassCodec,
  GATE_AFTER,
  GATE_INSTALLATION,
  GATE_KEY,
  INSTALLATION_NAME,
  limitOfGate,
  outcomeCodec,
  policyOfFlags,
  stateCodec,
  type NameKind,
} from "./codes.ts";
import type {
  AttemptRecord,
  DeadLetterRecord,
  DeletedDetail,
  GateName,
  IntakeName,
  HeldBy,
  JobEnd,
  JobFacts,
  JobRecord,
  JobSpec,
} from "../types/records.ts";
import type { WorkerId } from "../types/jobs-and-runs.ts";

/** Interned names by their ids. */
export interface NameLookup {
  text(id: number): string;
  name(id: number): { readonly kind: NameKind; readonly text: string } | undefined;
}

/** The columns of a job's spec. A name is an id, or a text where the query has resolved it. */
export interface StoredSpec<Name extends number | string> {
  readonly id: JobId;
  readonly type: Name;
  readonly tenant: Name;
  readonly lane: Name;
  readonly category: Name | null;
  readonly priority: number;
  readonly payload: string | null;
  readonly payload_version: string | null;
  readonly correlation: string | null;
  readonly parent: JobId | null;
  readonly retry_of: JobId | null;
  readonly concurrency: string | null;
  readonly idempotency: string | null;
  readonly dedup: string | null;
  readonly webhook: string | null;
  readonly flags: number;
  readonly tags: string | null;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly run_at: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
}

export interface StoredJob extends StoredSpec<number> {
  readonly key: number;
  readonly state: number;
  readonly next_run_at: number | null;
  readonly tries: number;
  readonly crashes: number;
  readonly outcome: number | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly cancel_reason: string | null;
  readonly gate: number | null;
  readonly is_stale: boolean;
  readonly cancel_requested: boolean;
  readonly phase: string | null;
  readonly overall: number | null;
}

export type StoredFacts = Pick<
  StoredJob,
  | "key"
  | "id"
  | "type"
  | "tenant"
  | "correlation"
  | "state"
  | "tries"
  | "next_run_at"
  | "finished_at"
  | "error"
  | "phase"
  | "overall"
>;

export interface StoredAttempt {
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly fence: number | null;
  readonly worker: WorkerId | null;
  readonly claimed_at: number | null;
  readonly started_at: number | null;
  readonly finished_at: number;
  readonly outcome: number;
  readonly error_class: number | null;
  readonly error: string | null;
  readonly reason: string | null;
  readonly next_run_at: number | null;
}

export interface StoredLetter {
  readonly id: JobId;
  readonly type: number;
  readonly tenant: number;
  readonly status: number;
  readonly error: string;
  readonly attempts: number;
  readonly died_at: number;
  readonly reviewed_by: string | null;
  readonly reviewed_at: number | null;
  readonly notes: string | null;
  readonly successor: JobId | null;
  readonly spec: string;
  readonly cause: string;
  readonly assigned_to: string | null;
  readonly history: string;
  readonly reviews: string;
}

export function jobRecord(names: NameLookup, row: StoredJob): JobRecord {
  return {
    key: row.key,
    state: stateCodec.word(row.state),
    ...jobSpec(withNameTexts(names, row)),
    runAt: row.next_run_at,
    attempts: row.tries,
    crashes: row.crashes,
    outcome: row.outcome === null ? null : outcomeCodec.word(row.outcome),
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    result: row.result,
    fault: faultOf(row.error),
    phase: row.phase,
    overall: row.overall,
    cancelReason: row.cancel_reason,
    heldBy: heldBy(names, row),
    isStale: row.is_stale,
    cancelRequested: row.cancel_requested,
  };
}

export function jobFacts(names: NameLookup, id: JobId, row: Omit<StoredFacts, "id">): JobFacts {
  return {
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    correlationId: row.correlation ?? idUuid(id),
    state: stateCodec.word(row.state),
    attempts: row.tries,
    runAt: row.next_run_at,
    finishedAt: row.finished_at,
    fault: faultOf(row.error),
    phase: row.phase,
    overall: row.overall,
  };
}

/** What the feed keeps of a job that is removed. */
export function deletedDetail(
  names: NameLookup,
  row: Pick<StoredSpec<number>, "id" | "type" | "tenant" | "correlation">,
): JsonText {
  const detail: DeletedDetail = {
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    correlationId: correlationOf(row),
  };
  return JSON.stringify(detail);
}

interface StoredEnd {
  readonly asked: JobId;
  readonly id: JobId;
  readonly type: number;
  readonly state: number | null;
  readonly result: JsonText | null;
  readonly error: string | null;
  readonly reason: string | null;
}

/** One answer per id, in the order given. */
export function jobEnds(
  names: NameLookup,
  ids: readonly JobId[],
  rows: readonly StoredEnd[],
): JobEnd[] {
  const found = new Map(rows.map((row) => [row.asked, row]));
  return ids.map((asked) => {
    const row = found.get(asked);
    if (row === undefined) return { status: "missing" };
    const state = row.state === null ? null : stateCodec.word(row.state);
    if (state === null || !isFinal(state)) return { status: "open" };
    const { id, result, reason: cancelReason } = row;
    const job = { id, type: names.text(row.type), state, result, cancelReason };
    return { status: "final", job: { ...job, fault: faultOf(row.error) } };
  });
}

/** The same row with the texts of its interned names. */
export function withNameTexts(names: NameLookup, row: StoredSpec<number>): StoredSpec<string> {
  return {
    ...row,
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    lane: names.text(row.lane),
    category: row.category === null ? null : names.text(row.category),
  };
}

export function jobSpec(row: StoredSpec<string>): JobSpec {
  return {
    id: row.id,
    type: row.type,
    tenant: row.tenant,
    lane: row.lane,
    category: row.category,
    priority: row.priority,
    payload: row.payload,
    payloadVersion: row.payload_version,
    correlationId: correlationOf(row),
    parentId: row.parent,
    retryOf: row.retry_of,
    concurrencyKey: row.concurrency,
    idempotencyKey: row.idempotency,
    dedupKey: row.dedup,
    webhookUrl: row.webhook,
    ...policyOfFlags(row.flags),
    tags: tagsOf(row.tags),
    createdBy: row.created_by,
    createdAt: row.created_at,
    scheduledAt: row.run_at,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
  };
}

/** A job that was given no correlation id has its own id as a UUID. */
function correlationOf(row: Pick<StoredSpec<never>, "id" | "correlation">): string {
  return row.correlation ?? idUuid(row.id);
}

export function deadLetterRecord(names: NameLookup, row: StoredLetter): DeadLetterRecord {
  return {
    id: row.id,
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    status: deadLetterCodec.word(row.status),
    fault: faultOf(row.error) ?? unreadable(row.error),
    attempts: row.attempts,
    diedAt: row.died_at,
    reviewedBy: row.reviewed_by,
    reviewedAt: row.reviewed_at,
    notes: row.notes,
    successor: row.successor,
    spec: row.spec,
    cause: row.cause,
    assignedTo: row.assigned_to,
    history: listOf(row.history).map(failedRunRecord),
    reviews: listOf(row.reviews).map(reviewEntry),
  };
}

function failedRunRecord({ n, outcome, at, cause, ...fault }: any): FailedRunRecord {
  const named = cause === null ? fault : { ...fault, cause };
  return { n, outcome: outcomeCodec.word(outcome), finishedAt: at, fault: named };
}

function reviewEntry({ changes, ...entry }: any): ReviewEntry {
  return Array.isArray(changes) ? { ...entry, changes } : entry;
}

function listOf(json: string): any[] {
  const value = parsed(json);
  return Array.isArray(value) ? value : [];
}

export function attemptRecord(row: StoredAttempt): AttemptRecord {
  return {
    n: row.n,
    tries: row.tries,
    crashes: row.crashes,
    fence: row.fence,
    worker: row.worker,
    claimedAt: row.claimed_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: outcomeCodec.word(row.outcome),
    errorClass: row.error_class === null ? null : errorClassCodec.word(row.error_class),
    fault: faultOf(row.error),
    reason: row.reason,
    nextRunAt: row.next_run_at,
  };
}

/** What holds back a job in `blocked`, or a due one before a closed gate. */
function heldBy(names: NameLookup, { gate, concurrency }: StoredJob): HeldBy | null {
  if (gate === null) return null;
  if (gate === GATE_AFTER) return { kind: "after" };
  if (gate === GATE_KEY) return { kind: "key", name: concurrency ?? "" };
  if (gate === GATE_INSTALLATION) return INSTALLATION;
  const limit = limitOfGate(gate);
  const name = names.name(limit ?? gate);
  if (name === undefined) return null;
  return limit === null ? gateName(name) : { kind: "limit", of: gateName(name) };
}

/** The public name of the gate that holds back all jobs. */
export const INSTALLATION: IntakeName = { kind: "installation", name: INSTALLATION_NAME };

/** The public name of a gate. */
export function gateName({
  kind,
  text,
}: {
  readonly kind: NameKind;
  readonly text: string;
}): GateName {
  // The part after the dot of `parkName`.
  if (kind === "park") return { kind: "service", name: text.slice(text.indexOf(".") + 1) };
  if (kind === "category") throw new Error(`a category cannot be a gate: ${text}`);
  return { kind, name: text };
}

/** Tags that cannot be parsed are left out: one bad row must not stop a page of jobs. */
export function tagsOf(json: string | null): Readonly<Record<string, string>> {
  const tags: Record<string, string> = json === null ? {} : (parsed(json) ?? {});
  return tags;
}

export function faultOf(json: string | null): Fault | null {
  if (json === null) return null;
  const fault: Fault = parsed(json) ?? unreadable(json);
  return fault;
}

/** Undefined: the text is not JSON, or is not an object. */
function parsed(json: string): any {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(json: string): Fault {
  return { class: "non_retryable", name: "UnreadableError", message: json };
}
