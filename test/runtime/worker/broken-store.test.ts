/** A store that takes no ends of runs: for minutes, or for good. */
import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, replaceVerb, type RuntimeTest } from "../support.ts";

describe("ends of runs that the store does not take", () => {
  test("for minutes are recorded when it works again, and nothing runs twice", async () => {
    await using kit = await openTest();
    let runs = 0;
    const job = defineJob({ type: "job", timeout: "1m" }).run(() => (runs += 1));
    const jobs = await kit.mill.enqueueMany([job.of(), job.of(), job.of()]);
    const repair = breakSettle(kit);
    kit.mill.work({ jobs: [job] });
    kit.mill.work({ jobs: [job] });

    await kit.advance("10m");
    expect(await kit.mill.jobs.stats()).toMatchObject({ running: 3 });
    repair();
    await kit.advance("5s");

    expect(await kit.mill.jobs.stats()).toMatchObject({ running: 0, queued: 0, failed: 0 });
    for (const each of jobs) expect(await kit.outcomes(each)).toEqual(["succeeded"]);
    expect(runs).toBe(3);
  });
});

describe("stopping a worker whose store takes no ends", () => {
  test("ends five seconds after its handlers, and tells how many ends are not told", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(() => "done");
    await kit.mill.enqueueMany([job.of(), job.of()]);
    breakSettle(kit);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();

    const stop = watched(worker.stop({ grace: "20s" }));
    await kit.advance(4_999);
    expect(stop.ended).toBe(null);
    await kit.advance(1);

    expect(stop.ended).toMatchObject({
      code: "STOP_TIMED_OUT",
      message: expect.stringContaining("the results of 2 run(s)"),
    });
    expect(kit.clock.pending).toBe(0);
  });

  test("and with a deaf handler ends ten seconds after the grace, and names both", async () => {
    await using kit = await openTest();
    const deaf = defineJob({ type: "deaf" }).run(() => new Promise(() => {}));
    const job = defineJob({ type: "job" }).run(() => "done");
    await kit.mill.enqueueMany([deaf.of(), job.of()]);
    breakSettle(kit);
    const worker = kit.mill.work({ jobs: [deaf, job] });
    await kit.settled();

    const stop = watched(worker.stop({ grace: "20s" }));
    await kit.advance("29s");
    expect(stop.ended).toBe(null);
    await kit.advance("1s");

    expect(stop.ended).toMatchObject({
      code: "STOP_TIMED_OUT",
      message: expect.stringMatching(/results of 2 run\(s\), 1 of handler\(s\) that did not end/),
    });
  });

  test("leaves its jobs to others, as it says", async () => {
    await using kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(() => end.passed);
    const enqueued = await kit.mill.enqueue(job);
    const repair = breakSettle(kit);
    const worker = kit.mill.work({ jobs: [job] });
    await kit.settled();
    const stop = watched(worker.stop({ grace: "1s" }));
    await kit.advance("10s");
    expect(stop.ended).toMatchObject({
      message: expect.stringContaining("another worker rescues their jobs"),
    });

    repair();
    kit.mill.work({ jobs: [job] });
    end.open();
    await kit.advance("45s");

    expect(await kit.outcomes(enqueued)).toEqual(["crashed", "succeeded"]);
  });
});

/** Answers how to repair it. */
function breakSettle({ store }: RuntimeTest): () => void {
  return replaceVerb(store, "settle", () => Promise.reject(new Error("planted: the disk is full")));
}

/** How a stop has ended: null as long as it has not. */
function watched(stop: Promise<void>): { readonly ended: unknown } {
  const state: { ended: unknown } = { ended: null };
  stop.then(
    () => (state.ended = "stopped"),
    (error: unknown) => (state.ended = error),
  );
  return state;
}
