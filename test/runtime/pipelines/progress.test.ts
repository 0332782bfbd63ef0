/** How far a job has come: what is stored, what is told, and how often. */
import {
  defineJob,
  docverse,
  NonRetryableError,
  TransientError,
  type AnyJob,
  type Context,
  type Events,
} from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, unchecked, type RuntimeTest } from "../support.ts";

type AnyContext = Context<unknown, unknown>;

/** What listeners hear of progress, in order. */
function listen(kit: RuntimeTest) {
  const heard: Events["job:progress"][] = [];
  kit.mill.on("job:progress", (event) => heard.push(event));
  return heard;
}

describe("ctx.progress", () => {
  test("001-21 tells the overall percent: 17, 42, 93", async () => {
    await using kit = await openTest();
    const overalls: number[] = [];
    const told = async (id: string): Promise<void> => {
      overalls.push((await kit.mill.jobs.get(id)).progress);
    };
    const media = defineJob({ type: "media" })
      .phase("download", async (_, ctx) => (await ctx.progress(50), told(ctx.job.id)))
      .phase("process", async (_, ctx) => (await ctx.progress(25), told(ctx.job.id)))
      .phase("upload", async (_, ctx) => (await ctx.progress(80), told(ctx.job.id)));
    const job = await kit.mill.enqueue(media);

    await kit.drain([media]);

    expect(overalls).toEqual([17, 42, 93]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ progress: 100, phase: "upload" });
  });

  test("001-20 is stored when it resolves, and when listeners hear of it", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const heard: unknown[] = [];
    kit.mill.on("job:progress", ({ id, percent }) => {
      void kit.mill.jobs.progress(id).then((now) => heard.push([percent, now.percent]));
    });
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.progress(30, { message: "Cataloging 1,247 objects" });
      const { percent, data, at } = await kit.mill.jobs.progress(ctx.job.id);
      seen.push(percent, data, at);
      await kit.settled();
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([30, { message: "Cataloging 1,247 objects" }, new Date(kit.clock.now())]);
    expect(heard).toEqual([
      [30, 30],
      [100, 100],
    ]);
  });

  test("000-20, 000-26, 000-29 is reset, with its data, when a phase starts", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const job = defineJob({ type: "job" })
      .phase("inventory", (_, ctx) => ctx.progress(100, { message: "1,247 objects" }))
      .phase("tracking", async () => {
        await kit.settled();
      });
    const { id } = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.settled();

    expect(heard).toEqual([
      {
        id,
        phase: "inventory",
        percent: 100,
        overall: 50,
        data: { message: "1,247 objects" },
      },
      { id, phase: "tracking", percent: 0, overall: 50 },
      { id, phase: "tracking", percent: 100, overall: 100 },
    ]);
  });

  test("000-29 is reset by a new attempt of a plain handler that restarts", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const job = defineJob({ type: "job", onRetry: "restart" }).run(async (_, ctx) => {
      await kit.settled();
      const { percent, data } = await kit.mill.jobs.progress(ctx.job.id);
      seen.push([ctx.attempt, percent, data]);
      if (ctx.attempt === 1) await ctx.progress(60, { message: "object 60" });
      throw new TransientError("no");
    });
    const { id } = await kit.mill.enqueue(job, undefined, { maxAttempts: 2 });
    kit.mill.work({ jobs: [job] });

    await kit.advance("1m");

    expect(seen).toEqual([
      [1, 0, null],
      [2, 0, null],
    ]);
    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "failed", progress: 0 });
  });

  test("000-29, 000-40 is reset where the preset restarts", async () => {
    await using kit = await openTest({ preset: docverse });
    const ran: string[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => void ran.push("one"))
      .phase("two", (_, ctx) => {
        ran.push("two");
        if (ctx.attempt === 1) throw new TransientError("no");
      });
    await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("1m");

    expect(ran).toEqual(["one", "two", "one", "two"]);
  });

  test("that a restarting attempt tells before its first step is not forgotten", async () => {
    await using kit = await openTest();
    const seen: number[] = [];
    const job = defineJob({ type: "job", onRetry: "restart" }).run(async (_, ctx) => {
      await ctx.progress(30);
      await ctx.step("step", () => 1);
      await ctx.step("other", async () => {
        seen.push((await kit.mill.jobs.progress(ctx.job.id)).percent);
      });
      throw new NonRetryableError("no");
    });
    const first = await kit.mill.enqueue(job);
    await kit.drain([job]);

    await kit.mill.jobs.retry(first.id);
    await kit.drain([job]);

    expect(seen).toEqual([30, 30]);
  });

  test("10,000 times in a row becomes few notes, and the newest wins", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record");
    const heard = listen(kit);
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const told = Array.from({ length: 10_000 }, (__, i) => ctx.progress(i / 100, i));
      await Promise.all(told);
      return Number((await kit.mill.jobs.progress(ctx.job.id)).data);
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("2s");
    await kit.settled();

    expect(await kit.mill.result(enqueued)).toBe(9_999);
    expect(calls["record"]).toBeLessThanOrEqual(3);
    expect(heard.at(-1)).toMatchObject({ percent: 99.99, overall: 100, data: 9_999 });
  });

  test("with flush is stored at once, beyond the limit of values per second (C-36)", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const stored: (number | null)[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      for (let i = 0; i < 20; i += 1) await ctx.progress(i, undefined, { flush: true });
      stored.push((await kit.mill.jobs.progress(ctx.job.id)).percent);
      void ctx.progress(30);
      await ctx.progress(31, { note: "last" }, { flush: true });
      stored.push((await kit.mill.jobs.progress(ctx.job.id)).percent);
    });
    const { id } = await kit.mill.enqueue(job);
    const start = kit.clock.now();

    await kit.drain([job]);
    await kit.settled();

    expect(kit.clock.now()).toBe(start);
    expect(await kit.outcomes({ id })).toEqual(["succeeded"]);
    expect(stored).toEqual([19, 31]);
    expect(heard.map(({ percent }) => percent)).toEqual([...Array(20).keys(), 31, 100]);
  });

  test("is stored at most ten times within a second, and at an even pace", async () => {
    await using kit = await openTest();
    const percents: number[] = [];
    const times: number[] = [];
    kit.mill.on("job:progress", ({ percent }) => {
      percents.push(percent);
      times.push(kit.clock.now());
    });
    const ended = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      for (let i = 0; i < 1_000; i += 1) {
        void ctx.progress(i / 10);
        await new Promise<void>((resolve) => void kit.clock.after(5, resolve));
      }
      ended.open();
    });
    await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("10s");
    await ended.passed;
    await kit.settled();

    const lengths = times.slice(10).map((time, i) => time - times[i]!);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(1_000);
    expect(percents.length).toBeGreaterThanOrEqual(25);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBe(99.9);
  });

  test("that is not awaited is stored before the end of its run", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) => {
      for (let i = 0; i <= 60; i += 1) void ctx.progress(i);
      throw new Error("no");
    });
    const enqueued = await kit.mill.enqueue(job, undefined, { maxAttempts: 1 });

    await kit.drain([job]);

    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "failed", progress: 60 });
    expect((await kit.events(enqueued)).at(-1)).toBe("job:failed");
  });

  test.each([
    ["in the same call of the store", 2],
    ["while it waits for its turn", 60],
  ])("that is replaced %s leaves none of its data behind", async (_, last) => {
    await using kit = await openTest();
    const heard = listen(kit);
    const job = defineJob({ type: "job" }).run((__, ctx) => {
      for (let i = 0; i < last; i += 1) void ctx.progress(i, { message: `object ${i}` });
      void ctx.progress(last);
      throw new Error("no");
    });
    const { id } = await kit.mill.enqueue(job, undefined, { maxAttempts: 1 });

    await kit.drain([job]);
    await kit.settled();

    const now = await kit.mill.jobs.progress(id);
    expect(now).toMatchObject({ state: "failed", percent: last, data: null });
    expect(heard.at(-1)).toEqual({ id, phase: null, percent: last, overall: last });
  });

  test("without data replaces data that is stored", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const look = async (): Promise<void> => {
        const { percent, data } = await kit.mill.jobs.progress(ctx.job.id);
        seen.push([percent, data]);
      };
      await ctx.progress(10, { message: "object 10" });
      await look();
      await ctx.progress(20);
      await look();
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([
      [10, { message: "object 10" }],
      [20, null],
    ]);
  });

  test.each([
    ["a percent below 0", [-1], "from 0 to 100, not -1"],
    ["a percent above 100", [100.5], "not 100.5"],
    ["a percent that is no number", [Number.NaN], "not NaN"],
    ["a text", ["50"], 'not "50"'],
    ["data that is not JSON", [50, { at: [new Date(0)] }], "data.at[0] is an instance of Date"],
    ["data that is too large", [50, "x".repeat(70_000)], "at most 65536 bytes"],
    ["an unknown option", [50, null, { flsh: true }], "did you mean flush?"],
    ["a flush that is no boolean", [50, null, { flush: 1 }], "flush must be true or false, not 1"],
  ])("refuses %s, and harms no caller that does not wait", async (_, args, message) => {
    await using kit = await openTest();
    const errors: unknown[] = [];
    const job = defineJob({ type: "job" }).run(async (__, ctx) => {
      const { progress } = unchecked(ctx);
      void progress(...args);
      await progress(...args).catch((error: unknown) => errors.push(error));
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(errors).toEqual([
      expect.objectContaining({
        code: "PROGRESS_REFUSED",
        message: expect.stringContaining(message),
      }),
    ]);
    expect(kit.logged[0]).toMatchObject({ level: "warn", fields: { job_id: enqueued.id } });
    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ progress: 100, phase: null });
  });

  test("after the end of its run is refused", async () => {
    await using kit = await openTest();
    let late = (): Promise<unknown> => Promise.resolve();
    const job = defineJob({ type: "job" }).run((_, ctx) => {
      late = () => ctx.progress(50);
    });
    const enqueued = await kit.mill.enqueue(job);
    await kit.drain([job]);

    await expect(late()).rejects.toMatchObject({
      code: "JOB_OVER",
      message: expect.stringContaining("await ctx.progress"),
    });
    void late();
    expect((await kit.mill.jobs.progress(enqueued.id)).at).toBeNull();
  });
});

