/**
 * What the pieces of one group commit have to tell: to the feed, durably, and to whoever listens
 * for work. Neighbouring pieces of the same kind share one row of the feed, and a piece that is
 * rolled back takes its words with it.
 */
import type { Clock } from "../../../core/clock.ts";
import { eventCodec } from "../../shared/codes.ts";
import { feedRows, type OutboxEvent } from "../../shared/event-rows.ts";
import type { WakeUp } from "../../store.ts";
import type { Statements } from "../database/statements.ts";

export class Outbox {
  readonly #sql: Statements;
  readonly #clock: Clock;
  #events: OutboxEvent[] = [];
  #pieceStart = 0;
  #wakeUp: WakeUp | null = null;

  constructor(sql: Statements, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** Something happened to these jobs. Those that go leave only their ids behind. */
  add(entry: OutboxEvent): void {
    if (entry.jobs.length === 0) return;
    this.#events.push(entry);
    this.#wakeUp ??= "events";
  }

  /** Somebody who waits for work should look again. */
  wake(): void {
    this.#wakeUp = "work";
  }

  beginPiece(): void {
    this.#pieceStart = this.savepoint();
  }

  rollBackPiece(): void {
    this.rollBackTo(this.#pieceStart);
  }

  /** Where the words of a part begin that may have to be dropped. */
  savepoint(): number {
    return this.#events.length;
  }

  rollBackTo(mark: number): void {
    this.#events.length = mark;
  }

  /** Writes the rows of the feed, inside the transaction. */
  write(): void {
    const at = this.#clock.now();
    for (const { kind, jobs, details } of feedRows(this.#events)) {
      const named = JSON.stringify(jobs);
      const names =
        kind === "job:deleted" ? { keys: null, ids: named } : { keys: named, ids: null };
      const told = details === null ? null : JSON.stringify(details);
      const row = { kind: eventCodec.code[kind], at, ...names, details: told };
      this.#sql.run("append_event", row);
    }
  }

  /** The group is over. Answers what those who listen should be told. */
  finish(): WakeUp | null {
    const wakeUp = this.#wakeUp;
    this.#events = [];
    this.#wakeUp = null;
    return wakeUp;
  }
}
