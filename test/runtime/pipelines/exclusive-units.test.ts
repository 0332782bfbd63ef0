/** Units that need something for themselves: one at a time, and none waits in vain. */
import { defineJob, typed, type Millrace } from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, untilAborted, type RuntimeTest } from "../support.ts";

/** Watches how many are inside a name at once. */
class Watch {
  readonly order: string[] = [];
  most = 0;
  mostInAll = 0;
  #inAll = 0;
  readonly #inside = new Map<string, number>();

  async pass(name: string, unit: string, work: () => unknown): Promise<void> {
    const count = (this.#inside.get(name) ?? 0) + 1;
    this.#inside.set(name, count);
    this.#inAll += 1;
    this.most = Math.max(this.most, count);
    this.mostInAll = Math.max(this.mostInAll, this.#inAll);
    this.order.push(unit);
    try {
      await work();
    } finally {
      this.#inside.set(name, count - 1);
      this.#inAll -= 1;
    }
  }
}

function elapse({ clock }: RuntimeTest, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** Another job that has a name until the test opens its latch. */
async function holderOf(kit: RuntimeTest, name: string) {
  const end = latch();
  const holder = defineJob({ type: "holder" }).run(() => end.passed);
  const job = await kit.mill.enqueue(holder, undefined, { concurrencyKey: name });
  kit.mill.work({ jobs: [holder] });
  await kit.settled();
  expect((await kit.mill.jobs.get(job.id)).state).toBe("running");
  return { job, end };
}

async function statesOf(mill: Millrace, jobs: readonly { id: string }[]) {
  return Promise.all(jobs.map(async ({ id }) => (await mill.jobs.get(id)).state));
}

describe("exclusive units", () => {
  test("never share a name: 4 workers, 200 units, 5 names", async () => {
    await using kit = await openTest();
    const watch = new Watch();
    const job = defineJob({ type: "job", payload: typed<string>() }).run((run, ctx) =>
      ctx.each(
        Array.from({ length: 50 }, (_, index) => index),
        String,
        (index) => watch.pass(`site/${index % 5}`, `${run}${index}`, () => elapse(kit, 7)),
        { exclusive: (index) => `site/${index % 5}` },
      ),
    );
    for (let worker = 0; worker < 4; worker += 1) {
      kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    }
    const jobs = await kit.mill.enqueueMany(["a", "b", "c", "d"].map((run) => job.of(run)));

    await kit.advance("30s");

    expect(await statesOf(kit.mill, jobs)).toEqual(Array(4).fill("completed"));
    expect(new Set(watch.order).size).toBe(200);
    expect(watch.order).toHaveLength(200);
    expect(watch.most).toBe(1);
    expect(watch.mostInAll).toBe(5);
  });

  test("that wait hold up no other, and use no place", async () => {
    await using kit = await openTest();
    const { end } = await holderOf(kit, "main");
    const watch = new Watch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["main-1", "main-2", "v1", "v2", "v3"],
        String,
        (unit) => watch.pass(unit, unit, () => {}),
        { concurrency: 1, exclusive: (unit) => unit.split("-")[0] ?? "" },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    expect(watch.order).toEqual(["v1", "v2", "v3"]);

    end.open();
    await kit.advance("2s");

    expect(watch.order).toEqual(["v1", "v2", "v3", "main-1", "main-2"]);
    expect((await kit.mill.result(enqueued)).completed.map(({ key }) => key)).toEqual([
      "main-1",
      "main-2",
      "v1",
      "v2",
      "v3",
    ]);
  });

  test("of one run and one name run one after the other, also in two calls at once", async () => {
    await using kit = await openTest();
    const watch = new Watch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const some = (...units: string[]) =>
        ctx.each(units, String, (unit) => watch.pass("same", unit, () => elapse(kit, 3)), {
          exclusive: () => "same",
        });
      await Promise.all([some("a", "b", "c"), some("d", "e", "f")]);
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await kit.advance("2s");

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(watch.order.toSorted()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(watch.most).toBe(1);
  });

  test("exclude jobs of the same concurrency key, and are excluded by them", async () => {
    await using kit = await openTest();
    const begun = latch();
    const end = latch();
    const units = defineJob({ type: "units" }).run((_, ctx) =>
      ctx.each(["a"], String, () => (begun.open(), end.passed), { exclusive: () => "docs/main" }),
    );
    const keyed = defineJob({ type: "keyed" }).run(() => "ran");
    const first = await kit.mill.enqueue(units);
    kit.mill.work({ jobs: [units, keyed] });
    await begun.passed;
    const waiting = await kit.mill.enqueue(keyed, undefined, { concurrencyKey: "docs/main" });
    await kit.advance("3s");

    expect(await statesOf(kit.mill, [waiting])).toEqual(["queued"]);
    expect(await kit.mill.jobs.explain(waiting.id)).toMatchObject({
      reason: "key",
      sentence: expect.stringContaining(`docs/main is taken by job ${first.id}`),
    });
    end.open();
    await kit.advance("2s");

    expect(await statesOf(kit.mill, [first, waiting])).toEqual(["completed", "completed"]);
  });

  test("whose name is the concurrency key of their own job need not ask for it", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "acquireLocks");
    const watch = new Watch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, (unit) => watch.pass("own", unit, () => elapse(kit, 3)), {
        exclusive: () => "own",
      }),
    );
    const enqueued = await kit.mill.enqueue(job, undefined, { concurrencyKey: "own" });
    kit.mill.work({ jobs: [job] });

    await kit.advance("1s");

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(watch).toMatchObject({ most: 1, order: ["a", "b"] });
    expect(calls["acquireLocks"]).toBe(0);
  });

  test("of different tenants have nothing to do with one another", async () => {
    await using kit = await openTest();
    const watch = new Watch();
    const both = latch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a"], String, () => watch.pass("name", ctx.job.tenant, () => both.passed), {
        exclusive: () => "name",
      }),
    );
    const jobs = await kit.mill.enqueueMany([
      job.of(undefined, { tenant: "acme" }),
      job.of(undefined, { tenant: "globex" }),
    ]);
    kit.mill.work({ jobs: [job] });
    await kit.settled();

