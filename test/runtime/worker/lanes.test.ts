import { setImmediate } from "node:timers/promises";
import { defineJob, lipas, lipasDev, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, withBuffer, unchecked } from "../support.ts";

describe("the slots of a worker", () => {
  test("reserved for fast jobs are never taken by slow ones (004-01)", async () => {
    await using kit = await openTest();
    const end = latch();
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => "quick");
    await kit.mill.enqueueMany(Array.from({ length: 20 }, () => slow.of()));
    kit.mill.work({ jobs: [slow, fast], lanes: { fast: 1, general: 2 } });
    await kit.settled();

    const job = await kit.mill.enqueue(fast);
    await kit.settled();

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(running(await kit.mill.workers.list())).toBe(2);
    end.open();
    await kit.settled();
  });

  test("of the general lane take any type (004-01, C-32)", async () => {
    await using kit = await openTest();
    const end = latch();
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => end.passed);
    const own = defineJob({ type: "own", lane: "mail" }).run(() => end.passed);
    await kit.mill.enqueueMany([fast.of(), fast.of(), own.of()]);

    kit.mill.work({ jobs: [fast, own], lanes: { fast: 1, general: 2 } });
    await kit.settled();

    expect(running(await kit.mill.workers.list())).toBe(3);
    end.open();
    await kit.settled();
  });

  test("run no more jobs at once than there are (001-04)", async () => {
    await using kit = await openTest();
    let now = 0;
    let most = 0;
    const end = latch();
    const job = defineJob({ type: "job" }).run(async () => {
      now += 1;
      most = Math.max(most, now);
      await end.passed;
      now -= 1;
    });
    await kit.mill.enqueueMany(Array.from({ length: 50 }, () => job.of()));

    kit.mill.work({ jobs: [job], lanes: { general: 3 } });
    await kit.settled();
    expect(now).toBe(3);
    end.open();
    await kit.settled();

    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 0, running: 0 });
    expect(most).toBe(3);
  });

  test("take nothing new while the store lags behind with the ends of runs", async () => {
    await using kit = await openTest();
    const { store } = kit;
    const settle = store.settle.bind(store);
    let begun = 0;
    let told = 0;
    let most = 0;
    Reflect.set(store, "settle", async (items: Parameters<typeof settle>[0]) => {
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      told += items.length;
      return settle(items);
    });
    const job = defineJob({ type: "job" }).run(() => {
      begun += 1;
      most = Math.max(most, begun - told);
    });
    await kit.mill.enqueueMany(Array.from({ length: 6_000 }, () => job.of()));

    const counts = await kit.drain([job], { lanes: { general: 100 } });

    expect(counts.succeeded).toBe(6_000);
    expect(most).toBeLessThanOrEqual(2_100);
  });

  test("keep serving fast jobs while a long backlog of others is worked off (004-01)", async () => {
    await using kit = await openTest();
    const order: string[] = [];
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => void order.push("fast"));
    const plain = defineJob({ type: "plain" }).run(async () => {
      order.push("plain");
      if (order.length === 5) await kit.mill.enqueue(fast);
    });
    await kit.mill.enqueueMany(Array.from({ length: 400 }, () => plain.of()));

    await kit.drain([plain, fast], { lanes: { fast: 1, general: 1 } });

    expect(order.indexOf("fast")).toBeLessThan(40);
  });

  test.each([
    { slots: 1, batch: 100, bytes: 0, jobs: 20 },
    { slots: 8, batch: 100, bytes: 0, jobs: 300 },
    { slots: 300, batch: 100, bytes: 0, jobs: 1_500 },
    // More than one lease holds.
    { slots: 1_000, batch: 500, bytes: 0, jobs: 2_500 },
    // More than one claim carries.
    { slots: 50, batch: 50, bytes: 900_000, jobs: 40 },
  ])("work a backlog off without waiting for a poll: %o", async ({ slots, batch, bytes, jobs }) => {
    await using kit = await openTest();
    let done = 0;
    const job = defineJob({ type: "quick", payload: typed<string>() }).run(() => void (done += 1));
    for (let made = 0; made < jobs; made += 20) {
      await kit.mill.enqueueMany(Array.from({ length: 20 }, () => job.of("x".repeat(bytes))));
    }

    kit.mill.work({ jobs: [job], lanes: { general: slots }, batch });
    // Time stands still.
    await kit.settled();

    expect(done).toBe(jobs);
  });

  test.each([
    { slots: 2, given: { batch: 3 }, most: 3 },
    { slots: 50, given: { batch: 7 }, most: 7 },
    { slots: 50, given: { preset: lipas }, most: 20 },
    { slots: 50, given: { preset: lipasDev }, most: 5 },
    { slots: 50, given: { preset: lipasDev, batch: 9 }, most: 9 },
    { slots: 600, given: {}, most: 500 },
  ])(
    "are filled by claims of at most the given batch (004-55): %o",
    async ({ slots, given, most }) => {
      await using kit = await openTest();
      const { store } = kit;
      const claim = store.claim.bind(store);
      const sizes: number[] = [];
      Reflect.set(store, "claim", async (request: Parameters<typeof claim>[0]) => {
        const answer = await claim(request);
        sizes.push(answer.jobs.length);
        return answer;
      });
      const job = defineJob({ type: "quick" }).run(() => {});
      await kit.mill.enqueueMany(Array.from({ length: 900 }, () => job.of()));

      const counts = await kit.drain([job], { lanes: { general: slots }, ...given });

      expect(counts.succeeded).toBe(900);
      expect(Math.max(...sizes)).toBe(most);
    },
  );

  test.each([1, 8, 300])(
    "of one lane keep no other waiting behind a backlog: %i",
    async (slots) => {
      await using kit = await openTest();
      const order: string[] = [];
      const vip = defineJob({ type: "vip", lane: "vip" }).run(() => void order.push("vip"));
      const bulk = defineJob({ type: "bulk", lane: "bulk" }).run(() => {
        order.push("bulk");
        if (order.length === 5) void kit.mill.enqueue(vip);
      });
      await kit.mill.enqueueMany(Array.from({ length: 3_000 }, () => bulk.of()));

      await kit.drain([bulk, vip], { lanes: { bulk: slots, vip: 1, general: 1 }, batch: 100 });

      expect(order.indexOf("vip")).toBeLessThan(1_500);
    },
  );

  test("keep no fast job behind a slow one while fast slots are free (004-01)", async () => {
    await using kit = await openTest();
    const slowEnd = latch();
    const firstEnd = latch();
    const slow = defineJob({ type: "slow", priority: "high" }).run(() => slowEnd.passed);
    const fast = defineJob({ type: "fast", lane: "fast", payload: typed<number>() }).run(
      async (number) => {
        if (number === 0) await firstEnd.passed;
      },
    );
    await kit.mill.enqueueMany([fast.of(0), slow.of()]);
    kit.mill.work({ jobs: [slow, fast], lanes: { fast: 1, general: 1 } });
    await kit.settled();
    const second = await kit.mill.enqueue(fast, 1);
    await kit.settled();

    firstEnd.open();
    await kit.advance("5s");

    expect(await kit.mill.jobs.get(second.id)).toMatchObject({ state: "completed" });
    slowEnd.open();
    await kit.settled();
  });

  test("leave to others what they could only keep in a buffer behind a slow job", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job", payload: typed<number>() }).run(async (number) => {
      if (number === 0) await end.passed;
    });
    const [, second] = await kit.mill.enqueueMany([job.of(0), job.of(1), job.of(2)]);
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    await kit.settled();
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });

    await kit.advance("5m");

    expect(await kit.mill.jobs.get(second.id)).toMatchObject({ state: "completed" });
    end.open();
    await kit.settled();
  });

  test("are as many as the preset says", async () => {
    await using kit = await openTest();
    const end = latch();
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => end.passed);
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    await kit.mill.enqueueMany([...Array.from({ length: 9 }, () => slow.of()), fast.of()]);

    kit.mill.work({ jobs: [fast, slow], preset: lipasDev });
    await kit.settled();

    expect(running(await kit.mill.workers.list())).toBe(3);
    end.open();
    await kit.settled();
  });

  test("starts the jobs of a large claim in several turns of the event loop", async () => {
    await using kit = await openTest();
    let begun = 0;
    let begunInTurn = 0;
    const plain = defineJob({ type: "plain" }).run(() => {
      begun += 1;
      if (begun === 1) void setImmediate().then(() => (begunInTurn = begun));
    });
    await kit.mill.enqueueMany(Array.from({ length: 250 }, () => plain.of()));

    await kit.drain([plain], { lanes: { general: 250 } });

    expect(begun).toBe(250);
    expect(begunInTurn).toBe(100);
  });
});

