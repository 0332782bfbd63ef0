/** What has to be told to the feed, in the rows that it takes. */
import type { JobId, JsonText } from "../../core/job.ts";
import type { EventKind } from "../types/records.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

/** Jobs named in one row of the feed. */
const ROW_JOBS_MAX = 1_000;

/** Events that say more than that they happened. */
type DetailedKind = "job:progress" | "job:phase:completed";

/** Something that happened to jobs. Those that go leave only their ids behind. */
export type OutboxEvent =
  | {
      readonly kind: Exclude<EventKind, "job:deleted" | DetailedKind>;
      readonly jobs: readonly JobKey[];
    }
  | {
      readonly kind: DetailedKind;
      readonly jobs: readonly JobKey[];
      /** One for each job. */
      readonly details: readonly JsonText[];
    }
  | { readonly kind: "job:deleted"; readonly jobs: readonly JobId[] };

export interface FeedRow {
  readonly kind: EventKind;
  readonly jobs: readonly (JobKey | JobId)[];
  readonly details: readonly JsonText[] | null;
}

/** Joins neighbours of one kind, in rows of bounded length; the order of kinds stays. */
export function feedRows(outbox: readonly OutboxEvent[]): FeedRow[] {
  const groups: { kind: EventKind; jobs: (JobKey | JobId)[]; details: JsonText[] }[] = [];
  for (const tiding of outbox) {
    const { kind, jobs } = tiding;
    const details = "details" in tiding ? tiding.details : [];
    const last = groups.at(-1);
    if (last?.kind !== kind) groups.push({ kind, jobs: [...jobs], details: [...details] });
    else {
      last.jobs.push(...jobs);
      last.details.push(...details);
    }
  }
  return groups.flatMap(({ kind, jobs, details }) => {
    const rows = Math.ceil(jobs.length / ROW_JOBS_MAX);
    return Array.from({ length: rows }, (_, row) => {
      const [from, to] = [row * ROW_JOBS_MAX, (row + 1) * ROW_JOBS_MAX];
      const told = details.length === 0 ? null : details.slice(from, to);
      return { kind, jobs: jobs.slice(from, to), details: told };
    });
  });
}
