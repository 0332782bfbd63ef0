/** Children that a handler asks for: whose they are, and those that never come into being. */
import { AsyncLocalStorage } from "node:async_hooks";
import { defineJob, TransientError, typed, type EnqueueOptions } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "./support.ts";

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
        message: "a child was not enqueued: another job holds its key",
        fields: { child_id: asked[0], parent_id: job.id, type: "child", key: "order-7" },
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

async function childrenOf({ mill }: RuntimeTest): Promise<readonly string[]> {
  return (await mill.jobs.list({ type: "child" })).jobs.map(({ id }) => id);
}
