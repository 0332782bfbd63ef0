/**
 * Compile-time tests: the compilers are the runners, see `api.test.ts`. A `@ts-expect-error` fails
 * when the mistake below it compiles.
 */
import { type as ark } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import {
  defineJob,
  MillraceError,
  NonRetryableError,
  openMillrace,
  RateLimitedError,
  RetryableError,
  schedule,
  TransientError,
  typed,
} from "millrace";
import type {
  Enqueued,
  Finished,
  JobBuilder,
  JobFault,
  JobFilter,
  Json,
  State,
  Stored,
} from "millrace";

// Two types are the same when no conditional type can tell them apart.
type Equal<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- they are the comparison.
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(equal: Equal<A, B>): void;
const mill = await openMillrace();

// ── The tests can fail ───────────────────────────────────────────────────────────────────────────
// @ts-expect-error two different types are not the same
same<string, number>(true);
// @ts-expect-error nor is `any` the same as anything
same<any, string>(true);

// ── Phases ───────────────────────────────────────────────────────────────────────────────────────
const pipeline = defineJob({ type: "pipeline", payload: z.object({ n: z.number() }) })
  .phase("one", (payload, ctx) => {
    same<typeof payload, { n: number }>(true);
    // @ts-expect-error the first phase has no results to read
    void ctx.results.one;
    return { n: payload.n, at: new Date(), forgotten: () => 1 };
  })
  .phase("two", async (_, ctx) => {
    same<typeof ctx.results, { readonly one: { n: number; at: string } }>(true);
    // @ts-expect-error a phase does not see itself
    void ctx.results.two;
    // @ts-expect-error nor a later one
    void ctx.results.three;
    // @ts-expect-error a method does not survive storage
    void ctx.results.one.forgotten;
    // @ts-expect-error results are read, not written
    ctx.results.one = { n: 1, at: "" };
    return [ctx.results.one.at] as const;
  })
  .phase("three", (_, ctx) => {
    same<typeof ctx.results.two, readonly [string]>(true);
    return ctx.results.two[0].length + ctx.results.one.n;
  });
const last = await mill.result(await mill.enqueue(pipeline, { n: 1 }));
same<typeof last, number>(true);

// @ts-expect-error the same phase twice
pipeline.phase("one", () => 1);
// @ts-expect-error the same phase twice, further down
pipeline.phase("four", () => 1).phase("three", () => 1);
// @ts-expect-error an object would reorder number-like names
pipeline.phase("1", () => 1);
// @ts-expect-error nor may the first phase have one
defineJob({ type: "numbered" }).phase("42", () => 1);
// @ts-expect-error a pipeline has no single handler
pipeline.run(() => 1);
const done = defineJob({ type: "done" }).run(() => 1);
// @ts-expect-error a job with a handler takes no phases
done.phase("more", () => 1);
// @ts-expect-error a handler is a function
defineJob({ type: "handless" }).run("later");

