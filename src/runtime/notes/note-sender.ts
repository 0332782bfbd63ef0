/**
 * Carries what runs say about themselves to the store: one call at a time for the whole worker.
 *
 * What comes while a call is on its way goes with the next one, and what one run says meanwhile
 * becomes one note. While the store fails it is tried again, as long as the worker lives. Notes of
 * one run are kept in the order in which they came.
 */
import { runOutside } from "../../jobs/async-context.ts";
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
import { warnOfMissing } from "../run/refused-children.ts";
import { LockQueue } from "../run/lock-queue.ts";

/** Text in one note, beyond which it goes without company. */
const DRAFT_CHARS_MAX = 4_000_000;
/** Text that no database takes in one go: it would be tried again for ever. */
const NOTE_CHARS_MAX = 64_000_000;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;

export interface NoteSenderParts {
  readonly store: Pick<JobStore, "get" | "acquireLocks" | "checkpoints" | "record">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** `closed`: the worker ended before the store had answered. */
export type RecordAnswer = NoteAnswer | "closed";

/** One note on its way, made of what its run has said so far. */
interface Draft {
  readonly run: string;
  readonly note: Omit<RunNote, keyof NoteBody>;
  readonly parts: Part[];
  moves: number;
  chars: number;
  /** Nothing more may be said in it. */
  isFull: boolean;
}

interface Part {
  readonly body: NoteBody;
  readonly answered: (answer: RecordAnswer) => void;
}

export class NoteSender {
  /** Where the runs of the worker wait for exclusive names. */
  readonly line: LockQueue = new LockQueue();
  readonly #parts: NoteSenderParts;
  readonly #closed = Promise.withResolvers<void>();
  readonly #queue: Draft[] = [];
  /** The newest draft of each run that has one in the queue. */
  readonly #newest = new Map<string, Draft>();
  /** What the call that is on its way carries. */
  #underWay: readonly Draft[] = [];
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: NoteSenderParts) {
    this.#parts = parts;
  }

  /** Resolves when the store has answered. Never rejects. */
  add({ lease, key, n, ...body }: RunNote): Promise<RecordAnswer> {
    if (this.#isClosed) return Promise.resolve("closed");
    const chars = charsIn(body);
    if (chars > NOTE_CHARS_MAX) return Promise.resolve("refused");
    return new Promise((answered) => {
      this.#draftFor({ lease, key, n }, body, chars).parts.push({ body, answered });
      // As part of no job: the next runs' notes are carried from here as well.
      this.#sending ??= runOutside(() => this.#send());
    });
  }

  /** What earlier runs of a job have left, however long the store takes; null at the end. */
  async recall(key: JobKey): Promise<Checkpoints | null> {
    return this.#untilDone("what earlier runs have left could not be read; trying again", () =>
      this.#parts.store.checkpoints(key),
    );
  }

  /** Takes exclusive names for a run, however long the store takes; null at the end. */
  async acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks | null> {
    return this.#untilDone("exclusive names could not be taken; trying again", () =>
      this.#parts.store.acquireLocks(run, names),
    );
  }

  /** Resolves when everything that was added has been answered. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  /** Waits for {@link drained}, but no longer than `ms`; from then on nothing is taken. */
  async close(ms: number): Promise<void> {
    await within(this.#parts.clock, ms, this.drained());
    this.#isClosed = true;
    this.#closed.resolve();
    for (const { parts } of [...this.#underWay, ...this.#queue.splice(0)]) {
      for (const { answered } of parts) answered("closed");
    }
  }

  /** The draft in which a run may go on, or a new one. */
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
      // What else is said in this turn travels along.
      await new Promise<void>((resolve) => soon(resolve));
      const batch = this.#takeBatch();
      this.#underWay = batch;
      const answers = await this.#record(
        batch.map(({ note, parts }) => ({ ...note, ...merged(parts) })),
      );
      if (answers === null) break;
      this.#underWay = [];
      batch.forEach((draft, index) => this.#heard(draft, answers[index] ?? "stale"));
    }
    this.#sending = null;
  }

  /** The first drafts, as many as one call may carry: one of each run, so that order is kept. */
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
    return this.#untilDone("notes of running jobs could not be recorded; trying again", () =>
      this.#parts.store.record(notes),
    );
  }

  /** The answer of the store, however long it takes; null when the worker ends before. */
  async #untilDone<Answer>(trouble: string, call: () => Promise<Answer>): Promise<Answer | null> {
    const { clock, logger } = this.#parts;
    for (let retryMs = RETRY_MS_MIN; !this.#isClosed; retryMs *= 2) {
      try {
        return await call();
      } catch (error) {
        logger.error(trouble, { error });
        await within(clock, Math.min(retryMs, RETRY_MS_MAX), this.#closed.promise);
      }
    }
    return null;
  }

  #heard(draft: Draft, answer: RecordAnswer): void {
    const isRefused = answer === "refused" || typeof answer === "object";
    if (isRefused && draft.parts.length > 1) {
      this.#queue.unshift(...apart(draft));
      return;
    }
    for (const { body, answered } of draft.parts) {
      answered(answer);
      if (answer === "recorded" && body.children !== undefined) {
        void warnOfMissing(this.#parts, body.children);
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

/** Each part by itself: only what cannot be stored is refused. */
function apart({ run, note, parts }: Draft): readonly Draft[] {
  return parts.map((part) => {
    const moves = part.body.units?.length ?? 0;
    return { run, note, parts: [part], moves, chars: charsIn(part.body), isFull: true };
  });
}

/** How much text a note carries, as good as it is cheap to say. */
function charsIn({ progress, units = [], completed, logs = [], children = [] }: NoteBody): number {
  let chars = (progress?.data?.length ?? 0) + (completed?.result?.length ?? 0);
  for (const { to } of units) if (to.state === "completed") chars += to.result?.length ?? 0;
  for (const { message, fields } of logs) chars += message.length + (fields?.length ?? 0);
  for (const { payload } of children) chars += payload?.length ?? 0;
  return chars;
}

/** One body that says what the parts say: of progress the last, of all lists every entry. */
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
    ...(releases.length === 0 ? {} : { releases: releases }),
    ...(logs.length === 0 ? {} : { logs }),
    ...(children.length === 0 ? {} : { children }),
  };
}
