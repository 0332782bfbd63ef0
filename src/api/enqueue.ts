/** The options of `enqueue`, and the types that it returns. */
import type { Duration, Instant } from "../core/duration.ts";
import type { State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { JobSettings } from "./settings.ts";

export interface EnqueueOptions {
  readonly tenant?: string;
  readonly runAt?: Instant;
  readonly delay?: Duration;
  readonly priority?: NonNullable<JobSettings["priority"]>;
  /** The maximum number of attempts, the first included. */
  readonly maxAttempts?: number;
  /**
   * Default: the correlation id of the job whose handler enqueues this one, else the job's own id
   * as a UUID.
   */
  readonly correlationId?: string;
  readonly idempotencyKey?: string | { key: string; onConflict: "return-existing" | "error" };
  readonly dedupKey?: string | { key: string; onConflict: "skip" | "replace" | "extend" };
  /**
   * At most one job with this key runs at a time within a tenant, on any worker. The other jobs
   * wait, and the most urgent of them runs next. A job that waits for its next attempt does not
   * hold the key. The `exclusive` locks of `ctx.each` are the same locks. 1 to 500 characters.
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
   * The version of this payload. Default: `payloadVersion` of the definition. Give an older version
   * for a payload that an older release of the code has made.
   */
  readonly payloadVersion?: string;
  /**
   * The jobs that must be final before this job starts, at most 1,000. `onFailed` says what happens
   * when one of them fails or is cancelled. Each of them must exist, otherwise `enqueue` throws
   * AFTER_UNKNOWN. A child of `ctx.enqueue` does not exist before its phase completes; enqueue a
   * job that depends on a child with `ctx.enqueue` too.
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
   * What happens to this job when one of the jobs in `after` fails or is cancelled. `cancel`, the
   * default, cancels this job; `run` runs it. `completed_with_errors` does not count as a failure.
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
  /** Not part of this release: refused with NOT_YET. */
  readonly webhookUrl?: string;
  readonly createdBy?: string;
  /**
   * An open transaction of the caller on the database of the store. The job is stored when the
   * transaction commits; a rollback leaves no trace of it. The library is recognised by the shape
   * of the object; for Drizzle, pass `fromDrizzle(tx, sql)`. The commit notifies no worker. A free
   * worker finds the job within 1.2 times its `poll` (default one second) on PostgreSQL, and within
   * 25 ms on SQLite.
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
 * The payload and options of one job. The payload is optional only for a job without payload.
 * Functions take `PayloadArgs<NoInfer<Input>>`, so that the input type is inferred from the job
 * alone and a payload of the wrong type is an error.
 */
export type PayloadArgs<Input> = undefined extends Input
  ? [payload?: Input, options?: EnqueueOptions]
  : [payload: Input, options?: EnqueueOptions];

declare const resultOf: unique symbol;

/** The id of a job, with the type of its result. */
export interface JobRef<Result> {
  readonly id: string;
  readonly type: string;
  readonly [resultOf]?: Result;
}

/** `created` is false when an idempotency or dedup key belongs to an existing job. */
export interface Enqueued<Result> extends JobRef<Result> {
  /** `null` when the idempotency key belongs to a job that retention has removed. */
  readonly state: State | null;
  readonly created: boolean;
}

/** A final job. The other properties depend on `state`. */
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

/** A transaction that `{ tx }` recognises by its shape. The comments name the libraries. */
export type NativeTransaction =
  | { query(text: string, values?: any[]): Promise<any> } // pg, TypeORM
  | { unsafe(text: string, values?: any[]): any } // postgres.js
  | { executeQuery(query: any): Promise<any> } // Kysely
  | { raw(sql: string, bindings?: any): any } // Knex
  | { $queryRawUnsafe(text: string, ...values: any[]): Promise<any> } // Prisma
  | { prepare(sql: string): any }; // a DatabaseSync of node:sqlite, on the same file

/** A wrapped transaction, for libraries whose transactions have no recognisable shape. */
export interface Transaction {
  readonly "~transaction": true;
}
