/** `GET /api/jobs/admin/queue/statistics/`: the jobs of a firm in numbers. */
import type { JobFilter, JobView, State, TenantMillrace } from "millrace";
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
 * Counts the newest jobs of a firm, page by page: `jobs.statsBy` of Millrace knows categories too,
 * but counts no completed jobs. The oldest jobs are those of the firm, however many there are.
 */
export async function queueStatistics(
  firm: TenantMillrace,
  nowMs: number,
  readMax: number = READ_MAX,
): Promise<Statistics> {
  const { jobs, isAll } = await newestJobs(firm, readMax);
  const oldest = async (state?: readonly State[]): Promise<string | null> =>
    isAll
      ? oldestOf(jobs.filter((job) => state?.includes(job.state) ?? true))
      : oldestOfAll(firm, state === undefined ? {} : { state }, nowMs);
  const statuses = Object.fromEntries(Object.keys(STATES_OF).map((status) => [status, 0]));
  return {
    total_count: jobs.length,
    by_status: { ...statuses, ...countBy(jobs, statusOf) },
    by_category: countBy(jobs, ({ category }) => category),
    by_job_type: countBy(jobs, ({ type }) => type),
    by_error_class: countBy(jobs, ({ error }) => error?.class ?? null),
    oldest_pending: await oldest(STATES_OF.pending),
    oldest: await oldest(),
    last_24_hours: jobs.filter(({ createdAt }) => createdAt.getTime() > nowMs - DAY_MS).length,
    at_least: !isAll,
  };
}

async function newestJobs(
  firm: TenantMillrace,
  readMax: number,
): Promise<{ jobs: JobView[]; isAll: boolean }> {
  const jobs: JobView[] = [];
  let after: string | null = null;
  do {
    const from = after === null ? {} : { after };
    const page = await firm.jobs.list({ limit: Math.min(PAGE, readMax), ...from });
    jobs.push(...page.jobs);
    after = page.next;
  } while (after !== null && jobs.length < readMax);
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

/** Halves the time in which the oldest job was made, because lists begin with the newest job. */
async function oldestOfAll(
  firm: TenantMillrace,
  filter: { readonly state?: readonly State[] },
  nowMs: number,
): Promise<string | null> {
  let found: number | null = null;
  let from = 0;
  let to = nowMs + 1;
  while (to > from) {
    const middle = from + Math.ceil((to - from) / 2);
    const newest = await newestBefore(firm, { ...filter, createdBefore: new Date(middle) });
    if (newest === null) from = middle;
    else found = to = newest;
  }
  return found === null ? null : new Date(found).toISOString();
}

/** When the newest job of a filter was made. A page without a job may have a next one. */
async function newestBefore(firm: TenantMillrace, filter: JobFilter): Promise<number | null> {
  let after: string | null = null;
  do {
    const from = after === null ? {} : { after };
    const page = await firm.jobs.list({ ...filter, limit: 1, ...from });
    const [job] = page.jobs;
    if (job !== undefined) return job.createdAt.getTime();
    after = page.next;
  } while (after !== null);
  return null;
}
