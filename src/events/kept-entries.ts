/** The newest entries of the feed, as many as are kept, and how long a page of entries is. */
import type { FeedEntry } from "../store/types/records.ts";

export const ENTRIES_PER_READ = 200;
/** A page of so few entries, jobs and kilobytes is complete. */
const SHORT_MAX = 50;
/** A page of so many jobs may have been cut: more may be there already. */
const CUT_JOBS_MIN = 900;
/** The entries that are kept, and the jobs and details in them: one entry may have thousands. */
const ENTRIES_MAX = 1_000;
const JOBS_MAX = 5_000;
const DETAIL_CHARS_MAX = 2_000_000;

/** A row of entries without a gap, the first one right behind the position `after`. */
export interface KeptEntries {
  readonly after: number;
  readonly entries: readonly FeedEntry[];
}

export function entriesBehind(
  position: number,
  entries: readonly FeedEntry[],
): readonly FeedEntry[] {
  const first = entries.findLastIndex((entry) => entry.position <= position) + 1;
  return entries.slice(first, first + ENTRIES_PER_READ);
}

/**
 * Short: far from every limit of a page. There was nothing more, and a wake-up says when there is.
 * Cut: there may be more to read now. Long: in between, and soon there will be more.
 */
export type PageLength = "short" | "long" | "cut";

export function lengthOf(entries: readonly FeedEntry[]): PageLength {
  const { jobs, chars } = sizeOf(entries);
  if (entries.length === ENTRIES_PER_READ || jobs >= CUT_JOBS_MIN) return "cut";
  if (chars > SHORT_MAX * 1_000) return "cut";
  return entries.length <= SHORT_MAX && jobs <= SHORT_MAX ? "short" : "long";
}

function sizeOf(entries: readonly FeedEntry[]): { readonly jobs: number; readonly chars: number } {
  let [jobs, chars] = [0, 0];
  for (const entry of entries) {
    jobs += entry.jobs.length;
    for (const detail of entry.details ?? []) chars += detail.length;
  }
  return { jobs, chars };
}

/** The newest of the entries, as many as may be kept. */
export function bounded({ after, entries }: KeptEntries): KeptEntries {
  let jobs = 0;
  let chars = 0;
  const dropped = entries.findLastIndex((entry, index) => {
    const size = sizeOf([entry]);
    jobs += size.jobs;
    chars += size.chars;
    return entries.length - index > ENTRIES_MAX || jobs > JOBS_MAX || chars > DETAIL_CHARS_MAX;
  });
  return {
    after: entries[dropped]?.position ?? after,
    entries: entries.slice(dropped + 1),
  };
}
