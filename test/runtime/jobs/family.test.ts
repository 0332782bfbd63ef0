import { defineJob, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import { latch, openTest, unchecked } from "../support.ts";

const child = defineJob({ type: "child" }).run(() => "done");

describe("a job enqueued below a handler", () => {
  test("inherits correlation, parent and tenant without ctx (004-04, 004-38)", async () => {
    await using kit = await openTest();
    const deepBelow = async (): Promise<void> => {
      await Promise.resolve();
      await kit.mill.enqueue(child);
    };
    const parent = defineJob({ type: "parent" }).run(deepBelow);
    const job = await kit.mill.enqueue(parent, undefined, {
      correlationId: "user-action-123",
      tenant: "acme",
    });

    await kit.drain([parent, child]);

    await kit.expectEnqueued(child, undefined, {
      correlationId: "user-action-123",
      parentId: job.id,
      tenant: "acme",
    });
    const { jobs } = await kit.mill.jobs.list({ correlationId: "user-action-123" });
    expect(jobs.map(({ type }) => type).toSorted()).toEqual(["child", "parent"]);
  });

  test("inherits the id of its parent as a UUID when the parent has no correlation", async () => {
    await using kit = await openTest();
    const seen: string[] = [];
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      seen.push(ctx.job.correlationId);
      await ctx.enqueue(child);
    });
    const { id } = await kit.mill.enqueue(parent);

    await kit.drain([parent, child]);
    const { id: again } = await kit.mill.jobs.retry(id);

    const correlationId = idUuid(id);
    expect(correlationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    expect(seen).toEqual([correlationId]);
    await kit.expectEnqueued(child, undefined, { correlationId, parentId: id });
    expect(await kit.mill.jobs.get(again)).toMatchObject({ correlationId, retryOf: id });
    expect((await kit.mill.jobs.list({ correlationId })).jobs).toHaveLength(3);
  });

  test("inherits from a handler that returns a thenable, as lazy queries are", async () => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run((): any => ({
      // oxlint-disable-next-line unicorn/no-thenable -- That is the point.
      then(resolve: (value: string) => void) {
        void kit.mill.enqueue(child).then((made) => resolve(made.id));
      },
    }));
    const { id } = await kit.mill.enqueue(parent);

    await kit.drain([parent, child]);

    const { jobs } = await kit.mill.jobs.list({ type: "child" });
    expect(jobs).toMatchObject([{ parentId: id }]);
  });

  test("keeps what it says itself", async () => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run(
      async () =>
        void (await kit.mill.enqueue(child, undefined, { correlationId: "own", tenant: "own" })),
    );
    await kit.mill.enqueue(parent, undefined, { correlationId: "other" });

    await kit.drain([parent]);

    const { jobs } = await kit.mill.jobs.list({ type: "child" });
    expect(jobs).toMatchObject([{ correlationId: "own", tenant: "own" }]);
  });

  test("elsewhere inherits nothing, and correlates with itself", async () => {
    await using kit = await openTest();

    const job = await kit.mill.enqueue(child);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      correlationId: idUuid(job.id),
      parentId: null,
      tenant: "default",
    });
  });

  test("by a listener is no child of the job that happened to wake it", async () => {
    await using kit = await openTest();
    const first = defineJob({ type: "first" }).run(async () => {
      await kit.mill.enqueue(child);
    });
    const report = defineJob({ type: "report", payload: typed<string>() });
    kit.mill.on("job:enqueued", ({ id, type }) => {
      if (type === "child") void kit.mill.enqueue(report, id);
    });
    await kit.mill.enqueue(first);

    await kit.drain([first]);
    await kit.advance("2s");

    const { jobs } = await kit.mill.jobs.list({ type: "report" });
    expect(jobs).toMatchObject([{ parentId: null }]);
  });
});

