/** The options of `mill.work`, and the worker that it returns. */
import type { Duration } from "../core/duration.ts";
import type { MillraceError } from "../core/errors.ts";
import type { Preset } from "../core/presets.ts";
import type { NamedFunctions } from "./channels/functions.ts";
import type { Job } from "./job.ts";
import type { RetentionOptions } from "./retention.ts";
import type { Schedule } from "./schedule.ts";

export type WorkOptions<J extends readonly AnyJob[]> = {
  readonly jobs: J;
  /** The number of slots of each lane, or the slots with other options. */
  readonly lanes?: Readonly<Record<string, number | LaneOptions>>;
  /** Which of `jobs` this process runs. Default: all. */
  readonly types?: readonly J[number]["type"][];
  /** Only jobs of this tenant. */
  readonly tenant?: string;
  /**
   * The schedules that this code declares. The store keeps them: code owns their times and jobs, an
   * operator can pause them. They make jobs while at least one worker runs that declares them.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, schedule } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * let runs = 0;
   * const cleanup = defineJob({ type: "cleanup" }).run(() => void (runs += 1));
   * const nightly = schedule("nightly cleanup", { cron: "0 3 * * *" }, cleanup);
   *
   * await using test = await createTestMill();
   * test.mill.work({ jobs: [cleanup], schedules: [nightly] });
   * await test.advance("3d");
   * assert.equal(runs, 3);
   * ```
   */
  readonly schedules?: readonly Schedule[];
  /**
   * Functions that jobs call by name, with `ctx.callFunction` or as the handlers of a channel. A
   * name that is not here is called in the database: on PostgreSQL, a registered function.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const functions = {
   *   "comms.greeting": ({ name }: { name: string }) => ({
   *     status: "succeeded",
   *     payload: `Hello ${name}`,
   *   }),
   * };
   * const greet = defineJob({ type: "greet" }).run(async (_, ctx) => {
   *   const { payload } = await ctx.callFunction("comms.greeting", { name: "Ada" });
   *   return payload;
   * });
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(greet);
   * await test.drain([greet], { functions });
   * assert.equal(await test.mill.result(job), "Hello Ada");
   * ```
   */
  readonly functions?: NamedFunctions;
  /**
   * How long finished jobs are kept; overrides the periods of the preset. Give all workers of a
   * database the same periods, because each of them removes expired jobs. With `false`, this worker
   * marks and removes no finished job; other expired data is removed as the preset says.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const thumbnail = defineJob({ type: "thumbnail" }).run(() => "/a.png");
   * const archive: string[] = [];
   * const retention = {
   *   staleAfter: "1h",
   *   deleteAfter: "1d",
   *   states: { failed: { staleAfter: "30d" } },
   *   onStale: ({ id }: { id: string }) => archive.push(id),
   * } as const;
   *
   * await using test = await createTestMill();
   * const { mill, drain, advance } = test;
   * const job = await mill.enqueue(thumbnail);
   * await drain([thumbnail], { retention });
   *
   * await advance("2h");
   * await drain([thumbnail], { retention });
   * assert.equal((await mill.jobs.get(job.id)).stale, true);
   * assert.deepEqual(archive, [job.id]);
   *
   * await advance("1d");
   * await drain([thumbnail], { retention });
   * await assert.rejects(mill.jobs.get(job.id), { code: "JOB_NOT_FOUND" });
   * ```
   */
  readonly retention?: RetentionOptions | false;
  /**
   * The version of the application, for operators: `workers.list` and `types.list` show the text.
   */
  readonly appVersion?: string;
  /** A preset that replaces the default numbers. */
  readonly preset?: Preset;
  /**
   * How long a worker keeps its jobs without a heartbeat. Heartbeats are sent at least three times
   * in this period. Default 30 s.
   */
  readonly lease?: Duration;
  /** How often the worker looks for jobs without a wake-up. Default 1 s. */
  readonly poll?: Duration;
  /** The maximum number of jobs in one claim, 1 to 500. Default: that of the preset, 500. */
  readonly batch?: number;
  /** How long `stop` waits for running jobs. Default 25 s. */
  readonly grace?: Duration;
  /**
   * What SIGTERM and SIGINT do to this worker. By default, and if nothing else in the process
   * listens to the signal when it arrives, all workers of the process stop gracefully, and the
   * process then ends by that signal (exit status 143 or 130). A second signal ends the process at
   * once. If the application has a listener of its own, the signal is left to the application,
   * which calls `worker.stop()` or `mill.close()`.
   *
   * `true` stops the worker also beside listeners of the application. `false` leaves the signal
   * alone; a worker that is killed by it leaves its running jobs to be rescued, as after a crash.
   */
  readonly signals?: boolean;
} & ({} extends AllDeps<J> ? { readonly deps?: AllDeps<J> } : { readonly deps: AllDeps<J> });

/** The options of a lane. */
export interface LaneOptions {
  /** Jobs that run in the lane at the same time. */
  readonly slots: number;
  /**
   * Tenants that wait in the lane start jobs in proportion to their weights, 1 to 1000, by default
   * 1. Of the workers that state `fair`, the one that joined last decides for all workers, and
   * `false` makes the lane unfair again. `mill.fairness.set` overrides it.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const report = defineJob({ type: "report" }).run(() => {});
   *
   * await using test = await createTestMill();
   * await test.mill.enqueue(report);
   * await test.drain([report], {
   *   lanes: { general: { slots: 5, fair: { weights: { acme: 3 } }, ageing: "10m" } },
   * });
   * const [lane] = await test.mill.fairness.list();
   * assert.deepEqual(lane?.weights, { acme: 3 });
   * ```
   */
  readonly fair?: boolean | { readonly weights?: Readonly<Record<string, number>> };
  /**
   * Every tenth job that the lane starts is one of those that have waited longest, whatever their
   * priority, if they have waited for longer than this.
   */
  readonly ageing?: Duration;
}

export interface Worker extends AsyncDisposable {
  readonly id: string;
  readonly ready: Promise<void>;
  /**
   * Resolves when the worker has stopped: with `null` after `stop`, also if an operator has asked
   * for it (`mill.workers.stop`), and with STORE_MOVED if the worker has stopped because its
   * installation has moved to another database.
   */
  readonly ended: Promise<MillraceError | null>;
  /**
   * Claims no more jobs and waits up to `grace` for the running jobs. Jobs that still run are
   * returned to the queue without a charged attempt.
   */
  stop(options?: { grace?: Duration }): Promise<void>;
  /** Claims no more jobs. Running jobs continue. */
  quiet(): Promise<void>;
}

export type AnyJob = Job<string, any, any, any>;

/** The dependencies of all jobs together: a union in argument position becomes an intersection. */
type AllDeps<J extends readonly AnyJob[]> =
  DepsOf<J[number]> extends (deps: infer D) => void ? D : never;

type DepsOf<J> = J extends Job<string, any, any, infer D> ? (deps: D) => void : never;
