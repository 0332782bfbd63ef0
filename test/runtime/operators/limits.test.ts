import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { wait } from "../../../src/core/clock.ts";
import { countCalls, openTest, replaceVerb, unchecked, type RuntimeTest } from "../support.ts";

function nothingSeen() {
  return { running: 0, most: 0, done: 0, starts: new Array<number>() };
}

/** A type whose jobs take some virtual time, and how many of them ran at the same time. */
function counted(kit: RuntimeTest, type: string, settings: object = {}, seen = nothingSeen()) {
  const job = defineJob({ type, payload: typed<number>(), ...settings }).run(async (ms) => {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    seen.starts.push(kit.clock.now());
    await wait(kit.clock, ms);
    seen.running -= 1;
    seen.done += 1;
  });
  const enqueue = async (count: number, ms = 100, tenant = "default"): Promise<void> => {
    await kit.mill.enqueueMany(Array.from({ length: count }, () => job.of(ms, { tenant })));
  };
  return { job, seen, enqueue };
}

describe("a limit", () => {
  test.each([
    ["type", { type: "report" }],
    ["tenant", { tenant: "default" }],
    ["service", { service: "bank" }],
    ["installation", { installation: true }],
  ] as const)(
    "of a %s holds in all workers, and all jobs run in the end (000-54)",
    async (_, of) => {
      await using kit = await openTest();
      const { job, seen, enqueue } = counted(kit, "report", { services: ["bank"] });
      await kit.mill.limits.set(of, { concurrency: 3 });
      kit.mill.work({ jobs: [job], lanes: { general: 10 } });
      kit.mill.work({ jobs: [job], lanes: { general: 10 } });
      await enqueue(20);

      // Seven waves of a tenth of a second: a permit goes to the next job at once.
      await kit.advance("800ms");

      expect(seen).toMatchObject({ most: 3, done: 20, running: 0 });
      await kit.advance("1s");
      expect(await kit.mill.limits.list()).toMatchObject([{ used: 0, queued: 0 }]);
    },
  );

  test("holds no other jobs back, and does not leave slots empty", async () => {
    await using kit = await openTest();
    const report = counted(kit, "report");
    const email = counted(kit, "email");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 2 });
    await report.enqueue(50, 60_000);
    await email.enqueue(8, 60_000);

    kit.mill.work({ jobs: [report.job, email.job], lanes: { general: 10 } });
    await kit.settled();

    expect([report.seen.running, email.seen.running]).toEqual([2, 8]);
  });

  test("counts with others: a job needs a permit of each", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 4 });
    await kit.mill.limits.set({ tenant: "acme" }, { concurrency: 1 });
    await enqueue(5, 100, "acme");
    await enqueue(5, 100, "bolt");

    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.settled();

    expect(seen.running).toBe(4);
    await kit.advance("2s");
    expect(seen).toMatchObject({ most: 4, done: 10 });
  });

  test("of a service counts the jobs of all its types, and drains beside it", async () => {
    await using kit = await openTest();
    const seen = nothingSeen();
    const report = counted(kit, "report", { services: ["bank"] }, seen);
    const email = counted(kit, "email", { services: ["bank", "post"] }, seen);
    await kit.mill.limits.set({ service: "bank" }, { concurrency: 3 });
    await report.enqueue(10);
    await email.enqueue(10);
    kit.mill.work({ jobs: [report.job, email.job], lanes: { general: 10 } });
    await kit.settled();
    expect(seen.running).toBe(3);

    await kit.mill.pause({ service: "bank" }, "update");
    await kit.advance("2s");
    expect(seen).toMatchObject({ running: 0, done: 3 });
    await kit.mill.resume({ service: "bank" });
    await kit.advance("3s");

    expect(seen).toMatchObject({ most: 3, done: 20 });
    expect(await kit.mill.limits.list()).toMatchObject([{ kind: "service", used: 0 }]);
  });

  test("of a service does not hold jobs whose type has left the service by a deploy", async () => {
    await using kit = await openTest();
    const old = counted(kit, "report", { services: ["bank"] });
    await kit.mill.limits.set({ service: "bank" }, { concurrency: 1 });
    kit.mill.work({ jobs: [old.job], lanes: { general: 5 } });
    await old.enqueue(6, 3_600_000);
    await kit.advance("2s");
    expect(old.seen.running).toBe(1);
    expect(await kit.mill.limits.list()).toMatchObject([{ queued: 5 }]);

    const next = counted(kit, "report");
    kit.mill.work({ jobs: [next.job], lanes: { general: 5 } });
    await kit.advance("2s");

    expect(old.seen.running + next.seen.running).toBe(6);
  });

  test("can be raised and lowered while jobs run", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 2 });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await enqueue(30, 1_000);
    await kit.settled();
    expect(seen.running).toBe(2);

    await kit.mill.limits.set({ type: "report" }, { concurrency: 6 });
    await kit.settled();
    expect(seen.running).toBe(6);

    await kit.mill.limits.set({ type: "report" }, { concurrency: 1 });
    await kit.advance("1500ms");
    expect(seen.running).toBe(1);

    expect(await kit.mill.limits.remove({ type: "report" })).toBe(true);
    await kit.settled();
    expect(seen.running).toBe(10);
  });

  test("in code is stored when a worker starts, and gives way to an operator", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report", { limits: { concurrency: 2 } });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await enqueue(30, 1_000);
    await kit.settled();
    expect(seen.running).toBe(2);
    expect(await kit.mill.limits.list()).toMatchObject([{ concurrency: 2, owner: "code" }]);

    await kit.mill.limits.set({ type: "report" }, { concurrency: 5 }, { actor: "ada" });
    await kit.settled();
    expect(seen.running).toBe(5);

    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.settled();
    expect(await kit.mill.limits.list()).toMatchObject([{ concurrency: 5, setBy: "ada" }]);
  });

  test("gives the permits of a dead worker back after its lease", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 2 });
    await enqueue(4);
    kit.crashAt("settle");
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.advance("1s");
    expect(await kit.mill.limits.list()).toMatchObject([{ used: 2 }]);

    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.advance("2m");

    expect(seen.most).toBe(2);
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 0, held: 0, running: 0 });
    expect(await kit.mill.limits.list()).toMatchObject([{ used: 0 }]);
  });

  test("gets all permits back of a job that runs again before its run has ended", async () => {
    await using kit = await openTest();
    const { job, seen } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 2 });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    const { id } = await kit.mill.enqueue(job, 3_000);
    await kit.settled();

    await kit.mill.jobs.release(id);
    await kit.advance("20s");

    expect(seen).toMatchObject({ done: 2, running: 0 });
    expect(await kit.mill.limits.list()).toMatchObject([{ used: 0 }]);
  });

  test("survives returns of permits whose answers are lost", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 3 });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    const keepPermits = kit.store.keepPermits.bind(kit.store);
    let calls = 0;
    replaceVerb(kit.store, "keepPermits", async (worker, permits) => {
      await keepPermits(worker, permits);
      calls += 1;
      if (calls % 2 === 1) throw new Error("planted: the answer is lost");
      return true;
    });

    for (let wave = 0; wave < 4; wave += 1) {
      await enqueue(4, 400);
      await kit.advance("3s");
    }

    expect(calls).toBeGreaterThan(4);
    expect(seen).toMatchObject({ most: 3, done: 16 });
    expect(await kit.mill.limits.list()).toMatchObject([{ used: 0 }]);
  });

  test("costs no call while permits go from job to job", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 5 });
    kit.mill.work({ jobs: [job], lanes: { general: 5 } });
    const calls = countCalls(kit.store, "keepPermits");
    await enqueue(50);

    await kit.advance("1s");

    expect(seen).toMatchObject({ most: 5, done: 50 });
    expect(calls).toEqual({ keepPermits: 0 });
    await kit.advance("300ms");
    expect(calls).toEqual({ keepPermits: 1 });
  });
});

