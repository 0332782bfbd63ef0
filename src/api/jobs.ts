/** `mill.jobs`: reading jobs, and acting on one job. */
import type { ActedBy } from "./control/audit.ts";
import type { Duration, Instant } from "../core/duration.ts";
import type { State } from "../core/job.ts";
import type { Fault, OutcomeName } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { Explanation } from "./control/explanation.ts";
import type { JobDetails } from "./details.ts";
import type { Enqueued } from "./enqueue.ts";
import type { CountFilter, JobFilter } from "./control/job-filter.ts";
import type { LogPage, LogView } from "./logs.ts";
import type { JobSettings } from "./settings.ts";
import type { ProgressView, UnitFilter, UnitHolderView, UnitView } from "./progress.ts";

export interface Jobs {
  /** Returns one job. Throws JOB_NOT_FOUND. */
  get(id: string): Promise<JobView>;
  /**
   * Returns all facts about one job: its runs, phases and failed units, its worker, and the jobs
   * that it is linked to. Throws JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const job = defineJob({ type: "publish" });
   * const first = await test.mill.enqueue(job);
   * const second = await test.mill.enqueue(job, undefined, { after: [first] });
   *
   * const { awaitedBy, worker } = await test.mill.jobs.details(first.id);
   * assert.deepEqual(awaitedBy, { ids: [second.id], more: false });
   * assert.equal(worker, null);
   * ```
   */
  details(id: string): Promise<JobDetails>;
  /**
   * Returns the payload and the result of a job as the JSON texts that are stored. Numbers beyond
   * 2^53, which lose digits when JavaScript reads them, are as they were written. Throws
   * JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const greet = defineJob({ type: "greet", payload: typed<{ to: string }>() });
   * const { id } = await test.mill.enqueue(greet, { to: "Ada" });
   * assert.deepEqual(await test.mill.jobs.texts(id), { payload: '{"to":"Ada"}', result: null });
   * ```
   */
  texts(id: string): Promise<JobTexts>;
  /**
   * Returns the ids that begin with these letters, oldest first, at most `limit` (default 10): of
   * jobs, and of dead letters whose job has been removed. Throws ID_INVALID for fewer than four
   * letters, and for a text that no id begins with.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { id } = await test.mill.enqueue(defineJob({ type: "greet" }));
   * assert.deepEqual(await test.mill.jobs.findIds(id.slice(0, 8)), [id]);
   * ```
   */
  findIds(prefix: string, limit?: number): Promise<readonly string[]>;
  /**
   * Lists jobs, newest first. A page reads a bounded number of jobs, so a page may have fewer jobs
   * than `limit`, or none, although more follow: continue until `next` is null. Errors have no
   * stack here, and the first 500 characters of their message; `get` returns the whole error.
   * Throws OPTION_INVALID for an unknown filter or state.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const greet = defineJob({ type: "greet" });
   * await using test = await createTestMill();
   * for (let n = 0; n < 5; n += 1) await test.mill.enqueue(greet);
   *
   * let count = 0;
   * for (let after: string | null | undefined; after !== null; ) {
   *   const page = await test.mill.jobs.list({ type: "greet", limit: 2, ...(after && { after }) });
   *   count += page.jobs.length;
   *   after = page.next;
   * }
   * assert.equal(count, 5);
   * ```
   */
  list(filter?: JobFilter): Promise<JobPage>;
  /**
   * Cancels a job. A waiting job ends at once. The handler of a running job is asked to stop by
   * `ctx.signal`. A reason has up to 2,000 characters.
   */
  cancel(id: string, reason?: string, by?: { actor: string }): Promise<JobView>;
  /**
   * Makes a waiting job run now. A finished job gets a linked successor that keeps the completed
   * phases and units; with `restart`, the successor keeps nothing. Throws DEDUP_KEY_HELD when
   * another job holds the dedup key, and NOTHING_TO_RETRY for a pipeline whose phases have all
   * completed.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * let renders = 0;
   * const publish = defineJob({ type: "publish" }).phase("render", () => (renders += 1));
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(publish);
   * await test.drain([publish]);
   *
   * await assert.rejects(test.mill.jobs.retry(job.id), { code: "NOTHING_TO_RETRY" });
   * const again = await test.mill.jobs.retry(job.id, { restart: true });
   * await test.drain([publish]);
   * assert.equal(await test.mill.result(again), 2);
   * ```
   */
  retry(id: string, options?: { restart?: boolean } & ActedBy): Promise<Enqueued<unknown>>;
  /**
   * Ends a job as failed and stores its dead letter. A job that waits is charged no attempt. The
   * message has up to 2,000 characters. With `retry`, the call counts as one failed attempt, and
   * the job waits for the backoff of its definition. If this process has not seen the definition
   * (in `work` or `enqueue`), the backoff of the preset applies.
   */
  fail(
    id: string,
    message: string,
    options?: { retry?: boolean; actor?: string },
  ): Promise<JobView>;
  /**
   * Takes a job away from a stuck worker and queues it again, without a charged attempt. With
   * `force: false`, a job is refused (RUN_HEALTHY) while the lease of its worker is alive.
   */
  release(id: string, options?: { force?: boolean } & ActedBy): Promise<JobView>;
  /**
   * Gives a waiting job another priority, for its next start. A retry has the priority of the
   * enqueue again. Throws JOB_NOT_WAITING for a running job, and JOB_OVER for a finished one.
   */
  setPriority(
    id: string,
    priority: NonNullable<JobSettings["priority"]>,
    by?: ActedBy,
  ): Promise<JobView>;
  /**
   * Makes a waiting job due at another time. A job that waits for other jobs still waits for them.
   * Throws JOB_NOT_WAITING for a running job, and JOB_OVER for a finished one.
   */
  reschedule(
    id: string,
    due: { runAt: Instant } | { delay: Duration },
    by?: ActedBy,
  ): Promise<JobView>;
  /** Returns every run of a job that has ended, oldest first. */
  attempts(id: string): Promise<readonly AttemptView[]>;
  /**
   * Returns the progress of a job: its phases, and the number of their units in each state. Throws
   * JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const publish = defineJob({ type: "publish" })
   *   .phase("render", () => ({ pages: ["a", "b"] }))
   *   .phase("upload", (_, ctx) =>
   *     ctx.each(ctx.results.render.pages, (page) => page, (page) => `/${page}`),
   *   );
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(publish);
   * await test.drain([publish]);
   *
   * const { percent, phases } = await test.mill.jobs.progress(job.id);
   * assert.equal(percent, 100);
   * assert.deepEqual(phases[0]?.result, { pages: ["a", "b"] });
   * assert.deepEqual(phases[1]?.units, {
   *   total: 2,
   *   planned: 0,
   *   running: 0,
   *   completed: 2,
   *   failed: 0,
   * });
   * ```
   */
  progress(id: string): Promise<ProgressView>;
  /**
   * Lists the units of a job, by phase in the order in which phases run, and within a phase in the
   * order in which they were given to `each` and `step`. A unit has its position in the last run
   * that ran it; of units with the same position in different runs, the order is that of their
   * keys. Throws JOB_NOT_FOUND, and OPTION_INVALID for an unknown filter or state.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const purge = defineJob({ type: "purge" }).run(async (_, ctx) => {
   *   await ctx.each(["/a", "/b"], (path) => path, (path) => {
   *     if (path === "/b") throw new Error("R2 timeout after 3 retries");
   *   });
   * });
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(purge);
   * await test.drain([purge]);
   *
   * const { units } = await test.mill.jobs.units(job.id, { state: "failed" });
   * assert.equal(units[0]?.key, "/b");
   * assert.equal(units[0]?.error?.message, "R2 timeout after 3 retries");
   * ```
   */
  units(
    id: string,
    filter?: UnitFilter,
  ): Promise<{ units: readonly UnitView[]; next: string | null }>;
  /**
   * Returns the running jobs that have a running unit with this key, at most 100. Use it before an
   * action that must not happen twice at the same time.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const update = defineJob({ type: "update" }).run(async (_, ctx) => {
   *   await ctx.each(["edition-7"], (slug) => slug, async (slug) => {
   *     const [holder] = await mill.jobs.holders(slug);
   *     assert.equal(holder?.id, ctx.job.id);
   *   });
   * });
   *
   * const job = await mill.enqueue(update);
   * await test.drain([update]);
   * assert.equal((await mill.wait(job)).state, "completed");
   * assert.deepEqual(await mill.jobs.holders("edition-7"), []);
   * ```
   */
  holders(unit: string): Promise<readonly UnitHolderView[]>;
  /**
   * Returns the lines that the handler has written with `ctx.log`, oldest first: the newest lines,
   * or the lines after the line `after`. The store keeps the newest 1,000 lines of each job, and no
   * more than 65,536 characters. Throws JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const fetchAll = defineJob({ type: "fetch" }).run((_, ctx) => {
   *   ctx.log.info("fetched", { pages: 12 });
   *   ctx.log.warn("one was empty");
   * });
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(fetchAll);
   * await test.drain([fetchAll]);
   *
   * const { lines } = await test.mill.jobs.logs(job.id);
   * assert.deepEqual(lines[0]?.fields, { pages: 12 });
   * assert.equal(lines[1]?.level, "warn");
   * const later = await test.mill.jobs.logs(job.id, { after: lines[0]?.line ?? 0 });
   * assert.equal(later.lines[0]?.message, "one was empty");
   * ```
   */
  logs(id: string, page?: LogPage): Promise<{ lines: readonly LogView[]; next: number | null }>;
  /**
   * Counts the jobs that match a filter, up to `max`: by default, and at most, 10,000. `atLeast`
   * says that there may be more. A filter by more than states checks the newest 20,000 jobs that
   * one of its indexes has. Throws OPTION_INVALID for an unknown filter or state.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const greet = defineJob({ type: "greet" });
   * await using test = await createTestMill();
   * await test.mill.enqueueMany([greet.of(), greet.of(), greet.of()]);
   *
   * const { jobs } = test.mill;
   * assert.deepEqual(await jobs.count({ state: "queued" }), { count: 3, atLeast: false });
   * assert.deepEqual(await jobs.count({ type: "greet" }, { max: 2 }), { count: 2, atLeast: true });
   * ```
   */
  count(filter?: CountFilter, options?: { max?: number }): Promise<CountedJobs>;
  /**
   * Explains why a job does not run, and what to do: one sentence, and the data behind it.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { id } = await test.mill.enqueue(defineJob({ type: "greet" }));
   * await test.mill.pause({ type: "greet" }, "the mail server is down");
   *
   * const explanation = await test.mill.jobs.explain(id);
   * assert.equal(explanation.sentence, "The type greet is paused: the mail server is down.");
   * assert(explanation.reason === "paused" && explanation.details.name === "greet");
   * ```
   */
  explain(id: string): Promise<Explanation>;
  /**
   * Counts the jobs that wait, run and have failed, and returns the longest wait. Counts stop at
   * 10,000: `atLeast` names those that did.
   */
  stats(): Promise<JobStats>;
  /**
   * Counts the jobs of each type, lane, tenant or category that wait, run and have failed, and
   * returns the 100 names with the most jobs. Each count reads at most 100,000 jobs: `atLeast`
   * names the counts that stopped there.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * await test.mill.enqueue(defineJob({ type: "greet" }));
   *
   * const { groups } = await test.mill.jobs.statsBy("type");
   * assert.deepEqual(
   *   groups.map(({ name, queued }) => [name, queued]),
   *   [["greet", 1]],
   * );
   * ```
   */
  statsBy(by: GroupName): Promise<GroupedJobStats>;
}

