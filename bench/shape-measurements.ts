/** The shapes of work that users have: handlers that take time, few slots, single jobs. */
import { Agent, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Child } from "./contestants/contestant.ts";
import { instant } from "./contestants/system.ts";
import { counted, drained, fill, steadyRate, type Arena, type Figures } from "./measurements.ts";
import type { Measurement } from "./measurements.ts";
import { percentile } from "./report.ts";

export const HANDLER_MS = 5;
/** At the full rate a slot would need a second and a half for so many jobs. */
const JOBS_PER_SLOT = 300;
const TRICKLE = 100;
/** With the pause of one to two times as long, 20 jobs a second. */
const TRICKLE_GAP_MS = 33;
const RESULTS = 80;
const RESULTS_GAP_MS = 15;
const WARM_UPS = 10;
const SERVED_JOBS_FACTOR = 2;
const REQUEST_GAP_MS = 3;
const STARTS = 3;
const IDLE_MS = 1_500;

/** `share`, in percent, of the rate at which all slots would be busy without a pause. */
export function busySlots(slots: number, { isDefault = false } = {}): Measurement {
  return async ({ contestant, fresh }) => {
    await using database = await fresh();
    const { url } = database;
    const jobs = slots * JOBS_PER_SLOT;
    await fill({ contestant, url, jobs });
    await database.settle();
    const wanted = isDefault && contestant.system === "millrace" ? {} : { slots };
    const order = { ...wanted, handlerMs: HANDLER_MS };
    const rate = steadyRate(await drained(contestant, database, { jobs, ...order }));
    return { rate, share: (rate / (slots / HANDLER_MS) / 1000) * 100 };
  };
}

/** Milliseconds from enqueue to the begin of the handler, `p50` and `p99`; two processes. */
export async function trickle({ contestant, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  await using worker = await Child.start(contestant, database.url);
  await using producer = await Child.start(contestant, database.url);
  await worker.ask("work", { slots: null });
  await producer.ask("send", { jobs: TRICKLE, gapMs: TRICKLE_GAP_MS });
  await counted([worker], TRICKLE);
  const { waited } = await worker.ask("stop", null);
  return percentiles(waited.slice(WARM_UPS));
}

/** Milliseconds from enqueue to the result. `isApart` lets one process ask and another work. */
export function results({ isApart }: { isApart: boolean }): Measurement {
  return async ({ contestant, fresh }) => {
    await using database = await fresh();
    await using worker = await Child.start(contestant, database.url);
    await using other = isApart ? await Child.start(contestant, database.url) : null;
    await worker.ask("work", { slots: null });
    const caller = other ?? worker;
    const took = await caller.ask("results", { jobs: RESULTS, gapMs: RESULTS_GAP_MS });
    return percentiles(took.slice(WARM_UPS));
  };
}

/** Pipelines per second as `rate`. */
export function pipelines(slots: number, jobs: number): Measurement {
  return async ({ contestant, jobs: given, fresh }) => {
    await using database = await fresh();
    // `given` holds the share that a slow contestant gets of all jobs.
    const count = Math.max(slots, Math.min(jobs, given));
    await fill({ contestant, url: database.url, jobs: count });
    await database.settle();
    return { rate: steadyRate(await drained(contestant, database, { jobs: count, slots })) };
  };
}

/** Milliseconds until a plain HTTP server answers in a process that drains at full speed. */
export async function servedWhileDraining({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  const count = jobs * SERVED_JOBS_FACTOR;
  await fill({ contestant, url: database.url, jobs: count });
  await database.settle();
  await using worker = await Child.start(contestant, database.url);
  const port = await worker.ask("listen", null);
  const agent = new Agent({ keepAlive: true });
  await request(agent, port);
  const took: number[] = [];
  await worker.ask("work", { slots: null });
  const over = new AbortController();
  const ended = counted([worker], count).finally(() => over.abort());
  while (!over.signal.aborted) {
    took.push(await request(agent, port));
    await pause(REQUEST_GAP_MS);
  }
  await ended;
  agent.destroy();
  return percentiles(took);
}

/** Milliseconds from the start of a process to its first handler, the median of a few starts. */
export async function firstHandler({ contestant, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  // The database exists and was used, as in a deployment.
  await fill({ contestant, url: database.url, jobs: STARTS * WARM_UPS });
  await drained(contestant, database, { jobs: STARTS * WARM_UPS });
  const took: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    await fill({ contestant, url: database.url, jobs: 1 });
    const began = instant();
    await using worker = await Child.start(contestant, database.url);
    await worker.ask("work", { slots: null });
    await counted([worker], 1);
    const { begun } = await worker.ask("stop", null);
    took.push((begun[0] ?? Number.NaN) - began);
  }
  return { first: percentile(took, 50) };
}

/** Megabytes of a worker after a collection: `idle`, and `after` many jobs. */
export async function weights({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  await using database = await fresh();
  await using worker = await Child.start(contestant, database.url);
  await worker.ask("work", { slots: null });
  await pause(IDLE_MS);
  const idle = await worker.ask("weigh", null);
  await fill({ contestant, url: database.url, jobs });
  await counted([worker], jobs);
  const after = await worker.ask("weigh", null);
  return { idle: idle.rssMb, after: after.rssMb, peak: after.peakMb };
}

function percentiles(values: Iterable<number>): Figures {
  const all = [...values];
  return { p50: percentile(all, 50), p99: percentile(all, 99) };
}

/** Milliseconds until the answer has arrived. */
function request(agent: Agent, port: number): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = get({ agent, host: "127.0.0.1", port }, (response) => {
      response.resume();
      response.once("end", () => resolve(performance.now() - began));
    });
    asked.once("error", reject);
  });
}
