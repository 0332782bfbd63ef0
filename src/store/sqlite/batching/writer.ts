/**
 * The single writer of a connection: group commit.
 *
 * Every write of the store is a piece of synchronous work handed to `write`. Pieces that arrive
 * while the event loop is busy, or while another process holds the lock, wait in a queue; then as
 * many as fit into a small slice of time run inside one `BEGIN IMMEDIATE … COMMIT` and share its
 * fsync. Each promise resolves after that commit.
 *
 * - A piece that throws is rolled back to its own savepoint and harms no neighbour.
 * - A commit that fails (full disk, I/O error) fails every piece in it: none was acknowledged.
 * - A locked database is waited for without blocking the loop, and never seen by callers unless it
 *   stays locked for {@link BUSY_MS_MAX}.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock, Dice } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { soon } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { isBusy, storeError } from "../database/errors.ts";
import type { Outbox } from "../events/outbox.ts";

/** Longest stretch of work in one commit: keeps the event loop free and other processes served. */
const SLICE_MS_MAX = 8;
/** How long a lock held by others is waited for. */
const BUSY_MS_MAX = 60_000;
const BUSY_WAIT_MS_MAX = 20;

type Bracket = "begin" | "commit" | "save" | "keep";

interface Piece {
  /** May be lost when the machine loses power, though not when the process dies. */
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
  /** Called before a group is begun: throws when nothing must be written any more. */
  readonly check: () => void;
  /** Called after a commit of which others should hear. */
  readonly committed: (wakeUp: WakeUp) => void;
  /** Called when a piece or a whole group was undone: what was read inside may never have been. */
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

  /** Runs `work` inside a transaction and resolves with its answer once that is durable. */
  write<Answer>(work: () => Answer): Promise<Answer> {
    return this.#accept(work, false);
  }

  /**
   * The same without waiting for the disk: what it writes survives the death of this process, but
   * perhaps not a loss of power.
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

  /** Refuses new work and resolves when what was accepted is through. */
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
    const wakeUp = outbox.finish();
    for (const piece of group) piece.settle();
    if (wakeUp !== null) this.#options.committed(wakeUp);
    this.#next();
  }

  /** Whether the coming commit waits for the disk. */
  #sync(mode: "full" | "relaxed"): void {
    if (mode === this.#syncMode) return;
    // Never prepared ahead: SQLite carries this pragma out when it is compiled, not when it is run.
    const { database } = this.#options;
    database.exec(`PRAGMA synchronous = ${mode === "full" ? "FULL" : "NORMAL"}`);
    this.#syncMode = mode;
  }

  /**
   * Runs queued pieces until the slice is used up. `group` gathers those that await the commit.
   * Throws when SQLite has ended the transaction by itself, as it does when the disk is full: what
   * ran before is undone, and what comes after must not run outside a transaction.
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

  /** Runs one piece in its own savepoint. Answers whether it took effect. */
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

  /** Takes everything of the group back. Never throws: its pieces must still get their answer. */
  #rollBack(): void {
    const { database, outbox } = this.#options;
    outbox.finish();
    this.#options.rolledBack();
    try {
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // The transaction is as good as gone: nothing of it was committed, and the next BEGIN tells.
    }
  }

  /** The lock could not be had: later, without holding up the event loop. */
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

/** The answer to any use before `open` or after `close`. */
export function closedError(): MillraceError {
  return new MillraceError("STORE_CLOSED", "the store is not open");
}
