/** `millrace worker --until-idle`: waits until no job is left that the worker can run. */
import { wait, type Clock } from "../core/clock.ts";
import { takesLane } from "../core/lanes.ts";
import type { JobView, Millrace } from "../api/client.ts";
import { given } from "./shell.ts";

/** How often to check for jobs. */
const POLL_MS = 200;
const PAGE = 1_000;
/** The pages of one check. A worker with more jobs than these pages is not idle. */
const PAGES_MAX = 1_000;

export interface IdleScope {
  readonly worker: string;
  readonly types: readonly string[];
  readonly tenant: string | undefined;
}

/** The jobs of its types that an idle worker leaves. */
export interface LeftJobs {
  /** One sentence for each reason that holds due jobs back. */
  readonly reasons: readonly string[];
  /** The jobs that are due later; `null` if there are none. */
  readonly later: { readonly jobs: number; readonly firstAt: Date } | null;
}

/**
 * Resolves when no job that this worker can run is due or running. Jobs behind a closed gate, in a
 * lane without a slot, or due later are left.
 */
export async function untilIdle(mill: Millrace, clock: Clock, scope: IdleScope): Promise<LeftJobs> {
  for (;;) {
    const left = await leftBehind(mill, clock, scope);
    if (left !== null) return left;
    await wait(clock, POLL_MS);
  }
}

/** The jobs that are left; `null` while the worker has jobs to run. */
async function leftBehind(
  mill: Millrace,
  clock: Clock,
  { worker, types, tenant }: IdleScope,
): Promise<LeftJobs | null> {
  const view = (await mill.workers.list()).find(({ id }) => id === worker);
  const lanes = view?.lanes ?? [];
  const reasons = new Set<string>();
  let later = NONE_SCHEDULED;
  for (const type of types) {
    const filter = { type, ...given({ tenant }) };
    if (await hasRunning(mill, filter)) return null;
    const scheduled = await scheduledOf(mill, filter);
    if (scheduled === null || scheduled.firstMs <= clock.now()) return null;
    later = both(later, scheduled);
    const waiting = await onePerPlace(mill, filter);
    if (waiting === null) return null;
    for (const job of waiting) {
      const why = await whyNot(mill, job, lanes);
      if (why === null) return null;
      reasons.add(why);
    }
  }
  const { jobs, firstMs } = later;
  return {
    reasons: [...reasons],
    later: jobs === 0 ? null : { jobs, firstAt: new Date(firstMs) },
  };
}

interface Filter {
  readonly type: string;
  readonly tenant?: string;
}

async function hasRunning(mill: Millrace, filter: Filter): Promise<boolean> {
  for await (const page of pages(mill, { ...filter, state: "running" })) {
    if (page === null || page.length > 0) return true;
  }
  return false;
}

interface ScheduledJobs {
  readonly jobs: number;
  /** When the first of them is due. */
  readonly firstMs: number;
}

const NONE_SCHEDULED: ScheduledJobs = { jobs: 0, firstMs: Infinity };

function both(one: ScheduledJobs, other: ScheduledJobs): ScheduledJobs {
  return { jobs: one.jobs + other.jobs, firstMs: Math.min(one.firstMs, other.firstMs) };
}

/** Jobs that are due later, or due and not yet promoted. Null: there are too many to tell. */
async function scheduledOf(mill: Millrace, filter: Filter): Promise<ScheduledJobs | null> {
  let found = NONE_SCHEDULED;
  for await (const page of pages(mill, { ...filter, state: "scheduled" })) {
    if (page === null) return null;
    for (const { runAt } of page) {
      if (runAt !== null) found = both(found, { jobs: 1, firstMs: runAt.getTime() });
    }
  }
  return found;
}

/**
 * One job per lane and tenant, because gates and slots are the same for all of them. Null: there
 * are too many jobs to tell.
 */
async function onePerPlace(mill: Millrace, filter: Filter): Promise<readonly JobView[] | null> {
  const found = new Map<string, JobView>();
  for await (const page of pages(mill, { ...filter, state: "queued" })) {
    if (page === null) return null;
    for (const job of page) found.set(JSON.stringify([job.lane, job.tenant]), job);
  }
  return [...found.values()];
}

/** The pages of a list; null at the maximum of pages. */
async function* pages(
  mill: Millrace,
  filter: Filter & { readonly state: "queued" | "scheduled" | "running" },
): AsyncGenerator<readonly JobView[] | null> {
  let from: { after?: string } = {};
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const page = await mill.jobs.list({ ...filter, ...from, limit: PAGE });
    yield page.jobs;
    if (page.next === null) return;
    from = { after: page.next };
  }
  yield null;
}

/** Reasons that hold due jobs back whatever this worker does. */
const LEFT: ReadonlySet<string> = new Set(["paused", "breaker", "rate_limited"]);

/** The reason why this worker does not run a due job; `null` if it will. */
async function whyNot(
  mill: Millrace,
  job: JobView,
  lanes: readonly string[],
): Promise<string | null> {
  const { reason, sentence, hint } = await mill.jobs.explain(job.id);
  if (LEFT.has(reason)) return `${sentence} ${hint}`;
  if (takesLane(lanes, job.lane)) return null;
  return `This worker has no slot for the lane ${job.lane}; its lanes are ${lanes.join(", ")}.`;
}
