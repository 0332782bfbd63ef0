import {
  defineJob,
  jobqueue,
  lipas,
  NonRetryableError,
  practice,
  RateLimitedError,
  RetryableError,
  TransientError,
  typed,
} from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, waitsOf, type RuntimeTest } from "../support.ts";

/** Advances and drains until nothing waits any more. */
async function runOut({ mill, drain, advance }: RuntimeTest, jobs: Parameters<typeof drain>[0]) {
  for (let round = 0; round < 20; round += 1) {
    await drain(jobs);
    const { jobs: waiting } = await mill.jobs.list({ state: "pending" });
    const next = waiting[0]?.runAt;
    if (next === undefined || next === null) return;
    await advance("1h");
  }
}

const broken = defineJob({ type: "broken", payload: typed<{ with: string }>() }).run((payload) => {
  switch (payload.with) {
    case "transient":
      throw new TransientError("for a moment");
    case "retryable":
      throw new RetryableError("perhaps later");
    case "final":
      throw new NonRetryableError("never");
    case "limited":
      throw new RateLimitedError("slow down");
    default:
      throw new Error("unclassified");
  }
});

describe("a job whose handler throws", () => {
  test("runs again after its backoff and can then succeed (001-24)", async () => {
    await using kit = await openTest();
    let runs = 0;
    const flaky = defineJob({ type: "flaky" }).run((_, ctx) => {
      runs += 1;
      if (ctx.attempt < 3) throw new TransientError("not yet");
      return ctx.attempt;
    });
    const job = await kit.mill.enqueue(flaky);

    await kit.drain([flaky]);
    await kit.advance(1_999);
    await kit.drain([flaky]);
    expect(runs).toBe(1);
    await kit.advance(1);
    await kit.drain([flaky]);
    expect(runs).toBe(2);
    await kit.advance("4s");
    await kit.drain([flaky]);

    expect(await kit.mill.result(job)).toBe(3);
    expect(await kit.outcomes(job)).toEqual(["failed", "failed", "succeeded"]);
  });

  test("waits as pending with a future time, and says so (001-28, C-01)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "transient" });

    await kit.drain([broken]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      state: "scheduled",
      attempts: 1,
      runAt: new Date(kit.clock.now() + 2_000),
      error: { class: "transient", name: "TransientError", message: "for a moment" },
    });
  });

  test("tells started, retrying, …, failed in this order (001-24, C-01)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "transient" }, { maxAttempts: 2 });

    await runOut(kit, [broken]);

    expect(await kit.events(job)).toEqual([
      "job:enqueued",
      "job:started",
      "job:retrying",
      "job:started",
      "job:failed",
    ]);
  });

  test.each([1, 2, 3])(
    "with maxAttempts %i runs that often, the first included (001-25)",
    async (maxAttempts) => {
      await using kit = await openTest();
      const job = await kit.mill.enqueue(broken, { with: "retryable" }, { maxAttempts });

      await runOut(kit, [broken]);

      expect(await kit.mill.jobs.attempts(job.id)).toHaveLength(maxAttempts);
      expect(await kit.mill.jobs.get(job.id)).toMatchObject({
        state: "failed",
        attempts: maxAttempts,
      });
    },
  );

  test("has as many attempts as its type or its caller says (003-20, C-07)", async () => {
    await using kit = await openTest();
    const own = defineJob({ type: "own", maxAttempts: 2 }).run(() => {
      throw new TransientError("no");
    });
    const [byType, byCaller] = await kit.mill.enqueueMany([
      own.of(),
      own.of(undefined, { maxAttempts: 3 }),
    ]);

    await runOut(kit, [own]);

    expect(await kit.outcomes(byType)).toHaveLength(2);
    expect(await kit.outcomes(byCaller)).toHaveLength(3);
  });

  test.each(["transient", "retryable", "unclassified"])(
    "%s: waits 2, 4, 8, 16 s and fails at the fifth attempt (003-17, 003-20, 003-42)",
    async (kind) => {
      await using kit = await openTest();
      const job = await kit.mill.enqueue(broken, { with: kind });

      await runOut(kit, [broken]);

      const attempts = await kit.mill.jobs.attempts(job.id);
      expect(waitsOf(attempts)).toEqual([2_000, 4_000, 8_000, 16_000, null]);
      expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({ attempts: 5 });
    },
  );

  test.each([
    [0, [1_600, 3_200, 6_400, 12_800, null]],
    [0.999_999_999, [2_400, 4_800, 9_600, 19_200, null]],
  ])("swings by a fifth to either side, dice %d", async (roll, waits) => {
    await using kit = await openTest({ random: () => roll });
    const job = await kit.mill.enqueue(broken, { with: "transient" });

    await runOut(kit, [broken]);

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual(waits);
  });

  test.each([
    [0, [1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 300]],
    [0.5, [2, 4, 8, 16, 32, 64, 128, 256, 300]],
    [0.999_999_999, [2.4, 4.8, 9.6, 19.2, 38.4, 76.8, 153.6, 300, 300]],
  ])(
    "doubles, varies and cuts its waits by the practice preset, dice %d (003-21)",
    async (...row) => {
      const [roll, seconds] = row;
      await using kit = await openTest({
        preset: { ...practice, payloadRules: {} },
        random: () => roll,
      });
      const job = await kit.mill.enqueue(broken, { with: "transient" }, { maxAttempts: 10 });

      await runOut(kit, [broken]);

      const waits = waitsOf(await kit.mill.jobs.attempts(job.id));
      expect(waits).toEqual([...seconds.map((wait) => wait * 1_000), null]);
    },
  );

  test.each([
    ["transient", "transient"],
    ["retryable", "retryable"],
    ["final", "non_retryable"],
    ["limited", "rate_limited"],
  ])("has its class in the ledger and in the dead letter: %s (003-16, 003-47)", async (...row) => {
    const [kind, errorClass] = row;
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: kind }, { maxAttempts: 1 });

    await kit.drain([broken]);

    const error = { class: errorClass };
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([{ error }]);
    expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({ error });
  });

  test("never runs again when the error is not retryable (003-18, 003-42)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "final" });

    const counts = await kit.drain([broken]);

    expect(counts.failed).toBe(1);
    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: "never" },
      deadLetterId: job.id,
    });
    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });

  test("waits 60, 120, 240, 480 s when it was told to slow down (003-19)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "limited" });

    await runOut(kit, [broken]);

    const attempts = await kit.mill.jobs.attempts(job.id);
    expect(waitsOf(attempts)).toEqual([60_000, 120_000, 240_000, 480_000, null]);
    expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({ attempts: 5 });
  });

  test.each([
    ["a length", "90s"],
    ["a moment", new Date(Date.UTC(2026, 0, 5, 9, 1, 30))],
  ])("waits exactly retryAfter when that is %s", async (_, retryAfter) => {
    await using kit = await openTest();
    const limited = defineJob({ type: "limited" }).run(() => {
      throw new RateLimitedError("429", { retryAfter });
    });
    const job = await kit.mill.enqueue(limited);

    await kit.drain([limited]);

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([90_000]);
  });

  test.each([
    [{ kind: "fixed", base: "5s" }, [5_000, 5_000, 5_000, null]],
    [{ kind: "linear", base: "5s" }, [5_000, 10_000, 15_000, null]],
    [{ kind: "exponential", base: "5s", factor: 3 }, [5_000, 15_000, 45_000, null]],
    [{ kind: "exponential", base: "5s", factor: 3, cap: "20s" }, [5_000, 15_000, 20_000, null]],
  ] as const)("waits as its own backoff says: %o (001-03, 001-27)", async (backoff, waits) => {
    await using kit = await openTest();
    const own = defineJob({ type: "own", backoff, maxAttempts: 4 }).run(() => {
      throw new Error("no");
    });
    const job = await kit.mill.enqueue(own);

    await runOut(kit, [own]);

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual(waits);
  });

  test("waits 1 s, then 2 s by the preset of the worker (004-22)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "transient" });

    await kit.drain([broken], { preset: lipas });
    await kit.advance("1s");
    await kit.drain([broken], { preset: lipas });

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([1_000, 2_000]);
  });

  test("unclassified is final by the preset of one embedded process (001-26)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(broken, { with: "nothing known" });

    await kit.drain([broken], { preset: jobqueue });

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed", attempts: 1 });
  });

  test("counts as its own classify says", async () => {
    await using kit = await openTest();
    const own = defineJob({
      type: "own",
      classify: (error) => (error instanceof RangeError ? "non_retryable" : undefined),
    }).run(() => {
      throw new RangeError("out of range");
    });
    const job = await kit.mill.enqueue(own);

    await kit.drain([own]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", name: "RangeError" },
    });
  });

  test("is classified with a view to its job, also in a unit (001-47)", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const own = defineJob({
      type: "own",
      payload: typed<{ order: number }>(),
      maxAttempts: 2,
      classify: (error, job) => {
        seen.push(job);
        return job.attempt === 1 ? "transient" : "non_retryable";
      },
    }).run(async (_, ctx) => {
      await ctx.each(
        ["a"],
        (unit) => unit,
        () => {
          throw new RangeError("out of range");
        },
      );
    });
    const options = { correlationId: "c-1", tags: { repo: "docs" } };
    const { id } = await kit.mill.enqueue(own, { order: 7 }, options);

    await kit.drain([own]);
    await kit.advance("1h");
    await kit.drain([own]);

    const facts = {
      id,
      type: "own",
      tenant: "default",
      ...options,
      payload: { order: 7 },
      maxAttempts: 2,
    };
    expect(seen).toEqual([
      { ...facts, attempt: 1 },
      { ...facts, attempt: 2 },
    ]);
    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "failed", attempts: 2 });
  });

  test("may throw anything, even nothing", async () => {
    await using kit = await openTest();
    const odd = defineJob({ type: "odd", maxAttempts: 1 }).run(() => {
      // oxlint-disable-next-line typescript/only-throw-error -- That is the point.
      throw undefined;
    });
    const job = await kit.mill.enqueue(odd);

    await kit.drain([odd]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed" });
  });
});

