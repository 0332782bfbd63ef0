import { defineJob, NonRetryableError } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const email = defineJob({ type: "email" }).run(() => {});
const broken = defineJob({ type: "broken", lane: "fast" }).run(() => {
  throw new NonRetryableError("no");
});

describe("mill.metrics.read (004-11)", () => {
  test("has counts, throughput, error rate and quantiles by type and lane", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    for (let index = 0; index < 3; index += 1) await mill.enqueue(email);
    await mill.enqueue(broken);
    await kit.advance("10s");
    await kit.drain([email, broken]);

    const { total, groups, cutShort } = await mill.metrics.read();

    expect(cutShort).toBe(false);
    expect(total).toMatchObject({ runs: 4, errorRate: 0.25 });
    expect(total.outcomes).toMatchObject({ succeeded: 3, failed: 1, crashed: 0 });
    expect(groups.map(({ type, lane, runs, errorRate }) => [type, lane, runs, errorRate])).toEqual([
      ["broken", "fast", 1, 1],
      ["email", "general", 3, 0],
    ]);
    for (const { wait } of groups) {
      expect(Math.abs(wait.p99! - wait.mean!)).toBeLessThanOrEqual(wait.mean! / 16);
      expect(wait.mean).toBeGreaterThanOrEqual(10_000);
    }
  });

  test("counts the part of a step that has passed", async () => {
    await using kit = await openTest();
    const { mill, clock } = kit;
    await kit.advance(60_000 - (clock.now() % 60_000));
    const from = clock.now();
    for (let index = 0; index < 6; index += 1) await mill.enqueue(email);
    await kit.drain([email]);
    await kit.advance(from + 90_000 - clock.now());

    const { groups, total, fromAt, toAt } = await mill.metrics.read({ from, step: "1m" });

    expect([fromAt.getTime(), toAt.getTime()]).toEqual([from, from + 120_000]);
    expect(total.perSecond).toBeCloseTo(6 / 90);
    expect(groups).toMatchObject([{ at: new Date(from), runs: 6 }]);
    expect(groups[0]?.perSecond).toBeCloseTo(6 / 60);
  });

  test("has the quantiles of each step over all types and lanes", async () => {
    await using kit = await openTest();
    const { mill, clock } = kit;
    await kit.advance(60_000 - (clock.now() % 60_000));
    const from = clock.now();
    for (let index = 0; index < 3; index += 1) await mill.enqueue(email);
    await kit.advance("10s");
    await mill.enqueue(broken);
    await kit.drain([email, broken]);
    await kit.advance("2m");
    await mill.enqueue(email);
    await kit.drain([email]);

    const stepped = await mill.metrics.read({ from, step: "1m" });
    const whole = await mill.metrics.read({ from });

    expect(stepped.steps.map(({ at, runs }) => [at.getTime() - from, runs])).toEqual([
      [0, 4],
      [120_000, 1],
    ]);
    const [first] = stepped.steps;
    expect(first?.errorRate).toBe(0.25);
    expect(first?.wait.p50).toBeGreaterThan(9_000);
    expect(first?.wait.mean).toBe(7_500);
    expect(whole.steps).toEqual([]);
  });

  test("has no figures where no run ended", async () => {
    await using kit = await openTest();

    const { total, groups } = await kit.mill.metrics.read({ type: "fax" });

    expect(groups).toEqual([]);
    const none = { mean: null, p50: null, p95: null, p99: null };
    expect(total).toMatchObject({ runs: 0, perSecond: 0, errorRate: null, wait: none, run: none });
  });

  test("keeps the figures of jobs that were removed, until their own time is over", async () => {
    await using kit = await openTest();
    const { mill, clock } = kit;
    const from = clock.now();
    const { id } = await mill.enqueue(email);
    await kit.drain([email]);
    const read = async (): Promise<number> => (await mill.metrics.read({ from })).total.runs;
    const sweep = async (): Promise<void> => {
      await using worker = mill.work({ jobs: [email] });
      await worker.ready;
      await kit.advance("2m");
    };
    await kit.advance("8d");
    await sweep();
    await expect(mill.jobs.get(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect(await read()).toBe(1);

    await kit.advance("23d");
    await sweep();

    expect(await read()).toBe(0);
  });

  test.each([
    [{ step: "90s" }, "whole minutes"],
    [{ step: "1s" }, "step"],
    [{ from: 0, step: "1m" }, "at most 1500 steps"],
    [{ from: 2_000_000, to: 1_000_000 }, "from is after to"],
    [{ typ: "email" }, "typ"],
  ])("refuses %j", async (query, problem) => {
    await using kit = await openTest();

    const reading = kit.mill.metrics.read(query as object);

    await expect(reading).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(problem),
    });
  });
});
