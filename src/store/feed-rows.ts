/** What has to be told to the feed, in the rows that it takes. */
import type { JobId } from "../core/job.ts";
import type { EventKind } from "./records.ts";
import type { JobKey } from "./work.ts";

/** Jobs named in one row of the feed. */
const ROW_JOBS_MAX = 1_000;

/** Something that happened to jobs. Those that go leave only their ids behind. */
export type Tiding =
  | { readonly kind: Exclude<EventKind, "job:deleted">; readonly jobs: readonly JobKey[] }
  | { readonly kind: "job:deleted"; readonly jobs: readonly JobId[] };

export interface FeedRow {
  readonly kind: EventKind;
  readonly jobs: readonly (JobKey | JobId)[];
}

/** Joins neighbours of one kind, in rows of bounded length; the order of kinds stays. */
export function feedRows(tidings: readonly Tiding[]): FeedRow[] {
  const groups: { kind: EventKind; jobs: (JobKey | JobId)[] }[] = [];
  for (const { kind, jobs } of tidings) {
    const last = groups.at(-1);
    if (last?.kind === kind) last.jobs.push(...jobs);
    else groups.push({ kind, jobs: [...jobs] });
  }
  return groups.flatMap(({ kind, jobs }) => {
    const rows = Math.ceil(jobs.length / ROW_JOBS_MAX);
    return Array.from({ length: rows }, (_, row) => {
      return { kind, jobs: jobs.slice(row * ROW_JOBS_MAX, (row + 1) * ROW_JOBS_MAX) };
    });
  });
}
