/** `after`: jobs that wait for others. */
import { defineJob, NonRetryableError, typed, type Context } from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, unchecked } from "../support.ts";

const UNKNOWN = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

/** A job that notes its name; "bad" ones fail. */
function makeStep() {
  const ran: string[] = [];
  const step = defineJob({ type: "step", payload: typed<string>() }).run((name) => {
    ran.push(name);
    if (name.startsWith("bad")) throw new NonRetryableError("as asked");
  });
  return { step, ran };
}

describe("a job that runs after others", () => {
  test("makes a chain", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    let last = await kit.mill.enqueue(step, "0");
    for (let link = 1; link < 10; link += 1) {
      last = await kit.mill.enqueue(step, String(link), { after: [last], priority: 10 - link });
    }

    expect(await kit.drain([step])).toMatchObject({ succeeded: 10 });

    expect(ran).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  });

  test("fans in: it waits for all of them, on any worker", async () => {
    await using kit = await openTest();
    const end = latch();
    const ran: number[] = [];
    const part = defineJob({ type: "part", payload: typed<number>() }).run(async (number) => {
      if (number === 7) await end.passed;
      ran.push(number);
    });
    const total = defineJob({ type: "total" }).run(() => ran.length);
    const parts = await kit.mill.enqueueMany(Array.from({ length: 20 }, (_, n) => part.of(n)));
    const sum = await kit.mill.enqueue(total, undefined, { after: parts, priority: "critical" });
    expect(sum).toMatchObject({ state: "queued", created: true });
    kit.mill.work({ jobs: [part] });
    kit.mill.work({ jobs: [total] });

    await kit.advance("5s");
    expect(ran).toHaveLength(19);
    expect((await kit.mill.jobs.get(sum.id)).state).toBe("queued");
    end.open();
    await kit.advance("1s");

    expect(await kit.mill.result(sum)).toBe(20);
  });

  test("fans out: all that wait for one begin when it has ended", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const first = await kit.mill.enqueue(step, "first");
    const names = Array.from({ length: 20 }, (_, index) => `after ${index}`);
    await kit.mill.enqueueMany(names.map((name) => step.of(name, { after: [first] })));

    await kit.drain([step]);

    expect(ran[0]).toBe("first");
    expect(ran.slice(1).toSorted()).toEqual(names.toSorted());
  });

  test("is cancelled when one of them fails, and so is what runs after it", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const [good, bad] = await kit.mill.enqueueMany([step.of("good"), step.of("bad")]);
    const next = await kit.mill.enqueue(step, "next", { after: [good, bad] });
    const last = await kit.mill.enqueue(step, "last", { after: [next] });

    await kit.drain([step]);

    expect(ran).toEqual(["good", "bad"]);
    expect(await kit.mill.wait(next)).toMatchObject({
      state: "cancelled",
      reason: `job ${bad.id}, which it was to run after, failed`,
    });
    expect(await kit.mill.wait(last)).toMatchObject({
      state: "cancelled",
      reason: `job ${next.id}, which it was to run after, was cancelled`,
    });
    expect(await kit.events(next)).toEqual(["job:enqueued", "job:cancelled"]);
  });

  test("that was cancelled with them waits for no job when it is repeated", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const bad = await kit.mill.enqueue(step, "bad");
    const next = await kit.mill.enqueue(step, "next", { after: [bad] });
    await kit.drain([step]);
    expect(ran).toEqual(["bad"]);

    await kit.mill.jobs.retry(next.id);
    await kit.drain([step]);

    expect(ran).toEqual(["bad", "next"]);
  });

  test("runs all the same when it is told to", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const bad = await kit.mill.enqueue(step, "bad");
    const report = { after: [bad], onFailed: "run" } as const;
    await kit.mill.enqueue(step, "report", report);

    await kit.drain([step]);

    expect(ran).toEqual(["bad", "report"]);
  });

  test("takes completed_with_errors for a good end", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const units = defineJob({ type: "units" }).run((_, ctx) =>
      ctx.each(["a", "bad"], String, (unit) => {
        if (unit === "bad") throw new Error("no");
      }),
    );
    const parent = await kit.mill.enqueue(units);
    await kit.mill.enqueue(step, "next", { after: [parent] });

    await kit.drain([units, step]);

    expect((await kit.mill.wait(parent)).state).toBe("completed_with_errors");
    expect(ran).toEqual(["next"]);
  });

  test("of jobs that have ended already runs at once", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const first = await kit.mill.enqueue(step, "first");
    await kit.drain([step]);

    await kit.mill.enqueue(step, "second", {
      after: [first, { id: first.id.toLowerCase(), type: "" }],
    });
    await kit.drain([step]);

    expect(ran).toEqual(["first", "second"]);
  });

  test("has its own time as well", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const first = await kit.mill.enqueue(step, "first");
    const later = await kit.mill.enqueue(step, "later", { after: [first], delay: "1h" });

    await kit.drain([step]);
    expect(ran).toEqual(["first"]);
    expect((await kit.mill.jobs.get(later.id)).state).toBe("scheduled");
    await kit.advance("1h");
    await kit.drain([step]);

    expect(ran).toEqual(["first", "later"]);
  });

  test("is not let go before its time comes by jobs.retry", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const first = await kit.mill.enqueue(step, "first", { delay: "1h" });
    const next = await kit.mill.enqueue(step, "next", { after: [first] });

    await kit.mill.jobs.retry(next.id);
    await kit.drain([step]);

    expect(ran).toEqual([]);
  });

  test("of a job that there is not is refused, and teaches how to do it", async () => {
    await using kit = await openTest();
    const { step } = makeStep();

    const refused = kit.mill.enqueue(step, "next", { after: [{ id: UNKNOWN, type: "step" }] });

    await expect(refused).rejects.toMatchObject({
      code: "AFTER_UNKNOWN",
      message:
        `a job of type "step" is to run after ${UNKNOWN}, which does not exist; ` +
        "a child of ctx.enqueue exists only after its phase",
      hint: expect.stringContaining("Use ctx.enqueue for a job that depends on a child"),
      details: { holder: UNKNOWN },
    });
    await kit.expectNotEnqueued(step);
  });

  test("harms no other job of the same enqueueMany when it is refused", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const options = { after: [{ id: UNKNOWN, type: "step" }] };

    const refused = kit.mill.enqueueMany([step.of("one"), step.of("two", options)]);

    await expect(refused).rejects.toMatchObject({
      code: "AFTER_UNKNOWN",
      details: { index: 1, answers: [{ status: "created" }, { status: "refused" }] },
    });
    await kit.expectEnqueued(step, "one");
  });

  test("is explained by the jobs that it waits for", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const parents = await kit.mill.enqueueMany(Array.from({ length: 5 }, () => step.of("parent")));
    const [first, second] = parents;
    const one = await kit.mill.enqueue(step, "one", { after: [unchecked(first)] });
    const many = await kit.mill.enqueue(step, "many", { after: parents });

    expect(await kit.mill.jobs.explain(one.id)).toEqual({
      sentence: `It runs after the job ${first?.id}, which has not ended yet.`,
      reason: "after",
      hint: `To see why: millrace jobs explain ${first?.id}`,
      details: { jobs: [first?.id], more: false },
    });
    const { sentence, details } = await kit.mill.jobs.explain(many.id);
    expect(details).toEqual({ jobs: parents.map(({ id }) => id), more: false });
    expect(sentence).toContain(`${first?.id}, ${second?.id}, `);
    expect(sentence).toContain(" and more, which have not ended yet");
  });

  test("is looked for at every poll, as are jobs to be moved out of the way", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const parent = await kit.mill.enqueue(step, "parent", { delay: "1h" });
    await kit.mill.enqueue(step, "child", { after: [parent] });
    const calls = countCalls(kit.store, "resolveDependencies", "hold");
    kit.mill.work({ jobs: [step], poll: "1s" });

    await kit.advance("10s");

    expect(calls["resolveDependencies"]).toBeGreaterThanOrEqual(10);
    expect(calls["hold"]).toBeGreaterThanOrEqual(10);
  });
});

