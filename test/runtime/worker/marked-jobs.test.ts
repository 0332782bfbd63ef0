import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { latch, openTest, replaceVerb } from "../support.ts";
import { withMarked } from "./marked-scene.ts";

describe("a prefetched job that is marked as started ahead", () => {
  test("takes a slot that becomes free without a call of the store", async () => {
    await using kit = await openTest();
    const { end, ran } = await withMarked(kit);
    const answer = latch();
    const start = kit.store.startPrefetched.bind(kit.store);
    replaceVerb(kit.store, "startPrefetched", async (...args: Parameters<typeof start>) => {
      await answer.passed;
      return start(...args);
    });

    end.open();
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();

    expect(ran).toEqual([0, 1, 2]);
    answer.open();
    await kit.settled();
    expect(ran).toEqual([0, 1, 2, 3]);
  });

  test("is one for each slot", async () => {
    await using kit = await openTest();
    await withMarked(kit);

    expect(await kit.store.workers(10)).toMatchObject([{ running: 2, prefetched: 1 }]);
  });

  test("goes back uncharged when the worker stops", async () => {
    await using kit = await openTest();
    const { worker, marked, end, ran } = await withMarked(kit);

    const stopped = worker.stop();
    await kit.settled();
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 2, running: 1 });
    end.open();
    await kit.settled();
    await stopped;

    expect(ran).toEqual([0, 1]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted"]);
    expect(await kit.mill.jobs.get(marked.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("that is cancelled ends without a run", async () => {
    await using kit = await openTest();
    const { marked, end, ran } = await withMarked(kit);

    await kit.mill.jobs.cancel(marked.id);
    await kit.advance("1s");
    end.open();
    await kit.settled();

    expect(ran).toEqual([0, 1, 3]);
    expect(await kit.mill.jobs.get(marked.id)).toMatchObject({ state: "cancelled" });
  });

  test("that an operator releases is not run under its old lease", async () => {
    await using kit = await openTest();
    const { marked, end, ran } = await withMarked(kit);

    await kit.mill.jobs.release(marked.id);
    await kit.advance("1s");
    end.open();
    await kit.advance("5s");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(kit.logged.filter(({ level }) => level === "warn")).toEqual([]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted", "succeeded"]);
  });

  test("goes to another worker when no slot becomes free", async () => {
    await using kit = await openTest();
    const { job, next, end, ran } = await withMarked(kit);
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });

    await kit.advance("5s");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(next)).toEqual(["succeeded"]);
    end.open();
    await kit.settled();
  });

  test("goes back at a later heartbeat when the return of the prefetch has failed", async () => {
    await using kit = await openTest();
    const { job, end, ran } = await withMarked(kit);
    const giveBack = kit.store.returnPrefetched.bind(kit.store);
    let failures = 2;
    replaceVerb(kit.store, "returnPrefetched", (...args: Parameters<typeof giveBack>) => {
      if ((failures -= 1) >= 0) throw new Error("planted");
      return giveBack(...args);
    });
    kit.mill.work({ jobs: [job], lanes: { general: 1 } });

    await kit.advance("10s");

    expect(failures).toBeLessThan(0);
    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    end.open();
    await kit.settled();
  });

  test("is not run under a mark that is too old, also while heartbeats fail", async () => {
    await using kit = await openTest();
    const { marked, endOne, ran } = await withMarked(kit);
    const repair = replaceVerb(kit.store, "renew", () => Promise.reject(new Error("planted")));
    await kit.advance("10s");

    endOne(1);
    await kit.settled();
    repair();
    await kit.advance("5s");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted", "succeeded"]);
  });
});
