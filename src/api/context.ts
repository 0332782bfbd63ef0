/** What a handler is given. */
import type { Duration } from "../core/duration.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { JobContract } from "./contract.ts";
import type { JobRef, PayloadArgs } from "./enqueue.ts";
import type { Stored } from "./json.ts";

export interface Context<Results, Deps> {
  readonly job: {
    readonly id: string;
    readonly type: string;
    readonly tenant: string;
    readonly correlationId: string;
    readonly tags: Readonly<Record<string, string>>;
  };
  /** 1 on the first try. A deploy does not raise it. */
  readonly attempt: number;
  /**
   * `token` proves the claim. `fence` grows with every claim of this job: hand it to systems that
   * can refuse an older one.
   */
  readonly lease: { readonly token: string; readonly fence: number };
  /** Aborts when the job is cancelled, overruns its timeout, loses its lease or must stop. */
  readonly signal: AbortSignal;
  /**
   * To the log of the worker, and to that of the job, which `jobs.logs` reads: its lines are stored
   * within a fifth of a second, and the last ones with the end of the run. Never throws, and need
   * not be spared: of each job the newest 1,000 lines are kept, and a line of more than 4,000
   * characters is cut.
   */
  readonly log: Logger;
  readonly deps: Deps;
  /** What earlier phases returned, as it was stored. */
  readonly results: Results;

  /**
   * How far the phase, or a job without phases, has come: 0 to 100, with up to 64 KB of JSON.
   * Resolves when this value, or a newer one, is stored: at most ten are within a second. Need not
   * be awaited. After the end of its phase: JOB_OVER.
   */
  progress(percent: number, data?: Json): Promise<void>;

  /**
   * Runs `fn` until its result is stored; a later attempt gets that result, not a second call. Its
   * name, of up to 500 characters, is its own within the phase, among steps and units of `each`.
   */
  step<R>(name: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<Stored<Awaited<R>>>;

  /**
   * Many units side by side, ten unless told, at most 100,000 in a phase. Rejects only when all
   * failed; some failed ends the job `completed_with_errors`. A later attempt calls `fn` only for
   * those that have not completed, and answers all of them, in the order of `items`.
   *
   * `exclusive` names what a unit needs for itself: within a tenant at most one unit, or job with
   * that `concurrencyKey`, has a name at a time, whoever runs it. A unit whose name is taken waits,
   * and lets the others go first.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const purge = defineJob({ type: "purge" }).run((_, ctx) =>
   *   ctx.each(
   *     ["/docs/a", "/docs/b", "/blog/c"],
   *     (path) => path,
   *     (path) => `purged ${path}`,
   *     { exclusive: (path) => `site${path.slice(0, 5)}` },
   *   ),
   * );
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(purge);
   * await test.drain([purge]);
   * assert.equal((await test.mill.result(job)).completed.length, 3);
   * ```
   */
  each<I, R>(
    items: Iterable<I>,
    key: (item: I) => string,
    fn: (item: I, unit: { readonly signal: AbortSignal; readonly key: string }) => R | Promise<R>,
    options?: { concurrency?: number; exclusive?: (item: I) => string },
  ): Promise<Units<Stored<Awaited<R>>>>;

  /** Calls a service through its circuit breaker, which all workers share. */
  breaker<R>(service: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R>;

  timeout<R>(limit: Duration, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R>;

  /**
   * A child job. It exists once this phase (or the job, if it has none) has ended well; within a
   * unit or a step, once that has.
   */
  enqueue<Input, R>(
    job: JobContract<string, Input, R>,
    ...args: PayloadArgs<NoInfer<Input>>
  ): Promise<JobRef<R>>;

  /**
   * Ends this run and starts the job again after `delay`, which is at least 100 ms. Costs no
   * attempt.
   */
  snooze(delay: Duration): never;
}

/** What became of the items of `ctx.each`. */
export interface Units<R> {
  readonly total: number;
  readonly completed: readonly { readonly key: string; readonly result: R }[];
  readonly failed: readonly { readonly key: string; readonly error: Fault }[];
}

export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}
