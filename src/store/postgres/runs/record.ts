/**
 * record: stores the notes of running jobs, under the same fence as their ends. Overlapping calls
 * share a transaction, and notes of one run keep their order.
 */
import { isOnlyProgress } from "../../shared/decode-notes.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import type { JobKey, NewJob } from "../../types/jobs-and-runs.ts";
import type { NoteAnswer, RunNote } from "../../types/notes.ts";
import { bisect, batchesOf, LOCK_MS, retryWhileLocked } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { failureOf } from "../database/errors.ts";
import { internJobs, type InternedJob } from "../jobs/job-rows.ts";
import { findRun, lockOpenLeases, lockLeases, proofOf } from "./lease-proof.ts";
import { writeNotes, notesBytes } from "./record-notes.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { Semaphore } from "../../../lib/semaphore.ts";

/** A full batch, and the bytes of one call in one batch. */
const BATCH_NOTES_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** Connections for notes that are sent one by one. */
const SINGLE_CONCURRENCY = 2;

/** One answer per note, in the order of the notes. */
export async function record(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[]> {
  const { notes: batcher, ownEvents } = session.state;
  for (const { key, progress } of notes) if (progress !== undefined) ownEvents.forget(key);
  const batches = batchesOf(notes, notesBytes, BATCH_BYTES_MAX);
  // All batches at once, so that no later call comes between them.
  return (await Promise.all(batches.map((batch) => batcher.add(batch)))).flat();
}

export function noteBatcher(session: Session): Batcher<RunNote, NoteAnswer> {
  const singleNotes = new SingleNotes(session);
  return new Batcher<RunNote, NoteAnswer>({
    // One in flight: of two, the later could be executed first.
    concurrencyMax: 1,
    overlapItemsMin: 0,
    itemsMax: BATCH_NOTES_MAX,
    weightMax: BATCH_BYTES_MAX,
    weigh: notesBytes,
    flush: (notes) => recordBatch(session, singleNotes, notes),
  });
}

/**
 * Records the whole batch. If a lock is not available, such as that of a child's key, notes are
 * recorded one by one, so that only the notes that need the lock wait. Later notes of the same job
 * wait for the earlier ones.
 */
async function recordBatch(
  session: Session,
  singleNotes: SingleNotes,
  notes: readonly RunNote[],
): Promise<readonly (NoteAnswer | Promise<NoteAnswer>)[]> {
  const free = notes.filter((note) => !singleNotes.hasPending(note));
  const answers = (await unlessLocked(session, free))?.values();
  return notes.map((note) =>
    answers === undefined || singleNotes.hasPending(note)
      ? singleNotes.add(note)
      : answers.next().value!,
  );
}

/** Null: a lock is not available. */
async function unlessLocked(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[] | null> {
  if (notes.length === 0) return [];
  try {
    return await recordWhole(session, notes);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
    return null;
  }
}

/** Records notes one by one; those of one job in order. */
class SingleNotes {
  readonly #session: Session;
  readonly #semaphore = new Semaphore(SINGLE_CONCURRENCY);
  /** The last pending note of each job. */
  readonly #last = new Map<JobKey, Promise<unknown>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Whether an earlier note of the same job is pending. */
  hasPending({ key }: RunNote): boolean {
    return this.#last.has(key);
  }

  add(note: RunNote): Promise<NoteAnswer> {
    const { key } = note;
    const answer = (this.#last.get(key) ?? Promise.resolve()).then(() => this.#send(note));
    const last = answer
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(key) === last) this.#last.delete(key);
      });
    this.#last.set(key, last);
    return answer;
  }

  async #send(note: RunNote): Promise<NoteAnswer> {
    const send = () => this.#semaphore.take(() => recordWhole(this.#session, [note]));
    const [answer] = await retryWhileLocked(this.#session, send);
    return answer ?? "stale";
  }
}

/** A note whose children have interned names. */
interface InternedNote {
  readonly note: RunNote;
  readonly children: readonly NewJob[];
  readonly interned: readonly (InternedJob | null)[];
}

/** Recording a note twice under one fence is harmless, so a lost answer is repeated. */
async function recordWhole(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[]> {
  const interned = await Promise.all(notes.map((note) => internChildren(session, note)));
  // Decided for the whole transaction: `relaxed` notes must not weaken the commit of others.
  const relaxed = notes.every(isOnlyProgress);
  return repeating(session.dice, async () => {
    try {
      return await session.transaction(
        (transaction) => recordEach(transaction, interned, relaxed),
        {
          lockMs: LOCK_MS,
        },
      );
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    return session.transaction(
      async (transaction) => {
        // All leases first: every transaction locks leases in the order of their numbers.
        await lockLeases(transaction, notes);
        const recordPart = (part: readonly InternedNote[]): Promise<readonly NoteAnswer[]> =>
          recordEach(transaction, part, relaxed);
        return bisect(transaction, interned, recordPart, (_, error) => refusalBy(error));
      },
      { lockMs: LOCK_MS },
    );
  });
}

async function internChildren({ names }: Session, note: RunNote): Promise<InternedNote> {
  const { children = [] } = note;
  return {
    note,
    children,
    interned: children.length === 0 ? [] : await internJobs(names, children),
  };
}

async function recordEach(
  transaction: StoreTransaction,
  notes: readonly InternedNote[],
  relaxed: boolean,
): Promise<readonly NoteAnswer[]> {
  const leases = await lockOpenLeases(
    transaction,
    notes.map(({ note }) => note),
  );
  const isHeld = ({ note }: InternedNote): boolean =>
    findRun(leases.get(proofOf(note.lease)), note) !== null;
  const held = notes.filter(isHeld);
  await writeNotes(
    transaction,
    held.map(({ note }) => note),
    { relaxed },
  );
  await enqueueChildren(transaction, held);
  return notes.map((note) => (isHeld(note) ? "recorded" : "stale"));
}
