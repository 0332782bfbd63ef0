/** `GET /api/jobs/admin/queue/statistics/`: the jobs of a firm in numbers. */
import type { JobView, TenantMillrace } from "millrace";
import { STATES_OF, statusOf } from "./job-queue.ts";

type Counts = Readonly<Record<string, number>>;

export interface Statistics {
  readonly total_count: number;
  readonly by_status: Counts;
  readonly by_category: Counts;
  readonly by_job_type: Counts;
  readonly by_error_class: Counts;
  /** When the oldest job was made that still waits. */
  readonly oldest_pending: string | null;
  readonly oldest: string | null;
  readonly last_24_hours: number;
  /** True: there are more than were read, and the numbers are lower bounds. */
  readonly at_least: boolean;
}

const DAY_MS = 86_400_000;
const PAGE = 1_000;
/** The most jobs that one call reads. */
const READ_MAX = 20_000;

/**
 * Counts the newest jobs of a firm. Millrace has totals by state and type; those by category and
 * error class are counted here from the list, page by page.
 */
export async function queueStatistics(firm: TenantMillrace, nowMs: number): Promise<Statistics> {
  const { jobs, isAll } = await newestJobs(firm);
  const statuses = Object.fromEntries(Object.keys(STATES_OF).map((status) => [status, 0]));
  return {
    total_count: jobs.length,
    by_status: { ...statuses, ...countBy(jobs, statusOf) },
    by_category: countBy(jobs, ({ category }) => category),
    by_job_type: countBy(jobs, ({ type }) => type),
    by_error_class: countBy(jobs, ({ error }) => error?.class ?? null),
    oldest_pending: oldestOf(jobs.filter((job) => statusOf(job) === "pending")),
    oldest: oldestOf(jobs),
    last_24_hours: jobs.filter(({ createdAt }) => createdAt.getTime() > nowMs - DAY_MS).length,
    at_least: !isAll,
  };
}

async function newestJobs(firm: TenantMillrace): Promise<{ jobs: JobView[]; isAll: boolean }> {
  const jobs: JobView[] = [];
  let after: string | null = null;
  do {
    const page = await firm.jobs.list({ limit: PAGE, ...(after === null ? {} : { after }) });
    jobs.push(...page.jobs);
    after = page.next;
  } while (after !== null && jobs.length < READ_MAX);
  return { jobs, isAll: after === null };
}

/** How many have each name; those without a name are not counted. */
function countBy(jobs: readonly JobView[], nameOf: (job: JobView) => string | null): Counts {
  const counts = new Map<string, number>();
  for (const job of jobs) {
    const name = nameOf(job);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function oldestOf(jobs: readonly JobView[]): string | null {
  const times = jobs.map(({ createdAt }) => createdAt.getTime());
  return times.length === 0 ? null : new Date(times.reduce((a, b) => Math.min(a, b))).toISOString();
}
