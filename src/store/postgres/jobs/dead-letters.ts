/** deadLetter, deadLetters, review, annotate and reprocess: the review of failed jobs. */
import { writeAudits } from "../audit/write.ts";
import { assigned, noted, reprocessed, reviewed } from "../../shared/audit/drafts.ts";
import type { DeadLetterQuery, LetterPage } from "../../types/letters.ts";
import type { Annotation } from "../../types/reviews.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { JobId, JsonText } from "../../../core/job.ts";
import { deadLetterCodec } from "../../shared/codes.ts";
import { deadLetterRecord, type StoredLetter } from "../../shared/decode-jobs.ts";
import type {
  DeadLetterRecord,
  ReprocessAnswer,
  Review,
  ReviewAnswer,
} from "../../types/records.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { enqueueWithin } from "./enqueue.ts";
import { filterParams } from "./letter-counts.ts";
import { internJobs } from "./job-rows.ts";
import type { InternedNames } from "../database/interned-names.ts";
import { repeating } from "../database/retry.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf, uuids } from "../database/values.ts";

const PAGE_MAX = 1_000;
/** Later than any job can have failed: the first page begins here. */
const NEVER = 9_000_000_000_000;
const LEAST_ID = "0".repeat(32);
/** Lock time-out while another call reprocesses the same dead letter. */
export const LOCK_MS = 10_000;
const OPEN: readonly number[] = [
  deadLetterCodec.code.pending_review,
  deadLetterCodec.code.acknowledged,
];

export function isOpenLetter(status: number | undefined): boolean {
  return status !== undefined && OPEN.includes(status);
}

export async function deadLetter(session: Session, id: JobId): Promise<DeadLetterRecord | null> {
  const row = await session.read.get("find_dead_letter", { id: uuidOf(id) });
  if (row === undefined) return null;
  const [letter] = await lettersOf(session.names, [row]);
  return letter ?? null;
}

export async function deadLetters(
  session: Session,
  filter: DeadLetterQuery,
  page: LetterPage,
): Promise<readonly DeadLetterRecord[]> {
  const { read, names } = session;
  const params = await filterParams(session, filter);
  const before = await pageStart(session, page);
  if (params === null || before === null) return [];
  const limit = bounded(page.limit, PAGE_MAX);
  const rows = await read.all("list_dead_letters", { ...before, ...params, limit });
  return lettersOf(names, rows);
}

/** Where a page begins. Null: the letter `after` is gone. */
export async function pageStart(
  { read }: Session,
  { after, behind }: LetterPage,
): Promise<{ readonly before_at: number; readonly before_id: string } | null> {
  if (behind !== undefined) {
    const { diedAt, id } = behind;
    return { before_at: diedAt, before_id: id === null ? LEAST_ID : uuidOf(id) };
  }
  if (after === undefined) return { before_at: NEVER, before_id: LEAST_ID };
  const row = await read.get("find_dead_letter", { id: uuidOf(after) });
  return row === undefined ? null : { before_at: row.died_at, before_id: uuidOf(row.id) };
}

export async function review(session: Session, id: JobId, verdict: Review): Promise<ReviewAnswer> {
  return repeating(session.dice, async (isRepeat) => {
    const wasOpen = await session.transaction(async (sql) => {
      const before = (await lockLetters(sql, [id])).get(id);
      if (!(await writeVerdict(sql, id, { ...verdict, successor: null }))) return false;
      const { status: after, by, notes: reason } = verdict;
      if (before !== undefined) {
        const statuses = { before: deadLetterCodec.word(before.status), after };
        const letter = { id, tenant: before.tenant };
        await writeAudits(sql, [reviewed(letter, { by, reason }, statuses)], isRepeat);
      }
      return true;
    });
    const letter = await deadLetter(session, id);
    if (letter === null) return { status: "unknown" };
    // After a lost answer, the same verdict by the same reviewer was written by the first try.
    const isOwn = isRepeat && letter.status === verdict.status && letter.reviewedBy === verdict.by;
    return { status: wasOpen || isOwn ? "reviewed" : "closed", letter };
  });
}

/** An entry whose answer was lost is not repeated: it may be there. */
export async function annotate(
  session: Session,
  id: JobId,
  annotation: Annotation,
): Promise<ReviewAnswer> {
  const { act, by, notes } = annotation;
  const assigned_to = act === "assigned" ? annotation.to : null;
  const changed = await session.transaction(async (sql) => {
    const before = (await lockLetters(sql, [id])).get(id);
    const params = { id: uuidOf(id), act, by, notes, assigned_to };
    const count = await sql.run("annotate_dead_letter", params);
    if (count > 0 && before !== undefined) {
      const [letter, who] = [
        { id, tenant: before.tenant },
        { by, reason: notes },
      ];
      const to = { before: before.assigned_to, after: assigned_to };
      const draft = act === "noted" ? noted(letter, who) : assigned(letter, who, to);
      await writeAudits(sql, [draft]);
    }
    // A letter that another transaction writes meanwhile was not there to be changed.
    return before === undefined ? null : count;
  });
  const letter = await deadLetter(session, id);
  if (letter === null || changed === null) return { status: "unknown" };
  return { status: changed > 0 ? "reviewed" : "closed", letter };
}

