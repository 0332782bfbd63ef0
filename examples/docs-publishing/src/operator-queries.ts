/** What operators ask, over all workers. */
import type { JobFilter, JobView, Millrace } from "millrace";
import { queueJob, type QueueJob } from "./queue-job.ts";

const PAGE = 1_000;

export type Counts = Readonly<Record<string, number>>;

/** How many jobs wait, by kind. */
export async function backlogByKind(mill: Millrace): Promise<Counts> {
  return countBy(everyJob(mill, { state: "pending" }), ({ type }) => type);
}

/** What every worker is doing: the phase of each job, and its editions. */
export async function activeWork(mill: Millrace): Promise<QueueJob[]> {
  const jobs = await collected(everyJob(mill, { state: "running" }));
  return Promise.all(jobs.map(({ id }) => queueJob(mill, id)));
}

export interface EditionAddress {
  readonly org: string;
  readonly project: string;
  readonly slug: string;
}

/** Jobs that are updating an edition now, or wait for their turn, with the earliest first. */
export async function editionConflict(
  mill: Millrace,
  { org, project, slug }: EditionAddress,
): Promise<{ id: string; kind: string; since: Date }[]> {
  const holders = await mill.jobs.holders(`${project}/${slug}`);
  const jobs = await Promise.all(holders.map(({ id }) => mill.jobs.get(id)));
  return holders
    .map(({ id, at }, index) => ({ id, since: at, job: jobs[index] }))
    .filter(({ job }) => job?.tenant === org)
    .map(({ id, since, job }) => ({ id, kind: job?.type ?? "", since }))
    .toSorted((left, right) => left.since.getTime() - right.since.getTime());
}

/** How many jobs have failed, in whole or in part. */
export async function errorsSince(mill: Millrace, since: Date): Promise<number> {
  const jobs = await jobsWithErrors(mill, since);
  return jobs.length;
}

/** Those jobs themselves: what there is to look at, and to retry. */
export async function jobsWithErrors(mill: Millrace, since: Date): Promise<JobView[]> {
  return collected(endedSince(mill, ["failed", "completed_with_errors"], since));
}

/** How many jobs were completed, by organisation. */
export async function throughputByOrg(mill: Millrace, since: Date): Promise<Counts> {
  return countBy(endedSince(mill, ["completed"], since), ({ tenant }) => tenant);
}

/** Jobs that still run and began before that. */
export async function slowJobs(mill: Millrace, startedBefore: Date): Promise<JobView[]> {
  const running = await collected(everyJob(mill, { state: "running" }));
  return running.filter(({ startedAt }) => startedAt !== null && startedAt < startedBefore);
}

/** Lists are in the order in which jobs were made, so all that are kept have to be looked at. */
async function* endedSince(
  mill: Millrace,
  state: NonNullable<JobFilter["state"]>,
  since: Date,
): AsyncGenerator<JobView> {
  for await (const job of everyJob(mill, { state })) {
    if (job.finishedAt !== null && job.finishedAt > since) yield job;
  }
}

async function* everyJob(mill: Millrace, filter: JobFilter): AsyncGenerator<JobView> {
  for (let next: string | null = ""; next !== null;) {
    const after = next === "" ? {} : { after: next };
    const page = await mill.jobs.list({ ...filter, limit: PAGE, ...after });
    yield* page.jobs;
    ({ next } = page);
  }
}

async function collected(jobs: AsyncIterable<JobView>): Promise<JobView[]> {
  const found: JobView[] = [];
  for await (const job of jobs) found.push(job);
  return found;
}

async function countBy(
  jobs: AsyncIterable<JobView>,
  nameOf: (job: JobView) => string,
): Promise<Counts> {
  const counts = new Map<string, number>();
  for await (const job of jobs) counts.set(nameOf(job), (counts.get(nameOf(job)) ?? 0) + 1);
  return Object.fromEntries(counts);
}