// A chain of thirty phases compiles, and its last phase still knows the exact type of its first.
const long = defineJob({ type: "long", payload: typed<{ start: number }>() })
  .phase("p01", ({ start }) => ({ first: start, at: new Date() }))
  .phase("p02", (_, ctx) => [ctx.results.p01.first] as const)
  .phase("p03", (_, ctx) => ctx.results.p02[0])
  .phase("p04", (_, ctx) => ctx.results.p03 + 1)
  .phase("p05", (_, ctx) => ctx.results.p04 + 1)
  .phase("p06", (_, ctx) => ctx.results.p05 + 1)
  .phase("p07", (_, ctx) => ctx.results.p06 + 1)
  .phase("p08", (_, ctx) => ctx.results.p07 + 1)
  .phase("p09", (_, ctx) => ctx.results.p08 + 1)
  .phase("p10", (_, ctx) => String(ctx.results.p09))
  .phase("p11", (_, ctx) => ctx.results.p10.length)
  .phase("p12", (_, ctx) => ctx.results.p11 + 1)
  .phase("p13", (_, ctx) => ctx.results.p12 + 1)
  .phase("p14", (_, ctx) => ctx.results.p13 + 1)
  .phase("p15", (_, ctx) => ({ half: ctx.results.p14 }))
  .phase("p16", (_, ctx) => ctx.results.p15.half)
  .phase("p17", (_, ctx) => ctx.results.p16 + 1)
  .phase("p18", (_, ctx) => ctx.results.p17 + 1)
  .phase("p19", (_, ctx) => ctx.results.p18 + 1)
  .phase("p20", (_, ctx) => ctx.results.p19 + 1)
  .phase("p21", (_, ctx) => ctx.results.p20 + 1)
  .phase("p22", (_, ctx) => ctx.results.p21 + 1)
  .phase("p23", (_, ctx) => ctx.results.p22 + 1)
  .phase("p24", (_, ctx) => ctx.results.p23 + 1)
  .phase("p25", (_, ctx) => ctx.results.p24 + 1)
  .phase("p26", (_, ctx) => ctx.results.p25 + 1)
  .phase("p27", (_, ctx) => ctx.results.p26 + 1)
  .phase("p28", (_, ctx) => ctx.results.p27 + 1)
  .phase("p29", (_, ctx) => ctx.results.p28 > 0)
  .phase("p30", (_, ctx) => {
    same<typeof ctx.results.p01, { first: number; at: string }>(true);
    same<typeof ctx.results.p02, readonly [number]>(true);
    same<typeof ctx.results.p29, boolean>(true);
    // @ts-expect-error thirty phases down, an unknown phase is still unknown
    void ctx.results.p31;
    return { first: ctx.results.p01.at, half: ctx.results.p15.half };
  });
const thirtieth = await mill.result(await mill.enqueue(long, { start: 1 }));
same<typeof thirtieth, { first: string; half: number }>(true);
// @ts-expect-error and a name of thirty phases ago is still taken
long.phase("p01", () => 1);

// ── Payloads: the schema's input at enqueue, its output in the handler ───────────────────────────
const dated = defineJob({
  type: "dated",
  payload: z.object({ at: z.coerce.date<string>(), n: z.number().default(3) }),
}).run((payload) => {
  same<typeof payload, { at: Date; n: number }>(true);
  return payload.at;
});
await mill.enqueue(dated, { at: "2026-11-15" });
await mill.enqueue(dated, { at: "2026-11-15", n: 4 });
const asStored = await mill.result(await mill.enqueue(dated, { at: "2026-11-15" }));
same<typeof asStored, string>(true);
// @ts-expect-error wrong input
await mill.enqueue(dated, { at: 5 });
// @ts-expect-error the schema's output is not its input
await mill.enqueue(dated, { at: new Date(0) });
// @ts-expect-error no such field
await mill.enqueue(dated, { at: "2026-11-15", m: 1 });
// @ts-expect-error payload forgotten
await mill.enqueue(dated);
// @ts-expect-error options do not stand in for the payload
await mill.enqueue(dated, undefined, { delay: "5m" });

const parsed = defineJob({
  type: "parsed",
  payload: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
}).run((payload) => {
  same<typeof payload, { n: number }>(true);
  return payload.n;
});
await mill.enqueue(parsed, { n: "5" });
// @ts-expect-error valibot's output is not its input
await mill.enqueue(parsed, { n: 5 });

const named = defineJob({ type: "named", payload: ark({ "name?": "string" }) }).run(
  (payload) => payload.name ?? null,
);
await mill.enqueue(named, {});
const maybe = await mill.result(await mill.enqueue(named, { name: "x" }));
same<typeof maybe, string | null>(true);
// @ts-expect-error arktype's input is checked
await mill.enqueue(named, { name: 1 });

const bare = defineJob({ type: "bare", payload: typed<{ to: string }>() }).run((p) => p.to);
await mill.enqueue(bare, { to: "x" });
// @ts-expect-error checked by type alone
await mill.enqueue(bare, { to: 1 });

