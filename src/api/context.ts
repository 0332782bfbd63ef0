/** What a handler receives as `ctx`. */
import type { Duration } from "../core/duration.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { Envelope } from "../core/channels/envelope.ts";
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
  /** The number of the attempt: 1 on the first. A deploy does not raise the number. */
  readonly attempt: number;
  /**
   * `token` proves the claim. `fence` grows with every claim of this job. Pass `fence` to systems
   * that can refuse a lower number.
   */
  readonly lease: { readonly token: string; readonly fence: number };
  /**
   * Aborts when the job is cancelled or exceeds its timeout, when the worker stops, when the lease
   * of the worker has expired or is lost (another worker may run the job then), and when the
   * handler throws or snoozes. The run ends after the steps and units that are under way then. A
   * step or unit that ignores the signal for five seconds is left behind.
   */
  readonly signal: AbortSignal;
  /**
   * Writes to the worker's log and to the job's log, which `jobs.logs` reads. Lines are stored
   * within 200 ms, and the last lines together with the end of the run. Logging never throws. The
   * store keeps the newest 1,000 lines of each job and cuts a line after 4,000 characters.
   */
  readonly log: Logger;
  readonly deps: Deps;
  /** The stored results of the earlier phases, by name. */
  readonly results: Results;

  /**
   * Reports the progress of the phase, or of a job without phases: 0 to 100, with up to 64 KB of
   * JSON. A percent above 0 replaces the share of the units of `each` that have ended. The promise
   * resolves when this value or a newer one is stored; at most ten values are stored per second.
   * With `flush`, the value is stored at once, beyond this limit. The promise need not be awaited.
   * A call after the end of the phase rejects with JOB_OVER.
   */
  progress(percent: number, data?: Json, options?: { flush?: boolean }): Promise<void>;

  /**
   * Calls `fn` and stores its result. A later attempt gets the stored result and does not call `fn`
   * again. The name has up to 500 characters and is unique among the steps and units of the phase.
   *
   * A step that the handler does not await ends before its phase, or its run, ends. If the handler
   * returns, the step runs to its end. If the handler throws, `signal` is aborted first. After the
   * end of the phase or the run, `step` rejects with JOB_OVER.
   */
  step<R>(name: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<Stored<Awaited<R>>>;

  /**
   * Runs one unit per item, ten at a time by default, at most 100,000 in a phase. `each` rejects
   * only when all units failed. When some units failed, the job ends as `completed_with_errors`. A
   * later attempt calls `fn` only for the units that have not completed, and returns all units in
   * the order of `items`.
   *
   * Units that the handler does not await end before their phase, or their run, ends. If the
   * handler returns, all units run. If the handler throws, `signal` is aborted, the units under way
   * end, and no other unit begins.
   *
   * `exclusive` returns the name of a lock that the unit needs. Within a tenant, a lock is held by
   * at most one unit, or by one job with that `concurrencyKey`, on any worker. A unit whose lock is
   * taken waits while the other units run.
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

  /**
   * Calls a service through its circuit breaker, which all workers share. If the breaker is open,
   * `fn` is not called, and the run ends as by `snooze`: the job starts again when the breaker lets
   * one job try the service, and no attempt is charged. Errors of `fn` count as failures of the
   * service, except permanent ones, and are thrown on.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, TransientError } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * let calls = 0;
   * const pay = defineJob({ type: "pay" }).run((_, ctx) =>
   *   ctx.breaker("bank", () => {
   *     calls += 1;
   *     throw new TransientError("the bank hung up");
   *   }),
   * );
   *
   * await using test = await createTestMill();
   * for (let count = 0; count < 20; count += 1) await test.mill.enqueue(pay);
   * const { failed, snoozed } = await test.drain([pay]);
   * assert.equal((await test.mill.breakers.get("bank")).state, "open");
   * assert.equal(failed, 5);
   * assert.equal(failed + snoozed, 20);
   * assert.ok(calls < 20);
   * ```
   */
  breaker<R>(service: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R>;

  /**
   * Calls a function by its name: one of `functions` of `mill.work`, or else a registered function
   * of the database (PostgreSQL). Returns its answer in one form, whichever form the function uses.
   * Throws FUNCTION_UNKNOWN, FUNCTION_FAILED if a function of the database raises, and
   * ENVELOPE_INVALID for an answer that is no envelope. The call is not part of a transaction of
   * the job, and a run after a crash calls the function again.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const close = defineJob({ type: "close" }).run(async (_, ctx) => {
   *   const { status } = await ctx.callFunction("accounts.close", { account: 7 });
   *   return status;
   * });
   * const functions = { "accounts.close": () => ({ status: "already_closed" }) };
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(close);
   * await test.drain([close], { functions });
   * assert.equal(await test.mill.result(job), "already_closed");
   * ```
   */
  callFunction(name: string, payload?: unknown): Promise<Envelope>;

  /** Calls `fn`. If `fn` takes longer than `limit`, the promise rejects with a TransientError. */
  timeout<R>(limit: Duration, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R>;

  /**
   * Enqueues a child job. The child is stored when this phase completes, or when the job completes
   * if it has no phases. Within a unit or a step, the child is stored when the unit or step
   * completes. If the phase, job, unit or step fails, its children are dropped.
   *
   * If another job holds the idempotency or dedup key of the child, the child is not created, and
   * the id names that other job from then on.
   */
  enqueue<Input, R>(
    job: JobContract<string, Input, R>,
    ...args: PayloadArgs<NoInfer<Input>>
  ): Promise<JobRef<R>>;

  /**
   * Ends this run and starts the job again after `delay`, which is at least 100 ms. A snooze is not
   * charged as an attempt.
   */
  snooze(delay: Duration): never;
}

/** The results and errors of the units of `ctx.each`. */
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
