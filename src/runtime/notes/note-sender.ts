/**
 * Sends the notes of all runs of a worker to the store, one call at a time.
 *
 * Notes that arrive during a call are sent with the next call; those of one run are merged into one
 * note. A failed call is retried as long as the worker runs. The notes of one run stay in order.
 */
import { runOutsideJobs } from "../../jobs/async-context.ts";
import { within, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import { soon } from "../../lib/system.ts";
import { BATCH_MAX, type JobStore } from "../../store/store.ts";
import {
  MOVES_MAX,
  type Checkpoints,
  type NoteAnswer,
  type NoteBody,
  type AcquiredLocks,
  type OpenRun,
  type RunNote,
} from "../../store/types/notes.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import { warnAboutDuplicates } from "../run/refused-children.ts";
import { LockQueue } from "../run/lock-queue.ts";

/** The size from which a note is sent alone. */
const DRAFT_CHARS_MAX = 4_000_000;
/** More text fits into no statement, and would be retried forever. */
const NOTE_CHARS_MAX = 64_000_000;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;

export interface NoteSenderParts {
  readonly store: Pick<JobStore, "get" | "acquireLocks" | "checkpoints" | "record">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** `closed`: the worker ended before the store answered. */
export type RecordAnswer = NoteAnswer | "closed";

/** A note that is not sent yet, merged from notes of one run. */
interface Draft {
  readonly run: string;
  readonly note: Omit<RunNote, keyof NoteBody>;
  readonly parts: Part[];
  moves: number;
  chars: number;
  /** No other note may be merged into this one. */
  isFull: boolean;
}

interface Part {
  readonly body: NoteBody;
  readonly answered: (answer: RecordAnswer) => void;
}

export class NoteSender {
  /** Where the runs of the worker wait for locks. */
  readonly lockQueue: LockQueue = new LockQueue();
  readonly #parts: NoteSenderParts;
  readonly #closed = Promise.withResolvers<void>();
  readonly #queue: Draft[] = [];
  /** The newest draft of each run that has one in the queue. */
  readonly #newest = new Map<string, Draft>();
  /** The drafts of the current call. */
  #sent: readonly Draft[] = [];
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: NoteSenderParts) {
    this.#parts = parts;
  }

  /** Resolves when the store has answered the note. Never rejects. */
  record({ lease, key, n, ...body }: RunNote): Promise<RecordAnswer> {
    if (this.#isClosed) return Promise.resolve("closed");
    const chars = charsIn(body);
    if (chars > NOTE_CHARS_MAX) return Promise.resolve("refused");
    return new Promise((answered) => {
      this.#draftFor({ lease, key, n }, body, chars).parts.push({ body, answered });
      // Outside of the job, because the same loop sends the notes of other runs.
      this.#sending ??= runOutsideJobs(() => this.#send());
    });
  }

  /** Reads the checkpoints of a job. Retries until the store answers; null if the worker ends. */
  async checkpoints(key: JobKey): Promise<Checkpoints | null> {
    return this.#untilDone("cannot read the checkpoints of a job; trying again", () =>
      this.#parts.store.checkpoints(key),
    );
  }

  /** Acquires locks for a run. Retries until the store answers; null if the worker ends. */
  async acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks | null> {
    return this.#untilDone("cannot acquire locks; trying again", () =>
      this.#parts.store.acquireLocks(run, names),
    );
  }

  /** Resolves when the store has answered all notes. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  /** Waits for {@link drained}, but at most `ms`; later notes are answered with `closed`. */
  async close(ms: number): Promise<void> {
    await within(this.#parts.clock, ms, this.drained());
    this.#isClosed = true;
    this.#closed.resolve();
    for (const { parts } of [...this.#sent, ...this.#queue.splice(0)]) {
      for (const { answered } of parts) answered("closed");
    }
  }

  /** The draft that the note is merged into, or a new one. */
  #draftFor(note: Draft["note"], body: NoteBody, chars: number): Draft {
    const run = `${note.key}.${note.n}`;
    const moves = body.units?.length ?? 0;
    const newest = this.#newest.get(run);
    const hasRoom =
      newest !== undefined &&
      !newest.isFull &&
      newest.moves + moves <= MOVES_MAX &&
      newest.chars + chars <= DRAFT_CHARS_MAX;
    if (hasRoom && body.clearCheckpoints !== true) return extended(newest, body, { moves, chars });
    const draft = extended({ run, note, parts: [], moves: 0, chars: 0, isFull: false }, body, {
      moves,
      chars,
    });
    this.#queue.push(draft);
    this.#newest.set(run, draft);
    return draft;
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0) {
      // Notes of the same turn of the event loop share the call.
      await new Promise<void>((resolve) => soon(resolve));
      const batch = this.#takeBatch();
      this.#sent = batch;
      const answers = await this.#record(
        batch.map(({ note, parts }) => ({ ...note, ...merged(parts) })),
      );
      if (answers === null) break;
      this.#sent = [];
      batch.forEach((draft, index) => this.#onAnswer(draft, answers[index] ?? "stale"));
    }
    this.#sending = null;
  }

  /** As many drafts as fit into one call, one per run, so that the notes of a run stay in order. */
  #takeBatch(): readonly Draft[] {
    const runs = new Set<string>();
    let [moves, chars] = [0, 0];
    for (const draft of this.#queue) {
      moves += draft.moves;
      chars += draft.chars;
      if (runs.size === BATCH_MAX || runs.has(draft.run)) break;
      if (runs.size > 0 && (moves > MOVES_MAX || chars > DRAFT_CHARS_MAX)) break;
      runs.add(draft.run);
      if (this.#newest.get(draft.run) === draft) this.#newest.delete(draft.run);
    }
    return this.#queue.splice(0, runs.size);
  }

  #record(notes: readonly RunNote[]): Promise<readonly NoteAnswer[] | null> {
    return this.#untilDone("cannot store notes of running jobs; trying again", () =>
      this.#parts.store.record(notes),
    );
  }

  /** Retries until the store answers; null if the worker ends before. */
  async #untilDone<Answer>(message: string, call: () => Promise<Answer>): Promise<Answer | null> {
    const { clock, logger } = this.#parts;
    for (let retryMs = RETRY_MS_MIN; !this.#isClosed; retryMs *= 2) {
      try {
        return await call();
      } catch (error) {
        logger.error(message, { error });
        await within(clock, Math.min(retryMs, RETRY_MS_MAX), this.#closed.promise);
      }
    }
    return null;
  }

  #onAnswer(draft: Draft, answer: RecordAnswer): void {
    const isRefused = answer === "refused" || typeof answer === "object";
    if (isRefused && draft.parts.length > 1) {
      this.#queue.unshift(...split(draft));
      return;
    }
    for (const { body, answered } of draft.parts) {
      answered(answer);
      if (answer === "recorded" && body.children !== undefined) {
        void warnAboutDuplicates(this.#parts, body.children);
      }
    }
  }
}

