/** `ctx.log`: what is kept of it with the job, and what it costs. */
import { setImmediate } from "node:timers/promises";
import { defineJob, TransientError, type Logger } from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, unchecked, type RuntimeTest } from "../support.ts";

/** Runs a handler that does nothing but log, and answers what is kept. */
async function kept(kit: RuntimeTest, say: (log: Logger) => void) {
  const job = defineJob({ type: "job" }).run((_, ctx) => say(ctx.log));
  const enqueued = await kit.mill.enqueue(job);
  await kit.drain([job]);
  expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
  return (await kit.mill.jobs.logs(enqueued.id, { limit: 1_000 })).lines;
}

describe("ctx.log", () => {
  test("is kept with the job, beside the log of the worker", async () => {
    await using kit = await openTest();
    const at = new Date(kit.clock.now());

    const lines = await kept(kit, (log) => {
      log.debug("looking");
      log.info("fetched", { pages: 12, of: ["a", null] });
      log.warn("slow");
      log.error("broken", { error: new RangeError("no") });
    });

    expect(lines).toMatchObject([
      { attempt: 1, at, level: "debug", message: "looking", fields: null },
      { level: "info", message: "fetched", fields: { pages: 12, of: ["a", null] } },
      { level: "warn", message: "slow", fields: null },
      { level: "error", message: "broken", fields: { error: "RangeError: no" } },
    ]);
    const numbers = lines.map(({ line }) => line);
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
    expect(kit.logged.map(({ message }) => message)).toEqual(lines.map(({ message }) => message));
    expect(kit.logged[1]?.fields).toMatchObject({ type: "job", attempt: 1, pages: 12 });
  });

  test("says which run it was, and keeps what earlier attempts said", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", onRetry: "restart" }).run(async (_, ctx) => {
      ctx.log.info(`attempt ${ctx.attempt}`);
      await ctx.step("step", () => 1);
      if (ctx.attempt < 3) throw new TransientError("no");
    });
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("1m");

    const { lines } = await kit.mill.jobs.logs(id);
    expect(lines.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, "attempt 1"],
      [2, "attempt 2"],
      [3, "attempt 3"],
    ]);
  });

  test("costs a short run no call of its own, whether it succeeds or fails", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record", "checkpoints");
    const job = defineJob({ type: "job", maxAttempts: 1 }).run((_, ctx) => {
      ctx.log.info("before");
      throw new Error("no");
    });
    const { id } = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect((await kit.mill.jobs.logs(id)).lines).toMatchObject([{ message: "before" }]);
    expect(calls).toEqual({ record: 0, checkpoints: 0 });
  });

  test("of a long run can be read a fifth of a second later, five times a second", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record");
    const end = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      for (let index = 0; index < 100; index += 1) {
        ctx.log.info(`line ${index}`);
        await new Promise<void>((resolve) => void kit.clock.after(20, resolve));
      }
      await end.passed;
    });
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("1s");
    const seen = (await kit.mill.jobs.logs(id, { limit: 1_000 })).lines.length;
    expect(seen).toBeGreaterThanOrEqual(40);
    expect(calls["record"]).toBeLessThanOrEqual(5);
    await kit.advance("2s");

    expect((await kit.mill.jobs.logs(id, { limit: 1_000 })).lines).toHaveLength(100);
    expect(calls["record"]).toBeLessThanOrEqual(11);
    end.open();
  });

  test("10,000 times in a row keeps the newest thousand, in few calls", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record", "settle");

    const lines = await kept(kit, (log) => {
      for (let index = 0; index < 10_000; index += 1) log.info(`line ${index}`, { index });
    });

    expect(lines).toHaveLength(1_000);
    expect(lines.at(-1)?.fields).toEqual({ index: 9_999 });
    expect(lines[0]?.fields).toEqual({ index: 9_000 });
    expect(calls).toEqual({ record: 0, settle: 1 });
  });

  test("keeps no more than 64 KB of long lines", async () => {
    await using kit = await openTest();

    const lines = await kept(kit, (log) => {
      for (let index = 0; index < 100; index += 1) log.info(`${index}`.padEnd(3_000, "."));
    });

    expect(lines).toHaveLength(21);
    expect(lines.at(-1)?.message).toMatch(/^99\./);
  });

  test("cuts a long line, and says so", async () => {
    await using kit = await openTest();

    const [line] = await kept(kit, (log) => log.info("x".repeat(5_000), { y: "y".repeat(9_000) }));

    expect(line?.message).toBe(`${"x".repeat(4_000)}… (cut: it had 5000 characters)`);
    expect(line?.fields).toMatchObject({
      cut: expect.stringMatching(/^\{"y":"y+… \(cut: it had 9008 characters\)$/),
    });
  });

  test("takes any value, and never throws", async () => {
    await using kit = await openTest();
    const circular: Record<string, unknown> = { name: "me" };
    circular["self"] = circular;
    const thorny = {
      get bad(): never {
        throw new Error("no");
      },
      good: 1,
    };

    const lines = await kept(kit, (log) => {
      const { info } = unchecked(log);
      info("circular", circular);
      info("thorny", thorny);
      info("odd", {
        big: 7n,
        fn: () => 1,
        at: new Date(0),
        map: new Map([["a", 1]]),
        no: undefined,
      });
      info("half a pair \ud800 and \0", { "key\0": "\udfff\0", fine: "\\u0000 😀" });
      info("a text", "text");
      info("nothing", null);
      info(Symbol("s"), [1, 2]);
      info({ toString: null });
      info(undefined);
    });

    expect(lines.map(({ message, fields }) => [message, fields])).toEqual([
      ["circular", { name: "me", self: { name: "me", self: "[circular]" } }],
      ["thorny", { bad: "[unreadable]", good: 1 }],
      ["odd", { big: "7", fn: "[function]", at: "1970-01-01T00:00:00.000Z", map: {} }],
      ["half a pair \ufffd and \ufffd", { "key\ufffd": "\ufffd\ufffd", fine: "\\u0000 😀" }],
      ["a text", { fields: "text" }],
      ["nothing", { fields: null }],
      ['{"message":"[symbol]"}', { 0: 1, 1: 2 }],
      ['{"message":{"toString":null}}', null],
      ["{}", null],
    ]);
  });

  test("is bounded while the store fails, and comes through when it is back", async () => {
    await using kit = await openTest();
    const record = kit.store.record.bind(kit.store);
    let isDown = true;
    const sizes: number[] = [];
    Reflect.set(kit.store, "record", (...args: Parameters<typeof record>) => {
      if (isDown) return Promise.reject(new Error("down"));
      sizes.push(args[0][0]?.logs?.length ?? 0);
      return record(...args);
    });
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      for (let index = 0; index < 20_000; index += 1) {
        ctx.log.info(`line ${index}`);
        if (index % 500 === 0) {
          await new Promise<void>((resolve) => void kit.clock.after(300, resolve));
        }
      }
    });
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("20s");
    isDown = false;
    await kit.advance("20s");

    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    const { lines } = await kit.mill.jobs.logs(id, { limit: 1_000 });
    expect(lines.at(-1)?.message).toBe("line 19999");
    expect(lines).toHaveLength(1_000);
  });

  test("after the end of its run goes to the worker's log alone", async () => {
    await using kit = await openTest();
    let late = (): void => {};
    const job = defineJob({ type: "job" }).run((_, ctx) => {
      late = () => ctx.log.info("late");
    });
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);

    late();
    await kit.advance("1s");

    expect(kit.logged.map(({ message }) => message)).toEqual(["late"]);
    expect((await kit.mill.jobs.logs(id)).lines).toEqual([]);
  });

  test("of a handler that would not end is kept up to the stop", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      ctx.log.info("stubborn");
      await end.passed;
    });
    const { id } = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();

    const stopped = worker.stop({ grace: 0 }).catch(() => {});
    await kit.advance("30s");
    await stopped;

    expect((await kit.mill.jobs.logs(id)).lines).toMatchObject([{ message: "stubborn" }]);
    end.open();
    await setImmediate();
  });
});

