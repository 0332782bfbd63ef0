import { describe, expect, test } from "vitest";
import { defineJob, periodic, schedule, typed, type Timing } from "../../src/index.ts";
import { createTestMill, type TestMill } from "../../src/testing/index.ts";
import { openTest } from "./support.ts";

/** Midnight of a Monday. */
const START = Date.UTC(2026, 0, 5);
/** Between two slots. Heartbeats make long virtual times slow. */
const STEP = 300_000;
const often = (when: Partial<Timing> = {}) =>
  schedule("often", { cron: "*/5 * * * *", ...when }, tick, { n: 1 });
const tick = defineJob({ type: "tick", payload: typed<{ n: number }>() }).run(() => {});

/** When the ticks of a schedule were, in steps since the start, and what came of them. */
async function ticksOf({ mill }: TestMill, name = "often"): Promise<[number, string][]> {
  const ticks = await mill.schedules.history(name, { limit: 100 });
  return ticks.toReversed().map(({ slot, outcome }) => [(+slot - START) / STEP, outcome]);
}

describe("a worker with schedules (000-54)", () => {
  test("enqueues a job at each slot, and runs it", async () => {
    await using kit = await createTestMill({ startAt: START + 1 });
    kit.mill.work({ jobs: [tick], schedules: [often()] });

    await kit.advance(5 * STEP);

    expect(await ticksOf(kit)).toEqual([1, 2, 3, 4, 5].map((step) => [step, "made"]));
    const { jobs } = await kit.mill.jobs.list({ type: "tick" });
    expect(jobs.map(({ state }) => state)).toEqual(Array(5).fill("completed"));
    expect(jobs[0]).toMatchObject({ payload: { n: 1 }, createdBy: "schedule often" });
    expect(jobs.map(({ createdAt }) => (+createdAt - START) / STEP)).toEqual([5, 4, 3, 2, 1]);
  });

  test("retries a periodic job once, and the next tick does what was left (000-41)", async () => {
    await using kit = await createTestMill({ startAt: START, preset: periodic });
    const left = ["a", "b"];
    let isDown = true;
    const sweep = defineJob({ type: "sweep" }).run(() => {
      if (isDown) throw new Error("the storage is down");
      left.length = 0;
    });
    kit.mill.work({
      jobs: [sweep],
      schedules: [schedule("sweep", { cron: "*/5 * * * *" }, sweep)],
    });

    await kit.advance(1.5 * STEP);
    const { jobs } = await kit.mill.jobs.list({ type: "sweep" });
    expect(jobs).toMatchObject([{ state: "failed", attempts: 2 }]);
    expect(left).toEqual(["a", "b"]);
    isDown = false;
    await kit.advance(STEP);

    const later = await kit.mill.jobs.list({ type: "sweep" });
    expect(later.jobs).toMatchObject([
      { state: "completed", attempts: 1 },
      { state: "failed", attempts: 2 },
    ]);
    expect(left).toEqual([]);
  });

  test("three workers make one job per slot", async () => {
    await using kit = await createTestMill({ startAt: START });
    for (let n = 0; n < 3; n += 1) kit.mill.work({ jobs: [tick], schedules: [often()] });

    await kit.advance(10 * STEP);

    expect(await kit.mill.jobs.count({ type: "tick" })).toMatchObject({ count: 10 });
  });

  test("ticks schedules of operators, and none of code that it does not declare", async () => {
    await using kit = await createTestMill({ startAt: START });
    const first = kit.mill.work({ jobs: [tick], schedules: [often()] });
    await kit.settled();
    await first.stop();
    kit.mill.work({ jobs: [tick] });
    await kit.settled();
    await kit.mill.schedules.create(schedule("own", { cron: "30 2-59/5 * * * *" }, tick, { n: 2 }));

    await kit.advance(2 * STEP);

    expect(await ticksOf(kit)).toEqual([]);
    expect(await ticksOf(kit, "own")).toEqual([
      [0.5, "made"],
      [1.5, "made"],
    ]);
    expect(await kit.mill.schedules.get("often")).toMatchObject({
      isDeclared: false,
      nextRuns: [],
    });
  });

  test("says that it still declares its schedules", async () => {
    await using kit = await createTestMill({ startAt: START });
    kit.mill.work({ jobs: [tick], schedules: [often({ cron: "@yearly" })] });

    await kit.advance("10m");

    expect(await kit.mill.schedules.get("often")).toMatchObject({ isDeclared: true });
    await expect(kit.mill.schedules.remove("often")).rejects.toMatchObject({
      code: "SCHEDULE_OWNED_BY_CODE",
    });
  });

  test("declares a schedule again that was removed", async () => {
    await using kit = await createTestMill({ startAt: START });
    kit.mill.work({ jobs: [tick], schedules: [often()] });
    await kit.settled();
    const { store } = Reflect.get(kit.mill, "parts");
    const { confirmSchedules } = store;
    // The worker is not heard for more than five minutes.
    store.confirmSchedules = async () => [];
    await kit.advance(1.5 * STEP);
    await kit.mill.schedules.remove("often");
    store.confirmSchedules = confirmSchedules.bind(store);

    await kit.advance(STEP);

    expect(await kit.mill.schedules.get("often")).toMatchObject({ isDeclared: true });
    expect(await ticksOf(kit)).toEqual([[2, "made"]]);
  });

  test.each<[NonNullable<Timing["missed"]>, [number, string][]]>([
    ["skip", [[9, "missed"]]],
    [
      "once",
      [
        [8, "missed"],
        [9, "made"],
      ],
    ],
    [
      { all: 3 },
      [
        [6, "missed"],
        [7, "made"],
        [8, "made"],
        [9, "made"],
      ],
    ],
  ])("after an outage, missed: %j", async (missed, expected) => {
    await using kit = await createTestMill({ startAt: START + 1 });
    const schedules = [often({ missed })];
    await kit.drain([tick], { schedules });
    await kit.advance(9.5 * STEP);

    await kit.drain([tick], { schedules });

    expect(await ticksOf(kit)).toEqual(expected);
  });

  test("overlap: skip waits for the job of the slot before, queue and replace do not", async () => {
    const outcomes: Record<string, [number, string][]> = {};
    for (const overlap of ["skip", "queue", "replace"] as const) {
      await using kit = await createTestMill({ startAt: START });
      // No slot for this type: its jobs wait.
      const other = defineJob({ type: "other" }).run(() => {});
      kit.mill.work({ jobs: [other], schedules: [often({ overlap })] });
      await kit.advance(3 * STEP);
      outcomes[overlap] = await ticksOf(kit);
      const { count } = await kit.mill.jobs.count({ type: "tick", state: "queued" });
      expect(count).toBe(overlap === "queue" ? 3 : 1);
    }
    const all = (outcome: string) => [1, 2, 3].map((step) => [step, outcome]);
    expect(outcomes).toEqual({
      skip: [
        [1, "made"],
        [2, "skipped"],
        [3, "skipped"],
      ],
      queue: all("made"),
      replace: all("made"),
    });
  });

  test("a pause survives a deploy, and its slots are left out", async () => {
    await using kit = await createTestMill({ startAt: START });
    const worker = kit.mill.work({ jobs: [tick], schedules: [often({ missed: { all: 9 } })] });
    await kit.settled();
    await kit.mill.schedules.pause("often", "a bug", { actor: "ada" });
    await kit.advance(2 * STEP);
    await worker.stop();
    kit.mill.work({ jobs: [tick], schedules: [often({ missed: { all: 8 } })] });
    await kit.advance(2 * STEP);
    expect(await ticksOf(kit)).toEqual([]);

    expect(await kit.mill.schedules.resume("often")).toEqual({ wasPaused: true });
    await kit.advance(STEP);

    expect(await ticksOf(kit)).toEqual([[5, "made"]]);
  });

  test("runs although another tenant has paused a schedule of the same name", async () => {
    const warnings: unknown[] = [];
    const warn = (...args: unknown[]) => warnings.push(args);
    const logger = { debug() {}, info() {}, warn, error() {} };
    await using kit = await createTestMill({ startAt: START, logger });
    const acme = kit.mill.forTenant("acme").schedules;
    await acme.create(often(), { actor: "mallory" });
    await acme.pause("often", "mine", { actor: "mallory" });
    kit.mill.work({ jobs: [tick], schedules: [often()] });

    await kit.advance(2 * STEP);

    expect(await ticksOf(kit)).toHaveLength(2);
    expect(await kit.mill.schedules.get("often")).toMatchObject({ pausedBy: null });
    expect(JSON.stringify(warnings)).toContain('"schedule":"often"');
    await expect(acme.get("often")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
  });

  test("jitter delays the job, not its slot", async () => {
    await using kit = await createTestMill({ startAt: START });
    kit.mill.work({ jobs: [tick], schedules: [often({ jitter: "4m" })] });

    await kit.advance(10 * STEP);

    const { jobs } = await kit.mill.jobs.list({ type: "tick" });
    const delays = jobs.map(({ startedAt }) => Number(startedAt) % STEP);
    expect(Math.max(...delays)).toBeGreaterThan(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(240_000);
    expect((await ticksOf(kit)).map(([step]) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("start and end bound the slots", async () => {
    await using kit = await createTestMill({ startAt: START });
    const [start, end] = [new Date(START + 2 * STEP), new Date(START + 4 * STEP)];
    kit.mill.work({ jobs: [tick], schedules: [often({ start, end })] });

    await kit.advance(9 * STEP);

    expect((await ticksOf(kit)).map(([step]) => step)).toEqual([2, 3, 4]);
    expect(await kit.mill.schedules.get("often")).toMatchObject({ nextRuns: [], start, end });
  });

  test("makes due slots in their order, some at the same time", async () => {
    await using kit = await createTestMill({ startAt: START });
    // The first slot of all is that of the code, whose name comes last.
    const own = schedule("z", { cron: "4 */5 * * * *" }, tick, { n: 1 });
    await kit.drain([tick], { schedules: [own] });
    for (let n = 0; n < 6; n += 1) {
      const when = { cron: `${n + 5} */5 * * * *` };
      await kit.mill.schedules.create(schedule(`a${9 - n}`, when, tick, { n }));
    }
    const { store } = Reflect.get(kit.mill, "parts");
    const tickSchedule = store.tickSchedule.bind(store);
    const [order, atOnce] = [[] as string[], [0]];
    let running = 0;
    store.tickSchedule = async (name: string, decide: unknown) => {
      order.push(name);
      atOnce.push((running += 1));
      const ticks = await tickSchedule(name, decide);
      running -= 1;
      return ticks;
    };
    await kit.advance(20_000);

    await kit.drain([tick], { schedules: [own] });

    expect(order).toEqual(["z", "a9", "a8", "a7", "a6", "a5", "a4"]);
    expect(Math.max(...atOnce)).toBe(4);
  });

  test("a schedule that cannot be computed here stops no other", async () => {
    const errors: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (...args: unknown[]) => errors.push(args),
    };
    await using kit = await createTestMill({ startAt: START, logger });
    kit.mill.work({ jobs: [tick], schedules: [often()] });
    await kit.settled();
    const broken = { cron: "*/5 * * * *", timeZone: "UTC" };
    await kit.mill.schedules.create(schedule("broken", broken, tick, { n: 2 }));
    const { store } = Reflect.get(kit.mill, "parts");
    const tickSchedule = store.tickSchedule.bind(store);
    store.tickSchedule = (name: string, decide: unknown) =>
      name === "broken" ? Promise.reject(new Error("no such zone")) : tickSchedule(name, decide);

    await kit.advance(2 * STEP);

    expect(await ticksOf(kit)).toHaveLength(2);
    expect(JSON.stringify(errors)).toContain("cannot make the job of a schedule");
  });
});

describe("work({ schedules })", () => {
  test.each<[unknown, string]>([
    ["nightly", 'schedules must be a list, not "nightly"'],
    [[{}], "schedules[0] must be made with schedule, not an object"],
    [[often(), often()], 'schedules has "often" twice'],
  ])("refuses %j", async (schedules, message) => {
    await using kit = await createTestMill();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What JavaScript may pass.
    const options = { jobs: [tick], schedules: schedules as never };
    expect(() => kit.mill.work(options)).toThrow(`work: ${message}`);
  });

  test("refuses a payload that the job does not take", async () => {
    await using kit = await createTestMill();
    const none = defineJob({ type: "none" }).run(() => {});
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What JavaScript may pass.
    const wrong = schedule("wrong", { cron: "@daily" }, none, 5 as never);
    expect(() => kit.mill.work({ jobs: [none], schedules: [wrong] })).toThrow("takes no payload");
  });
});

describe("mill.schedules", () => {
  test("changes what an operator made, and refuses what code owns", async () => {
    await using kit = await createTestMill({ startAt: START });
    const { schedules } = kit.mill;
    kit.mill.work({ jobs: [tick], schedules: [often()] });
    await kit.settled();
    const own = schedule("own", { cron: "@daily", missed: { all: 4 } }, tick, { n: 2 });
    await schedules.create(own, { actor: "ada" });

    const changed = await schedules.update("own", { cron: "0 6 * * *", timeZone: "Asia/Tokyo" });

    expect(changed).toMatchObject({
      owner: "operator",
      description: "every day at 06:00 Asia/Tokyo",
      missed: { all: 4 },
      createdBy: "ada",
      type: "tick",
    });
    expect(changed.nextRuns[0]).toEqual(new Date("2026-01-05T21:00:00Z"));
    expect((await schedules.list()).map(({ name }) => name)).toEqual(["often", "own"]);
    await expect(schedules.create(own)).rejects.toMatchObject({ code: "SCHEDULE_EXISTS" });
    for (const change of [
      () => schedules.update("often", { cron: "@daily" }),
      () => schedules.create(often()),
      () => schedules.remove("often"),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "SCHEDULE_OWNED_BY_CODE" });
    }
    await expect(schedules.update("own", { cron: "61 * * * *" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    await schedules.remove("own");
    await expect(schedules.get("own")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
  });

  test("runs a schedule now", async () => {
    await using kit = await createTestMill({ startAt: START });
    await kit.mill.schedules.create(often());

    const { id, created } = await kit.mill.schedules.runNow("often");

    expect(created).toBe(true);
    await kit.drain([tick]);
    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed", payload: { n: 1 } });
    expect(await kit.mill.schedules.history("often")).toMatchObject([
      { outcome: "run_now", jobId: id },
    ]);
    for (const call of [
      () => kit.mill.schedules.runNow("other"),
      () => kit.mill.schedules.pause("other", "a bug"),
      () => kit.mill.schedules.resume("other"),
      () => kit.mill.schedules.history("other"),
      () => kit.mill.schedules.remove("other"),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
    }
  });

  test("a tenant has its own schedules only", async () => {
    await using kit = await createTestMill({ startAt: START });
    const acme = kit.mill.forTenant("acme").schedules;
    await kit.mill.schedules.create(often());
    await acme.create(schedule("ours", { cron: "@daily" }, tick, { n: 3 }));

    expect((await acme.list()).map(({ name, tenant }) => [name, tenant])).toEqual([
      ["ours", "acme"],
    ]);
    await expect(acme.get("often")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
    await expect(acme.pause("often", "mine")).rejects.toMatchObject({
      code: "SCHEDULE_NOT_FOUND",
    });
    await expect(acme.create(often())).rejects.toMatchObject({ code: "SCHEDULE_EXISTS" });
  });

  test("answers a schedule as it was made when another call removes it meanwhile", async () => {
    await using kit = await openTest();
    const usual = await kit.mill.schedules.create(often(), { actor: "ada" });
    await kit.mill.schedules.remove("often");
    const read = kit.store.schedule.bind(kit.store);
    Reflect.set(kit.store, "schedule", async (name: string) => {
      await kit.store.removeSchedule(name);
      return read(name);
    });

    expect(await kit.mill.schedules.create(often(), { actor: "ada" })).toEqual(usual);
  });
});
