/** Children that a handler asks for: whose they are, and those that never come into being. */
import { AsyncLocalStorage } from "node:async_hooks";
import { defineJob, MillraceError, TransientError, typed, type EnqueueOptions } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "../support.ts";

const child = defineJob({ type: "child", payload: typed<number>() }).run((number) => number);

describe("a child whose key another job holds", () => {
  const KEYS: readonly (readonly [string, EnqueueOptions])[] = [
    ["idempotency", { idempotencyKey: "order-7" }],
    ["dedup", { dedupKey: "order-7" }],
  ];

  test.each(KEYS)("(%s) is logged with its id, its parent and the key", async (_, options) => {
    await using kit = await openTest();
    const asked: string[] = [];
    const parent = defineJob({ type: "parent" }).run(async (_payload, ctx) => {
      asked.push((await ctx.enqueue(child, 1, options)).id);
    });
    const holder = await kit.mill.enqueue(child, 1, { ...options, delay: "1h" });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(await kit.outcomes(job)).toEqual(["succeeded"]);
    expect(await childrenOf(kit)).toEqual([holder.id]);
    expect(kit.logged).toEqual([
      {
        level: "warn",
        message: "child not enqueued: another job holds its key",
        fields: {
          child_id: asked[0],
          holder_id: holder.id,
          parent_id: job.id,
          type: "child",
          key: "order-7",
        },
      },
    ]);
  });

  test.each(KEYS)("(%s) is not told when it has come into being", async (_, options) => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run(async (_payload, ctx) => {
      await ctx.enqueue(child, 1, options);
      if (ctx.attempt === 1) throw new TransientError("no");
    });
    await kit.mill.enqueue(parent);

    await kit.drain([parent]);
    await kit.advance("1m");
    await kit.drain([parent]);

    expect(await childrenOf(kit)).toHaveLength(1);
    expect(kit.logged).toEqual([]);
  });

  test("costs a look-up, one without a key none", async () => {
    await using kit = await openTest();
    const looked: string[] = [];
    const get = kit.store.get.bind(kit.store);
    Reflect.set(kit.store, "get", (id: string) => {
      looked.push(id);
      return get(id);
    });
    const asked: string[] = [];
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await ctx.enqueue(child, 1);
      asked.push((await ctx.enqueue(child, 2, { dedupKey: "order-7" })).id);
      await ctx.enqueue(child, 3);
    });
    await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(looked).toEqual(asked);
  });
});

describe("a child that is refused", () => {
  const ONCE = { key: "order-7", onConflict: "error" } as const;
  const OPTIONS: readonly (readonly [string, number, EnqueueOptions])[] = [
    ["IDEMPOTENCY_CONFLICT", 2, { idempotencyKey: "order-7" }],
    ["IDEMPOTENCY_KEY_USED", 1, { idempotencyKey: ONCE }],
  ];

  test.each(OPTIONS)("(%s) fails its run with what mill.enqueue says", async (code, n, options) => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      ctx.log.info("about to end");
      await ctx.enqueue(child, 7);
      await ctx.enqueue(child, n, options);
    });
    const holder = await kit.mill.enqueue(child, 1, { idempotencyKey: "order-7", delay: "1h" });
    const job = await kit.mill.enqueue(parent);
    const said = await errorOf(kit.mill.enqueue(child, n, options));

    await kit.drain([parent]);
    await kit.settled();

    expect(await kit.outcomes(job)).toEqual(["failed"]);
    const { error } = await kit.mill.deadLetters.get(job.id);
    expect(error).toMatchObject({ class: "non_retryable", name: code });
    expect(said).toMatchObject({ code, details: { holder: holder.id } });
    expect(error.message).toContain(said.message.replace("a job of", "a child of"));
    expect(error.message).toContain(`"order-7", which`);
    expect(error.message).toContain(holder.id);
    expect((await kit.mill.jobs.logs(job.id)).lines).toMatchObject([{ message: "about to end" }]);
    expect(await childrenOf(kit)).toEqual([holder.id]);
  });

  test.each(OPTIONS)("(%s) fails its phase as a whole", async (code, n, options) => {
    await using kit = await openTest();
    const ran: string[] = [];
    const parent = defineJob({ type: "parent" })
      .phase("one", () => void ran.push("one"))
      .phase("two", async (_, ctx) => {
        ran.push("two");
        await ctx.enqueue(child, 7);
        await ctx.enqueue(child, n, options);
      })
      .phase("three", () => void ran.push("three"));
    const holder = await kit.mill.enqueue(child, 1, { idempotencyKey: "order-7", delay: "1h" });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(ran).toEqual(["one", "two"]);
    expect(await kit.outcomes(job)).toEqual(["failed"]);
    const { phases } = await kit.mill.jobs.progress(job.id);
    expect(phases.map(({ state }) => state)).toEqual(["completed", "failed", "pending"]);
    expect((await kit.mill.deadLetters.get(job.id)).error.name).toBe(code);
    expect(await childrenOf(kit)).toEqual([holder.id]);
  });

  test.each([
    ["priority", 1_000_000_001],
    ["maxAttempts", 1_000_000_001],
  ])("for its %s is refused where it is asked for, as by mill.enqueue", async (option, value) => {
    await using kit = await openTest();
    const refused: unknown[] = [];
    const options = { [option]: value };
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      refused.push(await errorOf(ctx.enqueue(child, 1, options)));
    });
    refused.push(await errorOf(kit.mill.enqueue(child, 1, options)));
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    const told = { code: "OPTION_INVALID", details: { option } };
    expect(refused).toMatchObject([told, told]);
    expect(await kit.outcomes(job)).toEqual(["succeeded"]);
    await kit.mill.enqueue(child, 1, { [option]: value - 1 });
  });
});

describe("ctx.enqueue outside the async context of its handler", () => {
  test("still makes a child of its own job, as for a callback of a pool", async () => {
    await using kit = await openTest();
    const outside = AsyncLocalStorage.snapshot();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await outside(() => ctx.enqueue(child, 1));
    });
    const family = { correlationId: "user-action-123", tenant: "acme" };
    const job = await kit.mill.enqueue(parent, undefined, family);

    await kit.drain([parent]);

    const { jobs } = await kit.mill.jobs.list({ type: "child" });
    expect(jobs).toMatchObject([{ ...family, parentId: job.id }]);
  });

  test("even inside the context of another handler", async () => {
    await using kit = await openTest();
    let inside = AsyncLocalStorage.snapshot();
    const first = defineJob({ type: "first" }).run(() => {
      inside = AsyncLocalStorage.snapshot();
    });
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await inside(() => ctx.enqueue(child, 1));
    });
    await kit.mill.enqueue(first, undefined, { correlationId: "other", tenant: "other" });
    await kit.drain([first]);
    const family = { correlationId: "user-action-123", tenant: "acme" };
    const job = await kit.mill.enqueue(parent, undefined, family);

    await kit.drain([parent]);

    const { jobs } = await kit.mill.jobs.list({ type: "child" });
    expect(jobs).toMatchObject([{ ...family, parentId: job.id }]);
  });
});

/** What a promise is rejected with. */
async function errorOf(refused: Promise<unknown>): Promise<MillraceError> {
  const error = await refused.catch((reason: unknown) => reason);
  if (error instanceof MillraceError) return error;
  throw new Error("it was not refused");
}

async function childrenOf({ mill }: RuntimeTest): Promise<readonly string[]> {
  return (await mill.jobs.list({ type: "child" })).jobs.map(({ id }) => id);
}