describe("the units of ctx.each", () => {
  /** Runs a job until its unit `stop` waits, and tells what is shown of it then. */
  async function shownAt(kit: RuntimeTest, job: AnyJob, begun: Promise<void>) {
    const heard = listen(kit);
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await begun;
    await kit.advance("1s");
    const { percent, phasePercent, phases } = await kit.mill.jobs.progress(id);
    const { progress } = await kit.mill.jobs.get(id);
    const { overall } = heard.at(-1) ?? {};
    const ofPhases = phases.map((phase) => phase.percent);
    return { id, heard, shown: { percent, phasePercent, progress, overall, ofPhases } };
  }

  test("move the percent of their phase and of their job, everywhere alike", async () => {
    await using kit = await openTest();
    const [begun, end] = [latch(), latch()];
    const items = Array.from({ length: 10 }, (_, index) => index);
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", (_, ctx) =>
        ctx.each(
          items,
          String,
          async (item) => {
            if (item === 2) throw new Error("no");
            if (item !== 6) return;
            begun.open();
            await end.passed;
          },
          { concurrency: 1 },
        ),
      );

    const { id, heard, shown } = await shownAt(kit, job, begun.passed);

    expect(shown).toEqual({
      percent: 80,
      phasePercent: 60,
      progress: 80,
      overall: 80,
      ofPhases: [100, 60],
    });
    end.open();
    await kit.advance("1s");
    await kit.settled();
    expect(heard.map(({ percent }) => percent)).toEqual(
      heard.map(({ percent }) => percent).toSorted((a, b) => a - b),
    );
    expect(await kit.mill.jobs.progress(id)).toMatchObject({
      state: "completed_with_errors",
      percent: 100,
      phasePercent: 100,
      phases: [{ percent: 100 }, { percent: 100 }],
    });
  });

  test("of a plain handler move the percent of its job", async () => {
    await using kit = await openTest();
    const [begun, end] = [latch(), latch()];
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c", "d"],
        String,
        (item) => (item === "d" ? (begun.open(), end.passed) : undefined),
        { concurrency: 1 },
      ),
    );

    const { shown } = await shownAt(kit, job, begun.passed);

    expect(shown).toEqual({
      percent: 75,
      phasePercent: 75,
      progress: 75,
      overall: 75,
      ofPhases: [],
    });
    end.open();
    await kit.settled();
  });

  test("count those that an earlier run has completed", async () => {
    await using kit = await openTest();
    const seen: number[] = [];
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c", "d"],
        String,
        async (item) => {
          if (item !== "d") return;
          await kit.settled();
          seen.push((await kit.mill.jobs.progress(ctx.job.id)).percent);
          if (ctx.lease.fence === 1) ctx.snooze("1h");
        },
        { concurrency: 1 },
      ),
    );
    await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("2h");
    await kit.drain([job]);

    expect(seen).toEqual([75, 75]);
  });

  test("leave the percent to a handler that reports it, and its data to all", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const look = async (id: string): Promise<void> => {
      await kit.settled();
      const { percent, data } = await kit.mill.jobs.progress(id);
      seen.push([percent, data]);
    };
    const job = defineJob({ type: "job" })
      .phase("data", async (_, ctx) => {
        await ctx.progress(0, "half of them");
        await ctx.each(["a"], String, () => {});
        await look(ctx.job.id);
      })
      .phase("percent", async (_, ctx) => {
        await ctx.progress(10);
        await ctx.each(["a"], String, () => {});
        await look(ctx.job.id);
      });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([
      [50, "half of them"],
      [55, null],
    ]);
  });

  test("tell their progress at most ten times within a second", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const items = Array.from({ length: 1_000 }, (_, index) => index);
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        items,
        String,
        () => new Promise<void>((resolve) => void kit.clock.after(2, resolve)),
        { concurrency: 1 },
      ),
    );
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("3s");
    await kit.settled();

    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
    expect(heard.length).toBeGreaterThan(5);
    expect(heard.length).toBeLessThan(20);
  });

  test("that are steps move nothing, because their number is not known", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("b", () => 2);
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.settled();

    expect(heard).toEqual([]);
  });
});

