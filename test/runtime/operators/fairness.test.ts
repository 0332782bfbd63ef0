import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { wait } from "../../../src/core/clock.ts";
import { countCalls, openTest, unchecked, type RuntimeTest } from "../support.ts";

/** A type whose jobs take a second of virtual time, and the tenants of those that started. */
function seen(kit: RuntimeTest) {
  const starts: string[] = [];
  const job = defineJob({ type: "report", payload: typed<string>() }).run(async (name) => {
    starts.push(name);
    await wait(kit.clock, 1_000);
  });
  const enqueue = async (tenant: string, count: number, options = {}): Promise<void> => {
    const requests = Array.from({ length: count }, () => job.of(tenant, { tenant, ...options }));
    await kit.mill.enqueueMany(requests);
  };
  return { job, starts, enqueue };
}

/** How many jobs have started before the first one of a tenant. */
function startedBefore(starts: readonly string[], tenant: string): number {
  return starts.includes(tenant) ? starts.indexOf(tenant) : Infinity;
}

describe("a fair lane", () => {
  test.each([
    ["starts it within a few jobs", { slots: 2, fair: true }, true],
    ["that is not fair starts it at the end", { slots: 2 }, false],
  ])("behind a flood, a job of another tenant: a lane %s", async (_, general, isSoon) => {
    await using kit = await openTest();
    const { job, starts, enqueue } = seen(kit);
    await enqueue("flood", 1_000);
    kit.mill.work({ jobs: [job], lanes: { general } });
    await kit.advance("2s");
    const before = starts.length;
    await enqueue("small", 1);

    await kit.advance("20s");

    expect(startedBefore(starts, "small") - before <= 10).toBe(isSoon);
    expect(starts.includes("small")).toBe(isSoon);
  });

  test("gives tenants shares by their weights, set while the worker runs", async () => {
    await using kit = await openTest();
    const { job, starts, enqueue } = seen(kit);
    kit.mill.work({ jobs: [job], lanes: { general: 4 } });
    await kit.mill.fairness.set("general", { weights: { acme: 3 } }, { actor: "ada" });
    await enqueue("beta", 200);
    await enqueue("acme", 200);
    await kit.advance("2s");
    starts.length = 0;

    await kit.advance("20s");

    const acme = starts.filter((tenant) => tenant === "acme").length;
    expect(starts.length).toBeGreaterThan(70);
    expect(acme / starts.length).toBeGreaterThan(0.7);
    expect(acme / starts.length).toBeLessThan(0.8);
  });

  test("is declared by the code of a worker, and by the last one", async () => {
    await using kit = await openTest();
    const { job } = seen(kit);
    const first = kit.mill.work({
      jobs: [job],
      lanes: { general: { slots: 1, fair: { weights: { acme: 3 } } }, bulk: { slots: 1 } },
    });
    await kit.settled();
    expect(await kit.mill.fairness.list()).toMatchObject([
      { lane: "general", weights: { acme: 3 }, owner: "code", setBy: null },
    ]);
    await first.stop();
    kit.mill.work({ jobs: [job], lanes: { general: { slots: 1, fair: false } } });
    await kit.settled();
    expect(await kit.mill.fairness.list()).toEqual([]);
  });

  test.each([
    ["the default lanes", {}],
    ["a number of slots", { lanes: { general: 1 } }],
    ["another option", { lanes: { general: { slots: 1, ageing: "10m" } } }],
  ] as const)("stays fair when a worker with %s joins", async (_, options) => {
    await using kit = await openTest();
    const { job } = seen(kit);
    kit.mill.work({ jobs: [job], lanes: { general: { slots: 1, fair: true } } });
    await kit.settled();
    kit.mill.work({ jobs: [job], ...options });
    await kit.settled();

    expect(await kit.mill.fairness.list()).toMatchObject([{ lane: "general", owner: "code" }]);
  });

  test("is a reason to give turns, and no other lane is", async () => {
    await using kit = await openTest();
    const { job, enqueue } = seen(kit);
    const calls = countCalls(kit.store, "giveTurns");
    kit.mill.work({ jobs: [job], lanes: { general: 2 } });
    await enqueue("acme", 20);
    await kit.advance("30s");
    expect(calls["giveTurns"]).toBe(0);

    await kit.mill.fairness.set("general");
    await enqueue("acme", 20);
    await kit.advance("2s");
    expect(calls["giveTurns"]).toBeGreaterThan(0);
  });

  test("is told by explain, with the weight of the tenant and the jobs before", async () => {
    await using kit = await openTest();
    const { job, enqueue } = seen(kit);
    await kit.mill.fairness.set("general", { weights: { acme: 3, beta: 2 } });
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    await enqueue("flood", 50);
    await kit.advance("100ms");
    const { id } = await kit.mill.enqueue(job, "acme", { tenant: "acme" });
    await kit.advance("100ms");

    const { details } = await kit.mill.jobs.explain(id);
    expect(details).toMatchObject({ lane: "general", fair: { weight: 3 } });
    expect(details).toHaveProperty("ahead.count", expect.any(Number));
    const told = await kit.mill.forTenant("acme").jobs.explain(id);
    expect(told.details).toMatchObject({ fair: { weight: 3 } });
    expect(await kit.mill.forTenant("acme").fairness.list()).toMatchObject([
      { weights: { acme: 3 } },
    ]);
  });
});

describe("ageing", () => {
  test.each([
    [{ slots: 1, ageing: "10s" }, 3],
    [{ slots: 1 }, 0],
  ] as const)("in the lane %j starts so many old jobs: %d", async (general, old) => {
    await using kit = await openTest();
    const { job, starts, enqueue } = seen(kit);
    await enqueue("low", 3, { priority: 900 });
    await kit.advance("11s");
    await enqueue("urgent", 60);
    kit.mill.work({ jobs: [job], lanes: { general } });

    await kit.advance("40s");

    expect(starts.length).toBeGreaterThan(30);
    expect(startedBefore(starts, "low")).toBeGreaterThanOrEqual(9);
    expect(starts.slice(0, 34).filter((tenant) => tenant === "low")).toHaveLength(old);
  });
});

describe("the options of a lane", () => {
  test.each([
    [{ general: { slots: -1 } }, "slots"],
    [{ general: { slots: 1, fare: true } }, "fare"],
    [{ general: { slots: 1, fair: { weights: { acme: 0 } } } }, "acme"],
    [{ general: { slots: 1, fair: { weights: { acme: 1.5 } } } }, "acme"],
    [{ general: { slots: 1, fair: { weights: { acme: 1_001 } } } }, "acme"],
    [{ general: { slots: 1, fair: { weights: 5 } } }, "weights"],
    [{ general: { slots: 1, fair: { wieghts: { acme: 3 } } } }, "did you mean weights?"],
    [{ general: { slots: 1, fair: null } }, "lanes.general.fair must be true, false or"],
    [{ general: { slots: 1, ageing: "soon" } }, "ageing"],
  ])("refuses %j", async (lanes, named) => {
    await using kit = await openTest();
    const { job } = seen(kit);

    const work = (): unknown => kit.mill.work({ jobs: [job], lanes: unchecked(lanes) });

    expect(work).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(work).toThrow(named);
  });

  test.each([
    ["general", { weights: { acme: 0 } }],
    ["", {}],
    ["general", { weight: { acme: 1 } }],
    ["general", { weights: { "": 1 } }],
  ])("fairness.set refuses %j %j", async (lane, rule) => {
    await using kit = await openTest();

    await expect(kit.mill.fairness.set(lane, unchecked(rule))).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });
});
