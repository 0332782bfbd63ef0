import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { crashedOnce, fault } from "../../support/factories.ts";
import { add, addCrashed, joinWorker, settleAll, take, takeOne } from "../../support/steps.ts";
import { latch, openTest, untilAborted, withBuffer, type RuntimeTest } from "../support.ts";

const email = defineJob({ type: "email" }).run(() => "sent");
const report = defineJob({ type: "report", lane: "heavy" }).run(() => "written");
const flaky = defineJob({ type: "flaky", maxAttempts: 3 }).run((_, ctx) => {
  if (ctx.attempt === 1) throw new Error("the mail server hung up");
});
const listening = defineJob({ type: "listening" }).run((_, ctx) => untilAborted(ctx.signal));

describe("jobs.explain of a job that is not due", () => {
  test("tells its time, and how to run it now", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(email, undefined, { delay: "1h" });

    expect(await kit.mill.jobs.explain(id)).toEqual({
      reason: "scheduled",
      sentence: expect.stringContaining("due at"),
      hint: `To run it now: millrace jobs retry ${id}`,
      until: new Date(kit.clock.now() + 3_600_000),
      details: { at: new Date(kit.clock.now() + 3_600_000) },
    });
  });

  test("tells the failure after which it waits", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(flaky);
    await kit.drain([flaky]);

    const { runAt } = await kit.mill.jobs.get(id);
    expect(await kit.mill.jobs.explain(id)).toEqual({
      reason: "retrying",
      sentence: expect.stringMatching(/attempt 1 of 3 failed after Error: the mail server hung up/),
      hint: `To run it now: millrace jobs retry ${id}`,
      until: runAt,
      details: { at: runAt, attempts: 1, maxAttempts: 3, error: "Error" },
    });
  });

  test("counts it as due once its time has come, though no worker has moved it yet", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(email, undefined, { delay: "1m" });
    Reflect.set(kit.store, "promote", async () => ({ moved: 0, nextDueMs: null }));

    await kit.advance("2m");

    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "scheduled" });
    expect(await reasonOf(kit, id)).toBe("no_worker");
  });
});

describe("jobs.explain of a job that has crashed before", () => {
  test.each([
    { crashes: 1, reason: "crashed", says: /died once .* half of the slots of a process/ },
    { crashes: 2, reason: "crashed", says: /died 2 times .* an eighth of the slots/ },
    { crashes: 3, reason: "alone", says: /died 3 times .* so it runs alone/ },
  ])("says after $crashes in how much company it runs", async ({ crashes, reason, says }) => {
    await using kit = await openTest();
    const { store } = kit;
    const job = { type: "report", lane: "general" } as const;
    const ids = [await addCrashed(store, crashes, job), await addCrashed(store, crashes, job)];
    const takes = { types: ["report"], slots: 2, laneSlots: { general: 2 }, pid: 7 };
    const worker = await joinWorker(store, takes);
    const { jobs } = await take(store, { worker, limit: 1 });
    const id = ids.find((each) => each !== jobs[0]?.id)!;

    const explanation = await kit.mill.jobs.explain(id);

    expect(explanation).toMatchObject({ reason, sentence: expect.stringMatching(says) });
  });

  test.each([
    { crashes: 1, taken: 0, reason: "waiting", says: "It is due after a crash; 1 worker(s)" },
    { crashes: 2, taken: 0, reason: "waiting", says: "It is due after 2 crashes; 1 worker(s)" },
    { crashes: 1, taken: 2, reason: "busy", says: "It is due after a crash, and all 2 slot(s)" },
  ])("is about other jobs while the slots for it are free: $reason", async (expected) => {
    const { crashes, taken, reason, says } = expected;
    await using kit = await openTest();
    const { store } = kit;
    const id = await addCrashed(store, crashes, { type: "report", lane: "general" });
    await add(store, { lane: "heavy" }, { lane: "heavy" });
    const takes = { types: ["report"], slots: 2, laneSlots: { general: 2 }, pid: 7 };
    const worker = await joinWorker(store, takes);
    if (taken > 0) await take(store, { worker, limit: taken, lanes: ["heavy"] });

    const explanation = await kit.mill.jobs.explain(id);

    expect(explanation).toMatchObject({ reason, sentence: expect.stringContaining(says) });
  });

  test("says that the crash has cost no attempt while it waits", async () => {
    await using kit = await openTest();
    const [id] = await add(kit.store, { type: "email" });
    const crash = { ...crashedOnce(), tries: 0, to: "scheduled", delayMs: 60_000 } as const;
    await settleAll(kit.store, await takeOne(kit.store), { ...crash, fault: fault() });

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "retrying",
      sentence: expect.stringContaining("the last run cost no attempt"),
    });
  });
});