describe("a job that snoozes", () => {
  test.each([0, 99, "0s"] as const)("for %s is told that this is too short", async (delay) => {
    await using kit = await openTest();
    const hasty = defineJob({ type: "hasty", maxAttempts: 1 }).run((_, ctx) => ctx.snooze(delay));
    const job = await kit.mill.enqueue(hasty);

    await kit.drain([hasty]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("must be at least 100 ms") },
    });
    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });

  test("may do so for 100 ms", async () => {
    await using kit = await openTest();
    const brief = defineJob({ type: "brief" }).run((_, ctx) => ctx.snooze(100));
    const job = await kit.mill.enqueue(brief);

    await kit.drain([brief]);

    expect(await kit.outcomes(job)).toEqual(["snoozed"]);
  });

  test("runs again after the delay, uncharged, however often", async () => {
    await using kit = await openTest();
    let runs = 0;
    const sleepy = defineJob({ type: "sleepy", maxAttempts: 1 }).run((_, ctx) => {
      runs += 1;
      if (runs < 4) ctx.snooze("10s");
      return ctx.attempt;
    });
    const job = await kit.mill.enqueue(sleepy);

    for (let round = 0; round < 4; round += 1) {
      await kit.drain([sleepy]);
      await kit.advance("10s");
    }

    expect(await kit.mill.result(job)).toBe(1);
    const attempts = await kit.mill.jobs.attempts(job.id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual([
      "snoozed",
      "snoozed",
      "snoozed",
      "succeeded",
    ]);
    expect(waitsOf(attempts).slice(0, 3)).toEqual([10_000, 10_000, 10_000]);
  });
});

