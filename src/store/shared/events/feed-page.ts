/** Builds a page of the feed. Its rows name keys, which are replaced by the ids of the jobs. */
import type { JobId, JsonText } from "../../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { EventKind, FeedEntry, JobFacts } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";

/** The maximum of rows in one page. */
export const FEED_ROWS_MAX = 1_000;
/** The maximum of bytes that one page reads. A single row may exceed it. */
export const FEED_BYTES_MAX = 1_000_000;
/** The maximum of jobs in one page, without and with facts. A single row may exceed it. */
const JOBS_MAX = 10_000;
const JOBS_WITH_FACTS_MAX = 1_000;

export const NO_KINDS: ReadonlySet<EventKind> = new Set();

interface StoredEvent {
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

/** The ids and facts of the jobs that a page names, as far as the jobs exist. */
interface FoundJobs {
  readonly ids: ReadonlyMap<JobKey, JobId>;
  readonly facts: ReadonlyMap<JobKey, JobFacts>;
}

/** The first rows, up to the maxima of bytes and jobs in one page. */
export function pageOf(
  rows: readonly StoredEvent[],
  about: ReadonlySet<EventKind>,
): readonly StoredEvent[] {
  const sizeMax = about.size === 0 ? JOBS_MAX : JOBS_WITH_FACTS_MAX;
  let size = 0;
  return rows.filter(({ keys, ids, total }, index) => {
    size += keys.length + ids.length;
    return index === 0 || (size <= sizeMax && total <= FEED_BYTES_MAX);
  });
}

/** The jobs whose facts are requested. */
export function keysAbout(
  page: readonly StoredEvent[],
  about: ReadonlySet<EventKind>,
): readonly JobKey[] {
  const keys = page.flatMap((row) => (about.has(eventCodec.word(row.kind)) ? row.keys : []));
  return [...new Set(keys)];
}

export function feedEntry(
  row: StoredEvent,
  { ids, facts }: FoundJobs,
  about: ReadonlySet<EventKind>,
): FeedEntry {
  const { position, at, keys, details } = row;
  const kind = eventCodec.word(row.kind);
  // A row names its jobs by key, or by id if they were removed.
  const jobs = row.ids.length > 0 ? row.ids : keys.map((key) => ids.get(key) ?? null);
  const places = [...jobs.keys()].filter((place) => jobs[place] !== null);
  const factsAt = (place: number): JobFacts | null => facts.get(keys[place] ?? 0) ?? null;
  return {
    position,
    kind,
    at,
    jobs: jobs.filter((id) => id !== null),
    places,
    details: details === null ? null : places.flatMap((place) => details[place] ?? []),
    ...(about.has(kind) ? { facts: places.map(factsAt) } : {}),
  };
}