describe("jobs.logs", () => {
  test("answers the newest lines, or those after one, page by page", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) => {
      for (let index = 0; index < 120; index += 1) ctx.log.info(String(index));
    });
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);
    const messages = (page: { lines: readonly { message: string }[] }) =>
      page.lines.map(({ message }) => Number(message));

    const newest = await kit.mill.jobs.logs(id);
    const few = await kit.mill.jobs.logs(id, { limit: 2 });
    const first = await kit.mill.jobs.logs(id, { after: 0, limit: 100 });
    const rest = await kit.mill.jobs.logs(id, { after: first.next ?? -1, limit: 100 });

    expect(messages(newest)).toEqual(Array.from({ length: 50 }, (_, index) => 70 + index));
    expect(newest.next).toBeNull();
    expect(messages(few)).toEqual([118, 119]);
    expect(messages(first)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(first.next).toBe(first.lines.at(-1)?.line);
    expect(messages(rest)).toEqual(Array.from({ length: 20 }, (_, index) => 100 + index));
    expect(rest.next).toBeNull();
  });

  test("refuses an unknown job, and a page that is none", async () => {
    await using kit = await openTest();
    const { jobs } = kit.mill;

    await expect(jobs.logs("01JCR5M4X2E8T9V6B3N7K0QWAZ")).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
    const bare = defineJob({ type: "bare" });
    const { id } = await kit.mill.enqueue(bare);
    expect(await jobs.logs(id)).toEqual({ lines: [], next: null });
    for (const page of [{ after: -1 }, { limit: 0 }, { afte: 1 }, 7]) {
      await expect(jobs.logs(id, unchecked(page))).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    }
  });
});