// ── A payload that cannot be stored is refused where it is declared ──────────────────────────────
// @ts-expect-error Date
defineJob({ type: "d1", payload: z.object({ at: z.date() }) });
// @ts-expect-error bigint, deep inside
defineJob({ type: "d2", payload: z.object({ deep: z.array(z.object({ n: z.bigint() })) }) });
// @ts-expect-error Map
defineJob({ type: "d3", payload: z.object({ map: z.map(z.string(), z.string()) }) });
// @ts-expect-error Set
defineJob({ type: "d4", payload: typed<{ set: ReadonlySet<string> }>() });
// @ts-expect-error a function
defineJob({ type: "d5", payload: typed<{ call: () => void }>() });
// @ts-expect-error an optional Date
defineJob({ type: "d6", payload: typed<{ at?: Date }>() });
// @ts-expect-error a typed payload must be JSON too
defineJob({ type: "d7", payload: typed<{ at: Date }>() });
// @ts-expect-error not a schema
defineJob({ type: "d8", payload: { to: "string" } });

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────
defineJob({ type: "s", lane: "bulk", priority: 7, timeout: false, maxAttempts: 1 });
// @ts-expect-error a job needs a type
defineJob({ lane: "fast" });
// @ts-expect-error a mistyped setting
defineJob({ type: "s", maxAttemps: 3 });
// @ts-expect-error no such priority
defineJob({ type: "s", priority: "urgent" });
// @ts-expect-error `true` is no timeout
defineJob({ type: "s", timeout: true });
// @ts-expect-error no such backoff
defineJob({ type: "s", backoff: { kind: "quadratic", base: "1s" } });
// @ts-expect-error a backoff needs its base
defineJob({ type: "s", backoff: { kind: "fixed" } });
// @ts-expect-error no such error class
defineJob({ type: "s", classify: () => "fatal" });

// ── Jobs without payload ─────────────────────────────────────────────────────────────────────────
const tick = defineJob({ type: "tick" }).run((payload) => {
  same<typeof payload, undefined>(true);
});
await mill.enqueue(tick);
await mill.enqueue(tick, undefined, { delay: "5m" });
const nothing = await mill.result(await mill.enqueue(tick));
same<typeof nothing, undefined>(true);
// @ts-expect-error a job without payload takes none
await mill.enqueue(tick, { n: 1 });

// ── Schedules ────────────────────────────────────────────────────────────────────────────────────
schedule("t", { cron: "* * * * *", missed: { all: 3 } }, tick);
schedule("t", { cron: "* * * * *" }, pipeline, { n: 1 }, { tenant: "acme" });
// @ts-expect-error a schedule needs the payload its job needs
schedule("t", { cron: "* * * * *" }, dated);
// @ts-expect-error of the right shape
schedule("t", { cron: "* * * * *" }, dated, { at: 1 });
// @ts-expect-error and not `undefined` in its stead
schedule("t", { cron: "* * * * *" }, dated, undefined);
// @ts-expect-error a schedule needs its cron expression
schedule("t", {}, tick);
// @ts-expect-error no such policy
schedule("t", { cron: "* * * * *", overlap: "merge" }, tick);

// ── The final job is a union on state ────────────────────────────────────────────────────────────
const final = await mill.wait(await mill.enqueue(pipeline, { n: 1 }));
same<typeof final, Finished<number>>(true);
// @ts-expect-error no result before the state is known
void final.result;
switch (final.state) {
  case "completed":
    same<typeof final.result, number>(true);
    // @ts-expect-error a completed job has no error
    void final.error;
    break;
  case "completed_with_errors":
    same<typeof final.result, number>(true);
    same<typeof final.failedUnits, number>(true);
    break;
  case "failed":
    same<typeof final.error, JobFault>(true);
    same<typeof final.deadLetterId, string>(true);
    break;
  case "cancelled":
    same<typeof final.reason, string | null>(true);
    break;
  default:
    same<typeof final, never>(true);
}