function extended(
  draft: Draft,
  body: NoteBody,
  { moves, chars }: Pick<Draft, "moves" | "chars">,
): Draft {
  draft.moves += moves;
  draft.chars += chars;
  draft.isFull ||= body.completed !== undefined;
  return draft;
}

/** Sends every part alone, so that only the part that cannot be stored is refused. */
function split({ run, note, parts }: Draft): readonly Draft[] {
  return parts.map((part) => {
    const moves = part.body.units?.length ?? 0;
    return { run, note, parts: [part], moves, chars: charsIn(part.body), isFull: true };
  });
}

/** The approximate size of a note. */
function charsIn({ progress, units = [], completed, logs = [], children = [] }: NoteBody): number {
  let chars = (progress?.data?.length ?? 0) + (completed?.result?.length ?? 0);
  for (const { to } of units) if (to.state === "completed") chars += to.result?.length ?? 0;
  for (const { message, fields } of logs) chars += message.length + (fields?.length ?? 0);
  for (const { payload } of children) chars += payload?.length ?? 0;
  return chars;
}

/** Merges the parts: the last progress, and all entries of the lists. */
function merged(parts: readonly Part[]): NoteBody {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only.body;
  const units = parts.flatMap(({ body }) => body.units ?? []);
  const releases = parts.flatMap(({ body }) => body.releases ?? []);
  const logs = parts.flatMap(({ body }) => body.logs ?? []);
  const children = parts.flatMap(({ body }) => body.children ?? []);
  return {
    ...Object.assign({}, ...parts.map(({ body }) => body)),
    ...(units.length === 0 ? {} : { units }),
    ...(releases.length === 0 ? {} : { releases }),
    ...(logs.length === 0 ? {} : { logs }),
    ...(children.length === 0 ? {} : { children }),
  };
}