describe("a rate", () => {
  test("starts so many jobs per period, and the next one at its time", async () => {
    await using kit = await openTest();
    const { job, seen, enqueue } = counted(kit, "report");
    const rate = { limit: 2, per: "1s", burst: 3 } as const;
    await kit.mill.limits.set({ type: "report" }, { rate });
    kit.mill.work({ jobs: [job], lanes: { general: 10 }, poll: "1h" });
    const began = kit.clock.now();

    await enqueue(6, 10);
    await kit.advance("3s");

    expect(seen.starts.map((at) => at - began)).toEqual([0, 0, 0, 500, 1_000, 1_500]);
  });
});

describe("a rate in code", () => {
  test("is stored when a worker starts, and gives way to an operator", async () => {
    await using kit = await openTest();
    const rate = { limit: 2, per: "1s", burst: 3 } as const;
    const { job, seen, enqueue } = counted(kit, "report", { limits: { rate } });
    await enqueue(20, 1);
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.settled();
    expect(seen.done + seen.running).toBe(3);
    await kit.advance("1s");
    expect(seen.done + seen.running).toBe(5);
    const stated = { concurrency: null, rate: { limit: 2, perMs: 1_000, burst: 3 }, owner: "code" };
    expect(await kit.mill.limits.list()).toMatchObject([stated]);

    await kit.mill.limits.set({ type: "report" }, { rate: { limit: 1, per: "1d" } });
    kit.mill.work({ jobs: [job], lanes: { general: 10 } });
    await kit.advance("10s");
    expect(seen.done + seen.running).toBe(6);

    await kit.mill.limits.remove({ type: "report" });
    await kit.advance("1s");
    expect(seen.done + seen.running).toBeGreaterThan(8);
    expect(await kit.mill.limits.list()).toMatchObject([stated]);
  });
});

