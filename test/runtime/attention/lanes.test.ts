import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const held = defineJob({ type: "held", lane: "fast" }).run(() => {});
const long = defineJob({ type: "long", lane: "fast" }).run((_, ctx) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  ctx.signal.addEventListener("abort", () => resolve());
  return promise;
});

const NONE = { count: 0, atLeast: false };
const EMPTY = {
  running: 0,
  waiting: NONE,
  held: NONE,
  oldestAgeMs: null,
  pause: null,
  fair: false,
};

describe("mill.lanes.list", () => {
  test("answers nothing where neither jobs nor workers are", async () => {
    await using kit = await openTest();

    expect(await kit.mill.lanes.list()).toEqual([]);
  });

  test("shows slots, jobs and the age of the oldest waiting job by lane", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.pause({ type: "held" }, "a bug");
    await mill.enqueueMany([held.of(), held.of()]);
    await kit.advance("10s");
    mill.work({ jobs: [long, held], lanes: { fast: 2, general: 1 } });
    mill.work({ jobs: [long], lanes: { fast: 1 } });
    await mill.enqueueMany([long.of(), long.of(), long.of(), long.of(), long.of()]);
    await kit.advance("30s");

    expect(await mill.lanes.list()).toEqual([
      {
        ...EMPTY,
        lane: "fast",
        slots: 3,
        running: expect.any(Number),
        waiting: { count: expect.any(Number), atLeast: false },
        held: { count: 2, atLeast: false },
        oldestAgeMs: expect.toSatisfy((ms: number) => ms >= 29_000 && ms <= 31_000),
        targetMs: 120_000,
        workers: 2,
      },
      { ...EMPTY, lane: "general", slots: 1, targetMs: 300_000, workers: 1 },
    ]);
    const [fast] = await mill.lanes.list();
    // A general slot runs a job of the lane as well.
    expect((fast?.running ?? 0) + (fast?.waiting.count ?? 0)).toBe(5);
    expect(fast?.running).toBeGreaterThanOrEqual(4);
  });

  test("shows a pause, fairness and a lane that no worker takes", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    mill.work({ jobs: [long], lanes: { fast: 1 } });
    await kit.advance("1s");
    await mill.pause({ lane: "slow" }, "the disk is full", { actor: "ada" });
    await mill.fairness.set("slow");

    const slow = (await mill.lanes.list()).find(({ lane }) => lane === "slow");

    expect(slow).toEqual({
      ...EMPTY,
      lane: "slow",
      slots: 0,
      targetMs: 300_000,
      pause: {
        reason: "the disk is full",
        pausedBy: "ada",
        pausedAt: expect.any(Date),
        until: null,
      },
      fair: true,
      workers: 0,
    });
  });

  test("counts the slots of workers that are alive and claim jobs", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const worker = mill.work({ jobs: [long], lanes: { fast: 4 } });
    await worker.ready;
    await mill.enqueue(defineJob({ type: "other", lane: "fast" }));
    await mill.workers.quiet(worker.id);

    expect(await mill.lanes.list()).toMatchObject([{ lane: "fast", slots: 0, workers: 0 }]);
  });
});