export interface CountedJobs {
  readonly count: number;
  /** True when the count stopped at a maximum: there are at least so many. */
  readonly atLeast: boolean;
}

/** A page of jobs, newest first. */
export interface JobPage {
  readonly jobs: readonly JobView[];
  /** The `after` of the next page; `null` on the last page. */
  readonly next: string | null;
  /**
   * True when the search reached its maximum before the page was full. Matching jobs may follow:
   * `next` continues the search.
   */
  readonly cutShort: boolean;
}

export interface JobStats {
  readonly scheduled: number;
  /** Of the scheduled jobs, those that have run before and wait for their next run. */
  readonly retrying: number;
  readonly queued: number;
  /** Queued jobs that a pause, a concurrency key or a dependency holds back. */
  readonly held: number;
  readonly running: number;
  readonly failed: number;
  readonly oldestQueuedMs: number | null;
  /** The figures that stopped at a maximum: the true figure is at least as large. */
  readonly atLeast: readonly Exclude<keyof JobStats, "atLeast">[];
}

/** What `jobs.statsBy` groups jobs by. Jobs without a category belong to no category. */
export type GroupName = "type" | "lane" | "tenant" | "category";

/** Counts of jobs by name, most jobs first. */
export interface GroupedJobStats {
  readonly by: GroupName;
  readonly groups: readonly JobGroupStats[];
  /** The counts that stopped at a maximum: the true figures are at least as large. */
  readonly atLeast: readonly Exclude<keyof JobGroupStats, "name">[];
  /** True when there are more names than `groups` has. */
  readonly cutShort: boolean;
}

