/**
 * How much a page of `list` may read. A search reads candidates from one index, chunk by chunk, and
 * checks them against the filter. It ends when the page is full, when no candidate is left, or at
 * its maximum of chunks: then the page is cut short, and the next page continues the search.
 */
import type { JobKey } from "../../types/jobs-and-runs.ts";

export const PAGE_MAX = 1_000;
/** The maximum age of a run in a filter: 285 years. */
export const RUNNING_MS_MAX = 9_000_000_000_000;
/** Indexes that a search compares before it chooses one. */
export const INDEXES_MAX = 8;
/** Chunks per page; together at most 16,000 candidates. */
const CHUNKS_PER_PAGE_MAX = 8;
/** The first chunk is small, because most pages are full after it. */
const CHUNK_MIN = 100;
const CHUNK_MAX = 2_000;
const CHUNK_GROWTH = 4;
/** Chunks of a count, which returns no rows. */
const COUNT_CHUNK = 5_000;
/** On SQLite a count blocks the event loop, so it reads no more than this, or its maximum. */
export const COUNT_CANDIDATES_MAX = 20_000;
const COUNT_CHUNKS_MAX = 200;

/**
 * The maximum of statements per page: the names in the filter, two for a range of time, one per
 * index, two per chunk, the names in the jobs and the starts of their runs.
 */
export const LIST_STATEMENTS_MAX: number = 1 + 2 + INDEXES_MAX + 2 * CHUNKS_PER_PAGE_MAX + 2;

/** The sizes of the chunks of a page. */
export function pageChunks(limit: number): readonly number[] {
  const first = Math.max(CHUNK_MIN, limit);
  return Array.from({ length: CHUNKS_PER_PAGE_MAX }, (_, turn) =>
    Math.min(CHUNK_MAX, first * CHUNK_GROWTH ** turn),
  );
}

/** The sizes of the chunks of a count. */
export function countChunks(max: number): readonly number[] {
  const size = Math.max(CHUNK_MIN, Math.min(max, COUNT_CHUNK));
  const chunks = Math.ceil(Math.max(max, COUNT_CANDIDATES_MAX) / size);
  return Array.from({ length: Math.min(chunks, COUNT_CHUNKS_MAX) }, () => size);
}

/** The first chunk of one index, newest job first. */
export interface Probe<Source> {
  readonly source: Source;
  readonly keys: readonly JobKey[];
}

/**
 * The index with the fewest candidates. Every index contains all jobs that match, so an index that
 * ends within its first chunk is best; else the index whose chunk reaches back furthest.
 */
export function sparsest<Source>(
  probes: readonly Probe<Source>[],
  size: number,
): Probe<Source> | null {
  const rank = ({ keys }: Probe<Source>): number =>
    keys.length < size ? keys.length - size : (keys.at(-1) ?? 0);
  return probes.toSorted((left, right) => rank(left) - rank(right))[0] ?? null;
}
