import { describe, expect, test } from "vitest";
import { defineJob, openMillrace } from "../index.ts";
import type { Millrace } from "../index.ts";
import { archive, digest, email, invoice, publish, report, sync, thumbnail } from "./jobs.ts";
import { demoJobs, runDemo, startProducer, type DemoWorld } from "./run.ts";

const STEP_MS = 500;
const STEPS_PER_ROUND = 60;
const STEPS_TO_REVIEW = 120;

describe("the demo's producer", () => {
  test("makes a job of every type in one round", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const world = new PlannedWorld();
    startProducer(mill, world);

    for (let n = 0; n < STEPS_PER_ROUND; n += 1) (await world.plan(STEP_MS))();
    await world.plan(STEP_MS);

    const { jobs } = await mill.jobs.list({ limit: 100 });
    expect(jobs).toHaveLength(STEPS_PER_ROUND);
    const editions = jobs.flatMap(
      ({ payload }) => JSON.stringify(payload).match(/edition":(\d+)/)?.[1] ?? [],
    );
    // Every fifth one has a page that cannot be rendered.
    expect(new Set(editions.map(Number))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(new Set(jobs.map(({ type }) => type))).toEqual(
      new Set(demoJobs.map(({ type }) => type)),
    );
    expect(world.failures).toEqual([]);
  });

  test.each([
    [200, 201],
    [201, 201],
  ])("finds %i waiting jobs and leaves %i", async (before, after) => {
    await using mill = await openMillrace("sqlite::memory:");
    await fill(mill, before);
    const world = new PlannedWorld();
    startProducer(mill, world);

    (await world.plan(STEP_MS))();
    await world.plan(STEP_MS);

    expect((await mill.jobs.stats()).queued).toBe(after);
  });

  test("calls one job off", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const world = new PlannedWorld();
    startProducer(mill, world);
    const cancelled = new Promise<string>((resolve) => {
      mill.on("job:cancelled", ({ id }) => resolve(id));
    });
    for (let n = 0; n < STEPS_PER_ROUND; n += 1) (await world.plan(STEP_MS))();

    (await world.plan(3_000))();

    expect(await mill.jobs.get(await cancelled)).toMatchObject({
      type: archive.type,
      state: "cancelled",
      cancelReason: "the export is no longer needed",
    });
  });

  test("arranges a limit, a quota, views, schedules and tokens, once", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    for (const _ of ["first start", "second start"]) {
      const world = new PlannedWorld();
      const producer = startProducer(mill, world);
      (await world.plan(STEP_MS))();
      await world.plan(STEP_MS);
      expect(world.failures).toEqual([]);
      await producer.stop();
    }

    expect(await mill.limits.list()).toHaveLength(2);
    expect(await mill.tenants.get("acme")).toMatchObject({ quota: { waiting: 5_000 } });
    expect((await mill.views.list()).map(({ name }) => name)).toEqual([
      "Failed invoices",
      "Slow thumbnails",
    ]);
    expect(await mill.schedules.list()).toMatchObject([
      { name: "monthly report", owner: "operator", pauseReason: null },
      { name: "weekday greeting", owner: "operator", pauseReason: "holidays until Monday" },
    ]);
    expect((await mill.tokens.list()).map(({ name }) => name).toSorted()).toEqual([
      "grace",
      "web shop",
    ]);
  });

  test("starts an operation that reads letters through one by one", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const world = new PlannedWorld();
    startProducer(mill, world);

    for (let n = 0; n <= STEPS_TO_REVIEW; n += 1) (await world.plan(STEP_MS))();
    await world.plan(STEP_MS);

    expect(world.failures).toEqual([]);
    expect(await mill.operations.list()).toMatchObject([
      { action: "acknowledge", status: "running", reason: "billing looks into them" },
    ]);
  });

  test("tells of a failed step and goes on", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const busy = new Error("busy");
    const stats = mill.jobs.stats.bind(mill.jobs);
    mill.jobs.stats = () => Promise.reject(busy);
    const world = new PlannedWorld();
    startProducer(mill, world);

    (await world.plan(STEP_MS))();
    const next = await world.plan(STEP_MS);
    mill.jobs.stats = stats;
    next();
    await world.plan(STEP_MS);

    expect(world.failures).toEqual([busy]);
    expect((await mill.jobs.stats()).queued).toBe(1);
  });

  test("plans nothing more once it is stopped", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const world = new PlannedWorld();
    const producer = startProducer(mill, world);
    for (let n = 0; n < STEPS_PER_ROUND; n += 1) (await world.plan(STEP_MS))();
    await world.plan(STEP_MS);

    await producer.stop();

    expect(world.open).toBe(0);
  });
});

