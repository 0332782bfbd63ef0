/**
 * What the pieces of one group commit have to tell: to the feed, durably, and to whoever listens
 * for work. Neighbouring pieces of the same kind share one row of the feed, and a piece that is
 * rolled back takes its words with it.
 */
import type { Clock } from "../../core/clock.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, JobKey } from "../store.ts";
import type { Statements } from "./statements.ts";

interface Entry {
  readonly kind: EventKind;
  readonly keys: JobKey[];
  readonly ids: readonly string[] | null;
}

export class Tidings {
  readonly #sql: Statements;
  readonly #clock: Clock;
  #entries: Entry[] = [];
  #pieceStart = 0;
  #woke = false;

  constructor(sql: Statements, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** Something happened to these jobs. `ids` where their rows are about to go. */
  tell(kind: EventKind, keys: readonly JobKey[], ids: readonly string[] | null = null): void {
    if (keys.length > 0) this.#entries.push({ kind, keys: [...keys], ids });
  }

  /** Somebody who waits for work should look again. */
  wake(): void {
    this.#woke = true;
  }

  beginPiece(): void {
    this.#pieceStart = this.#entries.length;
  }

  dropPiece(): void {
    this.#entries.length = this.#pieceStart;
  }

  /** Writes the rows of the feed, inside the transaction. */
  write(): void {
    const at = this.#clock.now();
    for (const { kind, keys, ids } of merge(this.#entries)) {
      this.#sql.run("append_event", {
        kind: eventCodec.code[kind],
        at,
        keys: JSON.stringify(keys),
        ids: ids === null ? null : JSON.stringify(ids),
      });
    }
  }

  /** The group is over. Answers whether anybody should be woken. */
  finish(): boolean {
    const woke = this.#woke;
    this.#entries = [];
    this.#woke = false;
    return woke;
  }
}

function merge(entries: readonly Entry[]): Entry[] {
  const merged: Entry[] = [];
  for (const entry of entries) {
    const last = merged.at(-1);
    if (last?.kind === entry.kind && last.ids === null && entry.ids === null) {
      last.keys.push(...entry.keys);
    } else {
      merged.push(entry);
    }
  }
  return merged;
}