describe("a child that runs after others", () => {
  test("of the same phase: the last one gathers what they did", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      const parts = await Promise.all(["a", "b", "c"].map((name) => ctx.enqueue(step, name)));
      return ctx.enqueue(step, "sum", { after: parts, priority: "critical" });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent, step]);

    expect(ran).toEqual(["a", "b", "c", "sum"]);
    const { id } = await kit.mill.result(job);
    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed", parentId: job.id });
  });

  test("of an earlier phase exists by then, also for mill.enqueue", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const parent = defineJob({ type: "parent" })
      .phase("one", (_, ctx) => ctx.enqueue(step, "child"))
      .phase("two", async (_, ctx) => {
        await ctx.enqueue(step, "next", { after: [ctx.results.one] });
        await kit.mill.enqueue(step, "other", { after: [ctx.results.one] });
      });
    await kit.mill.enqueue(parent);

    await kit.drain([parent, step]);

    expect(ran[0]).toBe("child");
    expect(ran.toSorted()).toEqual(["child", "next", "other"]);
  });

  test("of its own parent begins when that has ended", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const parent = defineJob({ type: "parent" }).phase("one", async (_, ctx) => {
      await ctx.enqueue(step, "next", { after: [ctx.job] });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent, step]);

    const child = await kit.expectEnqueued(step, "next", { parentId: job.id });
    expect(child.state).toBe("completed");
  });

  test("of a child of an earlier phase finds the child, however long ago it ended", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    let runs = 0;
    const parent = defineJob({ type: "parent" })
      .phase("one", (_, ctx) => ctx.enqueue(step, "part"))
      .phase("two", async (_, ctx) => {
        runs += 1;
        if (runs < 4) ctx.snooze("1m");
        await ctx.enqueue(step, "sum", { after: [ctx.results.one] });
      });
    const job = await kit.mill.enqueue(parent);
    kit.mill.work({
      jobs: [parent, step],
      retention: { types: { step: { staleAfter: "10s" } } },
    });

    await kit.advance("4m");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(ran).toEqual(["part", "sum"]);
  });

  test("of a child that is not there yet is refused by mill.enqueue", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      const child = await ctx.enqueue(step, "child");
      await expect(kit.mill.enqueue(step, "next", { after: [child] })).rejects.toMatchObject({
        code: "AFTER_UNKNOWN",
      });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(await kit.outcomes(job)).toEqual(["succeeded"]);
  });

  test("that there is not fails its parent, which says what to do", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      ctx.log.info("about to end");
      await ctx.enqueue(step, "first");
      await ctx.enqueue(step, "next", { after: [{ id: UNKNOWN, type: "step" }] });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);
    await kit.settled();

    expect(await kit.outcomes(job)).toEqual(["failed"]);
    expect((await kit.mill.deadLetters.get(job.id)).error).toMatchObject({
      class: "non_retryable",
      name: "AFTER_UNKNOWN",
      message: strandedBy(UNKNOWN),
    });
    const { lines } = await kit.mill.jobs.logs(job.id);
    expect(lines).toMatchObject([{ message: "about to end" }]);
    await kit.expectNotEnqueued(step);
  });

  test.each(["first", "last"])("that there is not fails the %s phase as a whole", async (which) => {
    await using kit = await openTest();
    const { step } = makeStep();
    const strand = async (
      phase: string,
      ctx: Pick<Context<unknown, unknown>, "enqueue">,
    ): Promise<void> => {
      if (phase !== which) return;
      await ctx.enqueue(step, phase);
      await ctx.enqueue(step, "next", { after: [{ id: UNKNOWN, type: "step" }] });
    };
    const parent = defineJob({ type: "parent" })
      .phase("first", (_, ctx) => strand("first", ctx))
      .phase("last", (_, ctx) => strand("last", ctx));
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(await kit.outcomes(job)).toEqual(["failed"]);
    const { phases } = await kit.mill.jobs.progress(job.id);
    const done = phases.filter(({ state }) => state === "completed").map(({ name }) => name);
    expect(done).toEqual(which === "last" ? ["first"] : []);
    expect((await kit.mill.deadLetters.get(job.id)).error).toMatchObject({
      class: "non_retryable",
      name: "AFTER_UNKNOWN",
      message: strandedBy(UNKNOWN),
    });
    await kit.expectNotEnqueued(step);
  });

  test("with a key waits for the job that holds it, and is told", async () => {
    await using kit = await openTest();
    const { step, ran } = makeStep();
    const holder = await kit.mill.enqueue(step, "b", { dedupKey: "page b", delay: "1h" });
    const parent = defineJob({ type: "parent" })
      .phase("fan out", async (_, ctx) => {
        const parts = await Promise.all(
          ["a", "b", "c"].map((name) => ctx.enqueue(step, name, { dedupKey: `page ${name}` })),
        );
        return ctx.enqueue(step, "sum", { after: parts, priority: "critical" });
      })
      .phase("last", () => {});
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent, step]);
    expect(ran).toEqual(["a", "c"]);
    const { phases } = await kit.mill.jobs.progress(job.id);
    const sum = unchecked(phases[0]?.result);
    expect((await kit.mill.jobs.explain(sum.id)).sentence).toContain(holder.id);
    await kit.advance("1h");
    await kit.drain([step]);

    expect(ran).toEqual(["a", "c", "b", "sum"]);
    expect(kit.logged).toMatchObject([
      { message: "child not enqueued: another job holds its key" },
    ]);
  });

  test("of one that is refused itself fails its parent, which tells the cause", async () => {
    await using kit = await openTest();
    const { step } = makeStep();
    await kit.mill.enqueue(step, "holder", { idempotencyKey: "order-7", delay: "1h" });
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      const child = await ctx.enqueue(step, "child", { idempotencyKey: "order-7" });
      await ctx.enqueue(step, "next", { after: [child] });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    const { error } = await kit.mill.deadLetters.get(job.id);
    expect(error.name).toBe("IDEMPOTENCY_CONFLICT");
    await kit.expectNotEnqueued(step, "next");
  });
});

/** Why a run has failed whose child was to run after a job that there is not. */
function strandedBy(id: string): string {
  return (
    `a child of type "step" is to run after ${id}, which does not exist, so nothing of the unit, ` +
    "phase or run that requested it was stored: name jobs that exist; a child exists when the " +
    "unit or phase that enqueued it has ended"
  );
}
