/**
 * What the pieces of one group commit have to tell: to the feed, durably, and to whoever listens
 * for work. Neighbouring pieces of the same kind share one row of the feed, and a piece that is
 * rolled back takes its words with it.
 */
import type { Clock } from "../../core/clock.ts";
import type { JobId } from "../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, Hint, JobKey } from "../store.ts";
import type { Statements } from "./statements.ts";

/** Jobs named in one row of the feed. */
const ROW_JOBS_MAX = 1_000;

type Entry =
  | { readonly kind: Exclude<EventKind, "job:deleted">; readonly jobs: readonly JobKey[] }
  | { readonly kind: "job:deleted"; readonly jobs: readonly JobId[] };

/** Neighbours of one kind. */
interface Group {
  readonly kind: EventKind;
  readonly jobs: (JobKey | JobId)[];
}

export class Tidings {
  readonly #sql: Statements;
  readonly #clock: Clock;
  #entries: Entry[] = [];
  #pieceStart = 0;
  #hint: Hint | null = null;

  constructor(sql: Statements, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** Something happened to these jobs. Those that go leave only their ids behind. */
  tell(entry: Entry): void {
    if (entry.jobs.length === 0) return;
    this.#entries.push(entry);
    this.#hint ??= "news";
  }

  /** Somebody who waits for work should look again. */
  wake(): void {
    this.#hint = "work";
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
    for (const { kind, jobs } of merge(this.#entries)) {
      for (let from = 0; from < jobs.length; from += ROW_JOBS_MAX) {
        const named = JSON.stringify(jobs.slice(from, from + ROW_JOBS_MAX));
        const names =
          kind === "job:deleted" ? { keys: null, ids: named } : { keys: named, ids: null };
        this.#sql.run("append_event", { kind: eventCodec.code[kind], at, ...names });
      }
    }
  }

  /** The group is over. Answers what those who listen should be told. */
  finish(): Hint | null {
    const hint = this.#hint;
    this.#entries = [];
    this.#hint = null;
    return hint;
  }
}

/** Joins neighbours of one kind; the order of kinds stays. */
function merge(entries: readonly Entry[]): Group[] {
  const groups: Group[] = [];
  for (const { kind, jobs } of entries) {
    const last = groups.at(-1);
    if (last?.kind === kind) last.jobs.push(...jobs);
    else groups.push({ kind, jobs: [...jobs] });
  }
  return groups;
}