describe("the demo's jobs", () => {
  test("have types with a schema, from which the page makes a form", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const demo = runDemo(mill, hastyWorld(0.9));

    await expect
      .poll(async () => (await mill.types.list()).filter((each) => each.payloadSchema !== null))
      .toMatchObject([
        { type: "demo.email", payloadSchema: { required: ["to"] } },
        { type: "demo.thumbnail", payloadSchema: { properties: { width: { default: 320 } } } },
      ]);
    await demo.stop();
  });

  test.each([
    ["completed", email.of({ to: "ada@example.com" }), { sent: "ada@example.com" }],
    ["completed", thumbnail.of({ picture: "mill", width: 320 }), { file: "mill-320.webp" }],
    ["completed", report.of({ month: "2026-11" }), { month: "2026-11", pages: 12 }],
    ["completed", sync.of({ account: "ada" }), { account: "ada", records: 450 }],
    ["completed", publish.of({ edition: 7 }), { edition: 7, files: 17 }],
    ["failed", invoice.of({ customer: "ada", number: 3 }), null],
  ])("end as %s: %o", async (state, request, result) => {
    await using mill = await openMillrace("sqlite::memory:");
    const demo = runDemo(mill, hastyWorld(0.9));

    const [job] = await mill.enqueueMany([request]);
    await mill.wait(job);

    expect(await mill.jobs.get(job.id)).toMatchObject({ state, result, attempts: 1 });
    await demo.stop();
  });

  test("fail at times and are tried again", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const retrying = new Promise<string>((resolve) => {
      mill.on("job:retrying", ({ id }) => resolve(id));
    });
    const demo = runDemo(mill, hastyWorld(0.1));

    const { id } = await mill.enqueue(sync, { account: "ada" });

    expect(await retrying).toBe(id);
    expect((await mill.jobs.get(id)).error).toMatchObject({ class: "transient" });
    await demo.stop();
  });
});

describe("the demo's failures", () => {
  test("have three causes", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const demo = runDemo(mill, hastyWorld(0.9));

    const requests = [3, 4, 5, 6, 7, 8].map((number) =>
      invoice.of({ customer: number > 5 ? "ada" : "grace", number }),
    );
    for (const job of await mill.enqueueMany(requests)) await mill.wait(job);

    const groups = await mill.failures.list();
    expect(groups.map(({ count }) => count)).toEqual([2, 2, 2]);
    await demo.stop();
  });

  test("of pages leave a job that has completed with errors", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const demo = runDemo(mill, hastyWorld(0.9));

    const job = await mill.enqueue(publish, { edition: 10 });

    expect(await mill.wait(job)).toMatchObject({ state: "completed_with_errors" });
    await demo.stop();
  });

  test("of the ledger open its breaker", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const world = hastyWorld(0.9);
    const ledger = { isDown: true };
    const jobs = mill.work({
      jobs: [sync],
      deps: {
        random: () => world.random(),
        pause: async () => {},
        isLedgerDown: () => ledger.isDown,
      },
      signals: false,
    });

    const requests = Array.from({ length: 6 }, () => sync.of({ account: "ada" }));
    await mill.enqueueMany(requests);

    await expect
      .poll(async () => (await mill.breakers.list())[0]?.state, { timeout: 5_000 })
      .toBe("open");
    await jobs.stop();
  });
});

describe("the demo's schedule", () => {
  test("is declared by the worker and makes a job that completes", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const demo = runDemo(mill, hastyWorld(0.9));
    await expect.poll(() => mill.schedules.list()).toHaveLength(1);

    const [declared] = await mill.schedules.list();
    const { id } = await mill.schedules.runNow(digest.name);

    expect(declared).toMatchObject({ name: digest.name, owner: "code", type: email.type });
    expect(await mill.wait({ id, type: email.type })).toMatchObject({ state: "completed" });
    await demo.stop();
  });
});

/** A world in which nothing happens until the test lets it. */
class PlannedWorld implements DemoWorld {
  readonly failures: unknown[] = [];
  readonly #plans = new Map<number, (() => void)[]>();
  readonly #awaited = new Map<number, () => void>();

  after(ms: number, wake: () => void): () => void {
    const plans = this.#plansOf(ms);
    plans.push(wake);
    this.#awaited.get(ms)?.();
    return () => {
      const at = plans.indexOf(wake);
      if (at >= 0) plans.splice(at, 1);
    };
  }

  random(): number {
    return 0.5;
  }

  failed(error: unknown): void {
    this.failures.push(error);
  }

  /** What is planned in `ms`, as soon as it is. It stays planned until it is called. */
  async plan(ms: number): Promise<() => void> {
    const plans = this.#plansOf(ms);
    if (plans.length === 0) {
      await new Promise<void>((resolve) => void this.#awaited.set(ms, resolve));
    }
    return () => plans.shift()?.();
  }

  /** Plans that were neither carried out nor called off. */
  get open(): number {
    return [...this.#plans.values()].flat().length;
  }

  #plansOf(ms: number): (() => void)[] {
    const plans = this.#plans.get(ms) ?? [];
    this.#plans.set(ms, plans);
    return plans;
  }
}

/** A world in which handlers wait for nothing, and the producer never gets its turn. */
function hastyWorld(random: number): DemoWorld {
  return {
    after(ms, wake) {
      if (ms !== STEP_MS) queueMicrotask(wake);
      return () => {};
    },
    random: () => random,
    failed: (error) => {
      throw error;
    },
  };
}

async function fill(mill: Millrace, count: number): Promise<void> {
  const other = defineJob({ type: "other" });
  await mill.enqueueMany(Array.from({ length: count }, () => other.of()));
}