describe("a long error", () => {
  test("is cut in lists, and whole where one job is read (003-15, C-31)", async () => {
    await using kit = await openTest();
    const message = `cannot render\n${"x".repeat(5_000)}`;
    const long = defineJob({ type: "long", maxAttempts: 1 }).run(() => {
      throw new RangeError(message);
    });
    const { id } = await kit.mill.enqueue(long);
    await kit.drain([long]);

    const [job] = (await kit.mill.jobs.list()).jobs;
    const [letter] = await kit.mill.deadLetters.list();

    const cut = {
      class: "retryable",
      name: "RangeError",
      message: message.slice(0, 500),
      cause: expect.any(String),
    };
    expect([job?.error, letter?.error]).toEqual([cut, cut]);
    const whole = { ...cut, message, stack: expect.stringContaining("retries.test.ts") };
    const [attempt] = await kit.mill.jobs.attempts(id);
    const read = [await kit.mill.jobs.get(id), await kit.mill.deadLetters.get(id), attempt];
    expect(read.map((each) => each?.error)).toEqual([whole, whole, whole]);
  });
});

describe("the first planned time of a job", () => {
  test("stays in its view when a retry plans the next run (C-24)", async () => {
    await using kit = await openTest();
    const scheduledAt = new Date(kit.clock.now() + 60_000);
    const { id } = await kit.mill.enqueue(broken, { with: "nothing known" }, { delay: "1m" });
    expect(await kit.mill.jobs.get(id)).toMatchObject({ scheduledAt, runAt: scheduledAt });

    await kit.advance("1m");
    await kit.drain([broken]);

    const job = await kit.mill.jobs.get(id);
    expect(job).toMatchObject({ state: "scheduled", attempts: 1, scheduledAt });
    expect(job.runAt).not.toEqual(scheduledAt);
    expect((await kit.mill.jobs.list()).jobs).toMatchObject([{ id, scheduledAt }]);
  });
});

describe("a job whose retries a supervisor owns", () => {
  test("is delivered once, and its view and ledger tell of the failure (C-22)", async () => {
    await using kit = await openTest();
    const task = defineJob({ type: "task", retryOwner: "supervisor" }).run(() => {
      throw new Error("the provider said no");
    });
    const job = await kit.mill.enqueue(task);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ outcome: null });

    await kit.drain([task]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      state: "completed",
      outcome: "failed",
      error: { message: "the provider said no" },
    });
    const [listed] = (await kit.mill.jobs.list()).jobs;
    expect(listed).toMatchObject({ state: "completed", outcome: "failed" });
    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });
});
