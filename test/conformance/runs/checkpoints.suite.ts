import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  completedWithErrors,
  crashedOnce,
  failedWith,
  newJob,
  retention,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { broken, done, halfway, keep, running } from "../../support/notes.ts";
import { add, addDead, at, rescueSilent, settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const NOTHING = { phases: [], units: [], failedUnits: {}, tries: null };

/** What the runs of a job leave to those after them. */
export function checkpointsSuite(open: OpenStore): void {
  describe("checkpoints", () => {
    runsTests(open);
    successorTests(open);
  });
}

function runsTests(open: OpenStore): void {
  test("answers nothing of a job that left nothing, and of one that never was", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { progress: halfway() });

    expect(await store.checkpoints(batch.job.key)).toEqual(NOTHING);
    expect(await store.checkpoints(9_999)).toEqual(NOTHING);
  });

  test("answers completed phases in the order in which they were", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, {});
    const batch = await takeOne(store);
    for (const name of ["fetch", "build", "a last one"]) {
      await keep(store, batch, { completed: { name, result: `"${name}"` } });
      await clock.advance(1);
    }

    expect((await store.checkpoints(batch.job.key)).phases).toEqual([
      { name: "fetch", result: '"fetch"' },
      { name: "build", result: '"build"' },
      { name: "a last one", result: '"a last one"' },
    ]);
  });

  test("answers ended units of phases that have not, and counts the others' failures", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {}, {});
    const batch = await takeOne(store);
    const other = await takeOne(store);
    await keep(store, other, { units: [broken("x", "fetch"), done("y")] });
    await keep(store, batch, {
      units: [
        done("a", "1", "fetch"),
        broken("b", "fetch"),
        broken("c", "fetch"),
        done("e", "2"),
        broken("d"),
        running("f"),
        done("g", null, ""),
      ],
      completed: { name: "fetch", result: null },
    });

    expect(await store.checkpoints(batch.job.key)).toEqual({
      phases: [{ name: "fetch", result: null }],
      units: [
        { phase: "", unit: "g", end: { state: "completed", result: null } },
        {
          phase: "build",
          unit: "d",
          end: { state: "failed", fault: expect.objectContaining({ class: "retryable" }) },
        },
        { phase: "build", unit: "e", end: { state: "completed", result: "2" } },
      ],
      failedUnits: { fetch: 2 },
      tries: 0,
    });
  });

  test.each([
    ["a crash", crashedOnce()],
    ["an interruption", runAgain()],
    ["a failure", retryIn(0)],
  ])("keeps everything over %s", async (_, settlement) => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, {
      units: [done("a", "1")],
      completed: { name: "fetch", result: '{"x":1}' },
    });
    const before = await store.checkpoints(batch.job.key);

    await settleAll(store, batch, settlement);
    const next = await takeOne(store);

    expect(next.job.n).toBe(2);
    expect(await store.checkpoints(next.job.key)).toEqual(before);
  });

  test("keeps what a worker that died had said", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { completed: { name: "fetch", result: "1" } });
    await clock.advance(30_001);

    await rescueSilent(store, batch.worker, { decide: crashedOnce });

    expect((await store.checkpoints(batch.job.key)).phases).toHaveLength(1);
  });

  test("says how many attempts had been charged before the newest run of it", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const first = await takeOne(store);
    const { key } = first.job;
    await keep(store, first, { completed: { name: "fetch", result: null } });
    const tries = [(await store.checkpoints(key)).tries];
    await settleAll(store, first, { ...runAgain(), tries: 0 });
    const second = await takeOne(store);
    tries.push((await store.checkpoints(key)).tries);
    await settleAll(store, second, { ...retryIn(0), tries: 1 });
    const third = await takeOne(store);
    tries.push((await store.checkpoints(key)).tries);
    await keep(store, third, { units: [running("a")] });
    tries.push((await store.checkpoints(key)).tries);
    await settleAll(store, third, { ...retryIn(0), tries: 2 });
    const fourth = await takeOne(store);
    await keep(store, fourth, { progress: halfway() });
    tries.push((await store.checkpoints(key)).tries);

    expect(tries).toEqual([0, 0, 0, 1, 1]);
    await keep(store, fourth, { clearCheckpoints: true });
    expect(await store.checkpoints(key)).toEqual(NOTHING);
  });
}

