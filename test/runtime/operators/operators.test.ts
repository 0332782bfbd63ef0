import { setImmediate } from "node:timers/promises";
import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { GateName } from "../../../src/store/types/records.ts";
import { retention } from "../../support/factories.ts";
import { take } from "../../support/steps.ts";
import { latch, openTest, unchecked, untilAborted, type RuntimeTest } from "../support.ts";

const say = (text: string, { attempt }: { readonly attempt: number }): string => {
  if (text === "fail") throw new NonRetryableError("as asked");
  if (text === "flaky" && attempt === 1) throw new Error("once");
  return text;
};
const echo = defineJob({ type: "echo", payload: typed<string>() }).run(say);
const listening = defineJob({ type: "listening" }).run((_, ctx) => untilAborted(ctx.signal));

describe("resume", () => {
  test("opens the gate also when the jobs behind it cannot be counted", async () => {
    await using kit = await openTest();
    await kit.mill.pause({ type: "echo" }, "stocktaking");
    kit.failOnce("countBehind");

    const answer = await kit.mill.resume({ type: "echo" });

    expect(answer).toEqual({ wasPaused: true, queued: 0, atLeast: true });
    expect(await kit.mill.pauses()).toEqual([]);
  });
});

describe("pauses", () => {
  test("read a number of rows that does not grow with the number of pauses", async () => {
    await using kit = await openTest();
    const limits: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await kit.mill.pause({ tenant: `customer-${turn}` }, "stocktaking");
    }
    const original = kit.store.countBehind.bind(kit.store);
    Reflect.set(kit.store, "countBehind", (gate: GateName, rows: number) => {
      limits.push(rows);
      return original(gate, rows);
    });

    await kit.mill.pauses();

    expect(limits).toEqual([25_000, 25_000, 25_000, 25_000]);
  });
});

describe("jobs.retry", () => {
  test("of a waiting job runs it now, and it is the same job", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "flaky");
    await kit.drain([echo]);

    const answer = await kit.mill.jobs.retry(job.id);
    await kit.drain([echo]);

    expect(answer).toMatchObject({ id: job.id, created: false, state: "queued" });
    expect(await kit.mill.result(job)).toBe("flaky");
  });

  test("of a final job makes one linked successor and leaves it as it is", async () => {
    await using kit = await openTest();
    const options = { correlationId: "trace", tags: { a: "b" }, tenant: "acme" };
    const job = await kit.mill.enqueue(echo, "fail", options);
    await kit.drain([echo]);

    const successor = await kit.mill.jobs.retry(job.id);
    const again = await kit.mill.jobs.retry(job.id);

    expect(successor).toMatchObject({ created: true, state: "queued" });
    expect(again).toMatchObject({ id: successor.id, created: false });
    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({
      retryOf: job.id,
      payload: "fail",
      attempts: 0,
      ...options,
    });
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed" });
  });

  test("of a completed pipeline is refused, unless it is to run all of it again", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job", payload: typed<string>() })
      .phase("one", (name) => void ran.push(`one ${name}`))
      .phase("two", (name) => void ran.push(`two ${name}`));
    const options = { correlationId: "trace", tags: { a: "b" }, tenant: "acme" };
    const first = await kit.mill.enqueue(job, "x", options);
    await kit.drain([job]);

    await expect(kit.mill.jobs.retry(first.id)).rejects.toMatchObject({
      code: "NOTHING_TO_RETRY",
      status: 409,
      hint: expect.stringContaining("{ restart: true }"),
      details: { id: first.id },
    });
    const again = await kit.mill.jobs.retry(first.id, { restart: true });
    await kit.drain([job]);

    expect(again).toMatchObject({ created: true, type: "job" });
    expect(ran).toEqual(["one x", "two x", "one x", "two x"]);
    expect(await kit.mill.jobs.get(again.id)).toMatchObject({
      state: "completed",
      retryOf: first.id,
      ...options,
    });
  });

  test("of a completed pipeline that has got a new phase, or restarts, is taken", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" }).phase("one", () => void ran.push("one"));
    const restarting = defineJob({ type: "restarting", onRetry: "restart" }).phase("one", () => {
      ran.push("restarted");
    });
    const [first, second] = await kit.mill.enqueueMany([job.of(), restarting.of()]);
    await kit.drain([job, restarting]);

    const longer = job.phase("two", () => void ran.push("two"));
    await kit.drain([longer]);
    await kit.mill.jobs.retry(first.id);
    await kit.mill.jobs.retry(second.id);
    await kit.drain([longer, restarting]);

    expect(ran.toSorted()).toEqual(["one", "restarted", "restarted", "two"]);
  });

  test("of a completed plain job runs it again, whatever it remembers", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "once more");
    await kit.drain([echo]);

    const again = await kit.mill.jobs.retry(job.id);
    await kit.drain([echo]);

    expect(await kit.mill.result(again)).toBe("once more");
  });

  test.each([
    ["restart of a job that is not over", { restart: true }, "restart is only for final jobs"],
    ["an unknown option", { restrat: true }, "did you mean restart?"],
    ["what is neither true nor false", { restart: "yes" }, "true or false"],
  ])("refuses %s", async (_, options, message) => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(echo, "waiting");

    await expect(kit.mill.jobs.retry(id, unchecked(options))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(message),
    });
  });

  test("of a final job keeps how it treats a crash and who owns its retries", async () => {
    await using kit = await openTest();
    const once = defineJob({ type: "once", onOrphan: "fail" }).run(() => {
      throw new NonRetryableError("no");
    });
    const job = await kit.mill.enqueue(once);
    await kit.drain([once]);
    const successor = await kit.mill.jobs.retry(job.id);

    kit.crashAt("start");
    await kit.drain([once]);
    await kit.advance("60s");

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ state: "failed" });
  });

  test("of a running job says that it runs", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(listening);
    kit.mill.work({ jobs: [listening] });
    await kit.settled();

    expect(await kit.mill.jobs.retry(job.id)).toMatchObject({ state: "running", created: false });
  });
});

