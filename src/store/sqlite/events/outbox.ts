/**
 * The outbox of one group commit: events for the feed, written in the same transaction, and the
 * wake-up for listeners. Adjacent events of one kind share a row of the feed. The events of a piece
 * that is rolled back are dropped.
 */
import type { Clock } from "../../../core/clock.ts";
import { eventCodec } from "../../shared/codes.ts";
import { feedRows, wakeUpAfter, type OutboxEvent } from "../../shared/events/event-rows.ts";
import type { WakeUp } from "../../store.ts";
import type { Statements } from "../database/statements.ts";

export class Outbox {
  readonly #sql: Statements;
  readonly #clock: Clock;
  #events: OutboxEvent[] = [];
  #pieceStart = 0;
  readonly #onWake: () => void;
  #wakeUp: WakeUp | null = null;
  /** The time of the rows. */
  #at = 0;

  /** `onWake` is called at once: a claim of the same commit must find the job. */
  constructor(sql: Statements, clock: Clock, onWake: () => void = () => {}) {
    this.#sql = sql;
    this.#clock = clock;
    this.#onWake = onWake;
  }

  /** Adds an event, unless it names no jobs. */
  add(event: OutboxEvent): void {
    if (event.jobs.length === 0) return;
    this.#events.push(event);
    this.#wakeUp = wakeUpAfter(this.#wakeUp, event);
  }

  /** A job may have become claimable: workers are woken after the commit. */
  wake(): void {
    this.#wakeUp = "work";
    this.#onWake();
  }

  beginPiece(): void {
    this.#pieceStart = this.savepoint();
  }

  rollBackPiece(): void {
    this.rollBackTo(this.#pieceStart);
  }

  /** The current position, for {@link rollBackTo}. */
  savepoint(): number {
    return this.#events.length;
  }

  /** Drops the events that were added since. */
  rollBackTo(savepoint: number): void {
    this.#events.length = savepoint;
  }

  /** Writes the rows of the feed, inside the transaction. */
  write(): void {
    const at = this.#clock.now();
    this.#at = at;
    for (const { kind, jobs, details } of feedRows(this.#events)) {
      const named = JSON.stringify(jobs);
      const names =
        kind === "job:deleted" ? { keys: null, ids: named } : { keys: named, ids: null };
      const detailsText = details === null ? null : JSON.stringify(details);
      const row = { kind: eventCodec.code[kind], at, ...names, details: detailsText };
      this.#sql.run("append_event", row);
    }
  }

  /** The group was committed, and its rows can be read. */
  committed(): void {
    for (const { onCommit } of this.#events) onCommit?.(this.#at);
  }

  /** The group has ended. Answers the wake-up for listeners and empties the outbox. */
  finish(): WakeUp | null {
    const wakeUp = this.#wakeUp;
    this.#events = [];
    this.#wakeUp = null;
    return wakeUp;
  }
}