    expect(watch.most).toBe(2);
    both.open();
    await kit.advance("1s");
    expect(await statesOf(kit.mill, jobs)).toEqual(["completed", "completed"]);
  });

  test("give up their name also when they fail", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c"],
        String,
        async (unit) => {
          ran.push(unit);
          const holder = await kit.store.lockHolder("default", "name");
          expect(holder).toBe(ctx.job.id);
          if (unit !== "c") throw new Error("no");
        },
        { exclusive: () => "name" },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(ran).toEqual(["a", "b", "c"]);
    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      failedUnits: 2,
    });
    expect(await kit.store.lockHolder("default", "name")).toBeNull();
  });

  test("give up their name with the very note that ends them", async () => {
    await using kit = await openTest();
    const holders: unknown[] = [];
    const end = latch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["quick", "slow"],
        String,
        async (unit) => void (unit === "slow" && (await end.passed)),
        {
          exclusive: (unit) => unit,
        },
      ),
    );
    const { id } = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();

    const { units } = await kit.mill.jobs.units(id, { state: "completed" });
    expect(units.map(({ key }) => key)).toEqual(["quick"]);
    for (const name of ["quick", "slow"]) holders.push(await kit.store.lockHolder("default", name));
    expect(holders).toEqual([null, id]);
    end.open();
  });

  test("are asked for together, less and less often, and no more once they are had", async () => {
    await using kit = await openTest();
    const { end } = await holderOf(kit, "a");
    const asked: { at: number; names: readonly string[] }[] = [];
    const acquireLocks = kit.store.acquireLocks.bind(kit.store);
    Reflect.set(kit.store, "acquireLocks", (...args: Parameters<typeof acquireLocks>) => {
      asked.push({ at: kit.clock.monotonic() - start, names: args[1] });
      return acquireLocks(...args);
    });
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a1", "a2", "b", "c"], String, () => {}, { exclusive: (unit) => unit[0] ?? "" }),
    );
    const start = kit.clock.monotonic();
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("4s");
    end.open();
    await kit.advance("3s");

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(asked[0]).toEqual({ at: 0, names: ["a", "b", "c"] });
    const retries = asked.slice(1);
    expect(retries.slice(0, 7).map(({ at }) => at)).toEqual([
      50, 150, 350, 750, 1_550, 2_550, 3_550,
    ]);
    expect(retries.every(({ names }) => names.join() === "a")).toBe(true);
    expect(retries.at(-1)?.at).toBeLessThan(5_000);
  });
});

describe("very many exclusive units", () => {
  test("of one name run one after the other, each asked for once", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "acquireLocks");
    const ran: number[] = [];
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.each(numbers, String, (number) => void ran.push(number), {
        exclusive: () => "same",
      });
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(ran).toEqual(numbers);
    expect(calls["acquireLocks"]).toBe(300);
  });

  test("of which thousands wait do not hide one that could run", async () => {
    await using kit = await openTest();
    const acquireLocks = kit.store.acquireLocks.bind(kit.store);
    const free = new Set<string>();
    Reflect.set(kit.store, "acquireLocks", (...[run, names]: Parameters<typeof acquireLocks>) =>
      acquireLocks(
        run,
        names.filter((name) => free.has(name)),
      ),
    );
    const ran: number[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const numbers = Array.from({ length: 2_500 }, (__, index) => index);
      await ctx.each(numbers, String, (number) => void ran.push(number), { exclusive: String });
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("1s");

    free.add("2499");
    await kit.advance("1s");
    expect(ran).toEqual([2_499]);

    await kit.mill.jobs.cancel(enqueued.id);
    await kit.advance("2s");
    expect(await kit.outcomes(enqueued)).toEqual(["cancelled"]);
  });
});

