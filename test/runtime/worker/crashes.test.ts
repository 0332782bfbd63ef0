import { defineJob, jobqueue } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, waitsOf, withBuffer, type RuntimeTest } from "../support.ts";

describe("a worker that dies", () => {
  test.each(["start", "settle"] as const)(
    "at %s loses its job after the lease, charged, to a higher fence (002-02, C-05, C-25)",
    async (point) => {
      await using kit = await openTest();
      const fences: number[] = [];
      const job = defineJob({ type: "job" }).run((_, ctx) => {
        fences.push(ctx.lease.fence);
        return ctx.attempt;
      });
      const enqueued = await kit.mill.enqueue(job);
      kit.crashAt(point);
      await kit.drain([job]);
      expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "running" });

      kit.mill.work({ jobs: [job] });
      await kit.advance("29s");
      expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "running" });
      await kit.advance("16s");

      expect(await kit.mill.result(enqueued)).toBe(2);
      const attempts = await kit.mill.jobs.attempts(enqueued.id);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(["crashed", "succeeded"]);
      expect(attempts[1]?.fence).toBeGreaterThan(attempts[0]?.fence ?? Number.NaN);
      expect(fences).toHaveLength(point === "start" ? 1 : 2);
    },
  );

  test("leaves jobs that had not begun uncharged", async () => {
    await using kit = await openTest();
    const { job, buffered, running, end, ran } = await withBuffer(kit);
    kit.crashAt("start");
    end.open();
    await kit.settled();

    kit.mill.work({ jobs: [job] });
    await kit.advance("45s");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 1, 2, 3]);
    // The first of the buffer may have been begun while the worker died.
    expect(await kit.outcomes(buffered[1])).toEqual(["succeeded"]);
    expect(await kit.outcomes(running)).toEqual(["crashed", "succeeded"]);
  });

  test("four times by the same job, always alone, has met what kills it (crash cap)", async () => {
    await using kit = await openTest();
    const poison = defineJob({ type: "poison" }).run(() => "never told");
    const job = await kit.mill.enqueue(poison);

    for (let crash = 0; crash < 4; crash += 1) {
      kit.crashAt("settle");
      await kit.drain([poison]);
      await kit.advance("60s");
    }

    expect(await kit.outcomes(job)).toEqual(["crashed", "crashed", "crashed", "crashed"]);
    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { name: "CrashError", message: expect.stringContaining("4 times") },
    });
    expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({ status: "pending_review" });
  });

  test("makes its job wait for its backoff", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => {});
    const enqueued = await kit.mill.enqueue(job);
    kit.crashAt("start");
    await kit.drain([job]);

    await kit.advance("45s");

    expect(waitsOf(await kit.mill.jobs.attempts(enqueued.id))).toEqual([2_000]);
  });

  test("fails its job for good when that says onOrphan: fail (001-06, C-05)", async () => {
    await using kit = await openTest();
    const once = defineJob({ type: "once", onOrphan: "fail" }).run(() => {});
    const job = await kit.mill.enqueue(once);
    kit.crashAt("start");
    await kit.drain([once]);

    kit.mill.work({ jobs: [once] });
    await kit.advance("45s");

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { name: "CrashError" },
    });
    expect(await kit.outcomes(job)).toEqual(["crashed"]);
  });

  test("fails its job for good by the jobqueue preset (001-06)", async () => {
    await using kit = await openTest({ preset: jobqueue });
    const plain = defineJob({ type: "plain" }).run(() => {});
    const job = await kit.mill.enqueue(plain);
    kit.crashAt("start");
    await kit.drain([plain]);

    kit.mill.work({ jobs: [plain] });
    await kit.advance("45s");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed" });
  });

  test("cannot be the end of a job that was asked to cancel", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => {});
    const enqueued = await kit.mill.enqueue(job);
    kit.crashAt("start");
    await kit.drain([job]);

    await kit.mill.jobs.cancel(enqueued.id, "enough");
    await kit.advance("60s");

    expect(await kit.mill.wait(enqueued)).toMatchObject({ state: "cancelled", reason: "enough" });
  });

  test("creates none of the children that its run asked for", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" }).run(() => {});
    const parent = defineJob({ type: "parent" }).run(
      async (_, ctx) => void (await ctx.enqueue(child)),
    );
    await kit.mill.enqueue(parent);
    kit.crashAt("settle");
    await kit.drain([parent]);

    await kit.expectNotEnqueued(child);
    await kit.advance("60s");
    await kit.drain([parent]);

    expect((await kit.mill.jobs.list({ type: "child" })).jobs).toHaveLength(1);
  });
});

describe("a worker that was taken for dead", () => {
  test("stops its runs, changes nothing, and takes new work again", async () => {
    await using kit = await openTest();
    const end = latch();
    const aborted: boolean[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      if (ctx.attempt > 1) return ctx.attempt;
      await end.passed;
      aborted.push(ctx.signal.aborted);
      return "from the zombie";
    });
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();
    await takeBack(kit, worker.id);

    await kit.advance("10s");
    end.open();
    await kit.settled();

    expect(aborted).toEqual([true]);
    expect(await kit.mill.result(enqueued)).toBe(2);
    expect(await kit.outcomes(enqueued)).toEqual(["crashed", "succeeded"]);
    const next = await kit.mill.enqueue(job);
    end.open();
    await kit.settled();
    expect(await kit.mill.jobs.get(next.id)).toMatchObject({ state: "completed" });
  });

  test("joins anew even if its first try to do so fails", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => "done");
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();
    kit.failOnce("register");
    await takeBack(kit, worker.id);

    await kit.advance("30s");
    const enqueued = await kit.mill.enqueue(job);
    await kit.advance("5s");

    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "completed" });
  });
});

describe("a store that fails for a moment", () => {
  test("when a run ends loses no end", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => "done");
    const enqueued = await kit.mill.enqueue(job);
    kit.failOnce("settle");
    kit.mill.work({ jobs: [job] });

    await kit.advance("1s");

    expect(await kit.mill.result(enqueued)).toBe("done");
    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
  });

  test("when a buffered job begins strands none", async () => {
    await using kit = await openTest();
    const { buffered, end } = await withBuffer(kit);
    kit.failOnce("startPrefetched");

    end.open();
    await kit.advance("2m");

    for (const { id } of buffered) {
      expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
    }
  });

  test.each(["claim", "renew", "promote", "silent"] as const)(
    "when it is asked to %s holds nothing up",
    async (verb) => {
      await using kit = await openTest();
      const job = defineJob({ type: "job" }).run(() => "done");
      const enqueued = await kit.mill.enqueue(job, undefined, { delay: "3s" });
      kit.mill.work({ jobs: [job] });
      await kit.advance("2s");
      kit.failOnce(verb);

      await kit.advance("10s");

      expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "completed" });
      expect(kit.logged.some(({ level }) => level === "error")).toBe(true);
    },
  );
});

/** What a rescuer with a clock of its own would do. */
async function takeBack({ store }: RuntimeTest, id: string): Promise<void> {
  await store.renew(id, 0);
  const worker = (await store.silent(10)).find((each) => each.id === id);
  await store.rescue({
    worker: id,
    beats: worker?.beats ?? 0,
    limit: 100,
    decide: ({ tries, crashes }) => ({
      to: "queued",
      outcome: "crashed",
      tries: tries + 1,
      crashes: crashes + 1,
      delayMs: 0,
      fault: null,
    }),
  });
}