describe("the rate of a key", () => {
  test("starts so many jobs of the key, and holds no others back", async () => {
    await using kit = await openTest();
    const { job, seen } = counted(kit, "report");
    const rate = { limit: 2, per: "1s", burst: 3 } as const;
    await kit.mill.limits.set({ key: "box-7" }, { rate });
    kit.mill.work({ jobs: [job], lanes: { general: 2 }, poll: "1h" });
    const began = kit.clock.now();

    await kit.mill.enqueueMany([
      ...Array.from({ length: 6 }, () => job.of(10, { concurrencyKey: "box-7" })),
      job.of(10, { concurrencyKey: "box-8" }),
      job.of(10),
    ]);
    await kit.advance("3s");

    expect(seen.done).toBe(8);
    const starts = seen.starts.map((at) => at - began);
    expect(starts.filter((ms) => ms >= 100)).toEqual([500, 1_000, 1_500]);
  });

  test("is explained, and the job starts at the time", async () => {
    await using kit = await openTest();
    const { job } = counted(kit, "report");
    await kit.mill.limits.set({ key: "box 7", tenant: "acme" }, { rate: { limit: 1, per: "10s" } });
    kit.mill.work({ jobs: [job], lanes: { general: 2 } });
    const own = { concurrencyKey: "box 7", tenant: "acme" };
    await kit.mill.enqueue(job, 0, own);
    const waiting = await kit.mill.enqueue(job, 0, own);
    const other = await kit.mill.enqueue(job, 0, { concurrencyKey: "box 7" });
    const until = new Date(kit.clock.now() + 10_000);
    await kit.advance("2s");

    expect(await kit.mill.jobs.get(other.id)).toMatchObject({ state: "completed" });
    expect(await kit.mill.jobs.explain(waiting.id)).toEqual({
      sentence: expect.stringContaining(`key box 7 allows the next job at ${until.toISOString()}`),
      reason: "rate",
      hint: "To raise it: millrace limits set --key 'box 7' --tenant acme --rate NUMBER/PERIOD",
      until,
      details: { kind: "key", name: "box 7", nextStartAt: until },
    });
    expect(await kit.mill.limits.list()).toMatchObject([
      { kind: "key", name: "box 7", tenant: "acme", queued: 1, atLeast: false, used: null },
    ]);
    expect(await kit.mill.forTenant("bolt").limits.list()).toEqual([]);

    await kit.advance("8s");
    expect(await kit.mill.jobs.get(waiting.id)).toMatchObject({ state: "completed" });
  });

  test("that is removed lets its jobs start", async () => {
    await using kit = await openTest();
    const { job, seen } = counted(kit, "report");
    await kit.mill.limits.set({ key: "box-7" }, { rate: { limit: 1, per: "1d" } });
    kit.mill.work({ jobs: [job], lanes: { general: 2 } });
    for (let count = 0; count < 3; count += 1) {
      await kit.mill.enqueue(job, 0, { concurrencyKey: "box-7" });
    }
    await kit.advance("2s");
    expect(seen.done).toBe(1);

    expect(await kit.mill.limits.remove({ key: "box-7" })).toBe(true);
    await kit.advance("100ms");

    expect(seen.done).toBe(3);
  });
});

