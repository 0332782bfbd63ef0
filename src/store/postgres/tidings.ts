/**
 * What one transaction has to tell: to the feed, durably, and to whoever listens for work.
 * Neighbours of the same kind share one row of the outbox, and a part that is undone takes its
 * words with it. A verb that is one statement writes its row of the outbox itself.
 */
import type { JobId } from "../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, Hint, JobKey } from "../store.ts";
import type { Sql } from "./statements.ts";
import { uuidOf } from "./values.ts";

/** Jobs named in one row of the feed. */
const ROW_JOBS_MAX = 1_000;

type Entry =
  | { readonly kind: Exclude<EventKind, "job:deleted">; readonly jobs: readonly JobKey[] }
  | { readonly kind: "job:deleted"; readonly jobs: readonly JobId[] };

interface Batch {
  readonly kind: number;
  readonly keys?: readonly JobKey[];
  readonly ids?: readonly string[];
}

export class Tidings {
  #entries: Entry[] = [];
  #hint: Hint | null = null;

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

  /** What those who listen should be told after the commit. */
  get hint(): Hint | null {
    return this.#hint;
  }

  /** Where the words of a part begin that may have to be dropped. */
  mark(): number {
    return this.#entries.length;
  }

  dropSince(mark: number): void {
    this.#entries.length = mark;
  }

  /** Writes the rows of the outbox, inside the transaction. */
  async write(sql: Sql): Promise<void> {
    const batches = this.#batches();
    if (batches.length > 0) await sql.run("append_events", { batches: JSON.stringify(batches) });
  }

  #batches(): Batch[] {
    const batches: Batch[] = [];
    for (const { kind, jobs } of merge(this.#entries)) {
      for (let from = 0; from < jobs.length; from += ROW_JOBS_MAX) {
        batches.push({
          kind: eventCodec.code[kind],
          ...named(jobs.slice(from, from + ROW_JOBS_MAX)),
        });
      }
    }
    return batches;
  }
}

function named(jobs: readonly (JobKey | JobId)[]): Pick<Batch, "keys" | "ids"> {
  const ids = jobs.filter((job) => typeof job === "string");
  if (ids.length > 0) return { ids: ids.map(uuidOf) };
  return { keys: jobs.filter((job) => typeof job === "number") };
}

/** Joins neighbours of one kind; the order of kinds stays. */
function merge(entries: readonly Entry[]): { kind: EventKind; jobs: (JobKey | JobId)[] }[] {
  const groups: { kind: EventKind; jobs: (JobKey | JobId)[] }[] = [];
  for (const { kind, jobs } of entries) {
    const last = groups.at(-1);
    if (last?.kind === kind) last.jobs.push(...jobs);
    else groups.push({ kind, jobs: [...jobs] });
  }
  return groups;
}
