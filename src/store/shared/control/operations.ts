/** Rows of bulk operations, and what became of their items, for both stores. */
import { operationRemark } from "../../../core/control/bulk.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { JobId } from "../../../core/job.ts";
import type { Act, ReprocessRequest } from "../../types/audit.ts";
import type { EnqueueAnswer } from "../../types/jobs-and-runs.ts";
import type { ReprocessOutcome } from "../../types/failures.ts";
import {
  OPERATION_LEASE_MS,
  OPERATIONS_OPEN_MAX,
  OPERATIONS_TENANT_MAX,
  type ChunkItem,
  type ItemOutcome,
  type NewOperation,
  type OperationChunk,
  type OperationItem,
  type OperationRecord,
  type OperationStatus,
  type PlaceAnswer,
} from "../../types/operations.ts";
import type { CancelAnswer, ReviewAnswer } from "../../types/records.ts";
import { codec, type Codec } from "../codes.ts";

export const operationCodec: Codec<OperationStatus> = codec({
  pending: 1,
  running: 2,
  completed: 3,
  stopped: 4,
  failed: 5,
});

export const itemCodec: Codec<ItemOutcome> = codec({ done: 1, skipped: 2, failed: 3 });

/** The reviewer of a letter whose job was repeated by a caller that named no person. */
export const RETRIED_BY = "jobs.retry";

/** What became of one item. */
export type ItemResult = Omit<OperationItem, "n">;

interface StoredOperation {
  readonly id: JobId;
  readonly status: number;
  readonly tenant: string | null;
  readonly plan: string;
  readonly actor: string;
  readonly reason: string;
  readonly rate: number;
  readonly chunk: number;
  readonly expected: number;
  readonly expected_at_least: number;
  readonly cursor: string;
  readonly done: number;
  readonly failed: number;
  readonly skipped: string;
  readonly items: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly next_ms: number;
  readonly stopped_by: string | null;
  readonly error: string | null;
}

export function operationRecord(row: StoredOperation): OperationRecord {
  return {
    id: row.id,
    status: operationCodec.word(row.status),
    tenant: row.tenant,
    plan: JSON.parse(row.plan),
    actor: row.actor,
    reason: row.reason,
    rate: row.rate,
    chunk: row.chunk,
    expected: row.expected,
    isExpectedExact: row.expected_at_least === 0,
    cursor: row.cursor,
    items: row.items,
    done: row.done,
    failed: row.failed,
    skipped: JSON.parse(row.skipped),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    nextMs: row.next_ms,
    stoppedBy: row.stopped_by,
    error: row.error === null ? null : JSON.parse(row.error),
  };
}

/** The parameters of `insert_operation` that both stores share. */
export function newOperationParams(operation: NewOperation): {
  readonly tenant: string | null;
  readonly plan: string;
  readonly actor: string;
  readonly reason: string;
  readonly rate: number;
  readonly chunk: number;
  readonly expected: number;
} {
  const { tenant, plan, actor, reason, rate, chunk, expected } = operation;
  return { tenant, plan: JSON.stringify(plan), actor, reason, rate, chunk, expected };
}

/** Each tenant has a maximum of its own: it cannot take the place of other tenants or operators. */
export function openMax({ tenant }: NewOperation): number {
  return tenant === null ? OPERATIONS_OPEN_MAX : OPERATIONS_TENANT_MAX;
}

export function tooManyOperations(given: NewOperation): MillraceError {
  const { tenant } = given;
  const whose = tenant === null ? "" : ` of tenant ${tenant}`;
  const message = `there are ${openMax(given)} operations${whose} that have not ended`;
  return new MillraceError("OPERATIONS_TOO_MANY", message);
}

/** Whether the chunk is the next one of this operation, for the runner that holds it. */
export function isNextChunk(
  row: { readonly status: number; readonly runner: string | null; readonly cursor: string },
  { runner, from }: OperationChunk,
): boolean {
  const isRunning = row.status === operationCodec.code.running;
  return isRunning && row.runner === runner && row.cursor === from;
}

