/** Which runs that called a failing service cost their job an attempt. */
import { defineJob, RateLimitedError, TransientError, type Context } from "millrace";
import { describe, expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest, type RuntimeTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 2, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 } } as const;

async function attemptsAfterOneRun(
  kit: RuntimeTest,
  handler: (ctx: Context<{}, unknown>) => Promise<unknown>,
): Promise<{ readonly outcome: string | undefined; readonly attempts: number }> {
  const pay = defineJob({ type: "pay" }).run((_, ctx) => handler(ctx));
  const job = await kit.mill.enqueue(pay);
  await kit.drain([pay], OPTIONS);
  const [outcome] = await kit.outcomes(job);
  return { outcome, attempts: (await kit.mill.jobs.get(job.id)).attempts };
}

describe("a run is charged once it has a failure that a breaker has counted", () => {
  test("although its later failures are not counted", async () => {
    await using kit = await openTest({ preset });
    const call = (ctx: Context<{}, unknown>): Promise<never> =>
      ctx.breaker("bank", () => Promise.reject(new TransientError("hung up")));

    const ended = await attemptsAfterOneRun(kit, async (ctx) => {
      const calls = await Promise.allSettled([call(ctx), call(ctx), call(ctx), call(ctx)]);
      throw calls[3]?.status === "rejected" ? calls[3].reason : new Error("no call failed");
    });

    expect(ended).toEqual({ outcome: "failed", attempts: 1 });
    expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "open", failures: 2 });
  });

  test("although the first failure to return is not counted", async () => {
    await using kit = await openTest({ preset });
    const call = (ctx: Context<{}, unknown>): Promise<never> =>
      ctx.breaker("bank", () => Promise.reject(new TransientError("hung up")));

    const ended = await attemptsAfterOneRun(kit, (ctx) =>
      Promise.all([call(ctx), call(ctx), call(ctx), call(ctx)]),
    );

    expect(ended).toEqual({ outcome: "failed", attempts: 1 });
  });

  test("also by several rate limits at once", async () => {
    await using kit = await openTest({ preset });
    const call = (ctx: Context<{}, unknown>): Promise<never> =>
      ctx.breaker("bank", () => Promise.reject(new RateLimitedError("429", { retryAfter: "30s" })));

    const ended = await attemptsAfterOneRun(kit, async (ctx) => {
      const calls = await Promise.allSettled([call(ctx), call(ctx), call(ctx)]);
      throw calls[2]?.status === "rejected" ? calls[2].reason : new Error("no call failed");
    });

    expect(ended).toEqual({ outcome: "failed", attempts: 1 });
  });

  test("although it calls the service again, which is refused", async () => {
    await using kit = await openTest({ preset });
    let calls = 0;
    const call = (ctx: Context<{}, unknown>): Promise<never> =>
      ctx.breaker("bank", () => {
        calls += 1;
        return Promise.reject(new TransientError(`hung up ${calls}`));
      });

    const ended = await attemptsAfterOneRun(kit, async (ctx) => {
      await call(ctx).catch(() => {});
      await call(ctx).catch(() => {});
      await call(ctx);
    });

    expect(calls).toBe(2);
    expect(ended).toEqual({ outcome: "failed", attempts: 1 });
  });

  test("but not if all its failures came after the breaker had opened", async () => {
    await using kit = await openTest({ preset });

    const ended = await attemptsAfterOneRun(kit, (ctx) =>
      ctx.breaker("bank", async () => {
        await kit.mill.breakers.forceOpen("bank", "maintenance");
        throw new TransientError("hung up");
      }),
    );

    expect(ended).toEqual({ outcome: "snoozed", attempts: 0 });
  });
});