describe("jobs.explain of a job that is due", () => {
  test("says that no worker runs, and how to start one", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(email);

    expect(await kit.mill.jobs.explain(id)).toEqual({
      reason: "no_worker",
      sentence: "It is due, but no worker is running.",
      hint: expect.stringContaining("millrace worker --jobs FILE"),
      details: { type: "email", lane: "general", tenant: "default" },
    });
  });

  test("does not count on workers that are dead", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(email);
    kit.crashAt("start");
    await kit.drain([email]);
    const { id } = await kit.mill.enqueue(listening);

    await kit.advance("31s");

    const { reason, sentence } = await kit.mill.jobs.explain(id);
    expect({ reason, sentence }).toEqual({
      reason: "no_worker",
      sentence: "It is due, but no worker is running.",
    });
  });

  test("does not count on workers that are quiet", async () => {
    await using kit = await openTest();
    const worker = kit.mill.work({ jobs: [email] });
    await worker.ready;
    await kit.mill.workers.quiet(worker.id);
    const { id } = await kit.mill.enqueue(email);

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "quiet",
      hint: expect.stringContaining("Start another"),
    });
  });

  test("says that no worker takes its type, and which they take", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [email, flaky] });
    kit.mill.work({ jobs: [email, report], types: ["report"] });
    await kit.settled();
    const { id } = await kit.mill.enqueue(listening);

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "type_not_taken",
      sentence: expect.stringMatching(/type listening;.* types email, flaky, report\.$/),
      hint: expect.stringContaining("whose file exports that job"),
    });
  });

  test("names the type that was probably meant, and starts once a worker knows it", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [email, report] });
    await kit.settled();
    const mistyped = defineJob({ type: "emial" }).run(() => "sent");
    const { id } = await kit.mill.enqueue(mistyped);

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "type_not_taken",
      sentence: expect.stringContaining("types email, report (did you mean email?)."),
    });
    await kit.drain([mistyped]);
    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
  });

  test("says that no worker of its type has slots for its lane", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [report], lanes: { fast: 2, general: 0 } });
    kit.mill.work({ jobs: [email], lanes: { heavy: 1 } });
    await kit.settled();
    const { id } = await kit.mill.enqueue(report);

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "lane_not_taken",
      sentence: expect.stringMatching(/lane heavy;.* slots in fast\.$/),
      hint: expect.stringContaining("--lanes heavy=1"),
    });
  });

  test("says that no worker takes its tenant", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [email], tenant: "acme" });
    await kit.settled();
    const { id } = await kit.mill.enqueue(email, undefined, { tenant: "globex" });

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "tenant_not_taken",
      sentence: expect.stringMatching(/tenant globex;.* tenants acme\.$/),
      hint: expect.stringContaining("--tenant globex"),
    });
  });

  test("says that all slots are busy", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long", payload: typed<number>() }).run(() => end.passed);
    kit.mill.work({ jobs: [long], lanes: { general: 2 } });
    const [, , third] = await kit.mill.enqueueMany([long.of(1), long.of(2), long.of(3)]);
    await kit.settled();

    expect(await kit.mill.jobs.explain(third.id)).toMatchObject({
      reason: "busy",
      sentence:
        "It is due, and all 2 slot(s) for the lane general of 1 worker(s) are busy. " +
        "It is the next of its lane.",
      hint: expect.stringContaining("--lanes general=N"),
    });
    end.open();
    await kit.settled();
  });

  test("counts no slots that are kept for other lanes", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long", payload: typed<number>() }).run(() => end.passed);
    kit.mill.work({ jobs: [long], lanes: { fast: 3, general: 1 } });
    const [, second] = await kit.mill.enqueueMany([long.of(1), long.of(2)]);
    await kit.settled();

    expect(await kit.mill.jobs.explain(second.id)).toMatchObject({
      reason: "busy",
      sentence: expect.stringContaining("all 1 slot(s) for the lane general"),
      details: { lane: "general", slots: 1, running: 1 },
    });
    end.open();
    await kit.settled();
  });

  test("counts the general slots beside those of its lane", async () => {
    await using kit = await openTest();
    const end = latch();
    const fast = defineJob({ type: "fast", lane: "fast", payload: typed<number>() }).run(
      () => end.passed,
    );
    kit.mill.work({ jobs: [fast], lanes: { fast: 2, general: 1 } });
    const [, , , fourth] = await kit.mill.enqueueMany([1, 2, 3, 4].map((each) => fast.of(each)));
    await kit.settled();

    expect(await kit.mill.jobs.explain(fourth!.id)).toMatchObject({
      reason: "busy",
      details: { lane: "fast", slots: 3, running: 3 },
    });
    end.open();
    await kit.settled();
  });

  test("says that its key is free again, while no worker has brought it back", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long", payload: typed<number>() }).run(async (number) => {
      if (number === 1) await end.passed;
    });
    const unserved = defineJob({ type: "unserved" });
    const key = { concurrencyKey: "site/main" };
    kit.mill.work({ jobs: [long] });
    await kit.mill.enqueue(long, 1, key);
    await kit.settled();
    // The end of a run brings back one of them: the first, which no worker takes.
    const [, behind] = await kit.mill.enqueueMany([unserved.of(undefined, key), long.of(2, key)]);
    await kit.advance("3s");
    const release = kit.store.release.bind(kit.store);
    Reflect.set(kit.store, "release", async () => 0);
    end.open();
    await kit.advance("3s");

    expect(await kit.mill.jobs.explain(behind.id)).toEqual({
      reason: "key",
      sentence: "Its concurrency key site/main is free again; it returns to the queue in a moment.",
      hint: expect.stringContaining("millrace worker --jobs FILE"),
      details: { name: "site/main", holder: null },
    });

    Reflect.set(kit.store, "release", release);
    await kit.advance("3s");
    expect(await reasonOf(kit, behind.id)).toBe("completed");
  });

  test.each([
    ["type", { type: "email" }, "millrace resume --type email"],
    ["tenant", { tenant: "default" }, "millrace resume --tenant default"],
  ] as const)("says that its %s is paused, and how to open it (C-04)", async (_, target, hint) => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(email);
    await kit.mill.pause(target, "the provider is down");
    kit.mill.work({ jobs: [email] });
    await kit.advance("2s");

    expect(await kit.mill.jobs.explain(id)).toEqual({
      reason: "paused",
      sentence: expect.stringContaining("the provider is down"),
      hint: expect.stringContaining(hint),
      details: expect.objectContaining({ reason: "the provider is down", until: null }),
    });
  });
});