function successorTests(open: OpenStore): void {
  test("gives a successor the phases and completed units of the job it repeats", async () => {
    await using db = await open();
    const { store, clock } = db;
    const retryOf = await addBroken(store);
    await clock.advance(5);

    const [id] = await add(store, { retryOf, payload: '{"a":1}' });

    const { job } = await takeOne(store);
    expect(job.id).toBe(id);
    expect(await store.checkpoints(job.key)).toEqual({
      phases: [{ name: "fetch", result: '{"files":2}' }],
      units: [{ phase: "build", unit: "good", end: { state: "completed", result: "1" } }],
      failedUnits: {},
      tries: -1,
    });
    const units = await store.units(id, {}, { limit: 10 });
    expect(units.map(({ unit, n }) => [unit, n])).toEqual([
      ["good", 0],
      ["page", 0],
    ]);
    expect(await store.progress(id)).toMatchObject({ progress: null, at: null });
  });

  test("gives no phase from the first with failed units on, but all completed units", async () => {
    await using db = await open();
    const { store } = db;
    const [retryOf] = await add(store, {});
    const batch = await takeOne(store);
    const phases = ["fetch", "build", "index", "report"];
    await keep(
      store,
      batch,
      { progress: halfway({ phases }), completed: { name: "fetch", result: "1" } },
      { units: [done("good", "1"), broken("bad")], completed: { name: "build", result: "2" } },
      { units: [done("old", null, "index")], completed: { name: "index", result: "3" } },
      { units: [done("sent", null, "report"), broken("lost", "report")] },
      { units: [running("half", "report")] },
    );
    await settleAll(store, batch, completedWithErrors(2));

    await add(store, { retryOf });

    const { job } = await takeOne(store);
    expect(await store.checkpoints(job.key)).toEqual({
      phases: [{ name: "fetch", result: "1" }],
      units: [
        { phase: "build", unit: "good", end: { state: "completed", result: "1" } },
        { phase: "index", unit: "old", end: { state: "completed", result: null } },
        { phase: "report", unit: "sent", end: { state: "completed", result: null } },
      ],
      failedUnits: {},
      tries: -1,
    });
    expect(await store.units(job.id, {}, { limit: 10 })).toHaveLength(3);
  });

  test("keeps that when retention has removed the job it repeats", async () => {
    await using db = await open();
    const { store, clock } = db;
    const retryOf = await addBroken(store);
    await add(store, { retryOf, payload: '{"a":1}' });
    await clock.advance(1);
    const none = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

    await store.prune(retention({ finishedMs: none }), 10);

    expect(await store.get(retryOf)).toBeNull();
    const { job } = await takeOne(store);
    expect((await store.checkpoints(job.key)).phases).toHaveLength(1);
  });

  test.each([['{"a":2}'], ['{ "a":1}'], [null]])(
    "gives nothing to a successor with another payload: %s",
    async (payload) => {
      await using db = await open();
      const { store } = db;
      const retryOf = await addBroken(store);

      await add(store, { retryOf, payload });

      const { job } = await takeOne(store);
      expect(await store.checkpoints(job.key)).toEqual(NOTHING);
    },
  );

  test("gives a successor without a payload what one without any has left", async () => {
    await using db = await open();
    const { store } = db;
    const retryOf = await addBroken(store, null);

    await add(store, { retryOf });

    expect((await store.checkpoints((await takeOne(store)).job.key)).phases).toHaveLength(1);
  });

  test("gives nothing to a successor that begins afresh", async () => {
    await using db = await open();
    const { store } = db;
    const retryOf = await addBroken(store, null);

    await add(store, { retryOf, ignoreCheckpoints: true });

    const { job } = await takeOne(store);
    expect(await store.get(job.id)).toMatchObject({ retryOf });
    expect(await store.checkpoints(job.key)).toEqual(NOTHING);
  });

  test("gives nothing to a successor of a job that is gone, or that left nothing", async () => {
    await using db = await open();
    const { store } = db;
    const [dead] = await addDead(store, {});

    await add(store, { retryOf: dead, priority: 1 }, { retryOf: newJob().id, priority: 2 });

    for (const { job } of [await takeOne(store), await takeOne(store)]) {
      expect(await store.checkpoints(job.key)).toEqual(NOTHING);
    }
  });

  test("gives a reprocessed job the same, and goes on from one successor to the next", async () => {
    await using db = await open();
    const { store } = db;
    const first = await addBroken(store);
    const second = newJob({ retryOf: first, payload: '{"a":1}' });
    await store.reprocess(first, second, "ada", null);
    const batch = await takeOne(store);
    const { tries } = await store.checkpoints(batch.job.key);
    await keep(store, batch, { units: [done("bad", "2")] });
    expect([tries, (await store.checkpoints(batch.job.key)).tries]).toEqual([-1, 0]);
    await settleAll(store, batch, failedWith());

    await add(store, { retryOf: second.id, payload: '{"a":1}' });

    const memory = await store.checkpoints((await takeOne(store)).job.key);
    expect(memory.phases).toHaveLength(1);
    expect(memory.units.map(({ unit }) => unit)).toEqual(["bad", "good"]);
    expect(memory.tries).toBe(-1);
  });

  test("leaves the job that is repeated as it was", async () => {
    await using db = await open();
    const { store } = db;
    const retryOf = await addBroken(store);
    const before = await store.units(retryOf, {}, { limit: 10 });

    await add(store, { retryOf, payload: '{"a":1}' });
    const batch = await takeOne(store);
    await keep(store, batch, { clearCheckpoints: true });
    await settleAll(store, batch, completed());

    expect(await store.units(retryOf, {}, { limit: 10 })).toEqual(before);
    expect((await store.progress(retryOf))?.phases).toHaveLength(1);
  });
}

/** A job that has failed in its second phase. Nothing else may be waiting. */
async function addBroken(store: JobStore, payload: string | null = '{"a":1}') {
  const ids = await add(store, { payload });
  const batch = await takeOne(store);
  await keep(store, batch, {
    progress: halfway(),
    completed: { name: "fetch", result: '{"files":2}' },
    units: [done("page", null, "fetch"), done("good", "1"), broken("bad"), running("half")],
  });
  await settleAll(store, batch, failedWith());
  return at(ids, 0);
}