/** The jobs of one type, lane, tenant or category. */
export interface JobGroupStats {
  readonly name: string;
  readonly scheduled: number;
  readonly queued: number;
  /** Queued jobs that a pause, a concurrency key or a dependency holds back. */
  readonly held: number;
  readonly running: number;
  readonly failed: number;
}

/** What holds a queued job back. The gate of the whole installation has the name `all`. */
export type JobHold =
  | HoldingName
  | { readonly kind: "limit"; readonly of: HoldingName }
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "after" };

interface HoldingName {
  readonly kind: "lane" | "type" | "tenant" | "service" | "installation";
  readonly name: string;
}

export interface JobView {
  readonly id: string;
  readonly type: string;
  readonly state: State;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  /** `null` for a job without payload. */
  readonly payload: Json;
  /** The version of the payload; `null` counts as version 1. */
  readonly payloadVersion: string | null;
  /** The result of the handler; `null` before the end, and for a handler that returns nothing. */
  readonly result: Json;
  /** Present if the stored text of these values is damaged. They read as `null`. */
  readonly damaged?: readonly ("payload" | "result")[];
  /**
   * How the last run ended; `null` before the end of the first run. A job whose retries a
   * supervisor owns is `completed` also when its run has failed.
   */
  readonly outcome: OutcomeName | null;
  /** The error of the last run, if it failed. */
  readonly error: Fault | null;
  /** The progress of the whole job, 0 to 100. */
  readonly progress: number;
  /** The current phase, or that of the last run; `null` without phases, and before the first. */
  readonly phase: string | null;
  /** The number of attempts charged so far, and its maximum. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly correlationId: string;
  readonly parentId: string | null;
  readonly retryOf: string | null;
  readonly idempotencyKey: string | null;
  readonly dedupKey: string | null;
  readonly concurrencyKey: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** The first planned time; a retry does not change it. */
  readonly scheduledAt: Date;
  /** The time of the next run, for a job that waits. */
  readonly runAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelReason: string | null;
  /**
   * What holds a queued job back: a closed gate, a limit that is used up, a concurrency key that
   * another job has, or jobs that must end before. `null`: it waits for a free slot, if it waits.
   */
  readonly heldBy: JobHold | null;
  /** True when the job will soon be removed; see `retention` in the options of `work`. */
  readonly stale: boolean;
}

/** One run of a job that has ended. */
export interface AttemptView {
  readonly number: number;
  /**
   * The attempts and crashes so far, this run included. A crash counts for every run that the
   * process had begun, and costs an attempt only if the run was alone.
   */
  readonly attempts: number;
  readonly crashes: number;
  readonly outcome: OutcomeName;
  readonly fence: number | null;
  readonly worker: string | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly error: Fault | null;
  readonly nextRunAt: Date | null;
}

/** JSON as it is stored; null if there is none. */
export interface JobTexts {
  readonly payload: string | null;
  readonly result: string | null;
}
