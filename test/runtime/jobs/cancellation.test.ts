import { defineJob, TransientError } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, untilAborted, withBuffer } from "../support.ts";

const listening = defineJob({ type: "listening" }).run((_, ctx) => untilAborted(ctx.signal));

describe("cancelling a waiting job", () => {
  test.each([
    ["queued", {}],
    ["scheduled", { delay: "1h" }],
  ] as const)("that is %s ends it at once, told exactly once (001-30)", async (_, options) => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(listening, undefined, options);

    const view = await kit.mill.jobs.cancel(job.id, "no longer wanted");
    await kit.advance("2h");
    const counts = await kit.drain([listening]);

    expect(view).toMatchObject({ state: "cancelled", cancelReason: "no longer wanted" });
    expect(counts).toMatchObject({ succeeded: 0, cancelled: 0 });
    expect(await kit.events(job)).toEqual(["job:enqueued", "job:cancelled"]);
  });

  test("between two attempts ends it", async () => {
    await using kit = await openTest();
    const flaky = defineJob({ type: "flaky" }).run(() => {
      throw new TransientError("no");
    });
    const job = await kit.mill.enqueue(flaky);
    await kit.drain([flaky]);

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("1h");
    await kit.drain([flaky]);

    expect(await kit.outcomes(job)).toEqual(["failed", "cancelled"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "cancelled", attempts: 1 });
  });

  test("that lies in a worker's buffer ends it before it begins", async () => {
    await using kit = await openTest();
    const { buffered, end, ran } = await withBuffer(kit);

    await kit.mill.jobs.cancel(buffered[1].id);
    end.open();
    await kit.advance("2s");

    expect(ran).toEqual([0, 1, 2]);
    expect(await kit.mill.jobs.get(buffered[1].id)).toMatchObject({ state: "cancelled" });
    expect(await kit.events(buffered[1])).toEqual(["job:enqueued", "job:cancelled"]);
  });
});

describe("cancelling a running job", () => {
  test("aborts its signal at the next heartbeat and is told exactly once (001-29)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(listening);
    kit.mill.work({ jobs: [listening] });
    await kit.settled();

    const asked = await kit.mill.jobs.cancel(job.id, "stop it");
    expect(asked.state).toBe("running");
    expect(await kit.mill.jobs.explain(job.id)).toMatchObject({ reason: "cancelling" });
    await kit.advance("1s");

    expect(await kit.mill.wait(job)).toMatchObject({ state: "cancelled", reason: "stop it" });
    expect(await kit.events(job)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ attempts: 0 });
  });

  test("aborts every one of several runs under several leases, and leaves the others", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [listening], lanes: { general: 8 } });
    const jobs = [];
    // One claim each.
    for (let count = 0; count < 6; count += 1) {
      jobs.push(await kit.mill.enqueue(listening));
      await kit.settled();
    }
    const [spared, ...unwanted] = jobs;

    for (const { id } of unwanted) await kit.mill.jobs.cancel(id);
    await kit.advance("1s");

    const states = await Promise.all(jobs.map(({ id }) => kit.mill.jobs.get(id)));
    expect(states.map((job) => job?.state)).toEqual([
      "running",
      ...unwanted.map(() => "cancelled"),
    ]);
    expect(await kit.events(spared!)).toEqual(["job:enqueued", "job:started"]);
  });

  test("twice is told once", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(listening);
    kit.mill.work({ jobs: [listening] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.mill.jobs.cancel(job.id);
    await kit.advance("5s");

    expect(await kit.events(job)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
  });

  test("between two phases lets no later phase begin (001-29)", async () => {
    await using kit = await openTest();
    const first = latch();
    const ran: string[] = [];
    const pipeline = defineJob({ type: "pipeline" })
      .phase("one", async () => {
        ran.push("one");
        await first.passed;
      })
      .phase("two", () => void ran.push("two"));
    const job = await kit.mill.enqueue(pipeline);
    kit.mill.work({ jobs: [pipeline] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("1s");
    first.open();
    await kit.settled();

    expect(ran).toEqual(["one"]);
    expect(await kit.events(job)).toEqual([
      "job:enqueued",
      "job:started",
      "job:progress",
      "job:phase:completed",
      "job:cancelled",
    ]);
  });

  test("that fails before it has heard of it is not tried again", async () => {
    await using kit = await openTest();
    const end = latch();
    const failing = defineJob({ type: "failing" }).run(async () => {
      await end.passed;
      throw new TransientError("no");
    });
    const job = await kit.mill.enqueue(failing);
    kit.mill.work({ jobs: [failing] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id, "stop it");
    end.open();
    await kit.settled();

    expect(await kit.mill.wait(job)).toMatchObject({ state: "cancelled", reason: "stop it" });
    expect(await kit.events(job)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
  });

  test("that returns all the same has succeeded", async () => {
    await using kit = await openTest();
    const stubborn = defineJob({ type: "stubborn" }).run(async (_, ctx) => {
      await untilAborted(ctx.signal).catch(() => {});
      return "done";
    });
    const job = await kit.mill.enqueue(stubborn);
    kit.mill.work({ jobs: [stubborn] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("1s");

    expect(await kit.mill.wait(job)).toMatchObject({ state: "completed", result: "done" });
    expect(await kit.events(job)).toEqual(["job:enqueued", "job:started", "job:completed"]);
  });

  test("whose handler ignores its signal ends all the same", async () => {
    await using kit = await openTest();
    const deaf = defineJob({ type: "deaf", timeout: false }).run(() => new Promise(() => {}));
    const job = await kit.mill.enqueue(deaf);
    kit.mill.work({ jobs: [deaf] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("5m");

    expect(await kit.events(job)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
  });

  test("creates none of the children it asked for", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" }).run(() => {});
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await ctx.enqueue(child);
      await untilAborted(ctx.signal);
    });
    const job = await kit.mill.enqueue(parent);
    kit.mill.work({ jobs: [parent] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("1s");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "cancelled" });
    await kit.expectNotEnqueued(child);
  });
});

describe("cancelling a job that is over", () => {
  test("is refused and changes nothing", async () => {
    await using kit = await openTest();
    const done = defineJob({ type: "done" }).run(() => 1);
    const job = await kit.mill.enqueue(done);
    await kit.drain([done]);

    await expect(kit.mill.jobs.cancel(job.id)).rejects.toMatchObject({ code: "JOB_OVER" });

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
  });

  test("or unknown is told so", async () => {
    await using kit = await openTest();
    const unknown = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

    await expect(kit.mill.jobs.cancel(unknown)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    await expect(kit.mill.jobs.cancel("nonsense")).rejects.toMatchObject({ code: "ID_INVALID" });
  });
});