// ── Many at once keep each result ────────────────────────────────────────────────────────────────
const many = await mill.enqueueMany([
  pipeline.of({ n: 1 }),
  dated.of({ at: "2026-11-15" }, { delay: "1m" }),
  tick.of(),
  tick.of(undefined, { tenant: "acme" }),
]);
same<
  typeof many,
  readonly [Enqueued<number>, Enqueued<string>, Enqueued<undefined>, Enqueued<undefined>]
>(true);
const listed = await mill.enqueueMany([1, 2, 3].map((n) => pipeline.of({ n })));
same<typeof listed, Enqueued<number>[]>(true);
// @ts-expect-error wrong payload in a request
pipeline.of({ n: "1" });
// @ts-expect-error payload forgotten in a request
pipeline.of();
// @ts-expect-error a job is not a request
await mill.enqueueMany([pipeline, { n: 1 }]);

// ── A contract stands without its handler ────────────────────────────────────────────────────────
const contract = defineJob({ type: "contract", payload: typed<{ key: string }>() });
same<typeof contract, JobBuilder<"contract", { key: string }, { key: string }, {}>>(true);
const unread = await mill.result(await mill.enqueue(contract, { key: "a" }));
same<typeof unread, unknown>(true);
// @ts-expect-error its payload is checked as well
await mill.enqueue(contract, { key: 1 });
// @ts-expect-error a contract without a handler cannot be run
mill.work({ jobs: [contract] });

// ── Dependencies are asked for exactly when a job needs them ─────────────────────────────────────
interface Db {
  db: { ask(text: string): number };
}
interface Mail {
  mail: { send(): void };
}
const asks = defineJob({ type: "asks" })
  .using<Db>()
  .run((_, ctx) => ctx.deps.db.ask("x"));
const sends = defineJob({ type: "sends" })
  .using<Mail>()
  .phase("one", (_, ctx) => ctx.deps.mail.send())
  .phase("two", (_, ctx) => {
    same<typeof ctx.deps, Mail>(true);
    // @ts-expect-error a dependency that was not named
    void ctx.deps.db;
  });
const db = { ask: () => 1 };
const mail = { send: () => {} };
mill.work({ jobs: [tick, pipeline] });
mill.work({ jobs: [asks, sends, tick], deps: { db, mail } });
// @ts-expect-error dependencies missing
mill.work({ jobs: [asks, tick] });
// @ts-expect-error one of two missing
mill.work({ jobs: [asks, sends], deps: { db } });
// @ts-expect-error of the wrong shape
mill.work({ jobs: [asks], deps: { db: { ask: () => "one" } } });
mill.work({ jobs: [tick, pipeline], types: ["tick"] });
// @ts-expect-error typo in an enabled type
mill.work({ jobs: [tick, pipeline], types: ["tock"] });

// ── Durations and options of one job ─────────────────────────────────────────────────────────────
await mill.enqueue(tick, undefined, { delay: 1_500, runAt: new Date(0), maxAttempts: 1 });
await mill.enqueue(tick, undefined, { delay: "1.5h", after: many });
// @ts-expect-error not a duration
await mill.enqueue(tick, undefined, { delay: "5 minutes" });
// @ts-expect-error nor is a number without its unit
await mill.enqueue(tick, undefined, { delay: "5" });
// @ts-expect-error tags are text
await mill.enqueue(tick, undefined, { tags: { build: 7 } });
// @ts-expect-error an option that does not exist
await mill.enqueue(tick, undefined, { dealy: "5m" });
// @ts-expect-error no such answer to a conflict
await mill.enqueue(tick, undefined, { dedupKey: { key: "k", onConflict: "error" } });

// ── A transaction is taken by its shape ──────────────────────────────────────────────────────────
declare const pg: { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };
declare const sqlite: { prepare(sql: string): { run(...values: unknown[]): unknown } };
await mill.enqueue(tick, undefined, { tx: pg });
await mill.enqueue(tick, undefined, { tx: sqlite });
// @ts-expect-error not a transaction
await mill.enqueue(tick, undefined, { tx: { hello: 1 } });