describe("jobs.fail", () => {
  test("ends a waiting job with its dead letter (004-19)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");

    const view = await kit.mill.jobs.fail(job.id, "not wanted");

    expect(view).toMatchObject({ state: "failed", error: { message: "not wanted" } });
    expect(view.attempts).toBe(0);
    expect(await kit.mill.deadLetters.get(job.id)).toMatchObject({
      status: "pending_review",
      attempts: 0,
    });
    expect(await kit.drain([echo])).toMatchObject({ succeeded: 0 });
  });

  test("with retry counts as a failed attempt (004-18)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");

    const view = await kit.mill.jobs.fail(job.id, "try it later", { retry: true });
    await kit.advance("2s");
    await kit.drain([echo]);

    expect(view).toMatchObject({ state: "scheduled", attempts: 1 });
    expect(await kit.outcomes(job)).toEqual(["failed", "succeeded"]);
  });

  test("charges a job that waits for its second run with the first alone", async () => {
    await using kit = await openTest();
    const failing = defineJob({ type: "failing" }).run(() => {
      throw new Error("broken");
    });
    const job = await kit.mill.enqueue(failing);
    await kit.drain([failing]);

    const view = await kit.mill.jobs.fail(job.id, "not wanted");

    expect(view).toMatchObject({ state: "failed", attempts: 1 });
  });

  test("ends a running job, and its handler is told to stop", async () => {
    await using kit = await openTest();
    const aborted: boolean[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await untilAborted(ctx.signal).catch(() => {});
      aborted.push(ctx.signal.aborted);
      return "too late";
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();

    await kit.mill.jobs.fail(enqueued.id, "enough");
    await kit.advance("2s");

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { message: "enough" },
    });
    expect(aborted).toEqual([true]);
    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ attempts: 1 });
  });

  test("of a job that is over is refused", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    await kit.drain([echo]);

    await expect(kit.mill.jobs.fail(job.id, "no")).rejects.toMatchObject({ code: "JOB_OVER" });
  });
});