describe("a worker", () => {
  test("takes the most urgent, then the one due first, then the oldest (003-10)", async () => {
    await using kit = await openTest();
    const order: string[] = [];
    const job = defineJob({ type: "job", payload: typed<string>() }).run((name) => {
      order.push(name);
    });
    await kit.mill.enqueue(job, "later", { delay: "2s" });
    await kit.mill.enqueue(job, "sooner", { delay: "1s" });
    await kit.advance("3s");
    await kit.mill.enqueue(job, "low", { priority: "low" });
    await kit.mill.enqueue(job, "normal");
    await kit.mill.enqueue(job, "critical", { priority: "critical" });
    await kit.mill.enqueue(job, "also normal", { priority: 100 });

    await kit.drain([job], { lanes: { general: 1 } });

    expect(order).toEqual(["critical", "sooner", "later", "normal", "also normal", "low"]);
  });

  test("leaves jobs of unknown types waiting", async () => {
    await using kit = await openTest();
    const known = defineJob({ type: "known" }).run(() => {});
    const unknown = defineJob({ type: "unknown" });
    const job = await kit.mill.enqueue(unknown);
    await kit.mill.enqueue(known);

    const counts = await kit.drain([known]);

    expect(counts.succeeded).toBe(1);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("runs only the types it was told to", async () => {
    await using kit = await openTest();
    const email = defineJob({ type: "email" }).run(() => {});
    const report = defineJob({ type: "report" }).run(() => {});
    await kit.mill.enqueueMany([email.of(), report.of()]);

    await kit.drain([email, report], { types: ["email"] });

    const { jobs } = await kit.mill.jobs.list({ state: "completed" });
    expect(jobs.map(({ type }) => type)).toEqual(["email"]);
  });

  test("runs only jobs of its tenant (003-12)", async () => {
    await using kit = await openTest();
    const email = defineJob({ type: "email" }).run((_, ctx) => ctx.job.tenant);
    await kit.mill.enqueue(email, undefined, { tenant: "acme" });
    await kit.mill.enqueue(email, undefined, { tenant: "other" });

    const counts = await kit.drain([email], { tenant: "acme" });

    expect(counts.succeeded).toBe(1);
    await kit.expectEnqueued(email, undefined, { tenant: "acme", state: "completed" });
    await kit.expectEnqueued(email, undefined, { tenant: "other", state: "queued" });
  });

  test("hands its handlers deps, id, payload, correlation and attempt (004-20)", async () => {
    await using kit = await openTest();
    const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() })
      .using<{ greeting: string }>()
      .run(({ name }, ctx) => {
        if (ctx.attempt === 1) throw new TransientError("not yet");
        const { id, correlationId } = ctx.job;
        return { text: `${ctx.deps.greeting} ${name}`, id, correlationId, attempt: ctx.attempt };
      });
    const job = await kit.mill.enqueue(
      greet,
      { name: "Ada" },
      { correlationId: "user-action-123" },
    );

    await kit.drain([greet], { deps: { greeting: "Hello" } });
    await kit.advance("2s");
    await kit.drain([greet], { deps: { greeting: "Hello" } });

    expect(await kit.mill.result(job)).toEqual({
      text: "Hello Ada",
      id: job.id,
      correlationId: "user-action-123",
      attempt: 2,
    });
  });

  test("that was quieted takes no new work and returns its buffer", async () => {
    await using kit = await openTest();
    const { worker, end, ran } = await withBuffer(kit);

    await worker.quiet();
    end.open();
    await kit.advance("10s");

    expect(ran).toEqual([0, 1]);
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 0 });
  });

  test("that is quieted while it fills a buffer returns that, too", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job", payload: typed<number>() }).run(async (number) => {
      if (number > 0) await end.passed;
    });
    const worker = kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    await kit.mill.enqueue(job, 0);
    await kit.settled();
    const claim = kit.store.claim.bind(kit.store);
    Reflect.set(kit.store, "claim", (request: Parameters<typeof claim>[0]) => {
      if (request.prefetch) void worker.quiet();
      return claim(request);
    });
    await kit.mill.enqueueMany([job.of(1), job.of(2), job.of(3)]);

    await kit.settled();
    end.open();
    await kit.advance("5s");

    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 0 });
  });

  test("that an operator quieted hears of it and returns its buffer", async () => {
    await using kit = await openTest();
    const { worker, end, ran } = await withBuffer(kit);

    await kit.mill.workers.quiet(worker.id);
    await kit.advance("2s");
    end.open();
    await kit.advance("10s");

    expect(ran).toEqual([0, 1]);
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 0 });
    expect(await kit.mill.workers.list()).toMatchObject([{ id: worker.id, isQuiet: true }]);
  });

  test("that was quieted tries again when its buffer could not be returned", async () => {
    await using kit = await openTest();
    const { worker, end } = await withBuffer(kit);
    kit.failOnce("returnPrefetched");

    await expect(worker.quiet()).rejects.toThrow("planted: returnPrefetched");
    await kit.advance("20s");

    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 1 });
    end.open();
    await kit.settled();
  });

  test("that an operator quieted begins nothing more, though it has not heard of it", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await end.passed;
      return ctx.signal.aborted;
    });
    const worker = kit.mill.work({ jobs: [job], lanes: { general: 2 } });
    const begun = await kit.mill.enqueue(job);
    await kit.settled();

    await kit.mill.workers.quiet(worker.id);
    const waiting = await kit.mill.enqueue(job);
    await kit.settled();
    expect(await kit.mill.jobs.get(waiting.id)).toMatchObject({ state: "queued" });
    end.open();
    await kit.settled();

    expect(await kit.mill.result(begun)).toBe(false);
    expect(kit.logged).toEqual([]);
  });

  test.each([
    [{ lanes: { general: 0 } }, /must give at least one lane a slot/],
    [{ lanes: { general: 1.5 } }, /general/],
    [{ batch: 0 }, /batch/],
    [{ lease: 10 }, /lease/],
    [{ types: ["unknown"] }, /unknown/],
  ])("refuses %o", async (options, message) => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => {});

    expect(() => kit.mill.work({ jobs: [job], ...unchecked(options) })).toThrow(message);
  });
});

function running(workers: readonly { running: number }[]): number {
  return workers.reduce((total, worker) => total + worker.running, 0);
}
