/** deadLetter, deadLetters, review, annotate and reprocess: the review of failed jobs. */
import type { DeadLetterQuery, LetterPage } from "../../types/letters.ts";
import type { Act } from "../../types/audit.ts";
import type { Annotation } from "../../types/reviews.ts";
import { MillraceError } from "../../../core/errors.ts";
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type { JobId, JsonText } from "../../../core/job.ts";
import { assigned, noted, reprocessed, reviewed } from "../../shared/audit/drafts.ts";
import { deadLetterCodec } from "../../shared/codes.ts";
import { RETRIED_BY } from "../../shared/control/operations.ts";
import { deadLetterRecord } from "../../shared/decode-jobs.ts";
import type {
  DeadLetterRecord,
  ReprocessAnswer,
  Review,
  ReviewAnswer,
} from "../../types/records.ts";
import type { NewJob } from "../../types/jobs-and-runs.ts";
import { writeAudits } from "../audit/write.ts";
import { enqueueWithin } from "./enqueue.ts";
import { filterParams } from "./letter-counts.ts";
import type { DeadLetterRow } from "../database/queries.gen.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";

const PAGE_MAX = 1_000;

export function deadLetter(session: Session, id: JobId): DeadLetterRecord | null {
  const row = session.sql.get("find_dead_letter", { id: idBytes(id) });
  return row === undefined ? null : letterOf(session, row);
}

export function deadLetters(
  session: Session,
  filter: DeadLetterQuery,
  page: LetterPage,
): DeadLetterRecord[] {
  const params = filterParams(session, filter);
  const before = boundary(session, page);
  if (params === null || before === null) return [];
  const limit = bounded(page.limit, PAGE_MAX);
  return session.sql
    .all("list_dead_letters", { ...before, ...params, limit })
    .map((row) => letterOf(session, row));
}

/** Where a page starts. Null: the letter `after` is gone. */
export function boundary(
  { sql }: Session,
  { after, behind }: LetterPage,
): { readonly before_at: number; readonly before_id: Uint8Array } | null {
  if (behind !== undefined) {
    const { diedAt, id } = behind;
    return { before_at: diedAt, before_id: id === null ? new Uint8Array() : idBytes(id) };
  }
  if (after === undefined) {
    return { before_at: Number.MAX_SAFE_INTEGER, before_id: new Uint8Array() };
  }
  const row = sql.get("find_dead_letter", { id: idBytes(after) });
  return row === undefined ? null : { before_at: row.died_at, before_id: row.id };
}

export function review(session: Session, id: JobId, verdict: Review): ReviewAnswer {
  const before = deadLetter(session, id);
  if (before === null) return { status: "unknown" };
  if (!writeReview(session, id, { ...verdict, successor: null })) {
    return { status: "closed", letter: before };
  }
  const { status: after, by, notes: reason } = verdict;
  const statuses = { before: before.status, after };
  writeAudits(session, [reviewed(before, { by, reason }, statuses)]);
  return { status: "reviewed", letter: deadLetter(session, id) ?? before };
}

/** A closed letter does not change. */
export function isClosed({ status }: DeadLetterRecord): boolean {
  return status === "reprocessed" || status === "discarded";
}

export function annotate(session: Session, id: JobId, annotation: Annotation): ReviewAnswer {
  const { act, by, notes } = annotation;
  const before = deadLetter(session, id);
  if (before === null) return { status: "unknown" };
  const { changes } = session.sql.run("annotate_dead_letter", {
    id: idBytes(id),
    act,
    by,
    notes,
    assigned_to: act === "assigned" ? annotation.to : null,
    at: session.clock.now(),
  });
  if (changes === 0) return { status: "closed", letter: before };
  const who = { by, reason: notes };
  const draft =
    act === "noted"
      ? noted(before, who)
      : assigned(before, who, { before: before.assignedTo, after: annotation.to });
  writeAudits(session, [draft]);
  return { status: "reviewed", letter: deadLetter(session, id) ?? before };
}

export function reprocess(
  session: Session,
  id: JobId,
  successor: NewJob,
  by: string,
  notes: string | null,
  changes: JsonText | null = null,
): ReprocessAnswer {
  if (successor.retryOf !== id) {
    const message = `the successor of dead letter ${id} must have it as retryOf`;
    throw new MillraceError("OPTION_INVALID", `${message}, not ${successor.retryOf}`);
  }
  const letter = deadLetter(session, id);
  if (letter === null) return { status: "unknown" };
  if (isClosed(letter)) return { status: "closed", letter };
  const answer = enqueueWithin(session, [successor])[0]!;
  if (answer.status !== "created") return { status: "reprocessed", letter, answer };
  const verdict = { status: "reprocessed", by, notes, successor: answer.id, changes } as const;
  writeReview(session, id, verdict);
  const done = { before: letter.status, successor: answer.id };
  writeAudits(session, [reprocessed(letter, { by, reason: notes }, done)]);
  return { status: "reprocessed", letter: deadLetter(session, id) ?? letter, answer };
}

/** A job was repeated by its id: its letter, if it is open, is reprocessed by the new job. */
export function closeRepeated(session: Session, id: JobId, act: Act, successor: JobId): void {
  const letter = deadLetter(session, id);
  if (letter === null || isClosed(letter)) return;
  const [by, notes] = [act.by ?? RETRIED_BY, act.reason];
  writeReview(session, id, { status: "reprocessed", by, notes, successor });
  writeAudits(session, [reprocessed(letter, act, { before: letter.status, successor })]);
}

/** Stores a review, unless the letter is closed. Answers whether it was stored. */
function writeReview(
  { sql, clock }: Session,
  id: JobId,
  verdict: {
    readonly status: Review["status"] | "reprocessed";
    readonly by: string;
    readonly notes: string | null;
    readonly successor: JobId | null;
    readonly changes?: JsonText | null;
  },
): boolean {
  const { changes } = sql.run("review_dead_letter", {
    id: idBytes(id),
    status: deadLetterCodec.code[verdict.status],
    reviewed_by: verdict.by,
    reviewed_at: clock.now(),
    notes: verdict.notes,
    act: verdict.status,
    changes: verdict.changes ?? null,
    successor: verdict.successor === null ? null : idBytes(verdict.successor),
  });
  return changes > 0;
}

export function letterOf({ names }: Session, row: DeadLetterRow): DeadLetterRecord {
  const successor = row.successor === null ? null : idFromBytes(row.successor);
  return deadLetterRecord(names, { ...row, id: idFromBytes(row.id), successor });
}
