/**
 * What the pieces of one group commit have to tell: to the feed, durably, and to whoever listens
 * for work. Neighbouring pieces of the same kind share one row of the feed, and a piece that is
 * rolled back takes its words with it.
 */
import type { Clock } from "../../core/clock.ts";
import { idFromBytes } from "../../core/ids.ts";
import type { JobId } from "../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, JobKey } from "../store.ts";
import type { Statements } from "./statements.ts";

/** Jobs named in one row of the feed. */
const ROW_IDS_MAX = 1_000;

interface Entry {
  readonly kind: EventKind;
  readonly ids: readonly JobId[];
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

  /** Something happened to these jobs. */
  tell(kind: EventKind, keys: readonly JobKey[]): void {
    if (keys.length === 0) return;
    const rows = this.#sql.all("ids_of_keys", { keys: JSON.stringify(keys) });
    this.tellOf(
      kind,
      rows.map(({ id }) => idFromBytes(id)),
    );
  }

  /** The same, where the ids are at hand or the jobs are about to go. */
  tellOf(kind: EventKind, ids: readonly JobId[]): void {
    if (ids.length === 0) return;
    this.#entries.push({ kind, ids });
    this.#woke = true;
  }

  /** Somebody who waits for work should look again. */
  wake(): void {
    this.#woke = true;
  }

  beginPiece(): void {
    this.#pieceStart = this.mark();
  }

  dropPiece(): void {
    this.dropSince(this.#pieceStart);
  }

  /** Where the words of a part begin that may have to be dropped. */
  mark(): number {
    return this.#entries.length;
  }

  dropSince(mark: number): void {
    this.#entries.length = mark;
  }

  /** Writes the rows of the feed, inside the transaction. */
  write(): void {
    const at = this.#clock.now();
    for (const { kind, ids } of merge(this.#entries)) {
      for (let from = 0; from < ids.length; from += ROW_IDS_MAX) {
        const row = ids.slice(from, from + ROW_IDS_MAX);
        this.#sql.run("append_event", {
          kind: eventCodec.code[kind],
          at,
          ids: JSON.stringify(row),
        });
      }
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

/** Joins neighbours of one kind; the order of kinds stays. */
function merge(entries: readonly Entry[]): Entry[] {
  const groups: { kind: EventKind; parts: (readonly JobId[])[] }[] = [];
  for (const { kind, ids } of entries) {
    const last = groups.at(-1);
    if (last?.kind === kind) last.parts.push(ids);
    else groups.push({ kind, parts: [ids] });
  }
  return groups.map(({ kind, parts }) => ({ kind, ids: parts.flat() }));
}