describe("jobs.release", () => {
  test("takes a job from a worker that is stuck with it, uncharged", async () => {
    await using kit = await openTest();
    const end = latch();
    const signals: AbortSignal[] = [];
    const stuck = defineJob({ type: "stuck" }).run(async (_, ctx) => {
      signals.push(ctx.signal);
      if (signals.length > 1) return "by the other";
      await end.passed;
      return "by the stuck one";
    });
    const job = await kit.mill.enqueue(stuck);
    kit.mill.work({ jobs: [stuck], lanes: { general: 1 } });
    await kit.settled();

    const view = await kit.mill.jobs.release(job.id);
    await kit.drain([stuck]);
    end.open();
    await kit.settled();

    expect(view).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.mill.result(job)).toBe("by the other");
    expect(await kit.outcomes(job)).toEqual(["interrupted", "succeeded"]);
  });

  test("without force takes a run of a dead worker only", async () => {
    await using kit = await openTest();
    const end = latch();
    const stuck = defineJob({ type: "stuck" }).run(() => end.passed);
    const [alive, dead] = [await kit.mill.enqueue(stuck), await kit.mill.enqueue(stuck)];
    kit.mill.work({ jobs: [stuck], lanes: { general: 1 } });
    await kit.settled();
    const batch = await take(kit.store);
    await kit.store.deregister(batch.worker);
    const release = (id: string) => kit.mill.jobs.release(id, { force: false });

    await expect(release(alive.id)).rejects.toMatchObject({ code: "RUN_HEALTHY" });
    const released = await release(dead.id);

    expect(released).toMatchObject({ state: "queued" });
    expect(await kit.mill.jobs.get(alive.id)).toMatchObject({ state: "running" });
    end.open();
    await kit.settled();
  });

  test("tells the handler to stop", async () => {
    await using kit = await openTest();
    const signals: AbortSignal[] = [];
    const end = latch();
    const stuck = defineJob({ type: "stuck" }).run(async (_, ctx) => {
      signals.push(ctx.signal);
      await end.passed;
    });
    const job = await kit.mill.enqueue(stuck);
    kit.mill.work({ jobs: [stuck], lanes: { general: 1 } });
    await kit.settled();

    await kit.mill.jobs.release(job.id);
    await kit.advance("5s");

    expect(signals[0]?.aborted).toBe(true);
    end.open();
    await kit.settled();
  });

  test.each([
    ["well", "hello", "JOB_OVER", "completed", ["succeeded"]],
    ["in a failure for good", "fail", "JOB_OVER", "failed", ["failed"]],
    ["in a failure to try again", "flaky", "JOB_NOT_RUNNING", "scheduled", ["failed"]],
  ])("of a run that ends %s meanwhile is refused", async (_, text, code, state, outcomes) => {
    await using kit = await openTest();
    const end = latch();
    const ending = defineJob({ type: "ending", payload: typed<string>() }).run((how, ctx) =>
      end.passed.then(() => say(how, ctx)),
    );
    const job = await kit.mill.enqueue(ending, text);
    kit.mill.work({ jobs: [ending] });
    await kit.settled();
    onceSeenRunning(kit, async () => {
      end.open();
      while ((await kit.mill.jobs.get(job.id)).state === "running") await setImmediate();
    });

    await expect(kit.mill.jobs.release(job.id)).rejects.toMatchObject({ code, details: { state } });
    await kit.settled();

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state, attempts: 1 });
    expect(await kit.outcomes(job)).toEqual(outcomes);
  });

  test("twice at once takes it away once", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(listening);
    const worker = kit.mill.work({ jobs: [listening] });
    await kit.settled();
    await worker.quiet();

    const both = [kit.mill.jobs.release(job.id), kit.mill.jobs.release(job.id)];
    const [first, second] = await Promise.allSettled(both);

    expect(first).toMatchObject({ status: "fulfilled", value: { state: "queued" } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "JOB_NOT_RUNNING" } });
    expect(await kit.outcomes(job)).toEqual(["interrupted"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test.each([
    ["waits", "JOB_NOT_RUNNING", "queued", []],
    ["is over", "JOB_OVER", "completed", ["succeeded"]],
  ])("of a job that %s is refused", async (_, code, state, outcomes) => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    if (state === "completed") await kit.drain([echo]);

    await expect(kit.mill.jobs.release(job.id)).rejects.toMatchObject({ code, details: { state } });

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state });
    expect(await kit.outcomes(job)).toEqual(outcomes);
  });
});

