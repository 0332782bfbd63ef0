/** The kinds of work. Each takes fresh databases and answers figures by name. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Child, type Contestant } from "./contestants/contestant.ts";
import type { Database } from "./databases.ts";
import { median, percentile } from "./report.ts";
import type { WorkReport } from "./contestants/verbs.ts";

export interface Arena {
  readonly contestant: Contestant;
  /** How many jobs the work is about. */
  readonly jobs: number;
  readonly fresh: () => Promise<Database>;
}

/** A figure that a contestant has none of is left out. */
export type Figures = Readonly<Record<string, number>>;
export type Measurement = (arena: Arena) => Promise<Figures>;

const ENQUEUE_MS_MAX = 5_000;
const FILL_MS_MAX = 240_000;
const DRAIN_MS_MAX = 30_000;
/** The share of the jobs with which a drain warms up. */
const WARM_UP = 0.2;
const SINGLES_SHARE = 20;
/** Bulk is so fast that as many jobs as elsewhere take a fifth of a second, which is noise. */
const BULK_FACTOR = 6;
const PICKUPS = 200;
const PICKUP_GAP_MS = 8;
const REQUEST_GAP_MS = 40;

/** Jobs per second: `single`, `concurrent` and `bulk`. */
export async function enqueues({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  await database.settle();
  await using child = await Child.start(contestant, database.url);
  // The first calls of any system are slow, and no application calls it once.
  await child.ask("enqueue", { how: "concurrent", jobs: jobs / SINGLES_SHARE, msMax: 1_000 });
  const rate = async (how: "single" | "concurrent" | "bulk", count: number): Promise<number> => {
    const done = await child.ask("enqueue", { how, jobs: count, msMax: ENQUEUE_MS_MAX });
    return (done.jobs / done.ms) * 1000;
  };
  const single = await rate("single", jobs / SINGLES_SHARE);
  const concurrent = await rate("concurrent", jobs);
  const bulk = await rate("bulk", BULK_FACTOR * jobs).catch(() => null);
  return { single, concurrent, ...(bulk === null ? {} : { bulk }) };
}

/**
 * `rate` in jobs per second, the processor time of 10,000 jobs as `cpu` and `databaseCpu`, and of
 * the worst process its `peak` of memory and the `delay` of its event loop, 99th percentile.
 */
export function drain(options: { processes?: number; slots?: number } = {}): Measurement {
  return async ({ contestant, jobs, fresh }) => {
    await using database = await fresh();
    await fill({ contestant, jobs, url: database.url });
    await database.settle();
    const before = database.cpuMs();
    const reports = await drained(contestant, database, { jobs, ...options });
    const after = database.cpuMs();
    const total = (count: (report: WorkReport) => number): number =>
      reports.reduce((sum, report) => sum + count(report), 0);
    const per10k = (ms: number, count: number): number => (ms / 1000 / count) * 10_000;
    return {
      rate: steadyRate(reports),
      cpu: per10k(
        total(({ cpuMs }) => cpuMs),
        total(({ cpuJobs }) => cpuJobs),
      ),
      peak: Math.max(...reports.map(({ peakMb }) => peakMb)),
      delay: Math.max(...reports.map(({ loopDelayMs }) => loopDelayMs)),
      ...(before === null || after === null
        ? {}
        : {
            databaseCpu: per10k(
              after - before,
              total(({ begun }) => begun.length),
            ),
          }),
    };
  };
}

/**
 * From handing a job over to the begin of its handler: `p50`, `p99`, and `over`, the median without
 * the one sync to disk that durability costs. `apart` lets one process enqueue and another work.
 */
export function pickup({ apart }: { apart: boolean }): Measurement {
  return async ({ contestant, fresh }) => {
    await using database = await fresh();
    await using worker = await Child.start(contestant, database.url);
    await using other = apart ? await Child.start(contestant, database.url) : null;
    await worker.ask("work", { slots: null });
    const sender = other ?? worker;
    await sender.ask("send", { jobs: PICKUPS, gapMs: PICKUP_GAP_MS });
    await counted([worker], PICKUPS);
    const { waited } = await worker.ask("stop", null);
    const p50 = percentile(waited, 50);
    const sync = database.url.startsWith("sqlite:") ? { sync: syncMs(database.url) } : {};
    return { p50, p99: percentile(waited, 99), ...sync, over: p50 - (sync.sync ?? 0) };
  };
}

/** The same work while the process serves HTTP: `delay` again. */
export async function loopDelayServing({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  await fill({ contestant, jobs, url: database.url });
  await using worker = await Child.start(contestant, database.url);
  const stopAsking = await askSteadily(worker);
  await worker.ask("work", { slots: null });
  await counted([worker], jobs);
  const { loopDelayMs } = await worker.ask("stop", null);
  await stopAsking();
  return { delay: loopDelayMs };
}

/** Megabytes after a forced collection, as `after50k` and so on, `heap` and `peak`. One worker. */
export async function memory({ contestant, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  await using producer = await Child.start(contestant, database.url);
  await using worker = await Child.start(contestant, database.url);
  await worker.ask("work", { slots: null });
  const figures: Record<string, number> = {};
  let done = 0;
  for (const stage of [50_000, 100_000, 200_000]) {
    await producer.ask("enqueue", { how: "bulk", jobs: stage - done, msMax: FILL_MS_MAX });
    done = stage;
    await counted([worker], done);
    const { rssMb, heapMb, peakMb } = await worker.ask("weigh", null);
    figures[`after${stage / 1000}k`] = rssMb;
    figures["heap"] = heapMb;
    figures["peak"] = peakMb;
  }
  return figures;
}

export interface Filling {
  readonly contestant: Contestant;
  readonly url: string;
  readonly jobs: number;
  readonly delayMs?: number;
}

/** Enqueues in the quickest way there is, from a process that is gone afterwards. */
export async function fill({ contestant, url, jobs, delayMs = 0 }: Filling): Promise<void> {
  await using child = await Child.start(contestant, url);
  const request = { jobs, msMax: FILL_MS_MAX };
  try {
    await child.ask("enqueue", { ...request, how: "bulk", delayMs });
  } catch (error) {
    if (delayMs > 0) throw error;
    await child.ask("enqueue", { ...request, how: "concurrent" });
  }
}

export interface Draining {
  readonly jobs: number;
  readonly processes?: number;
  readonly slots?: number;
  readonly handlerMs?: number;
}

/** Lets so many processes work until all jobs have begun. */
export async function drained(
  contestant: Contestant,
  { url }: Pick<Database, "url">,
  { jobs, processes = 1, slots, handlerMs = 0 }: Draining,
): Promise<WorkReport[]> {
  const starting = Array.from({ length: processes }, () => Child.start(contestant, url));
  await using crew = new AsyncDisposableStack();
  const workers = (await Promise.all(starting)).map((child) => crew.use(child));
  const warmUp = Math.floor((jobs * WARM_UP) / processes);
  const order = { slots: slots ?? null, warmUp, handlerMs };
  await Promise.all(workers.map((worker) => worker.ask("work", order)));
  await counted(workers, jobs);
  const reports = await Promise.all(workers.map((worker) => worker.ask("stop", null)));
  return reports;
}

/** Resolves when so many handlers have begun, or the time is up. */
export async function counted(
  workers: readonly Child[],
  jobs: number,
  msMax: number = DRAIN_MS_MAX,
): Promise<void> {
  const until = performance.now() + msMax;
  const begun = (): number => workers.reduce((sum, worker) => sum + worker.begun, 0);
  while (begun() < jobs && performance.now() < until) await pause(10);
}

/** Without the first fifth: starting up is not what is compared. */
export function steadyRate(reports: readonly WorkReport[]): number {
  const begun = Float64Array.from(reports.flatMap((report) => [...report.begun])).toSorted();
  return rateBetween(begun, WARM_UP, 1);
}

/** Jobs per second from one share of all jobs to another. */
export function rateBetween(begun: Float64Array, from: number, to: number): number {
  const first = Math.floor((begun.length - 1) * from);
  const last = Math.floor((begun.length - 1) * to);
  return ((last - first) / ((begun[last] ?? 0) - (begun[first] ?? 0))) * 1000;
}

/** Reads the first page of jobs about 25 times a second. Answers how to end it. */
async function askSteadily(worker: Child): Promise<() => Promise<void>> {
  const { address, token } = await worker.ask("serve", null);
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      const headers = { authorization: `Bearer ${token}` };
      const page = await fetch(`${address}/api/v1/jobs`, { headers });
      if (!page.ok) throw new Error(`GET /api/v1/jobs answered ${page.status}`);
      await page.text();
      await pause(REQUEST_GAP_MS);
    }
  })();
  // A failure is told at the end; until then no code awaits it.
  asking.catch(() => {});
  return async () => {
    over.abort();
    await asking;
  };
}

/** How long the disk beside a database takes to sync one page, in the median. */
function syncMs(url: string): number {
  const file = openSync(`${url.slice("sqlite:".length)}.sync`, "w");
  const page = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 100 }, () => {
    writeSync(file, page);
    const began = performance.now();
    fsyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return median(times);
}