describe("waiting for an exclusive name", () => {
  /** A run that waits for a name which it cannot have. */
  async function waiting(kit: RuntimeTest, settings: { timeout?: "10s" } = {}) {
    const held = await holderOf(kit, "taken");
    const ran: string[] = [];
    const job = defineJob({ type: "job", maxAttempts: 1, ...settings }).run((_, ctx) =>
      ctx.each(["a"], String, (unit) => void ran.push(unit), { exclusive: () => "taken" }),
    );
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.advance("5s");
    expect(await statesOf(kit.mill, [enqueued])).toEqual(["running"]);
    return { ...held, enqueued, worker, ran };
  }

  test("ends at once when the job is cancelled", async () => {
    await using kit = await openTest();
    const { enqueued, end } = await waiting(kit);

    await kit.mill.jobs.cancel(enqueued.id);
    await kit.advance("1s");

    expect(await kit.outcomes(enqueued)).toEqual(["cancelled"]);
    end.open();
  });

  test("ends at once when the job's time is up", async () => {
    await using kit = await openTest();
    const { enqueued, end } = await waiting(kit, { timeout: "10s" });

    await kit.advance("5s");

    expect(await kit.outcomes(enqueued)).toEqual(["timed_out"]);
    end.open();
  });

  test("ends at once when the worker stops, and the job goes on elsewhere", async () => {
    await using kit = await openTest();
    const { enqueued, worker, end, ran } = await waiting(kit);

    const stopped = worker.stop({ grace: 0 });
    await kit.advance("1ms");
    await stopped;
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted"]);
    end.open();
    await kit.settled();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a"], String, (unit) => void ran.push(unit), { exclusive: () => "taken" }),
    );
    await kit.drain([job]);

    expect(ran).toEqual(["a"]);
  });

  test("survives a store that fails for a while", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a"], String, () => "ran", { exclusive: () => "name" }),
    );
    const enqueued = await kit.mill.enqueue(job);
    kit.failOnce("acquireLocks");
    kit.mill.work({ jobs: [job] });

    await kit.advance("1s");

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(kit.logged[0]?.message).toContain("cannot acquire locks");
  });

  test("ends when an operator has ended the run", async () => {
    await using kit = await openTest();
    const { enqueued, end } = await waiting(kit);

    await kit.mill.jobs.fail(enqueued.id, "by hand");
    await kit.advance("2s");

    expect((await kit.mill.wait(enqueued)).state).toBe("failed");
    expect((await kit.mill.jobs.stats()).running).toBe(1);
    end.open();
  });
});

describe("a run that ends", () => {
  test.each(["fails", "snoozes", "is cut off"])(
    "in the middle of units and %s gives up their names",
    async (how) => {
      await using kit = await openTest();
      const begun = latch();
      let isFirst = true;
      const job = defineJob({ type: "job" }).run((_, ctx) =>
        ctx.each(
          ["a", "b"],
          String,
          async (unit, { signal }) => {
            if (!isFirst) return;
            if (unit === "b") {
              begun.open();
              await untilAborted(signal);
            }
            if (how === "snoozes") ctx.snooze("1m");
            if (how === "fails") throw new Error("no");
            await untilAborted(signal);
          },
          { exclusive: (unit) => unit },
        ),
      );
      const enqueued = await kit.mill.enqueue(job);
      const worker = kit.mill.work({ jobs: [job] });
      await begun.passed;

      const stopped = worker.stop({ grace: "1s" });
      await kit.advance("2s");
      await stopped;
      isFirst = false;

      expect(await kit.outcomes(enqueued)).toHaveLength(1);
      for (const name of ["a", "b"]) expect(await kit.store.lockHolder("default", name)).toBeNull();
      await kit.advance("2m");
      await kit.drain([job]);
      expect((await kit.mill.wait(enqueued)).state).toBe("completed");
    },
  );

  test("by a snooze that its handler catches can use the names once more", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const exclusive = (): string => "name";
      await ctx.each(["a", "b"], String, () => ctx.snooze("1m"), { exclusive }).catch(() => {});
      return ctx.each(["c", "d"], String, () => "ran", { exclusive });
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect((await kit.mill.result(enqueued)).total).toBe(2);
  });
});
