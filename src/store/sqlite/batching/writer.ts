/**
 * The single writer of a connection: group commit.
 *
 * Every write of the store is a piece: synchronous work passed to `write`. Pieces wait in a queue
 * while the event loop is busy or another process holds the lock. Then as many pieces as fit into a
 * short slice of time run inside one `BEGIN IMMEDIATE … COMMIT` and share its fsync. Each promise
 * resolves after that commit.
 *
 * - A piece that throws is rolled back to its own savepoint. The other pieces are not affected.
 * - If the commit fails (disk full, I/O error), every piece in it fails: none was acknowledged.
 * - A locked database is retried without blocking the event loop. Callers get an error only if it
 *   stays locked for {@link BUSY_MS_MAX}.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock, Dice } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { soon } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { isBusy, storeError } from "../database/errors.ts";
import type { Outbox } from "../events/outbox.ts";

/** The maximum time of one commit, so that the event loop and other processes get their turn. */
const SLICE_MS_MAX = 8;
/** How long a lock of another process is waited for. */
const BUSY_MS_MAX = 60_000;
const BUSY_WAIT_MS_MAX = 20;

type Bracket = "begin" | "commit" | "save" | "keep";

interface Piece {
  /** A power failure may lose the piece; the death of the process does not. */
  readonly isRelaxed: boolean;
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

interface WriterOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly outbox: Outbox;
  /** Called before each group. Throws when the file must not be written any more. */
  readonly check: () => void;
  /** Called after a commit with events or work for listeners. */
  readonly committed: (wakeUp: WakeUp) => void;
  /** Called after a rollback of a piece or a group, to drop what was read inside. */
  readonly rolledBack: () => void;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #bracket: Readonly<Record<Bracket, StatementSync>>;
  #queue: Piece[] = [];
  #syncMode: "full" | "relaxed" = "full";
  #scheduled = false;
  #closed = false;
  #busySince: number | null = null;
  #drained: (() => void)[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
    const prepare = (text: string): StatementSync => options.database.prepare(text);
    this.#bracket = {
      begin: prepare("BEGIN IMMEDIATE"),
      commit: prepare("COMMIT"),
      save: prepare("SAVEPOINT piece"),
      keep: prepare("RELEASE piece"),
    };
  }

  /** Runs `work` inside a transaction. Resolves with its answer once the commit is durable. */
  write<Answer>(work: () => Answer): Promise<Answer> {
    return this.#accept(work, false);
  }

  /**
   * The same without waiting for the disk. The write survives the death of this process, but may be
   * lost in a power failure.
   */
  writeRelaxed<Answer>(work: () => Answer): Promise<Answer> {
    return this.#accept(work, true);
  }

  #accept<Answer>(work: () => Answer, isRelaxed: boolean): Promise<Answer> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      let answer: Answer;
      this.#queue.push({
        isRelaxed,
        run: () => {
          answer = work();
        },
        settle: () => resolve(answer),
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** Rejects new pieces. Resolves when the accepted pieces have ended. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    soon(() => this.#drain());
  }

  #drain(): void {
    this.#scheduled = false;
    const { path, outbox } = this.#options;
    try {
      this.#options.check();
      this.#sync(this.#queue.every(({ isRelaxed }) => isRelaxed) ? "relaxed" : "full");
      this.#bracket.begin.run();
    } catch (error) {
      this.#lockRefused(error);
      return;
    }
    this.#busySince = null;

    const group: Piece[] = [];
    try {
      this.#runSlice(group);
      outbox.write();
      this.#bracket.commit.run();
    } catch (error) {
      this.#rollBack();
      for (const piece of group) piece.fail(storeError(error, path));
      this.#next();
      return;
    }
    outbox.committed();
    const wakeUp = outbox.finish();
    for (const piece of group) piece.settle();
    if (wakeUp !== null) this.#options.committed(wakeUp);
    this.#next();
  }

  /** Whether the coming commit waits for the disk. */
  #sync(mode: "full" | "relaxed"): void {
    if (mode === this.#syncMode) return;
    // Not prepared ahead: SQLite executes this pragma when the statement is compiled.
    const { database } = this.#options;
    database.exec(`PRAGMA synchronous = ${mode === "full" ? "FULL" : "NORMAL"}`);
    this.#syncMode = mode;
  }

  /**
   * Runs queued pieces until the slice is used up. `group` collects the pieces that wait for the
   * commit. Throws when SQLite has ended the transaction by itself, as it does when the disk is
   * full: earlier pieces are rolled back, and later pieces must not run outside a transaction.
   */
  #runSlice(group: Piece[]): void {
    const { clock } = this.#options;
    const endsAt = clock.monotonic() + SLICE_MS_MAX;
    do {
      const piece = this.#queue.shift();
      if (piece === undefined) return;
      if (this.#runPiece(piece)) group.push(piece);
    } while (clock.monotonic() < endsAt);
  }

  /** Runs one piece in its own savepoint. Answers whether the piece succeeded. */
  #runPiece(piece: Piece): boolean {
    const { database, path, outbox } = this.#options;
    outbox.beginPiece();
    try {
      this.#bracket.save.run();
      piece.run();
      this.#bracket.keep.run();
      return true;
    } catch (error) {
      piece.fail(storeError(error, path));
      if (!database.isTransaction) throw error;
      outbox.rollBackPiece();
      this.#options.rolledBack();
      database.exec("ROLLBACK TO piece; RELEASE piece");
      return false;
    }
  }

  /** Rolls the group back. Never throws, because its pieces must still be rejected. */
  #rollBack(): void {
    const { database, outbox } = this.#options;
    outbox.finish();
    this.#options.rolledBack();
    try {
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // Nothing was committed, and the next BEGIN reports an error that remains.
    }
  }

  /** BEGIN failed. Tries again later if the database is locked, else rejects all pieces. */
  #lockRefused(error: unknown): void {
    const { clock, dice, path } = this.#options;
    const now = clock.monotonic();
    this.#busySince ??= now;
    const givesUp = !isBusy(error) || now - this.#busySince > BUSY_MS_MAX;
    if (givesUp) {
      this.#busySince = null;
      for (const piece of this.#queue.splice(0)) piece.fail(storeError(error, path));
      this.#next();
      return;
    }
    this.#scheduled = true;
    clock.after(1 + dice.random() * BUSY_WAIT_MS_MAX, () => this.#drain());
  }

  #next(): void {
    if (this.#queue.length > 0) {
      this.#schedule();
      return;
    }
    for (const drained of this.#drained.splice(0)) drained();
  }
}

/** The error for every call before `open` or after `close`. */
export function closedError(): MillraceError {
  return new MillraceError("STORE_CLOSED", "the store is not open");
}