describe("jobs.explain of a job that a worker has", () => {
  test("says that it runs, and how to stop it", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(listening);
    kit.mill.work({ jobs: [listening] });
    await kit.settled();

    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "running",
      hint: `To stop it: millrace jobs cancel ${id}`,
    });
  });

  test("says that it lies in a buffer", async () => {
    await using kit = await openTest();
    const { buffered, end } = await withBuffer(kit);

    expect(await kit.mill.jobs.explain(buffered[0].id)).toMatchObject({
      reason: "buffered",
      hint: expect.stringContaining("millrace jobs release"),
    });
    end.open();
    await kit.settled();
  });
});

describe("jobs.explain of a job that is over", () => {
  test("names its end, and how to run it again", async () => {
    await using kit = await openTest();
    const done = await kit.mill.enqueue(email);
    await kit.drain([email]);
    const dead = await kit.mill.enqueue(email);
    await kit.mill.jobs.fail(dead.id, "broken");

    expect(await kit.mill.jobs.explain(done.id)).toMatchObject({
      reason: "completed",
      hint: expect.stringContaining(`millrace jobs retry ${done.id}`),
    });
    expect(await kit.mill.jobs.explain(dead.id)).toMatchObject({
      reason: "failed",
      hint: expect.stringContaining(`millrace dlq show ${dead.id}`),
    });
  });
});

describe("mill.workers.list", () => {
  test("shows what each worker takes", async () => {
    await using kit = await openTest();
    const lanes = { fast: 3, general: 5, heavy: 0 };
    kit.mill.work({ jobs: [email, report, flaky], types: ["email", "report"], lanes });
    await kit.advance(1);
    kit.mill.work({ jobs: [email], tenant: "acme", lanes: { fast: 1 } });
    await kit.settled();

    expect(await kit.mill.workers.list()).toMatchObject([
      { types: ["email", "report"], lanes: ["fast", "general"], slots: 8, tenant: null },
      { types: ["email"], lanes: ["fast"], slots: 1, tenant: "acme" },
    ]);
  });
});

async function reasonOf({ mill }: RuntimeTest, id: string): Promise<string> {
  return (await mill.jobs.explain(id)).reason;
}
