/** A worker's standing in the store: how it joins, and what it makes of news that it was lost. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { Renewal } from "../../../src/store/types/jobs-and-runs.ts";
import { crashedOnce } from "../../support/factories.ts";
import { rescueSilent } from "../../support/steps.ts";
import { latch, openTest, replaceVerb, type RuntimeTest } from "../support.ts";

const HALF_HOUR_MS = 30 * 60_000;

/** A worker with a long run that tells in the end whether it was aborted. */
async function withLongRun(kit: RuntimeTest) {
  const end = latch();
  const job = defineJob({ type: "job", payload: typed<string>() }).run(async (name, ctx) => {
    if (name === "long") await end.passed;
    return ctx.signal.aborted ? "aborted" : "undisturbed";
  });
  const long = await kit.mill.enqueue(job, "long");
  const worker = kit.mill.work({ jobs: [job], lanes: { general: 3 } });
  await kit.settled();
  return { job, long, worker, end };
}

describe("a jump of the clock, before any worker acts on it", () => {
  test("costs a worker neither its runs nor its lease", async () => {
    await using kit = await openTest();
    const { job, long, end } = await withLongRun(kit);

    jump(kit, HALF_HOUR_MS);
    const next = await kit.mill.enqueue(job, "short");
    await kit.settled();
    await kit.advance("10s");
    end.open();
    await kit.settled();

    expect(await kit.mill.result(long)).toBe("undisturbed");
    expect(await kit.mill.result(next)).toBe("undisturbed");
    expect(await kit.outcomes(long)).toEqual(["succeeded"]);
    expect(kit.logged).toEqual([]);
  });

  test("is got over even if the store fails when it is asked about it", async () => {
    await using kit = await openTest();
    const { job, long, end } = await withLongRun(kit);

    jump(kit, HALF_HOUR_MS);
    kit.failOnce("renew");
    const next = await kit.mill.enqueue(job, "short");
    await kit.settled();
    expect(kit.logged).toMatchObject([
      { message: expect.stringContaining("cannot check the lease") },
    ]);
    await kit.advance("3s");
    end.open();
    await kit.settled();

    expect(await kit.mill.result(next)).toBe("undisturbed");
    expect(await kit.mill.result(long)).toBe("undisturbed");
  });
});

describe("a word that the lease is lost", () => {
  test("aborts nothing when it comes after the worker has joined anew", async () => {
    await using kit = await openTest();
    const { job, long, worker, end } = await withLongRun(kit);
    await takeBack(kit, worker.id);
    const short = await kit.mill.enqueue(job, "short");
    await kit.settled();
    expect(kit.logged).toMatchObject([
      { message: expect.stringContaining("lease lost: the runs") },
    ]);
    expect(await kit.mill.result(short)).toBe("undisturbed");
    // The second run of the long job is under way when the old word arrives.
    expect(await kit.mill.jobs.get(long.id)).toMatchObject({ state: "running" });

    answerOnce(kit, "renew", { status: "lost" });
    await kit.advance("3s");
    end.open();
    await kit.settled();

    expect(await kit.mill.result(long)).toBe("undisturbed");
    expect(await kit.outcomes(long)).toEqual(["crashed", "succeeded"]);
    expect(
      kit.logged.filter(({ message }) => message.includes("lease lost: the runs")),
    ).toHaveLength(1);
  });
});

describe("a store that never lets a worker claim", () => {
  test("is asked at every poll, not without a pause", async () => {
    await using kit = await openTest();
    let claims = 0;
    Reflect.set(kit.store, "claim", () => {
      claims += 1;
      // Otherwise nothing would ever be still, and the test would hang.
      return Promise.resolve({ lease: null, jobs: [], lost: claims < 100 });
    });
    const job = defineJob({ type: "job" }).run(() => {});
    await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });
    await kit.settled();
    claims = 0;

    await kit.advance("10s");

    expect(claims).toBe(10);
  });
});

describe("a store that fails when a worker joins", () => {
  const job = defineJob({ type: "job" }).run(() => "done");

  test("is asked again, and the worker runs jobs as soon as it may", async () => {
    await using kit = await openTest();
    kit.failOnce("register");
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();
    expect(await kit.mill.workers.list()).toEqual([]);

    await kit.advance("1s");
    await worker.ready;

    expect(await kit.mill.result(enqueued)).toBe("done");
    expect(kit.logged).toMatchObject([
      {
        level: "error",
        message: expect.stringContaining("cannot register the worker; trying again"),
      },
    ]);
  });

  test("does not hold up the stop of a worker that still tries, nor does that join", async () => {
    await using kit = await openTest();
    const restore = replaceVerb(kit.store, "register", () =>
      Promise.reject(new Error("planted: register")),
    );
    const worker = kit.mill.work({ jobs: [job] });
    await kit.advance("5s");
    let isStopped = false;

    const stopped = worker.stop().then(() => (isStopped = true));
    await kit.settled();
    expect(isStopped).toBe(true);
    await stopped;
    expect(kit.clock.pending).toBe(0);
    restore();
    await kit.advance("1m");

    expect(await kit.mill.workers.list()).toEqual([]);
  });

  test("for ever, because it is closed, is told so", async () => {
    await using kit = await openTest();
    await kit.mill.close();

    const worker = kit.mill.work({ jobs: [job] });

    await expect(worker.ready).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await worker.stop();
  });
});

/** The host slept, or its time was corrected: the store's clock reads another time. */
function jump({ clock }: RuntimeTest, ms: number): void {
  const now = clock.now.bind(clock);
  Reflect.set(clock, "now", () => now() + ms);
}

/** The next call of this verb is answered so; the store does not hear of it. */
function answerOnce({ store }: RuntimeTest, verb: "renew", answer: Renewal): void {
  const restore = replaceVerb(store, verb, () => {
    restore();
    return Promise.resolve(answer);
  });
}

/** What a rescuer with a clock of its own would do. */
async function takeBack({ store }: RuntimeTest, id: string): Promise<void> {
  await store.renew(id, 0);
  await rescueSilent(store, id, { decide: crashedOnce });
}
