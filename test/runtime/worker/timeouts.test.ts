import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { wait } from "../../../src/core/clock.ts";
import { defaults } from "../../../src/core/presets.ts";
import { OverdueWatch } from "../../../src/runtime/lease/overdue-runs.ts";
import { latch, openTest, untilAborted, type RuntimeTest } from "../support.ts";

describe("a time limit", () => {
  test("aborts the handler, and the run counts as a failed attempt", async () => {
    await using kit = await openTest();
    const slow = defineJob({ type: "slow", timeout: "10s" }).run((_, ctx) =>
      untilAborted(ctx.signal),
    );
    const job = await kit.mill.enqueue(slow);
    kit.mill.work({ jobs: [slow] });

    await kit.advance(9_999);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "running" });
    await kit.advance(1);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      state: "scheduled",
      attempts: 1,
      error: { name: "TimeoutError", message: expect.stringContaining("10 s") },
    });
    expect(await kit.outcomes(job)).toEqual(["timed_out"]);
  });

  test("of the last attempt fails the job", async () => {
    await using kit = await openTest();
    const slow = defineJob({ type: "slow", timeout: "10s", maxAttempts: 1 }).run((_, ctx) =>
      untilAborted(ctx.signal),
    );
    const job = await kit.mill.enqueue(slow);
    kit.mill.work({ jobs: [slow] });

    await kit.advance("10s");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed" });
    expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({ status: "pending_review" });
  });

  test.each([
    ["fast", 120_000],
    ["general", 1_200_000],
  ])("is that of the lane %s when the job has none (C-20, C-32)", async (lane, limitMs) => {
    await using kit = await openTest();
    const slow = defineJob({ type: "slow", lane }).run((_, ctx) => untilAborted(ctx.signal));
    const job = await kit.mill.enqueue(slow);
    kit.mill.work({ jobs: [slow] });

    await kit.advance(limitMs - 1);
    expect(await kit.outcomes(job)).toEqual([]);
    await kit.advance(1);

    expect(await kit.outcomes(job)).toEqual(["timed_out"]);
  });

  test("of false lets a job run on", async () => {
    await using kit = await openTest();
    const end = latch();
    const endless = defineJob({ type: "endless", timeout: false }).run(() => end.passed);
    const job = await kit.mill.enqueue(endless);
    kit.mill.work({ jobs: [endless] });

    await kit.advance("25m");
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "running" });
    end.open();
    await kit.settled();

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
  });

  test("takes nothing from a handler that returns all the same", async () => {
    await using kit = await openTest();
    const late = defineJob({ type: "late", timeout: "1s" }).run(async (_, ctx) => {
      await untilAborted(ctx.signal).catch(() => {});
      return "done";
    });
    const job = await kit.mill.enqueue(late);
    kit.mill.work({ jobs: [late] });

    await kit.advance("1s");

    expect(await kit.mill.wait(job)).toMatchObject({ state: "completed", result: "done" });
  });

  test("ends the run of a handler that ignores its signal, so that the job goes on", async () => {
    await using kit = await openTest();
    const deaf = defineJob({ type: "deaf", timeout: "1s", maxAttempts: 1 }).run(
      () => new Promise(() => {}),
    );
    const job = await kit.mill.enqueue(deaf);
    kit.mill.work({ jobs: [deaf] });

    await kit.advance("1m");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed" });
  });
});

describe("a heartbeat that ends overrun runs", () => {
  test("does not overtake a handler that hears its abort and cleans up for 4 s", async () => {
    await using kit = await openTest();
    const slow = defineJob({ type: "slow", timeout: "10s", maxAttempts: 1 }).run(async (_, ctx) => {
      await untilAborted(ctx.signal).catch(() => {});
      await wait(kit.clock, 4_000);
      return "saved";
    });
    const job = await kit.mill.enqueue(slow);
    const worker = kit.mill.work({ jobs: [slow] });
    await kit.settled();

    await beatFor(20, kit, worker.id);

    expect(await kit.mill.result(job)).toBe("saved");
    expect(await kit.outcomes(job)).toEqual(["succeeded"]);
  });

  test("does not overtake the worker that leaves a deaf handler behind", async () => {
    await using kit = await openTest();
    const deaf = defineJob({ type: "deaf", timeout: "10s", maxAttempts: 1 }).run(
      () => new Promise(() => {}),
    );
    const job = await kit.mill.enqueue(deaf);
    const worker = kit.mill.work({ jobs: [deaf] });
    await kit.settled();

    await beatFor(20, kit, worker.id);

    expect(await kit.outcomes(job)).toEqual(["timed_out"]);
    // Had the heartbeat ended it, what the worker says of it would be stale.
    expect(kit.logged).toMatchObject([
      { level: "warn", message: expect.stringContaining("ends without the handler") },
    ]);
  });
});

/** What the thread of the heartbeat does, second by second. */
async function beatFor(seconds: number, kit: RuntimeTest, worker: string): Promise<void> {
  const { store, clock } = kit;
  const policyOf = () => defaults.retry;
  const dice = { random: () => 0.5 };
  const watch = new OverdueWatch({ store, clock, dice, worker, beatMs: 1_000, policyOf });
  for (let second = 0; second < seconds; second += 1) {
    await kit.advance("1s");
    await watch.beat(clock.now());
  }
}

describe("ctx.timeout", () => {
  test("ends its own part alone, as a transient error (004-24)", async () => {
    await using kit = await openTest();
    const seen: string[] = [];
    const job = defineJob({ type: "parts" }).run(async (_, ctx) => {
      try {
        await ctx.timeout("5s", (signal) => {
          signal.addEventListener("abort", () => seen.push("aborted"));
          return untilAborted(signal);
        });
      } catch (error) {
        seen.push(error instanceof Error ? error.name : "");
      }
      return { aborted: ctx.signal.aborted };
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("5s");

    expect(seen).toEqual(["aborted", "TransientError"]);
    expect(await kit.mill.result(enqueued)).toEqual({ aborted: false });
  });

  test("that is not caught makes the run a transient failure (004-24)", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "parts" }).run((_, ctx) =>
      ctx.timeout(300_000, () => new Promise(() => {})),
    );
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance(300_000);

    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({
      state: "scheduled",
      error: { class: "transient", name: "TransientError" },
    });
  });

  test("answers what its part answers, and leaves no timer behind", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "parts" }).run((_, ctx) => ctx.timeout("5s", () => 42));

    expect(await kit.perform(job)).toBe(42);
    expect(kit.clock.pending).toBe(0);
  });

  test("passes the abort of the whole job on to its part", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "parts", timeout: "2s", maxAttempts: 1 }).run((_, ctx) =>
      ctx.timeout("5s", (signal) => untilAborted(signal)),
    );
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("2s");

    expect(await kit.outcomes(enqueued)).toEqual(["timed_out"]);
  });
});