describe("mill.on", () => {
  test("hears 100 % as the last progress of a job that completes", async () => {
    await using kit = await openTest();
    const heard: unknown[] = [];
    kit.mill.on("job:progress", ({ phase, percent, overall }) => {
      heard.push([phase, percent, overall]);
    });
    kit.mill.on("job:completed", () => heard.push("completed"));
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", (_, ctx) => ctx.progress(40));
    await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.settled();

    expect(heard).toEqual([["one", 0, 0], ["two", 40, 70], ["two", 100, 100], "completed"]);
  });

  test.each([
    ["has reported 100 % itself", [[100, 100]], (ctx: AnyContext) => ctx.progress(100)],
    ["has reported nothing", [], () => {}],
    [
      "does not complete",
      [[40, 40]],
      async (ctx: AnyContext) => {
        await ctx.progress(40);
        throw new NonRetryableError("no");
      },
    ],
  ])("hears no other progress of a job that %s", async (_, expected, work) => {
    await using kit = await openTest();
    const heard = listen(kit);
    const job = defineJob({ type: "job" }).run(async (__, ctx) => {
      await work(ctx);
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.settled();

    expect(heard.map(({ percent, overall }) => [percent, overall])).toEqual(expected);
  });

  test("hears in which state a job has completed", async () => {
    await using kit = await openTest();
    const heard: Events["job:completed"][] = [];
    kit.mill.on("job:completed", (event) => heard.push(event));
    const plain = defineJob({ type: "plain" }).run(() => {});
    const partly = defineJob({ type: "partly" }).run(async (_, ctx) => {
      await ctx.each([1, 2], String, (item) => {
        if (item === 1) throw new Error("no");
      });
    });
    const [one, other] = await kit.mill.enqueueMany([plain.of(), partly.of()]);

    await kit.drain([plain, partly]);
    await kit.settled();

    expect(heard.toSorted((a, b) => a.state.length - b.state.length)).toEqual([
      { id: one.id, state: "completed" },
      { id: other.id, state: "completed_with_errors" },
    ]);
  });

  test("001-19 hears of phases and their progress in order, in another process too", async () => {
    await using kit = await openTest();
    const heard: unknown[] = [];
    kit.mill.on("job:phase:completed", ({ id, phase }) => heard.push([id, phase]));
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", () => {})
      .phase("three", () => {});
    const [a, b] = await kit.mill.enqueueMany([job.of(), job.of()]);

    // The worker has a client of its own: listeners hear of it through the store alone.
    await kit.drain([job]);
    await kit.settled();

    for (const { id } of [a, b]) {
      expect(heard.filter((event) => Array.isArray(event) && event[0] === id)).toEqual([
        [id, "one"],
        [id, "two"],
        [id, "three"],
      ]);
    }
  });
});

describe("jobs.progress", () => {
  test("of a job that has told nothing is empty, of an unknown one refused", async () => {
    await using kit = await openTest();
    const plain = defineJob({ type: "plain" });
    const { id } = await kit.mill.enqueue(plain);

    expect(await kit.mill.jobs.progress(id)).toEqual({
      state: "queued",
      percent: 0,
      phase: null,
      phasePercent: 0,
      data: null,
      at: null,
      phases: [],
      units: { total: 0, planned: 0, running: 0, completed: 0, failed: 0 },
    });
    await expect(kit.mill.jobs.progress("01JCR5M4X2E8T9V6B3N7K0QWAZ")).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
  });
});
