/**
 * The jobs of the demo: fast jobs and slow jobs, a job that calls a service with outages, a job
 * that fails for one of three causes, a job that is cancelled, a pipeline with units that fail at
 * times, and a schedule. All jobs only wait.
 *
 * No job crashes its worker, because the worker and the server are one process in the demo.
 */
import { z } from "zod";
import { defineJob, NonRetryableError, schedule, TransientError, typed } from "../index.ts";
import type { Job, Schedule } from "../index.ts";

/** The clock and the dice of the jobs. */
export interface DemoDeps {
  /** Resolves after `ms`; rejects as soon as `signal` aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
  /** Whether the service `ledger` has an outage. */
  isLedgerDown(): boolean;
}

/** The share of runs of the flaky job that fail. */
const FLAKY_SHARE = 0.25;
/** Every fifth edition has a page that cannot be rendered. */
const BROKEN = { every: 5, page: 3 };

const EMAIL = z.object({ to: z.email().describe("The reader") });
const THUMBNAIL = z.object({
  picture: z.string().min(1).describe("The name of the picture"),
  width: z.int().min(16).max(4_096).default(320).describe("In pixels"),
});

/** A fast job in a lane of its own, so that it never waits for slow jobs. */
export const email: Job<"demo.email", { to: string }, { sent: string }, DemoDeps> = defineJob({
  type: "demo.email",
  payload: EMAIL,
  lane: "fast",
  category: "mail",
})
  .using<DemoDeps>()
  .run(async ({ to }, ctx) => {
    await ctx.deps.pause(80 + 250 * ctx.deps.random(), ctx.signal);
    return { sent: to };
  });

/** An email every 20 seconds. */
export const digest: Schedule = schedule(
  "demo digest",
  { cron: "*/20 * * * * *", missed: "skip", overlap: "skip" },
  email,
  { to: "readers@example.com" },
);

/** A slow job that succeeds. */
export const thumbnail: Job<
  "demo.thumbnail",
  { picture: string; width?: number | undefined },
  { file: string },
  DemoDeps
> = defineJob({
  type: "demo.thumbnail",
  payload: THUMBNAIL,
  category: "media",
})
  .using<DemoDeps>()
  .run(async ({ picture, width }, ctx) => {
    await ctx.deps.pause(700 + 1_500 * ctx.deps.random(), ctx.signal);
    return { file: `${picture}-${width}.webp` };
  });

/**
 * A job that fails at times and succeeds after some attempts. In an outage of its service the
 * circuit breaker opens, and the jobs wait without losing attempts.
 */
export const sync: Job<
  "demo.sync",
  { account: string },
  { account: string; records: number },
  DemoDeps
> = defineJob({
  type: "demo.sync",
  payload: typed<{ account: string }>(),
  services: ["ledger"],
  maxAttempts: 8,
  backoff: { kind: "exponential", base: "1s", cap: "8s", jitter: 0.3 },
})
  .using<DemoDeps>()
  .run(async ({ account }, ctx) => {
    await ctx.deps.pause(300, ctx.signal);
    if (ctx.deps.isLedgerDown() || ctx.deps.random() < FLAKY_SHARE) {
      throw new TransientError(`the ledger of ${account} did not answer`, { service: "ledger" });
    }
    return { account, records: Math.round(500 * ctx.deps.random()) };
  });

/** A job that takes several seconds, and ends early when `ctx.signal` aborts. */
export const report: Job<
  "demo.report",
  { month: string },
  { month: string; pages: number },
  DemoDeps
> = defineJob({ type: "demo.report", payload: typed<{ month: string }>() })
  .using<DemoDeps>()
  .run(async ({ month }, ctx) => {
    await ctx.deps.pause(4_000 + 4_000 * ctx.deps.random(), ctx.signal);
    return { month, pages: 12 };
  });

/** A job that fails without a retry, for one of three causes, and becomes a dead letter. */
export const invoice: Job<
  "demo.invoice",
  { customer: string; number: number },
  undefined,
  DemoDeps
> = defineJob({
  type: "demo.invoice",
  payload: typed<{ customer: string; number: number }>(),
  category: "billing",
  maxAttempts: 1,
})
  .using<DemoDeps>()
  .run(async ({ customer, number }, ctx) => {
    await ctx.deps.pause(200, ctx.signal);
    if (number % 3 === 0)
      throw new NonRetryableError(`the account ${customer}@example.com is closed`);
    if (number % 3 === 1) throw taxOf(customer, number);
    throw new TypeError(`Cannot read properties of undefined (reading 'vatId')`);
  });

function taxOf(customer: string, number: number): Error {
  return new RangeError(
    `invoice ${number} of ${customer}@example.com has no tax rate for 2026-11-18`,
  );
}

/** A job of one minute, which the producer cancels. */
export const archive: Job<"demo.export", undefined, undefined, DemoDeps> = defineJob({
  type: "demo.export",
  timeout: "2m",
})
  .using<DemoDeps>()
  .run(async (_, ctx) => {
    await ctx.deps.pause(60_000, ctx.signal);
  });

/** A pipeline. Each phase reads the results of the earlier phases; readers get an email. */
export const publish: Job<
  "demo.publish",
  { edition: number },
  { edition: number; files: number },
  DemoDeps
> = defineJob({ type: "demo.publish", payload: typed<{ edition: number }>(), category: "media" })
  .using<DemoDeps>()
  .phase("collect", async ({ edition }, ctx) => {
    await ctx.deps.pause(600, ctx.signal);
    const pages = 6 + Math.round(12 * ctx.deps.random());
    ctx.log.info(`collected ${pages} pages`, { edition });
    return { edition, pages };
  })
  .phase("render", async ({ edition }, ctx) => {
    const pages = Array.from({ length: ctx.results.collect.pages }, (_, index) => index + 1);
    const render = async (page: number): Promise<string> => {
      await ctx.deps.pause(200 + 600 * ctx.deps.random(), ctx.signal);
      const isBroken = edition % BROKEN.every === 0 && page === BROKEN.page;
      if (isBroken) throw new NonRetryableError(`page ${page} has no text`);
      return `page-${page}.pdf`;
    };
    const done = await ctx.each(pages, (page) => `page-${page}`, render, { concurrency: 4 });
    return { files: done.completed.length };
  })
  .phase("announce", async (_, ctx) => {
    await ctx.deps.pause(300, ctx.signal);
    await ctx.enqueue(email, { to: "readers@example.com" });
    return { edition: ctx.results.collect.edition, files: ctx.results.render.files };
  });
