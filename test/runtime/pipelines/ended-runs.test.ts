/** The end of a run: abort, join, settle. No unit runs beside the next attempt of its job. */
import { defineJob, NonRetryableError, TransientError, typed, type Millrace } from "millrace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { latch, openTest, untilAborted, type RuntimeTest } from "../support.ts";

const EVENT = "unhandledRejection";
const runners = process.listeners(EVENT);
const mail = defineJob({ type: "mail", payload: typed<string>() });

/** The runner counts every unhandled rejection as a failure; the worker logs it as an error. */
beforeEach(() => void process.removeAllListeners(EVENT));
afterEach(() => {
  process.removeAllListeners(EVENT);
  for (const listener of runners) process.on(EVENT, listener);
});

async function unitsOf(mill: Millrace, { id }: { id: string }): Promise<Record<string, string>> {
  const { units } = await mill.jobs.units(id, { limit: 1_000 });
  return Object.fromEntries(units.map(({ key, state }) => [key, state]));
}

function levelsOf({ logged }: RuntimeTest, ...levels: string[]): readonly string[] {
  return logged.filter(({ level }) => levels.includes(level)).map(({ message }) => message);
}

describe("a handler that throws while a unit is under way", () => {
  test("aborts the signal, and the run is settled after the unit has ended", async () => {
    await using kit = await openTest();
    const end = latch();
    const order: string[] = [];
    const reasons: unknown[] = [];
    const first = new TransientError("first");
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      order.push(`attempt ${ctx.attempt}`);
      if (ctx.attempt > 1) return;
      void ctx.step("slow", async (signal) => {
        await untilAborted(signal).catch((reason) => reasons.push(reason, ctx.signal.reason));
        await end.passed;
        order.push("unit ended");
        return "done";
      });
      await kit.settled();
      throw first;
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("3s");
    const during = await kit.outcomes(enqueued);
    end.open();
    await kit.advance("5m");

    expect(during).toEqual([]);
    expect(order).toEqual(["attempt 1", "unit ended", "attempt 2"]);
    const reason = { code: "JOB_OVER", cause: first };
    expect(reasons).toMatchObject([reason, reason]);
    expect(await kit.outcomes(enqueued)).toEqual(["failed", "succeeded"]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({ slow: "completed" });
  });

  test("synchronously is no exception", async () => {
    await using kit = await openTest();
    const seen: string[] = [];
    const job = defineJob({ type: "job", maxAttempts: 1 }).run((_, ctx) => {
      const begun = ctx.step("slow", async (signal) => {
        seen.push("begun");
        await untilAborted(signal).catch(() => seen.push("aborted"));
      });
      void begun;
      throw new Error("at once");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({ error: { message: "at once" } });
    expect(seen).toEqual(["begun", "aborted"]);
    expect(levelsOf(kit, "error", "warn")).toEqual([]);
  });

  test("keeps the outcome of the first error, and later errors are not unhandled", async () => {
    await using kit = await openTest();
    const bothRun = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      for (const name of ["b", "c"]) {
        void ctx.step(name, async (signal) => {
          if (name === "c") bothRun.open();
          await untilAborted(signal).catch(() => {});
          throw new NonRetryableError(`late ${name}`);
        });
      }
      // Code of the handler that nothing awaits.
      void (async () => {
        await bothRun.passed;
        await untilAborted(ctx.signal).catch(() => {});
        await ctx.step("too late", () => 1);
      })();
      await bothRun.passed;
      throw new TransientError("first");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { message: "first", class: "transient" },
    });
    expect(levelsOf(kit, "error", "warn")).toEqual([]);
    const errors = kit.logged.filter(({ level }) => level === "debug").map(({ fields }) => fields);
    expect(errors).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ error: new NonRetryableError("late b") }),
        expect.objectContaining({ error: new NonRetryableError("late c") }),
      ]),
    );
    expect(await unitsOf(kit.mill, enqueued)).toEqual({ b: "planned", c: "planned" });
  });

  test("begins no other unit: queued units are dropped, new calls are refused", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const refusals: unknown[] = [];
    const twoRun = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      const refused = async (call: Promise<unknown>): Promise<void> => {
        await call.catch((error) => refusals.push(error));
      };
      void ctx.each(
        ["a", "b", "c", "d"],
        String,
        async (key, { signal }) => {
          ran.push(key);
          if (ran.length === 2) twoRun.open();
          await untilAborted(signal).catch(() => {});
          if (key === "b") return;
          await refused(ctx.step("nested", () => ran.push("nested")));
          await refused(ctx.each(["x"], String, () => ran.push("x")));
        },
        { concurrency: 2 },
      );
      await twoRun.passed;
      throw new Error("first");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(ran).toEqual(["a", "b"]);
    expect(refusals).toMatchObject([
      { code: "JOB_OVER", message: expect.stringContaining("ctx.step") },
      { code: "JOB_OVER", message: expect.stringContaining("ctx.each") },
    ]);
    expect(await unitsOf(kit.mill, enqueued)).toMatchObject({
      a: "completed",
      b: "completed",
      c: "planned",
      d: "planned",
    });
    expect(levelsOf(kit, "error", "warn")).toEqual([]);
  });

  test("joins concurrent calls of each and nested steps", async () => {
    await using kit = await openTest();
    const end = latch();
    const allRun = latch();
    const ran = new Set<string>();
    const ended: string[] = [];
    const work = async (name: string): Promise<void> => {
      ran.add(name);
      if (ran.size === 3) allRun.open();
      await end.passed;
      ended.push(name);
    };
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      const one = ctx.each(["a"], String, work);
      const other = ctx.each(["b"], String, () => ctx.step("nested", () => work("nested")));
      const third = ctx.each(["c"], String, work);
      const failing = allRun.passed.then(() => Promise.reject(new Error("first")));
      await Promise.all([one, other, third, failing]);
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("1s");
    expect(await kit.outcomes(enqueued)).toEqual([]);

    end.open();
    await kit.settled();

    expect(ended.toSorted()).toEqual(["a", "c", "nested"]);
    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({
      a: "completed",
      b: "completed",
      c: "completed",
      nested: "completed",
    });
  });

  test("lets the unit complete with its children, and drops children of the handler", async () => {
    await using kit = await openTest();
    const running = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      await ctx.enqueue(mail, "of the handler");
      void ctx.step("slow", async (signal) => {
        running.open();
        await untilAborted(signal).catch(() => {});
        await ctx.progress(50);
        await ctx.enqueue(mail, "of the unit");
      });
      await running.passed;
      throw new Error("first");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    const { jobs } = await kit.mill.jobs.list({ parentId: enqueued.id });
    expect(jobs.map(({ payload }) => payload)).toEqual(["of the unit"]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({ slow: "completed" });
    expect((await kit.mill.jobs.progress(enqueued.id)).percent).toBe(50);
  });

  test("waits for no unit that waits for a lock", async () => {
    await using kit = await openTest();
    const release = latch();
    const holder = defineJob({ type: "holder" }).run(() => release.passed);
    await kit.mill.enqueue(holder, undefined, { concurrencyKey: "main" });
    kit.mill.work({ jobs: [holder] });
    await kit.settled();
    const ran: string[] = [];
    const fail = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      void ctx.each(["a"], String, () => ran.push("a"), { exclusive: () => "main" });
      await fail.passed;
      throw new Error("first");
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("2s");

    fail.open();
    await kit.settled();

    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    release.open();
    await kit.advance("10s");
    expect(ran).toEqual([]);
    expect(levelsOf(kit, "error", "warn")).toEqual([]);
  });

  test("ends without a unit that ignores the signal, and a warning names the unit", async () => {
    await using kit = await openTest();
    const running = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      void ctx.step("deaf one", () => {
        running.open();
        return new Promise(() => {});
      });
      await running.passed;
      throw new Error("first");
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance(4_999);
    expect(await kit.outcomes(enqueued)).toEqual([]);

    await kit.advance(1);

    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    expect(kit.logged).toMatchObject([
      {
        level: "warn",
        message: expect.stringContaining('"deaf one"'),
        fields: { job_id: enqueued.id },
      },
    ]);
    expect(kit.logged[0]?.message).not.toContain("the handler");
  });

  test("in a phase ends the run after the units of the phase; a retry resumes", async () => {
    await using kit = await openTest();
    const order: string[] = [];
    const running = latch();
    const end = latch();
    const job = defineJob({ type: "job" })
      .phase("one", async (_, ctx) => {
        order.push(`one, attempt ${ctx.attempt}`);
        const units = ctx.each(["a"], String, async () => {
          running.open();
          await end.passed;
          order.push("a");
        });
        if (ctx.attempt === 1) {
          await running.passed;
          throw new TransientError("first");
        }
        await units;
      })
      .phase("two", () => void order.push("two"));
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("3s");
    expect(await kit.outcomes(enqueued)).toEqual([]);

    end.open();
    await kit.advance("5m");

    expect(order).toEqual(["one, attempt 1", "a", "one, attempt 2", "two"]);
    expect(await kit.outcomes(enqueued)).toEqual(["failed", "succeeded"]);
  });
});

