import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { completed, jobId } from "../../../test/support/factories.ts";
import { halfway, keep } from "../../../test/support/notes.ts";
import { add, runOne, settleAll, takeOne } from "../../../test/support/steps.ts";
import { openSqlite } from "../../../test/support/stores.ts";
import type { JobId } from "../../core/job.ts";
import { EndWatch } from "./end-watch.ts";

/** A watch on a real store, and what it has asked the store for. */
async function openWatch() {
  const db = await openSqlite();
  const { store, clock } = db;
  const reads: (readonly JobId[])[] = [];
  const ends = store.ends.bind(store);
  Reflect.set(store, "ends", (ids: readonly JobId[]) => {
    reads.push(ids);
    return ends(ids);
  });
  return {
    store,
    clock,
    reads,
    watch: new EndWatch(store, clock),
    async stillness(): Promise<void> {
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

describe("a watch for the ends of jobs", () => {
  test("reads all jobs at once when one may be final, and tells each caller", async () => {
    await using world = await openWatch();
    const { store, reads, watch } = world;
    const [one, two] = await add(store, {}, {});
    const waits = [watch.add(one), watch.add(two), watch.add(one)];
    await world.stillness();
    reads.length = 0;

    await runOne(store, completed('"first"'));
    const ends = await Promise.all([waits[0]?.end, waits[2]?.end]);

    expect(ends).toMatchObject([{ result: '"first"' }, { result: '"first"' }]);
    expect(reads.every((ids) => ids.length <= 2)).toBe(true);
    expect(reads.length).toBeGreaterThan(0);
  });

  test("does not read because of events that end no job", async () => {
    await using world = await openWatch();
    const { store, reads, watch } = world;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const { end } = watch.add(id);
    await world.stillness();
    reads.length = 0;

    for (let note = 0; note < 5; note += 1) await keep(store, batch, { progress: halfway() });
    await world.stillness();
    expect(reads).toEqual([]);
    await settleAll(store, batch, completed('"done"'));

    expect(await end).toMatchObject({ id, result: '"done"' });
    expect(reads).toEqual([[id]]);
  });

  test("finds the end of a job by polling when no wake-up comes", async () => {
    await using world = await openWatch();
    const { store, clock, watch } = world;
    Reflect.set(store, "watch", () => () => {});
    const [id] = await add(store, {});
    const { end } = watch.add(id);
    await world.stillness();
    await runOne(store, completed('"quiet"'));

    await clock.advance(1_000);

    expect(await end).toMatchObject({ result: '"quiet"' });
  });

  test("says that there is no such job", async () => {
    await using world = await openWatch();

    expect(await world.watch.add(jobId()).end).toBeNull();
  });

  test("passes the error of the store on, and goes on with later callers", async () => {
    await using world = await openWatch();
    const { store, watch } = world;
    const [id] = await add(store, {});
    const ends = store.ends.bind(store);
    Reflect.set(store, "ends", () => Promise.reject(new Error("planted")));
    const failed = watch.add(id);
    await expect(failed.end).rejects.toThrow("planted");
    failed.stop();
    Reflect.set(store, "ends", ends);

    await runOne(store, completed('"later"'));

    expect(await watch.add(id).end).toMatchObject({ result: '"later"' });
  });

  test("reads no job any more once all callers have stopped", async () => {
    await using world = await openWatch();
    const { store, clock, reads, watch } = world;
    const [id] = await add(store, {});
    const { stop } = watch.add(id);
    await world.stillness();
    reads.length = 0;

    stop();
    await add(store, {});
    await clock.advance(10_000);

    expect(reads).toEqual([]);
  });

  test("reads a new job by itself, while the others are read", async () => {
    await using world = await openWatch();
    const { store, reads, watch } = world;
    const ids = await add(store, {}, {}, {});
    for (const id of ids.slice(0, 2)) watch.add(id);
    await world.stillness();
    reads.length = 0;

    watch.add(ids[2]);
    await world.stillness();

    expect(reads).toEqual([[ids[2]]]);
  });
});
