/**
 * record: what runs say about themselves, kept under the same fence as their ends. Overlapping
 * calls share a transaction, and notes about one run stay in their order.
 */
import { isOnlyProgress } from "../../shared/decode-notes.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import type { JobKey, NewJob } from "../../types/jobs-and-runs.ts";
import type { NoteAnswer, RunNote } from "../../types/notes.ts";
import { bisect, batchesOf, LOCK_MS, untilFree } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { failureOf } from "../database/errors.ts";
import { fileJobs, type Filed } from "../jobs/job-rows.ts";
import { findRun, holdLeases, lockLeases, proofOf } from "./lease-proof.ts";
import { keepNotes, notesBytes } from "./record-notes.ts";
import { keptBy } from "../database/session-state.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { Semaphore } from "../../../lib/semaphore.ts";

/** What fills a batch, and what one call brings in a single one. */
const BATCH_NOTES_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** Connections for notes that go by themselves. */
const ALONE_AT_ONCE = 2;

/** One answer per note, in the order asked. */
export async function record(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[]> {
  const recorder = recorderOf(session);
  const loads = batchesOf(notes, notesBytes, BATCH_BYTES_MAX);
  // All at once, or a later call would come between them.
  return (await Promise.all(loads.map((load) => recorder.add(load)))).flat();
}

const recorderOf = keptBy((session) => {
  const stragglers = new Stragglers(session);
  return new Batcher<RunNote, NoteAnswer>({
    // One at a time: of two on their way, the later could be the first to arrive.
    flightsMax: 1,
    crowd: 0,
    itemsMax: BATCH_NOTES_MAX,
    weightMax: BATCH_BYTES_MAX,
    weigh: notesBytes,
    flush: (notes) => flush(session, stragglers, notes),
  });
});

/**
 * If a lock is not to be had, such as that of a key which a child wants, each note goes by itself,
 * so that only those wait who must. What comes after it about the same run waits behind it.
 */
async function flush(
  session: Session,
  stragglers: Stragglers,
  notes: readonly RunNote[],
): Promise<readonly (NoteAnswer | Promise<NoteAnswer>)[]> {
  const free = notes.filter((note) => !stragglers.isBehind(note));
  const answers = (await together(session, free))?.values();
  return notes.map((note) =>
    answers === undefined || stragglers.isBehind(note)
      ? stragglers.add(note)
      : answers.next().value!,
  );
}

/** Null when a lock is not to be had. */
async function together(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[] | null> {
  if (notes.length === 0) return [];
  try {
    return await recordTogether(session, notes);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
    return null;
  }
}

/** Notes that go by themselves, those of one run one after the other. */
class Stragglers {
  readonly #session: Session;
  readonly #semaphore = new Semaphore(ALONE_AT_ONCE);
  /** The last of each job. */
  readonly #last = new Map<JobKey, Promise<unknown>>();

  constructor(session: Session) {
    this.#session = session;
  }

  isBehind({ key }: RunNote): boolean {
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
    const send = () => this.#semaphore.take(() => recordTogether(this.#session, [note]));
    const [answer] = await untilFree(this.#session, send);
    return answer ?? "stale";
  }
}

/** A note whose children can be enqueued without asking for names. */
interface FiledNote {
  readonly note: RunNote;
  readonly children: readonly NewJob[];
  readonly filed: readonly (Filed | null)[];
}

/** Under the fence everything in a note may be said twice, so a lost answer is asked for again. */
async function recordTogether(
  session: Session,
  notes: readonly RunNote[],
): Promise<readonly NoteAnswer[]> {
  const filed = await Promise.all(notes.map((note) => withFiled(session, note)));
  // One decision for the whole transaction: a part of it must not make it for the others.
  const relaxed = notes.every(isOnlyProgress);
  return repeating(session.dice, async () => {
    try {
      return await session.transaction((transaction) => recordEach(transaction, filed, relaxed), {
        lockMs: LOCK_MS,
      });
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    return session.transaction(
      async (transaction) => {
        // All at once and before anything else: whoever locks leases does so in their order.
        await lockLeases(transaction, notes);
        const recordPart = (part: readonly FiledNote[]): Promise<readonly NoteAnswer[]> =>
          recordEach(transaction, part, relaxed);
        return bisect(transaction, filed, recordPart, (_, error) => refusalBy(error));
      },
      { lockMs: LOCK_MS },
    );
  });
}

async function withFiled({ names }: Session, note: RunNote): Promise<FiledNote> {
  const { children = [] } = note;
  return { note, children, filed: children.length === 0 ? [] : await fileJobs(names, children) };
}

async function recordEach(
  transaction: SessionTransaction,
  notes: readonly FiledNote[],
  relaxed: boolean,
): Promise<readonly NoteAnswer[]> {
  const leases = await holdLeases(
    transaction,
    notes.map(({ note }) => note),
  );
  const isHeld = ({ note }: FiledNote): boolean =>
    findRun(leases.get(proofOf(note.lease)), note) !== null;
  const held = notes.filter(isHeld);
  await keepNotes(
    transaction,
    held.map(({ note }) => note),
    { relaxed },
  );
  await enqueueChildren(transaction, held);
  return notes.map((note) => (isHeld(note) ? "recorded" : "stale"));
}