export async function reprocess(
  session: Session,
  id: JobId,
  successor: NewJob,
  by: string,
  notes: string | null,
  changes: JsonText | null = null,
): Promise<ReprocessAnswer> {
  if (successor.retryOf !== id) {
    const message = `the successor of dead letter ${id} must have retryOf set to it`;
    throw new MillraceError("OPTION_INVALID", `${message}, not ${successor.retryOf}`);
  }
  const interned = await internJobs(session.names, [successor]);
  return repeating(session.dice, async (isRepeat) => {
    const { row, answer } = await session.transaction(
      (transaction) => replaceLetter(transaction, id, { by, notes, changes, interned, successor }),
      { lockMs: LOCK_MS },
    );
    if (row === undefined) return { status: "unknown" };
    const [letter] = await lettersOf(session.names, [row]);
    if (letter === undefined) return { status: "unknown" };
    if (answer !== null) return { status: "reprocessed", letter, answer };
    // After a lost answer, a successor with this id was created by the first try.
    if (!isRepeat || letter.successor !== successor.id) return { status: "closed", letter };
    const state = "delayMs" in successor.due && successor.due.delayMs > 0 ? "scheduled" : "queued";
    return {
      status: "reprocessed",
      letter,
      answer: { status: "created", id: successor.id, state },
    };
  });
}

/** Enqueues the successor and closes the letter. Null: the letter was closed before. */
async function replaceLetter(
  transaction: StoreTransaction,
  id: JobId,
  request: {
    readonly by: string;
    readonly notes: string | null;
    readonly changes: JsonText | null;
    readonly interned: Awaited<ReturnType<typeof internJobs>>;
    readonly successor: NewJob;
  },
): Promise<{ row: StoredLetter | undefined; answer: EnqueueAnswer | null }> {
  const { by, notes, changes, interned, successor } = request;
  // A concurrent call waits for this lock, and then finds the letter closed.
  await transaction.run("lock_dead_letter", { id: uuidOf(id) });
  const row = await transaction.get("find_dead_letter", { id: uuidOf(id) });
  if (row === undefined || !isOpenLetter(row.status)) return { row, answer: null };
  const [answer] = await enqueueWithin(transaction, interned, [successor]);
  if (answer?.status !== "created") return { row, answer: answer ?? null };
  const verdict = { status: "reprocessed", by, notes, successor: answer.id, changes } as const;
  await writeVerdict(transaction, id, verdict);
  const done = { before: deadLetterCodec.word(row.status), successor: answer.id };
  const letter = { id, tenant: row.tenant };
  await writeAudits(transaction, [reprocessed(letter, { by, reason: notes }, done)]);
  return { row: await transaction.get("find_dead_letter", { id: uuidOf(id) }), answer };
}

/** A letter that no other call changes before the transaction ends. */
export interface LockedLetter {
  readonly status: number;
  readonly successor: JobId | null;
  readonly tenant: number;
  readonly assigned_to: string | null;
}

export async function lockLetters(
  transaction: StoreTransaction,
  ids: readonly JobId[],
): Promise<ReadonlyMap<JobId, LockedLetter>> {
  const rows = await transaction.all("lock_dead_letters", { ids: uuids(ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes a verdict on an open letter. Answers whether the letter was open. */
async function writeVerdict(
  transaction: StoreTransaction,
  id: JobId,
  verdict: {
    readonly status: Review["status"] | "reprocessed";
    readonly by: string;
    readonly notes: string | null;
    readonly successor: JobId | null;
    readonly changes?: JsonText | null;
  },
): Promise<boolean> {
  const changed = await transaction.run("review_dead_letter", {
    id: uuidOf(id),
    status: deadLetterCodec.code[verdict.status],
    reviewed_by: verdict.by,
    notes: verdict.notes,
    act: verdict.status,
    changes: verdict.changes ?? null,
    successor: verdict.successor === null ? null : uuidOf(verdict.successor),
  });
  return changed > 0;
}

export async function lettersOf(
  names: InternedNames,
  rows: readonly StoredLetter[],
): Promise<DeadLetterRecord[]> {
  await names.learn(rows.flatMap(({ type, tenant }) => [type, tenant]));
  return rows.map((row) => deadLetterRecord(names, row));
}
