/** What a worker does by itself: from its start with nothing but defaults to what it cleans up. */
import { defineJob, lipasDev, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import { latch, openTest } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => text);

describe("an option that is not set", () => {
  test("is filled in from the defaults, for jobs and workers alike (001-01)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    kit.mill.work({ jobs: [echo] });
    await kit.settled();

    expect(await kit.store.get(job.id)).toMatchObject({
      tenant: "default",
      lane: "general",
      priority: 100,
      maxAttempts: 5,
      timeoutMs: 20 * 60_000,
      onOrphan: "retry",
      retryOwner: "queue",
    });
    expect(await kit.mill.workers.list()).toMatchObject([
      { lanes: ["fast", "general"], slots: 8, tenant: null, types: ["echo"] },
    ]);
  });

  test("is filled in from the preset, if one was given (001-01)", async () => {
    await using kit = await openTest({ preset: lipasDev });
    const job = await kit.mill.enqueue(echo, "hello");
    kit.mill.work({ jobs: [echo] });
    await kit.settled();

    expect(await kit.store.get(job.id)).toMatchObject({ maxAttempts: 3 });
    expect(await kit.mill.workers.list()).toMatchObject([{ slots: 3 }]);
  });
});

describe("a worker", () => {
  test("looks for jobs as soon as it is ready, not at its first poll (001-08)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");

    kit.mill.work({ jobs: [echo], poll: "1h" });
    await kit.settled();

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
  });

  test("announces every job that it begins, and names itself (001-15, 003-09)", async () => {
    await using kit = await openTest();
    const end = latch();
    const slow = defineJob({ type: "slow", payload: typed<number>() }).run(() => end.passed);
    const jobs = await kit.mill.enqueueMany([slow.of(1), slow.of(2), slow.of(3)]);
    const worker = kit.mill.work({ jobs: [slow], lanes: { general: 2 } });
    await kit.settled();

    const events = async () => Promise.all(jobs.map((job) => kit.events(job)));
    expect(await events()).toEqual([
      ["job:enqueued", "job:started"],
      ["job:enqueued", "job:started"],
      ["job:enqueued"],
    ]);
    end.open();
    await kit.settled();
    expect(await kit.mill.jobs.attempts(jobs[2].id)).toMatchObject([{ worker: worker.id }]);
  });

  test("gives each job to the handler of its type, with the payload (004-02)", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const email = defineJob({ type: "email", payload: typed<string>() }).run((to) => {
      ran.push(`email to ${to}`);
    });
    const sms = defineJob({ type: "sms", payload: typed<string>() }).run((to) => {
      ran.push(`sms to ${to}`);
    });
    await kit.mill.enqueueMany([sms.of("ada"), email.of("bob"), sms.of("cyd")]);

    await kit.drain([email, sms]);

    expect(ran.toSorted()).toEqual(["email to bob", "sms to ada", "sms to cyd"]);
  });

  test("gives every run a signal of its own (001-18)", async () => {
    await using kit = await openTest();
    const end = latch();
    const signals = new Map<string, AbortSignal>();
    const named = defineJob({ type: "named", payload: typed<string>() }).run(async (name, ctx) => {
      signals.set(name, ctx.signal);
      await end.passed;
    });
    const [one] = await kit.mill.enqueueMany([named.of("one"), named.of("two")]);
    kit.mill.work({ jobs: [named] });
    await kit.settled();

    await kit.mill.jobs.cancel(one.id);
    await kit.advance("2s");

    expect(signals.get("one")?.aborted).toBe(true);
    expect(signals.get("two")?.aborted).toBe(false);
    end.open();
    await kit.settled();
  });

  test("lets no line of the log fail a job, however odd its fields are", async () => {
    await using kit = await openTest();
    const odd = {
      rows: 10n,
      get secret(): never {
        throw new Error("not for you");
      },
    };
    const talking = defineJob({ type: "talking" }).run((_, ctx) => ctx.log.warn("rows", odd));
    const job = await kit.mill.enqueue(talking);

    await kit.drain([talking]);

    expect(await kit.mill.wait(job)).toMatchObject({ state: "completed" });
    expect(kit.logged).toContainEqual({
      level: "warn",
      message: "rows",
      fields: expect.objectContaining({ job_id: job.id, rows: "10", secret: "[unreadable]" }),
    });
  });

  test("removes jobs whose retention has expired, beside its jobs", async () => {
    await using kit = await openTest();
    const deleted: string[] = [];
    const end = latch();
    const slow = defineJob({ type: "slow", timeout: false }).run(() => end.passed);
    const old = await kit.mill.enqueue(echo, "old");
    await kit.drain([echo]);
    await kit.advance("8d");
    // Where no worker runs, nothing is removed.
    expect(await kit.mill.jobs.get(old.id)).toMatchObject({ state: "completed" });
    kit.mill.on("job:deleted", ({ id }) => deleted.push(id));
    const running = await kit.mill.enqueue(slow);
    const young = await kit.mill.enqueue(echo, "young");

    kit.mill.work({ jobs: [echo, slow] });
    await kit.settled();

    await expect(kit.mill.jobs.get(old.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect(deleted).toEqual([old.id]);
    expect(await kit.mill.jobs.get(young.id)).toMatchObject({ state: "completed" });
    expect(await kit.mill.jobs.get(running.id)).toMatchObject({ state: "running" });
    end.open();
    await kit.settled();
  });
});

describe("a job's id as a UUID", () => {
  test("is taken wherever an id is asked for (003-13, C-27)", async () => {
    await using kit = await openTest();
    const { jobs, deadLetters } = kit.mill;
    const job = await kit.mill.enqueue(echo, "hello");
    const other = await kit.mill.enqueue(echo, "other");
    const uuid = idUuid(job.id);

    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await jobs.get(uuid)).toMatchObject({ id: job.id });
    expect(await jobs.get(uuid.toUpperCase())).toMatchObject({ id: job.id });
    expect((await jobs.list({ after: idUuid(other.id) })).jobs).toMatchObject([{ id: job.id }]);
    expect(await jobs.fail(uuid, "broken")).toMatchObject({ id: job.id });
    expect(await deadLetters.get(uuid)).toMatchObject({ id: job.id });
    expect(await kit.mill.wait({ id: uuid, type: "echo" })).toMatchObject({ id: job.id });
    expect(await jobs.attempts(uuid)).toHaveLength(1);
  });
});