describe("ctx.enqueue", () => {
  const parent = defineJob({ type: "parent", payload: typed<{ failures: number }>() }).run(
    async ({ failures }, ctx) => {
      const ref = await ctx.enqueue(child);
      if (ctx.attempt <= failures) throw new TransientError("no");
      return ref.id;
    },
  );

  test("makes a child that exists once the run has ended well, with its family", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(parent, { failures: 0 }, { correlationId: "family" });

    await kit.drain([parent]);

    const view = await kit.expectEnqueued(child, undefined, {
      correlationId: "family",
      parentId: job.id,
    });
    expect(await kit.mill.result(job)).toBe(view.id);
  });

  test("refuses more children than one transaction should make, and teaches the way", async () => {
    await using kit = await openTest();
    let made = 0;
    const prolific = defineJob({ type: "prolific", maxAttempts: 3 }).run(async (_, ctx) => {
      for (; made < 10_001; made += 1) await ctx.enqueue(child);
    });
    const job = await kit.mill.enqueue(prolific);

    await kit.drain([prolific]);

    expect(made).toBe(10_000);
    // It would end the same way again, so it is not tried again.
    expect(await kit.outcomes(job)).toEqual(["failed"]);
    expect((await kit.mill.jobs.get(job.id)).error).toMatchObject({
      class: "non_retryable",
      message: expect.stringMatching(/"prolific".*at most 10000.*enqueueMany, in batches/),
    });
    await kit.expectNotEnqueued(child);
  });

  test("takes as many children as it allows", async () => {
    await using kit = await openTest();
    const prolific = defineJob({ type: "prolific" }).run(async (_, ctx) => {
      await Promise.all(Array.from({ length: 10_000 }, () => ctx.enqueue(child)));
    });
    const job = await kit.mill.enqueue(prolific);

    await kit.drain([prolific]);

    expect(await kit.outcomes(job)).toEqual(["succeeded"]);
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 10_000 });
  });

  test("counts children that are asked for at once", async () => {
    await using kit = await openTest();
    const prolific = defineJob({ type: "prolific" }).run(async (_, ctx) => {
      await Promise.all(Array.from({ length: 10_001 }, () => ctx.enqueue(child)));
    });
    const job = await kit.mill.enqueue(prolific);

    await kit.drain([prolific]);

    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });

  test("makes no child while the run goes on, nor when it fails", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(parent, { failures: 2 });

    await kit.drain([parent]);
    await kit.advance("2s");
    await kit.drain([parent]);
    await kit.expectNotEnqueued(child);
    await kit.advance("4s");
    await kit.drain([parent]);

    expect((await kit.mill.jobs.list({ type: "child" })).jobs).toHaveLength(1);
  });

  test("that comes after the end of the run is refused, not forgotten", async () => {
    await using kit = await openTest();
    const late: Promise<unknown>[] = [];
    const end = latch();
    const hasty = defineJob({ type: "hasty" }).run((_, ctx) => {
      late.push(end.passed.then(() => ctx.enqueue(child)).catch((error: unknown) => error));
    });
    await kit.mill.enqueue(hasty);

    await kit.drain([hasty]);
    end.open();

    expect(await late[0]).toBeInstanceOf(Error);
  });

  test("runs the child in the same drain", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(parent, { failures: 0 });

    const counts = await kit.drain([parent, child]);

    expect(counts.succeeded).toBe(2);
  });

  test("refuses a payload at once, inside the handler", async () => {
    await using kit = await openTest();
    const strict = defineJob({
      type: "strict",
      payload: unchecked(typed()),
    });
    const asking = defineJob({ type: "asking", maxAttempts: 1 }).run(async (_, ctx) => {
      await ctx.enqueue(strict, unchecked(new Date(0)));
    });
    const job = await kit.mill.enqueue(asking);

    await kit.drain([asking]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("payload") },
    });
  });
});

describe("a handler that waits for its own child", () => {
  test("gets its result, for other slots run it", async () => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run(async () => {
      const job = await kit.mill.enqueue(child);
      return kit.mill.result(job);
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent, child]);

    expect(await kit.mill.result(job)).toBe("done");
  });
});

describe("phases", () => {
  test("run in order, each with the results of those before it as JSON (001-18)", async () => {
    await using kit = await openTest();
    const pipeline = defineJob({ type: "pipeline" })
      .phase("first", () => ({ at: new Date(0) }))
      .phase("second", (_, ctx) => ctx.results.first.at)
      .phase("third", (_, ctx) => [ctx.results.first.at, ctx.results.second]);
    const job = await kit.mill.enqueue(pipeline);

    await kit.drain([pipeline]);

    const epoch = "1970-01-01T00:00:00.000Z";
    expect(await kit.mill.result(job)).toEqual([epoch, epoch]);
  });
});

describe("two handlers side by side", () => {
  test("never take each other's family", async () => {
    await using kit = await openTest();
    const both = latch();
    let begun = 0;
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      begun += 1;
      if (begun === 2) both.open();
      await both.passed;
      await kit.mill.enqueue(child, undefined, { tags: { of: ctx.job.id } });
    });
    await kit.mill.enqueueMany([parent.of(), parent.of()]);

    await kit.drain([parent]);

    const { jobs } = await kit.mill.jobs.list({ type: "child" });
    expect(jobs).toHaveLength(2);
    for (const { parentId, tags } of jobs) expect(parentId).toBe(tags["of"]);
  });
});
