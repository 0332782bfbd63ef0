/**
 * A page of the feed. Its rows name keys, which are replaced by the ids and facts of the jobs. What
 * this process does not remember is read by one statement.
 */
import type { JobId, JsonText } from "../../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, FeedEntry, JobFacts } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { OwnEvents } from "./own-events.ts";

/** The maximum of rows in one page. */
export const FEED_ROWS_MAX = 1_000;
/** The maximum of bytes that one page reads. A single row may exceed it. */
export const FEED_BYTES_MAX = 1_000_000;
/** The maximum of jobs in one page, without and with facts. A single row may exceed it. */
const JOBS_MAX = 10_000;
const JOBS_WITH_FACTS_MAX = 2_500;
/** The maximum of jobs whose facts are read. A single row may exceed it. */
const JOBS_READ_MAX = 1_000;

export const NO_KINDS: ReadonlySet<EventKind> = new Set();

/** The maximum of jobs in one page. */
export function jobsMax(about: ReadonlySet<EventKind>): number {
  return about.size === 0 ? JOBS_MAX : JOBS_WITH_FACTS_MAX;
}

export interface StoredEvent {
  readonly position: number;
  readonly kind: number;
  readonly at: number;
  readonly keys: readonly JobKey[];
  /** The ids of deleted jobs. */
  readonly ids: readonly JobId[];
  readonly details: readonly JsonText[] | null;
  /** The bytes of the page up to this row. */
  readonly total: number;
}

/** A row whose jobs are found one after the other. Null: not found so far. */
interface PageRow {
  readonly row: StoredEvent;
  readonly kind: EventKind;
  readonly jobs: (JobId | null)[];
  /** Null: no facts are requested. */
  readonly facts: (JobFacts | null)[] | null;
  /** The jobs whose facts are to be read. */
  readonly unknown: readonly JobKey[];
}

export class FeedPage {
  readonly #rows: readonly PageRow[];
  /** The jobs of which the ids are to be read. */
  readonly unnamed: readonly JobKey[];
  /** The jobs of which the ids and facts are to be read. */
  readonly unknown: readonly JobKey[];

  /** Takes the first rows, up to the maxima of bytes and jobs. No later row is decoded. */
  constructor(
    rows: Iterable<StoredEvent>,
    about: ReadonlySet<EventKind>,
    own: Pick<OwnEvents, "asked" | "find">,
  ) {
    if (about.size > 0) own.asked();
    const taken: PageRow[] = [];
    const unnamed: JobKey[] = [];
    const unknown = new Set<JobKey>();
    let size = 0;
    for (const row of rows) {
      size += row.keys.length + row.ids.length;
      if (taken.length > 0 && (size > jobsMax(about) || row.total > FEED_BYTES_MAX)) break;
      const next = pageRow(row, about, own);
      // The facts of further jobs are read with the next page.
      const isCrowded = unknown.size + next.unknown.length > JOBS_READ_MAX;
      if (taken.length > 0 && isCrowded) break;
      for (const key of next.unknown) unknown.add(key);
      if (next.facts === null && row.ids.length === 0) unnamed.push(...row.keys);
      taken.push(next);
    }
    this.#rows = taken;
    this.unnamed = unnamed;
    this.unknown = [...unknown];
  }

  /** The entries. Jobs that were not found have been removed. */
  entries(
    named: ReadonlyMap<JobKey, JobId>,
    known: ReadonlyMap<JobKey, KnownJob>,
  ): readonly FeedEntry[] {
    return this.#rows.map((each) => {
      const isOpen = each.facts === null || each.unknown.length > 0;
      if (isOpen && each.row.ids.length === 0) fillIn(each, named, known);
      return feedEntry(each);
    });
  }
}

/** A job as it was read. */
export interface KnownJob {
  readonly id: JobId;
  readonly facts: JobFacts;
}

function pageRow(
  row: StoredEvent,
  about: ReadonlySet<EventKind>,
  own: Pick<OwnEvents, "find">,
): PageRow {
  const { keys, ids, at } = row;
  const kind = eventCodec.word(row.kind);
  const hasFacts = about.has(kind);
  // A row names its jobs by key, or by id if they were removed.
  if (ids.length > 0) {
    const none = hasFacts ? ids.map(() => null) : null;
    return { row, kind, jobs: [...ids], facts: none, unknown: [] };
  }
  if (!hasFacts) return { row, kind, jobs: keys.map(() => null), facts: null, unknown: [] };
  const jobs: (JobId | null)[] = [];
  const facts: (JobFacts | null)[] = [];
  const unknown: JobKey[] = [];
  for (const key of keys) {
    const known = own.find(kind, at, key);
    if (known === null) unknown.push(key);
    jobs.push(known?.id ?? null);
    facts.push(known?.facts ?? null);
  }
  return { row, kind, jobs, facts, unknown };
}

function fillIn(
  { row, jobs, facts }: PageRow,
  named: ReadonlyMap<JobKey, JobId>,
  known: ReadonlyMap<JobKey, KnownJob>,
): void {
  for (let index = 0; index < jobs.length; index += 1) {
    if (jobs[index] !== null) continue;
    const key = row.keys[index]!;
    const job = known.get(key);
    jobs[index] = (facts === null ? named.get(key) : job?.id) ?? null;
    if (facts !== null) facts[index] = job?.facts ?? null;
  }
}

function feedEntry({ row, kind, jobs, facts }: PageRow): FeedEntry {
  const { position, at, details } = row;
  const found: JobId[] = [];
  const places: number[] = [];
  for (let place = 0; place < jobs.length; place += 1) {
    const id = jobs[place] ?? null;
    if (id === null) continue;
    found.push(id);
    places.push(place);
  }
  return {
    position,
    kind,
    at,
    jobs: found,
    places,
    details: details === null ? null : places.flatMap((place) => details[place] ?? []),
    ...(facts === null ? {} : { facts: places.map((place) => facts[place] ?? null) }),
  };
}