// ── What comes back from the store ───────────────────────────────────────────────────────────────
same<Stored<Date>, string>(true);
same<Stored<void>, undefined>(true);
same<Stored<unknown>, unknown>(true);
same<Stored<[1, Date]>, [1, string]>(true);
same<Stored<readonly Date[]>, readonly string[]>(true);
same<
  Stored<{ a: Date; b: number | null; c: () => void; d?: number }>,
  {
    a: string;
    b: number | null;
    d?: number;
  }
>(true);
same<Stored<{ n: bigint }>["n"], never>(true);
const json: Json = { list: [1, "two", null, { three: true }], absent: undefined };
void json;
// @ts-expect-error a Date is not JSON
const notJson: Json = { at: new Date(0) };
void notJson;

// ── Inside a handler ─────────────────────────────────────────────────────────────────────────────
defineJob({ type: "inside" }).run(async (_, ctx) => {
  const units = await ctx.each([1, 2], String, (n) => ({ at: new Date(n) }));
  same<(typeof units.completed)[number]["result"], { at: string }>(true);
  same<(typeof units.failed)[number]["error"], JobFault>(true);
  const stepped = await ctx.step("once", () => ({ at: new Date(0) }));
  same<typeof stepped, { at: string }>(true);
  const through = await ctx.breaker("bank", () => new Date(0));
  same<typeof through, Date>(true);
  const limited = await ctx.timeout("5s", async (signal) => signal.aborted);
  same<typeof limited, boolean>(true);
  const child = await ctx.enqueue(pipeline, { n: 1 });
  same<Awaited<ReturnType<typeof mill.result<number>>>, number>(true);
  void mill.result(child);
  // @ts-expect-error a child's payload is checked
  await ctx.enqueue(pipeline, { n: "1" });
  // @ts-expect-error and cannot be left out
  await ctx.enqueue(pipeline, undefined, { delay: "1m" });
  // @ts-expect-error a job without dependencies has none
  void ctx.deps.db;
  // @ts-expect-error progress carries JSON
  await ctx.progress(50, { at: new Date(0) });
  const after: never = ctx.snooze("5m");
  return after;
});

// ── Errors ───────────────────────────────────────────────────────────────────────────────────────
void new TransientError("down", { cause: new Error("ECONNRESET"), service: "bank" });
void new RetryableError("again", { cause: "anything" });
void new NonRetryableError("never");
void new RateLimitedError("slow", { retryAfter: new Date(0), service: "bank" });
void new RateLimitedError("slow", { retryAfter: 30_000 });
// @ts-expect-error an error says what happened
void new TransientError();
// @ts-expect-error only errors that concern a service name one
void new RetryableError("again", { service: "bank" });
// @ts-expect-error `true` is no wait
void new RateLimitedError("slow", { retryAfter: true });
declare const caught: unknown;
if (caught instanceof MillraceError) {
  const text: string = `${caught.code} ${caught.hint}`;
  void text;
  // @ts-expect-error a code that no error bears
  void (caught.code === "NO_SUCH_CODE");
}

// ── Reading and listening ────────────────────────────────────────────────────────────────────────
const filter: JobFilter = {
  state: ["failed", "cancelled"],
  type: "pipeline",
  tenant: "acme",
  correlationId: "signup-42",
  tags: { repo: "docs" },
  limit: 50,
};
const page = await mill.jobs.list(filter);
same<(typeof page.jobs)[number]["state"], State>(true);
await mill.jobs.list({ state: "queued", ...(page.next === null ? {} : { after: page.next }) });
// @ts-expect-error no such state
await mill.jobs.list({ state: "retrying" });
// @ts-expect-error no such filter
await mill.jobs.list({ status: "failed" });
mill.on("job:failed", (event) => same<typeof event, { id: string; error: JobFault }>(true));
mill.on("job:retrying", (event) => same<typeof event.runAt, Date>(true));
// @ts-expect-error no such event
mill.on("job:done", () => {});
await mill.pause({ tenant: "acme" }, "unpaid");
// @ts-expect-error only a lane, a type or a tenant can be paused
await mill.pause({ job: "x" }, "why");
// @ts-expect-error a pause has a reason
await mill.pause({ lane: "fast" });
