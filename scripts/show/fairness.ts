/**
 * A flood of one tenant does not delay another tenant in a fair lane.
 *
 *     node --conditions=source scripts/show/fairness.ts [--store sqlite|postgres]
 *         [--flood 100000] [--small 100] [--slots 8] [--run 50] [--shares 400]
 *
 * A backlog of one tenant waits, and jobs of a small tenant arrive one by one while it is worked
 * off. The waits of the small tenant are printed with fairness and, for a few jobs and a short
 * flood, without. A job of the small tenant that was in the middle of the flood when the worker
 * started must start as soon, although other fair lanes have backlogs as well. Then two tenants
 * with the weights 3 and 1 share the slots. Ends with 1 if the 99th percentile of the waits is
 * above twice the median run plus a second, or the wait of the job in the middle, with a second
 * more for each 80,000 jobs in front; if the shares are not 3 to 1, or if a job has a lease after
 * the stop of the worker.
 */
import { defineJob, openMillrace, typed, type Millrace } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";

const DEFAULTS = { flood: 100_000, small: 100, slots: 8, run: 50, shares: 400 };
/** Without fairness, the jobs of the small tenant wait for the whole flood: a short one will do. */
const UNFAIR_FLOOD = 1_000;
const UNFAIR_SMALL = 5;
/** How long the small tenant pauses between two jobs. */
const PAUSE_MS = 40;
/** The most that one part may take. */
const PART_MS_MAX = 120_000;

/** Fair lanes beside that of the flood, and how many jobs wait in each. */
const OTHER_LANES = 9;
const OTHER_JOBS = 1_200;
/** How many jobs of a backlog are looked at for tenants in the middle. */
const WALKED_PER_MS = 80;

type Numbers = { readonly [K in keyof typeof DEFAULTS]: number };

async function main(): Promise<void> {
  const options = numbersAndStores("fairness.ts", DEFAULTS);
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    await showWaits(kind, places.next(), options);
    await showMiddle(kind, places.next(), options);
    await showUnfair(kind, places.next(), options);
    await showShares(kind, places.next(), options);
  }
}

const SMALL = "small";

interface Noted {
  readonly at: number;
  readonly tenant: string;
}

interface Started {
  readonly tenant: string;
  readonly waitMs: number;
  readonly runMs: number;
}

/** A type whose jobs note how long they have waited and run. */
function notedJob(runMs: number, lane = "general") {
  const started: Started[] = [];
  const type = `report-${lane}`;
  const job = defineJob({ type, lane, payload: typed<Noted>() }).run(async ({ at, tenant }) => {
    const begin = Date.now();
    await pause(runMs);
    started.push({ tenant, waitMs: begin - at, runMs: Date.now() - begin });
  });
  return { job, started };
}

async function showWaits(kind: StoreKind, url: string, options: Numbers): Promise<void> {
  const lanes = { general: { slots: options.slots, fair: true } };
  const { waits, runMs, seconds } = await floodAndSmall(url, options, lanes, options);
  const [p50, p99] = [quantile(waits, 0.5), quantile(waits, 0.99)];
  const most = 2 * runMs + 1_000;
  console.log(
    `${kind}: fair: ${options.flood} jobs in front, ${waits.length} jobs of a small tenant in ` +
      `${seconds.toFixed(1)} s: wait p50 ${p50} ms, p99 ${p99} ms; run p50 ${runMs} ms; ` +
      `allowed p99 ${most} ms`,
  );
  if (p99 > most || waits.length < options.small) process.exitCode = 1;
}