/**
 * The requests of a chunk that reprocesses: of all its letters, also of those that are refused. An
 * item that the runner skips is no letter of this operation.
 */
export function requestsOf(
  { plan }: OperationRecord,
  items: readonly ChunkItem[],
): readonly ReprocessRequest[] {
  if (plan.action !== "reprocess") return [];
  return items.filter(({ skip }) => skip === undefined).map(({ id }) => ({ id, changes: null }));
}

export function actOf(operation: OperationRecord): Act {
  return { by: operation.actor, reason: operationRemark(operation) };
}

/** The items that the store decides about; the runner has decided about the others. */
export function isUndecided({ skip, fail }: ChunkItem): boolean {
  return skip === undefined && fail === undefined;
}

/** Results in the order of the items: those of the store, and those of the runner. */
export function allOutcomes(
  items: readonly ChunkItem[],
  decided: readonly ItemResult[],
): readonly ItemResult[] {
  const next = decided.values();
  return items.map((item) => {
    if (item.fail !== undefined) return failed(item.id, item.fail);
    if (item.skip !== undefined) return skipped(item.id, item.skip);
    return next.next().value!;
  });
}

/** The parameters of `advance_operation`. */
export function advanceParams(
  operation: OperationRecord,
  { to }: OperationChunk,
  outcomes: readonly ItemResult[],
): {
  readonly cursor: string;
  readonly done: number;
  readonly failed: number;
  readonly skipped: string;
  readonly items: number;
  readonly cost_ms: number;
  readonly lease_ms: number;
} {
  const reasons = { ...operation.skipped };
  for (const { outcome, code } of outcomes) {
    if (outcome !== "skipped" || code === null) continue;
    reasons[code] = (reasons[code] ?? 0) + 1;
  }
  const count = (word: ItemOutcome): number =>
    outcomes.filter(({ outcome }) => outcome === word).length;
  return {
    cursor: to ?? operation.cursor,
    done: operation.done + count("done"),
    failed: operation.failed + count("failed"),
    skipped: JSON.stringify(reasons),
    items: operation.items + outcomes.length,
    cost_ms: Math.ceil((outcomes.length * 1_000) / operation.rate),
    lease_ms: OPERATION_LEASE_MS,
  };
}

export function done(id: JobId, successor: JobId | null = null): ItemResult {
  return { id, outcome: "done", code: null, successor };
}

export function skipped(id: JobId, code: string, successor: JobId | null = null): ItemResult {
  return { id, outcome: "skipped", code, successor };
}

export function failed(id: JobId, code: string): ItemResult {
  return { id, outcome: "failed", code, successor: null };
}

export function cancelOutcome(id: JobId, { status }: CancelAnswer): ItemResult {
  if (status === "cancelled" || status === "requested") return done(id);
  return skipped(id, status === "final" ? "state" : "unknown");
}

export function placeOutcome(id: JobId, { status }: PlaceAnswer): ItemResult {
  if (status === "done") return done(id);
  return skipped(id, status === "unknown" ? "unknown" : "state");
}

export function reviewOutcome(id: JobId, { status }: Pick<ReviewAnswer, "status">): ItemResult {
  return status === "reviewed" ? done(id) : skipped(id, status);
}

/** The answer to a successor of a final job. */
export function retryOutcome(id: JobId, answer: EnqueueAnswer): ItemResult {
  if (answer.status === "created") return done(id, answer.id);
  if (answer.status === "refused") return failed(id, answer.code);
  return skipped(id, answer.by === "dedup" ? "held" : "existing", answer.id);
}

export function letterOutcome({ id, status, job }: ReprocessOutcome): ItemResult {
  if (status === "created") return done(id, job);
  if (status === "refused") return failed(id, "STORE_REFUSED");
  return skipped(id, status, job);
}
