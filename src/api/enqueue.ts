/** What a caller says when it enqueues a job, and what it gets to hold afterwards. */
import type { Duration, Instant } from "../core/duration.ts";
import type { State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { JobSettings } from "./settings.ts";

export interface EnqueueOptions {
  readonly tenant?: string;
  readonly runAt?: Instant;
  readonly delay?: Duration;
  readonly priority?: NonNullable<JobSettings["priority"]>;
  /** Counts the first attempt. */
  readonly maxAttempts?: number;
  readonly correlationId?: string;
  readonly idempotencyKey?: string | { key: string; onConflict: "return-existing" | "error" };
  readonly dedupKey?: string | { key: string; onConflict: "skip" | "replace" | "extend" };
  /**
   * At most one job of a tenant runs under a key at a time, by any worker: the others wait, and the
   * most urgent goes next. One that waits for its next attempt holds no key. Units of `ctx.each`
   * that are `exclusive` share these names. 1 to 500 characters.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const under = { now: 0, most: 0 };
   * const deploy = defineJob({ type: "deploy", payload: typed<number>() }).run(async () => {
   *   under.most = Math.max(under.most, (under.now += 1));
   *   await new Promise((resolve) => setImmediate(resolve));
   *   under.now -= 1;
   * });
   *
   * await using test = await createTestMill();
   * const key = { concurrencyKey: "site/main" };
   * await test.mill.enqueueMany([deploy.of(1, key), deploy.of(2, key), deploy.of(3, key)]);
   * assert.equal((await test.drain([deploy])).succeeded, 3);
   * assert.equal(under.most, 1);
   * ```
   */
  readonly concurrencyKey?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Jobs that must be final before this one may start, at most 1,000; `onFailed` says what becomes
   * of it when one of them does not end well. Each must exist, else that is AFTER_UNKNOWN: what
   * `ctx.enqueue` has made comes into being with the end of its phase, so that `ctx.enqueue` must
   * make the dependant, too.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const order: string[] = [];
   * const step = defineJob({ type: "step", payload: typed<string>() }).run(
   *   (name) => void order.push(name),
   * );
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const [left, right] = await mill.enqueueMany([step.of("left"), step.of("right")]);
   * await mill.enqueue(step, "both", { after: [left, right], priority: "critical" });
   * await test.drain([step]);
   * assert.deepEqual(order, ["left", "right", "both"]);
   * ```
   */
  readonly after?: readonly JobRef<unknown>[];
  /**
   * What becomes of this job when one of `after` fails or is cancelled: it is cancelled, too,
   * unless told to `run` all the same. `completed_with_errors` is no failure.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, NonRetryableError } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const build = defineJob({ type: "build" }).run(() => {
   *   throw new NonRetryableError("no");
   * });
   * const publish = defineJob({ type: "publish" }).run(() => "published");
   * const report = defineJob({ type: "report" }).run(() => "reported");
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const built = await mill.enqueue(build);
   * const published = await mill.enqueue(publish, undefined, { after: [built] });
   * const reported = await mill.enqueue(report, undefined, { after: [built], onFailed: "run" });
   * await test.drain([build, publish, report]);
   * assert.equal((await mill.wait(published)).state, "cancelled");
   * assert.equal(await mill.result(reported), "reported");
   * ```
   */
  readonly onFailed?: "cancel" | "run";
  /** Begins with `http://` or `https://`. */
  readonly webhookUrl?: string;
  readonly createdBy?: string;
  /**
   * The caller's own open transaction on the database of the store: the job is there if and when it
   * commits, and leaves no trace when it is rolled back. Told by the shape of its library; one of
   * Drizzle is `fromDrizzle(tx, sql)`. Nobody is woken by the commit: a free worker finds the job
   * within 1.2 times its `poll` (one second unless set otherwise) on PostgreSQL, and within 25 ms
   * on SQLite.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { DatabaseSync } from "node:sqlite";
   * import { defineJob, openMillrace } from "millrace";
   *
   * const welcome = defineJob({ type: "welcome" });
   * const mill = await openMillrace("sqlite:./app.db");
   * const db = new DatabaseSync("./app.db");
   *
   * db.exec("BEGIN IMMEDIATE");
   * const { id } = await mill.enqueue(welcome, undefined, { tx: db });
   * db.exec("ROLLBACK");
   * await assert.rejects(mill.jobs.get(id), { code: "JOB_NOT_FOUND" });
   *
   * db.close();
   * await mill.close();
   * ```
   */
  readonly tx?: NativeTransaction | Transaction;
}

/**
 * Payload and options of one job. The payload may be left out only where the job has none.
 * Functions take `PayloadArgs<NoInfer<Input>>`: the job alone says what its input is, or a payload
 * of the wrong type would widen it.
 */
export type PayloadArgs<Input> = undefined extends Input
  ? [payload?: Input, options?: EnqueueOptions]
  : [payload: Input, options?: EnqueueOptions];

declare const resultOf: unique symbol;

/** Names one job, and remembers the type of its result. */
export interface JobRef<Result> {
  readonly id: string;
  readonly type: string;
  readonly [resultOf]?: Result;
}

/** `created` is false when an idempotency or dedup key led to a job that already stood there. */
export interface Enqueued<Result> extends JobRef<Result> {
  /** `null` when an idempotency key led to a job that ended so long ago that it was removed. */
  readonly state: State | null;
  readonly created: boolean;
}

/** A job at its end: what else there is to read depends on `state`. */
export type Finished<Result> = JobRef<Result> &
  (
    | { readonly state: "completed"; readonly result: Result }
    | {
        readonly state: "completed_with_errors";
        readonly result: Result;
        readonly failedUnits: number;
      }
    | { readonly state: "failed"; readonly error: Fault; readonly deadLetterId: string }
    | { readonly state: "cancelled"; readonly reason: string | null }
  );

/** What `{ tx }` takes as it is, told by its shape. The comments name the libraries. */
export type NativeTransaction =
  | { query(text: string, values?: any[]): Promise<any> } // pg, TypeORM
  | { unsafe(text: string, values?: any[]): any } // postgres.js
  | { executeQuery(query: any): Promise<any> } // Kysely
  | { raw(sql: string, bindings?: any): any } // Knex
  | { $queryRawUnsafe(text: string, ...values: any[]): Promise<any> } // Prisma
  | { prepare(sql: string): any }; // a DatabaseSync of node:sqlite, on the same file

/** A transaction in Millrace's own wrapping, for libraries that cannot be told by shape. */
export interface Transaction {
  readonly "~transaction": true;
}