/** A job of the small tenant in the middle of the flood, and backlogs in other fair lanes. */
async function showMiddle(kind: StoreKind, url: string, options: Numbers): Promise<void> {
  await using mill = await openMillrace(url);
  const { job, started } = notedJob(options.run);
  const front = Math.floor(options.flood / 2);
  await mill.fairness.set("general", {});
  for (let lane = 0; lane < OTHER_LANES; lane += 1) {
    await mill.fairness.set(`other-${lane}`, {});
    await enqueueAll(mill, notedJob(options.run, `other-${lane}`).job, "flood", OTHER_JOBS);
  }
  await enqueueAll(mill, job, "flood", front);
  await enqueueAll(mill, job, SMALL, 1);
  await enqueueAll(mill, job, "flood", front);
  const worker = mill.work({ jobs: [job], lanes: { fast: 1, general: options.slots } });
  await worker.ready;
  const began = performance.now();
  await until(() => started.some(({ tenant }) => tenant === SMALL));
  const waitMs = Math.round(performance.now() - began) - options.run;
  await worker.stop();
  const most = 2 * options.run + 1_000 + Math.round(front / WALKED_PER_MS);
  console.log(
    `${kind}: in the middle: ${front} jobs in front, ${OTHER_LANES} other fair lanes: ` +
      `wait ${waitMs} ms; allowed ${most} ms`,
  );
  if (waitMs > most) process.exitCode = 1;
}

async function showUnfair(kind: StoreKind, url: string, options: Numbers): Promise<void> {
  const size = { flood: Math.min(options.flood, UNFAIR_FLOOD), small: UNFAIR_SMALL };
  const { waits } = await floodAndSmall(url, options, { general: options.slots }, size);
  console.log(
    `${kind}: not fair: ${size.flood} jobs in front, ${waits.length} jobs of a small tenant: ` +
      `wait p50 ${quantile(waits, 0.5)} ms, p99 ${quantile(waits, 0.99)} ms`,
  );
}

async function floodAndSmall(
  url: string,
  { run }: Numbers,
  lanes: Readonly<Record<string, number | { slots: number; fair: boolean }>>,
  { flood, small }: { readonly flood: number; readonly small: number },
): Promise<{ waits: readonly number[]; runMs: number; seconds: number }> {
  await using mill = await openMillrace(url);
  const { job, started } = notedJob(run);
  await enqueueAll(mill, job, "flood", flood);
  const worker = mill.work({ jobs: [job], lanes });
  await worker.ready;
  const began = performance.now();
  for (let count = 0; count < small; count += 1) {
    await pause(PAUSE_MS);
    await mill.enqueue(job, { at: Date.now(), tenant: SMALL }, { tenant: SMALL });
  }
  const waits = (): number[] =>
    started.filter(({ tenant }) => tenant === SMALL).map(({ waitMs }) => waitMs);
  await until(() => waits().length >= small);
  const seconds = (performance.now() - began) / 1_000;
  await worker.stop();
  await insistOnHealth(mill);
  return {
    waits: waits(),
    runMs: quantile(
      started.map(({ runMs }) => runMs),
      0.5,
    ),
    seconds,
  };
}

async function showShares(kind: StoreKind, url: string, options: Numbers): Promise<void> {
  await using mill = await openMillrace(url);
  const { job, started } = notedJob(options.run);
  await mill.fairness.set("general", { weights: { acme: 3 } });
  await enqueueAll(mill, job, "beta", options.shares);
  await enqueueAll(mill, job, "acme", options.shares);
  const worker = mill.work({ jobs: [job], lanes: { general: options.slots } });
  await until(() => started.length >= options.shares);
  const taken = started.slice(0, options.shares);
  await worker.stop();
  const acme = taken.filter(({ tenant }) => tenant === "acme").length;
  const ratio = acme / Math.max(1, taken.length - acme);
  console.log(
    `${kind}: weights 3 and 1: ${acme} and ${taken.length - acme} of the first ${taken.length} ` +
      `jobs: ${ratio.toFixed(2)} to 1`,
  );
  if (ratio < 2.5 || ratio > 3.5) process.exitCode = 1;
}

async function enqueueAll(
  mill: Millrace,
  job: ReturnType<typeof notedJob>["job"],
  tenant: string,
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    await mill.enqueueMany(
      Array.from({ length: size }, () => job.of({ at: Date.now(), tenant }, { tenant })),
    );
  }
}

/** No job may be in two places or have two leases. */
async function insistOnHealth(mill: Millrace): Promise<void> {
  const { running } = await mill.jobs.stats();
  if (running === 0) return;
  console.log(`${running} jobs still have a lease after the stop of the worker`);
  process.exitCode = 1;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Infinity;
}

async function until(isDone: () => boolean): Promise<void> {
  for (const end = Date.now() + PART_MS_MAX; !isDone() && Date.now() < end;) await pause(20);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

await main();
