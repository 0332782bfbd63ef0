/** An open database file: the session of its verbs, and the transactions in which they run. */
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { wait, type Clock, type Dice } from "../../../core/clock.ts";
import type { OperatorWarnings } from "../../shared/operator-warnings.ts";
import { closedError, Writer } from "../batching/writer.ts";
import { Notifier } from "../events/notifier.ts";
import { Outbox } from "../events/outbox.ts";
import { isBusy, isRefused, storeError } from "./errors.ts";
import { identityCheck } from "./file-identity.ts";
import { InternedNames } from "./interned-names.ts";
import { newState } from "./session-state.ts";
import type { Session } from "./session.ts";
import { Statements } from "./statements.ts";

const READ_WAIT_MS = 10;
const READ_ROUNDS_MAX = 500;

export interface OpenFileOptions {
  readonly path: string;
  /** Whether writes of other processes are noticed by a watch on the log, besides the poll. */
  readonly watchesLog: boolean;
  readonly clock: Clock;
  readonly dice: Dice;
}

export class OpenFile {
  readonly database: DatabaseSync;
  readonly session: Session;
  readonly writer: Writer;
  readonly notifier: Notifier;
  readonly #path: string;
  #isClosing = false;

  constructor(database: DatabaseSync, options: OpenFileOptions, warnings: OperatorWarnings) {
    const { path, clock, dice, watchesLog } = options;
    const sql = new Statements(database);
    const names = new InternedNames(sql);
    const notifier = new Notifier(database, clock, watchesLog ? `${resolve(path)}-wal` : null);
    const state = newState(clock, (ms) => notifier.wakeIn(ms));
    const outbox = new Outbox(sql, clock, () => state.claimCursors.onWakeUp("work"));
    this.database = database;
    this.session = { sql, names, clock, dice, outbox, warnings, state };
    this.notifier = notifier;
    this.writer = new Writer({
      database,
      path,
      clock,
      dice,
      outbox,
      check: identityCheck(path, clock),
      committed: (wakeUp) => notifier.committed(wakeUp),
      rolledBack: () => {
        names.forget();
        state.claimCursors.forget();
      },
    });
    this.#path = path;
  }

  /** Waits for accepted writes, then closes the database. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.notifier.close();
    await this.writer.close();
    this.database.close();
  }

  /** Reads one snapshot. Retries while another process holds the lock. */
  async read<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    const { database, session } = this;
    for (let round = 0; ; round += 1) {
      if (this.#isClosing) throw closedError();
      try {
        database.exec("BEGIN");
        return work(session);
      } catch (error) {
        if (!isBusy(error) || round >= READ_ROUNDS_MAX) throw storeError(error, this.#path);
      } finally {
        if (database.isTransaction) database.exec("COMMIT");
      }
      await wait(session.clock, READ_WAIT_MS);
    }
  }

  /** Runs `work` in one write transaction. */
  write<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    return this.writer.write(() => work(this.session));
  }

  /** Writes a whole batch. If the database refuses it, writes it again with bisection. */
  async writeBatch<Item, Answer>(
    items: readonly Item[],
    whole: (session: Session, items: readonly Item[]) => readonly Answer[],
    inParts: (session: Session, items: readonly Item[]) => readonly Answer[],
  ): Promise<readonly Answer[]> {
    try {
      return await this.write((session) => whole(session, items));
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    return this.write((session) => inParts(session, items));
  }
}