describe("explain", () => {
  test("names the limit that is used up, and after a raise the job starts", async () => {
    await using kit = await openTest();
    const { job, seen } = counted(kit, "report");
    await kit.mill.limits.set({ type: "report" }, { concurrency: 1 });
    kit.mill.work({ jobs: [job], lanes: { general: 5 } });
    await kit.mill.enqueue(job, 60_000);
    const waiting = await kit.mill.enqueue(job, 60_000);
    await kit.advance("2s");

    expect(await kit.mill.jobs.explain(waiting.id)).toEqual({
      sentence: "The limit of 1 running job of the type report is used up.",
      reason: "limit",
      hint: "To raise it: millrace limits set --type report --concurrency NUMBER",
      details: { kind: "type", name: "report", concurrency: 1, used: 1 },
    });

    await kit.mill.limits.set({ type: "report" }, { concurrency: 2 });
    await kit.settled();
    expect(seen.running).toBe(2);
  });

  test("names the limit of a service that is used up", async () => {
    await using kit = await openTest();
    const { job } = counted(kit, "report", { services: ["bank"] });
    await kit.mill.limits.set({ service: "bank" }, { concurrency: 1 });
    await kit.mill.limits.set({ service: "other" }, { concurrency: 1 });
    kit.mill.work({ jobs: [job], lanes: { general: 5 } });
    await kit.mill.enqueue(job, 60_000);
    const waiting = await kit.mill.enqueue(job, 60_000);
    await kit.advance("2s");

    expect(await kit.mill.jobs.explain(waiting.id)).toMatchObject({
      sentence: "The limit of 1 running job of the service bank is used up.",
      hint: "To raise it: millrace limits set --service bank --concurrency NUMBER",
      details: { kind: "service", name: "bank", concurrency: 1, used: 1 },
    });
  });

  test("names the time of the next token, and the job starts then", async () => {
    await using kit = await openTest();
    const { job } = counted(kit, "report");
    await kit.mill.limits.set({ tenant: "default" }, { rate: { limit: 1, per: "10s" } });
    kit.mill.work({ jobs: [job], lanes: { general: 5 } });
    await kit.mill.enqueue(job, 0);
    const waiting = await kit.mill.enqueue(job, 0);
    await kit.settled();
    const until = new Date(kit.clock.now() + 10_000);

    expect(await kit.mill.jobs.explain(waiting.id)).toEqual({
      sentence: `The rate of the tenant default allows the next job at ${until.toISOString()}.`,
      reason: "rate",
      hint: "To raise it: millrace limits set --tenant default --rate NUMBER/PERIOD",
      until,
      details: { kind: "tenant", name: "default", nextStartAt: until },
    });

    await kit.advance("10s");
    expect(await kit.mill.jobs.get(waiting.id)).toMatchObject({ state: "completed" });
  });
});

describe("limits.set", () => {
  test.each([
    [{}, { concurrency: 1 }, "name one of { type }, { tenant }, { service }, { key } or"],
    [{ type: "a", tenant: "b" }, { concurrency: 1 }, "name one of"],
    [{ type: "a" }, {}, "name concurrency, rate or both"],
    [{ type: "a" }, { concurrency: 0 }, "concurrency must be a whole number from 1"],
    [{ type: "a" }, { rate: { limit: 5 } }, "rate.per must be a duration"],
    [{ type: "" }, { concurrency: 1 }, "type must be a text"],
    [{ key: "a" }, { concurrency: 1 }, "a key takes a rate and no concurrency"],
    [{ key: "a", type: "b" }, { rate: { limit: 1, per: "1s" } }, "without type"],
    [{ key: "" }, { rate: { limit: 1, per: "1s" } }, "key must be a text"],
  ])("refuses %j with %j", async (target, rule, message) => {
    await using kit = await openTest();
    const refused = kit.mill.limits.set(unchecked(target), unchecked(rule));
    await expect(refused).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(message),
    });
  });
});
