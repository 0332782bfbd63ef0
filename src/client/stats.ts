/** `mill.jobs.count`, `stats` and `statsBy`: counts that stop at a maximum, and say so. */
import type { CountFilter } from "../api/control/job-filter.ts";
import type {
  CountedJobs,
  GroupName,
  GroupedJobStats,
  JobGroupStats,
  JobStats,
} from "../api/jobs.ts";
import { anObject, aWholeNumber, oneOf } from "../api/rules.ts";
import { insistOn } from "../jobs/check-text.ts";
import type { JobStore } from "../store/store.ts";
import type { JobGroup } from "../store/types/records.ts";
import { countFilter } from "./filters.ts";

const COUNT_MAX = 10_000;
/** The jobs that each count of `statsBy` reads, and the groups of type, lane and tenant. */
const GROUPED_ROWS_MAX = 100_000;
const GROUPS_MAX = 10_000;
/** The names that `statsBy` returns. */
const NAMES_MAX = 100;

type JobCount = Exclude<keyof JobStats, "atLeast" | "oldestQueuedMs" | "retrying">;

const COUNTS: readonly JobCount[] = ["scheduled", "queued", "held", "running", "failed"];

const COUNT_OPTIONS = anObject(
  { required: {}, optional: { max: aWholeNumber({ min: 1 }) } },
  "an object such as { max: 1_000 }",
);

export async function countMatching(
  store: Pick<JobStore, "count">,
  given: CountFilter,
  options: { readonly max?: number },
): Promise<CountedJobs> {
  const filter = countFilter(given);
  insistOn("jobs.count", COUNT_OPTIONS, options, "");
  const max = Math.min(options.max ?? COUNT_MAX, COUNT_MAX);
  const { count, isExact } = await store.count(filter, max + 1);
  return { count: Math.min(count, max), atLeast: count > max || !isExact };
}

/** Each count reads one job more than it tells, so that an exact count is known to be exact. */
export async function countJobs(store: Pick<JobStore, "stats">): Promise<JobStats> {
  const { isOldestExact, cutShort, ...found } = await store.stats(COUNT_MAX + 1);
  const stopped = COUNTS.filter((name) => cutShort.includes(name) || found[name] > COUNT_MAX);
  const most = (name: JobCount | "retrying"): number => Math.min(found[name], COUNT_MAX);
  // Of scheduled jobs that were not read, some may be retrying.
  const few = stopped.includes("scheduled") ? [...stopped, "retrying" as const] : stopped;
  return {
    scheduled: most("scheduled"),
    retrying: most("retrying"),
    queued: most("queued"),
    held: most("held"),
    running: most("running"),
    failed: most("failed"),
    oldestQueuedMs: found.oldestQueuedMs,
    atLeast: isOldestExact ? few : [...few, "oldestQueuedMs"],
  };
}

const aGroupName = oneOf("type", "lane", "tenant", "category");

export async function countBy(
  store: Pick<JobStore, "groupedStats">,
  by: GroupName,
): Promise<GroupedJobStats> {
  insistOn("jobs.statsBy", aGroupName, by, "by");
  const limits = { rows: GROUPED_ROWS_MAX, groups: GROUPS_MAX, categories: by === "category" };
  const { groups, cutShort, hasMore } = await store.groupedStats(limits);
  const sums = new Map<string, JobGroupStats>();
  for (const group of groups) {
    const name = group[by];
    // Jobs without a category belong to none.
    if (name !== null) sums.set(name, sumOf(sums.get(name) ?? { name, ...NOTHING }, group));
  }
  // The sort is stable: of groups of the same size, the one that the store names first is first.
  const ranked = [...sums.values()].toSorted((one, other) => sizeOf(other) - sizeOf(one));
  return {
    by,
    groups: ranked.slice(0, NAMES_MAX),
    atLeast: COUNTS.filter((name) => hasMore || cutShort.includes(name)),
    cutShort: hasMore || ranked.length > NAMES_MAX,
  };
}

const NOTHING = { scheduled: 0, queued: 0, held: 0, running: 0, failed: 0 };

function sumOf(one: JobGroupStats, other: JobGroup): JobGroupStats {
  return {
    name: one.name,
    scheduled: one.scheduled + other.scheduled,
    queued: one.queued + other.queued,
    held: one.held + other.held,
    running: one.running + other.running,
    failed: one.failed + other.failed,
  };
}

function sizeOf(group: JobGroupStats): number {
  return COUNTS.reduce((sum, name) => sum + group[name], 0);
}