describe("jobs.stats", () => {
  test("counts what waits, runs and has failed, and the longest wait (004-16)", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(echo, "fail");
    await kit.drain([echo]);
    await kit.mill.enqueue(echo, "later", { delay: "1h" });
    await kit.mill.enqueue(listening);
    kit.mill.work({ jobs: [listening] });
    await kit.settled();
    await kit.mill.enqueue(echo, "waiting");
    await kit.advance("90s");
    await kit.mill.enqueue(echo, "waiting");

    expect(await kit.mill.jobs.stats()).toEqual({
      scheduled: 1,
      retrying: 0,
      queued: 2,
      held: 0,
      running: 1,
      failed: 1,
      oldestQueuedMs: 90_000,
      atLeast: [],
    });
  });

  test("says which counts stopped at their maximum", async () => {
    await using kit = await openTest();
    const all = Array.from({ length: 10_000 }, () => echo.of("one"));
    await kit.mill.enqueueMany(all.slice(0, 5_000));
    await kit.mill.enqueueMany(all.slice(5_000));
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 10_000, atLeast: [] });

    await kit.mill.enqueue(echo, "one more");

    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 10_000, atLeast: ["queued"] });

    await kit.mill.pause({ tenant: "default" }, "stop");

    const paused = { queued: 0, held: 10_000, atLeast: ["held"] };
    expect(await kit.mill.jobs.stats()).toMatchObject(paused);

    await kit.mill.enqueue(echo, "two more");

    const cutShort = { queued: 0, held: 10_000, atLeast: ["queued", "held", "oldestQueuedMs"] };
    expect(await kit.mill.jobs.stats()).toMatchObject(cutShort);
  });
});

describe("jobs.list", () => {
  test("filters by state, type, tenant, correlation, parent and tags", async () => {
    await using kit = await openTest();
    const one = await kit.mill.enqueue(echo, "one", {
      tenant: "acme",
      correlationId: "trace",
      tags: { a: "1", b: "2" },
    });
    await kit.mill.enqueue(echo, "two", { delay: "1h", tags: { a: "1" } });
    await kit.mill.enqueue(listening);
    const ids = async (filter: Parameters<typeof kit.mill.jobs.list>[0]) =>
      (await kit.mill.jobs.list(filter)).jobs.map(({ id }) => id);

    expect(await ids({ tenant: "acme" })).toEqual([one.id]);
    expect(await ids({ correlationId: "trace" })).toEqual([one.id]);
    expect(await ids({ tags: { a: "1", b: "2" } })).toEqual([one.id]);
    expect(await ids({ tags: { a: "1" } })).toHaveLength(2);
    expect(await ids({ type: "echo", state: "queued" })).toEqual([one.id]);
    expect(await ids({ state: "pending" })).toHaveLength(3);
    expect(await ids({ state: ["running", "failed"] })).toEqual([]);
  });

  test("comes in pages, newest first, that leave nothing out", async () => {
    await using kit = await openTest();
    const all = await kit.mill.enqueueMany(Array.from({ length: 7 }, (_, n) => echo.of(`${n}`)));
    const seen: string[] = [];

    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof kit.mill.jobs.list>> = await kit.mill.jobs.list({
        limit: 3,
        ...(after === null ? {} : { after }),
      });
      seen.push(...page.jobs.map(({ id }) => id));
      after = page.next;
    } while (after !== null);

    expect(seen).toEqual(all.map(({ id }) => id).toReversed());
  });

  test("continues after a page whose jobs have been removed", async () => {
    await using kit = await openTest();
    const all = await kit.mill.enqueueMany(Array.from({ length: 4 }, (_, n) => echo.of(`${n}`)));
    const first = await kit.mill.jobs.list({ limit: 2 });
    for (const { id } of first.jobs) await kit.mill.jobs.cancel(id);
    const atOnce = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
    expect(await kit.store.prune(retention({ finishedMs: atOnce }), 10)).toMatchObject({ jobs: 2 });

    const second = await kit.mill.jobs.list({ limit: 2, after: first.next ?? "" });

    expect(second.jobs.map(({ id }) => id)).toEqual([all[1]?.id, all[0]?.id]);
  });
});

/** Something happens after an operator has seen the job running, and before they move it. */
function onceSeenRunning({ store }: RuntimeTest, happens: () => Promise<void>): void {
  const intervene = store.intervene.bind(store);
  Reflect.set(store, "intervene", async (...args: Parameters<typeof intervene>) => {
    await happens();
    return intervene(...args);
  });
}
