/** P16: what a claim costs when many jobs wait, and when none of those in front may be taken. */
import type { ClaimRequest } from "../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../src/store/store.ts";
import { crashedTimes } from "../test/support/factories.ts";
import { settleItem, take } from "../test/support/steps.ts";
import type { Database } from "./databases.ts";
import type { Arena, Figures } from "./measurements.ts";
import { median } from "./report.ts";
import { joinWorker, newJobs, openStore } from "./store-jobs.ts";

const FEW = 1_000;
const MANY = 1_000_000;
const IN_FRONT = 200_000;
const CRASHED = 5_000;
const CRASH_CAP = 3;
const BATCH = 100;
const CLAIMS = 60;
const FILL = 2_000;

/** How many jobs wait, and which of them stand in front for nothing. */
interface Scene {
  readonly waiting: number;
  readonly inFront: "none" | "unknown" | "paused" | "limited" | "crashed" | "crashed and paused";
}

/** Medians over that of 1,000 waiting jobs, and the first claim in milliseconds. */
export async function claims({ fresh }: Arena): Promise<Figures> {
  // The first run of any code is slow: it is thrown away.
  await measured(fresh, { waiting: FEW, inFront: "none" });
  const few = await measured(fresh, { waiting: FEW, inFront: "none" });
  const many = await measured(fresh, { waiting: MANY, inFront: "none" });
  const unknown = await measured(fresh, { waiting: FEW, inFront: "unknown" });
  const paused = await measured(fresh, { waiting: FEW, inFront: "paused" });
  const limited = await measured(fresh, { waiting: FEW, inFront: "limited" });
  const crashed = await measured(fresh, { waiting: FEW, inFront: "crashed" });
  const held = await measured(fresh, { waiting: FEW, inFront: "crashed and paused" });
  return {
    crashed: crashed.usual / few.usual,
    crashedPaused: held.usual / few.usual,
    many: many.usual / few.usual,
    unknown: unknown.usual / few.usual,
    paused: paused.usual / few.usual,
    limited: limited.usual / few.usual,
    firstUnknown: unknown.first,
    firstPaused: paused.first,
    firstLimited: limited.first,
  };
}

async function measured(
  fresh: () => Promise<Database>,
  { waiting, inFront }: Scene,
): Promise<{ first: number; usual: number }> {
  await using database = await fresh();
  const store = await openStore(database.url);
  const hasCrashed = inFront.startsWith("crashed");
  const isPaused = inFront.endsWith("paused");
  if (inFront !== "none") await fill(store, hasCrashed ? CRASHED : IN_FRONT, "other");
  if (hasCrashed) await crashAll(store);
  if (isPaused) {
    await store.pause({ kind: "type", name: "other" }, { reason: "benchmark", by: null });
  }
  if (inFront === "limited") await useUpLimit(store);
  await fill(store, waiting, "email");
  await database.settle();
  const types = inFront === "unknown" ? { types: ["email"] } : {};
  const worker = await joinWorker(store);
  const crashed = { once: BATCH / 2, often: BATCH / 8, cap: CRASH_CAP };
  const batch = { limit: BATCH, prefetch: false, crashed };
  const request: ClaimRequest = { worker, lanes: "any", ...batch, ...types };
  const times: number[] = [];
  for (let made = 0; made < CLAIMS; made += 1) {
    const began = performance.now();
    const { jobs } = await store.claim(request);
    times.push(performance.now() - began);
    if (jobs.length !== BATCH) throw new Error(`a claim of ${BATCH} took ${jobs.length}`);
    // As many jobs wait at every claim, and a worker would move away what is blocked.
    await store.enqueue(newJobs(BATCH));
    if (made === 0 && inFront !== "none") while ((await store.hold(BATCH * 10)) > 0);
  }
  await store.close();
  return { first: times[0] ?? Number.NaN, usual: median(times.slice(CLAIMS / 6)) };
}

/** One of the jobs in front runs, and no other may. */
async function useUpLimit(store: JobStore): Promise<void> {
  await store.setLimit({ kind: "type", name: "other" }, { concurrency: 1, rate: null }, null);
  await take(store, { worker: await joinWorker(store), limit: 1 });
}

/** Lets all waiting jobs crash as often as the cap allows. */
async function crashAll(store: JobStore): Promise<void> {
  const worker = await joinWorker(store);
  const fresh = { once: 0, often: 0, cap: 1 };
  for (let left = CRASHED; left > 0;) {
    const batch = await take(store, { worker, lanes: "any", limit: FILL, crashed: fresh });
    const settlement = crashedTimes(CRASH_CAP);
    await store.settle(batch.jobs.map((job) => settleItem(batch, job, settlement)));
    left -= batch.jobs.length;
  }
}

async function fill(store: JobStore, count: number, type: string): Promise<void> {
  for (let made = 0; made < count; made += FILL) {
    await store.enqueue(newJobs(Math.min(FILL, count - made), type));
  }
}