describe("other bad ends while a unit is under way", () => {
  test("a snooze aborts and joins, and is the outcome", async () => {
    await using kit = await openTest();
    const order: string[] = [];
    const running = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      if (order.length > 0) return void order.push("second run");
      void ctx.step("slow", async (signal) => {
        running.open();
        await untilAborted(signal).catch(() => {});
        order.push("unit ended");
      });
      await running.passed;
      ctx.snooze("1m");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("2m");
    await kit.drain([job]);

    expect(order).toEqual(["unit ended", "second run"]);
    expect(await kit.outcomes(enqueued)).toEqual(["snoozed", "succeeded"]);
  });

  test("a time-out joins units for as long as they may ignore the signal", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", timeout: "10s", maxAttempts: 1 }).run(async (_, ctx) => {
      void ctx.step("deaf", () => new Promise(() => {}));
      await untilAborted(ctx.signal);
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance(14_999);
    expect(await kit.outcomes(enqueued)).toEqual([]);

    await kit.advance(1);

    expect(await kit.outcomes(enqueued)).toEqual(["timed_out"]);
    expect(levelsOf(kit, "warn")).toEqual([expect.stringContaining('"deaf"')]);
  });

  test("a stop keeps its own limit, and settles the run with the first error", async () => {
    await using kit = await openTest();
    const running = latch();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run(async (_, ctx) => {
      void ctx.step("deaf", () => {
        running.open();
        return new Promise(() => {});
      });
      await running.passed;
      throw new Error("first");
    });
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();

    const stopped = worker.stop({ grace: 0 }).catch((error) => error);
    await kit.advance("1s");

    expect(await stopped).toMatchObject({ code: "STOP_TIMED_OUT" });
    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
  });
});

describe("a handler that returns", () => {
  test("while each still runs ends with all units, and its signal is not aborted", async () => {
    await using kit = await openTest();
    const signals: AbortSignal[] = [];
    const job = defineJob({ type: "job" }).run((_, ctx) => {
      void ctx.each(
        ["a", "b", "c"],
        String,
        async (_key, { signal }) => {
          signals.push(signal);
          await kit.settled();
        },
        { concurrency: 1 },
      );
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await unitsOf(kit.mill, enqueued)).toEqual({
      a: "completed",
      b: "completed",
      c: "completed",
    });
    expect(signals.some(({ aborted }) => aborted)).toBe(false);
    expect((await kit.mill.wait(enqueued)).state).toBe("completed");
  });
});
