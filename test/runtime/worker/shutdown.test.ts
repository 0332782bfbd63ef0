import { defineJob, openMillrace, type Millrace, type Worker } from "millrace";
import { describe, expect, test, vi } from "vitest";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { latch, openTest, untilAborted, withBuffer } from "../support.ts";

describe("stopping a worker", () => {
  test("begins nothing new and lets jobs end in time (001-39, 004-05, 004-36)", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await end.passed;
      return ctx.signal.aborted;
    });
    const running = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    await kit.settled();
    const waiting = await kit.mill.enqueue(job);

    const stopped = outcomeOf(worker.stop({ grace: "20s" }));
    await kit.advance("19s");
    end.open();
    await kit.settled();

    expect(await stopped).toBe("stopped");
    expect(await kit.mill.result(running)).toBe(false);
    expect(await kit.mill.jobs.get(waiting.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.mill.workers.list()).toEqual([]);
  });

  test("keeps the heart beating during the grace, however short the lease", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(() => end.passed);
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job], lease: "3s" });
    await kit.settled();
    const other = defineJob({ type: "other" }).run(() => {});
    kit.mill.work({ jobs: [other], lease: "3s" });

    const stopped = outcomeOf(worker.stop({ grace: "1m" }));
    await kit.advance("50s");
    end.open();
    await kit.settled();

    expect(await stopped).toBe("stopped");
    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
  });

  test("aborts what has not ended by then and hands it back uncharged (001-39)", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run((_, ctx) =>
      untilAborted(ctx.signal),
    );
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();

    const stopped = outcomeOf(worker.stop({ grace: "20s" }));
    await kit.advance(19_999);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "running" });
    await kit.advance(1);

    expect(await stopped).toBe("stopped");
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted"]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("twenty times in a run costs no attempt (004-05)", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", maxAttempts: 1 }).run((_, ctx) =>
      untilAborted(ctx.signal),
    );
    const enqueued = await kit.mill.enqueue(job);

    for (let deploy = 0; deploy < 20; deploy += 1) {
      const worker = kit.mill.work({ jobs: [job] });
      await kit.settled();
      const stopped = outcomeOf(worker.stop({ grace: "1s" }));
      await kit.advance("1s");
      expect(await stopped).toBe("stopped");
    }

    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.outcomes(enqueued)).toHaveLength(20);
  });

  test("with a handler that is deaf cleans up, then throws (001-39, 001-40)", async () => {
    await using kit = await openTest();
    const end = latch();
    const deaf = defineJob({ type: "deaf", maxAttempts: 1 }).run(() => end.passed);
    const enqueued = await kit.mill.enqueue(deaf);
    const worker = kit.mill.work({ jobs: [deaf] });
    await kit.settled();

    const stopped = outcomeOf(worker.stop({ grace: "20s" }));
    await kit.advance("24s");
    expect(await kit.mill.workers.list()).toHaveLength(1);
    await kit.advance("1s");

    expect(await stopped).toBe("STOP_TIMED_OUT");
    expect(await kit.mill.workers.list()).toEqual([]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "queued", attempts: 0 });
    end.open();
    await kit.settled();
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted"]);
  });

  test("gives jobs that only lay in its buffer back at once", async () => {
    await using kit = await openTest();
    const { worker, running, end, ran } = await withBuffer(kit);

    const stopped = outcomeOf(worker.stop());
    await kit.settled();

    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 1 });
    end.open();
    await kit.settled();
    expect(await stopped).toBe("stopped");
    expect(ran).toEqual([0, 1]);
    expect(await kit.mill.jobs.get(running.id)).toMatchObject({ state: "completed" });
  });

  test("does not first work off a backlog (001-13)", async () => {
    await using kit = await openTest();
    let runs = 0;
    const job = defineJob({ type: "job" }).run(() => {
      runs += 1;
      if (runs === 5) void worker.stop();
    });
    await kit.mill.enqueueMany(Array.from({ length: 1_000 }, () => job.of()));
    const worker = kit.mill.work({ jobs: [job], lanes: { general: 1 } });

    await kit.settled();

    expect(runs).toBeLessThan(20);
    const { queued, running } = await kit.mill.jobs.stats();
    expect(queued).toBe(1_000 - runs);
    expect(running).toBe(0);
  });

  test("twice is one stop", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => {});
    const worker = kit.mill.work({ jobs: [job] });

    await Promise.all([worker.stop(), worker.stop()]);

    expect(await kit.mill.workers.list()).toEqual([]);
  });

  test("right after its start leaves nothing behind", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => {});
    await kit.mill.enqueue(job);

    await kit.mill.work({ jobs: [job] }).stop();

    expect(await kit.mill.workers.list()).toEqual([]);
    expect(kit.clock.pending).toBe(0);
  });

  test("leaves no timer behind that would keep the process alive (001-13)", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(() => end.passed);
    await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();

    const stopped = worker.stop();
    await kit.settled();
    end.open();
    await stopped;

    expect(kit.clock.pending).toBe(0);
  });

  test("and the store leaves a handler that ends later in peace", async () => {
    const kit = await openTest();
    const end = latch();
    const deaf = defineJob({ type: "deaf" }).run(() => end.passed);
    await kit.mill.enqueue(deaf);
    kit.mill.work({ jobs: [deaf] });
    await kit.settled();
    await kit[Symbol.asyncDispose]();

    end.open();
    await kit.settled();

    expect(kit.clock.pending).toBe(0);
    expect(kit.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("retention that never gets an answer", () => {
  const ends: [string, (mill: Millrace, worker: Worker) => Promise<void>][] = [
    ["stop of its worker", (_, worker) => worker.stop()],
    ["close of its mill", (mill) => mill.close()],
  ];
  test.each(ends)("does not hold up the %s for ever", async (_, end) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const store = makeSqliteStore({ path: ":memory:" });
      const asked = latch();
      Reflect.set(store, "prune", () => (asked.open(), new Promise(() => {})));
      const mill = await openMillrace(store);
      const worker = mill.work({ jobs: [defineJob({ type: "job" }).run(() => {})] });
      await asked.passed;

      const outcomes: unknown[] = [];
      void outcomeOf(end(mill, worker)).then((word) => outcomes.push(word));
      for (let second = 0; outcomes.length === 0 && second < 60; second += 1) {
        await vi.advanceTimersByTimeAsync(1_000);
      }

      expect(outcomes).toEqual(["stopped"]);
      expect(vi.getTimerCount()).toBe(0);
      await mill.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

/** How a stop ended, as a word. */
async function outcomeOf(stop: Promise<void>): Promise<unknown> {
  try {
    await stop;
    return "stopped";
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}
