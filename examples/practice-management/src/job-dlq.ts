/** `JobDLQ`: the dead letters of one firm, in the firm's own words. */
import type { DatabaseSync } from "node:sqlite";
import { MillraceError } from "millrace";
import type { DeadLetter, DeadLetterFilter, Json, NamedCount, TenantMillrace } from "millrace";
import { rowsOf } from "./database.ts";
import { MESSAGE_LENGTH_MAX } from "./job-queue.ts";
import { uuidOf } from "./public-id.ts";
import type { Statistics } from "./queue-statistics.ts";

/** An item of the list. */
export interface DlqItem {
  readonly dlq_id: number;
  readonly category: string | null;
  readonly job_type: string;
  readonly status: DeadLetter["status"];
  readonly idempotency_key: string | null;
  readonly correlation_id: string | null;
  readonly error_class: string;
  readonly error_message: string;
  readonly attempt_count: number;
  readonly original_created_at: string | null;
  readonly created_at: string;
}

/** One item, with its payload and its history. */
export interface DlqDetails extends DlqItem {
  readonly payload: Json;
  readonly attempts: readonly { readonly at: string; readonly error_message: string }[];
  readonly reviewed_by: string | null;
  readonly reviewed_at: string | null;
  readonly notes: string | null;
  readonly new_job_id: string | null;
}

/** Where the dead letters of a firm are, and their numbers. */
export interface Dlq {
  readonly firmId: number;
  readonly firm: TenantMillrace;
  readonly db: DatabaseSync;
}

export interface Reviewer {
  readonly actor: string;
  readonly notes?: string;
}

export async function listDlq(
  dlq: Dlq,
  filter: DeadLetterFilter,
): Promise<{ dlq_items: readonly DlqItem[]; total_count: number; next: string | null }> {
  const { after: _after, limit = 50, ...counted } = filter;
  const [letters, { count }] = await Promise.all([
    dlq.firm.deadLetters.list({ ...filter, limit: limit + 1 }),
    dlq.firm.deadLetters.count(counted),
  ]);
  const page = letters.slice(0, limit);
  // Older letters get the lower numbers.
  for (const { id } of page.toReversed()) numberOf(dlq, id);
  const next = letters.length > limit ? (page.at(-1)?.id ?? null) : null;
  return { dlq_items: page.map((letter) => itemOf(dlq, letter)), total_count: count, next };
}

export async function readDlq(dlq: Dlq, dlqId: number): Promise<DlqDetails> {
  const letter = await dlq.firm.deadLetters.get(letterOf(dlq, dlqId));
  return {
    ...itemOf(dlq, letter),
    payload: letter.payload,
    attempts: letter.history.map(({ finishedAt, error }) => ({
      at: finishedAt.toISOString(),
      error_message: shortened(error.message),
    })),
    reviewed_by: letter.reviewedBy,
    reviewed_at: letter.reviewedAt?.toISOString() ?? null,
    notes: letter.notes,
    new_job_id: letter.successorId === null ? null : uuidOf(letter.successorId),
  };
}

export async function reprocessDlq(dlq: Dlq, dlqId: number, by: Reviewer) {
  const job = await dlq.firm.deadLetters.reprocess(letterOf(dlq, dlqId), by);
  return {
    message: "DLQ item reprocessed successfully",
    dlq_id: dlqId,
    new_job_id: uuidOf(job.id),
    new_idempotency_key: job.idempotencyKey,
  };
}

export async function discardDlq(dlq: Dlq, dlqId: number, by: Reviewer) {
  await dlq.firm.deadLetters.discard(letterOf(dlq, dlqId), by);
  return { message: "DLQ item discarded", dlq_id: dlqId };
}

export async function dlqStatistics({ firm }: Dlq): Promise<Statistics> {
  const stats = await firm.deadLetters.stats();
  return {
    total_count: stats.count,
    by_status: stats.byStatus,
    by_category: countsOf(stats.byCategory),
    by_job_type: countsOf(stats.byType),
    by_error_class: countsOf(stats.byErrorClass),
    oldest_pending: stats.oldestPendingAt?.toISOString() ?? null,
    oldest: stats.oldestAt?.toISOString() ?? null,
    last_24_hours: stats.last24Hours,
    at_least: stats.atLeast,
  };
}

function itemOf(dlq: Dlq, letter: DeadLetter): DlqItem {
  return {
    dlq_id: numberOf(dlq, letter.id),
    category: letter.category,
    job_type: letter.type,
    status: letter.status,
    idempotency_key: letter.idempotencyKey,
    correlation_id: letter.correlationId,
    error_class: letter.error.class,
    error_message: shortened(letter.error.message),
    attempt_count: letter.attempts,
    original_created_at: letter.originalCreatedAt?.toISOString() ?? null,
    created_at: letter.diedAt.toISOString(),
  };
}

function shortened(message: string): string {
  return message.slice(0, MESSAGE_LENGTH_MAX);
}

/** The firm's number of a dead letter, which it gets when it is first listed. */
function numberOf({ db, firmId }: Dlq, letter: string): number {
  db.prepare(
    "INSERT INTO dlq_number (firm_id, dead_letter) VALUES (?, ?) ON CONFLICT DO NOTHING",
  ).run(firmId, letter);
  const select = "SELECT dlq_id FROM dlq_number WHERE dead_letter = ?";
  return rowsOf<{ dlq_id: number }>(db, select, letter)[0]!.dlq_id;
}

/** A number of another firm answers as one that does not exist. */
function letterOf({ db, firmId }: Dlq, dlqId: number): string {
  const select = "SELECT dead_letter AS id FROM dlq_number WHERE dlq_id = ? AND firm_id = ?";
  const [found] = rowsOf<{ id: string }>(db, select, dlqId, firmId);
  if (found !== undefined) return found.id;
  throw new MillraceError("JOB_NOT_FOUND", `there is no DLQ item ${dlqId}`);
}

function countsOf(counts: readonly NamedCount[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    counts.flatMap(({ name, count }) => (name === null ? [] : [[name, count]])),
  );
}
