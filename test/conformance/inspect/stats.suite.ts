import { describe, expect, test } from "vitest";
import {
  cancelled,
  completed,
  failedWith,
  newJob,
  newJobs,
  retryIn,
} from "../../support/factories.ts";
import { add, addCrashed, runOne, settleAll, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const NOTHING = {
  scheduled: 0,
  retrying: 0,
  queued: 0,
  held: 0,
  running: 0,
  failed: 0,
  oldestQueuedMs: null,
  isOldestExact: true,
  cutShort: [],
};
const SMS = { kind: "type", name: "sms" } as const;
const WHY = { reason: "maintenance", by: null } as const;

export function statsSuite(open: OpenStore): void {
  describe("stats", () => {
    test("counts nothing where nothing is", async () => {
      await using db = await open();

      expect(await db.store.stats(100)).toEqual(NOTHING);
    });

    test("counts jobs by where they are (004-16)", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      await settleAll(store, await take(store), failedWith());
      await store.enqueue(newJobs(4));
      await take(store, { limit: 3 });
      await take(store, { limit: 1, prefetch: true });
      await store.enqueue(newJobs(5, { type: "sms" }));
      await store.pause(SMS, WHY);
      await store.hold(100);
      await store.enqueue(newJobs(6));
      await store.enqueue(newJobs(7, { due: { delayMs: 1_000 } }));

      expect(await store.stats(100)).toEqual({
        scheduled: 7,
        retrying: 0,
        queued: 6,
        held: 5,
        running: 4,
        failed: 3,
        oldestQueuedMs: 0,
        isOldestExact: true,
        cutShort: [],
      });
    });

    test("counts jobs behind a closed gate as held before they are moved", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(2, { type: "sms" }));
      await clock.advance(300);
      await store.enqueue(newJobs(1, { type: "sms", lane: "fast" }));
      await store.enqueue(newJobs(3));
      await store.pause(SMS, WHY);
      // A lane that has the name of a type.
      await store.pause({ kind: "lane", name: "email" }, WHY);
      await store.hold(1);
      await clock.advance(50);

      const paused = await store.stats(100);
      await store.pause({ kind: "tenant", name: "default" }, { ...WHY, forMs: 1_000 });
      const allPaused = await store.stats(100);
      await clock.advance(1_000);

      expect(paused).toEqual({ ...NOTHING, queued: 3, held: 3, oldestQueuedMs: 50 });
      expect(allPaused).toEqual({ ...NOTHING, held: 6 });
      expect(await store.stats(100)).toMatchObject({ queued: 3, held: 3, oldestQueuedMs: 1_050 });
      expect(await store.stats(2)).toMatchObject({ queued: 2, held: 2, cutShort: [] });
    });

    test("says that it has not read all jobs while a gate is closed", async () => {
      await using db = await open();
      const { store } = db;
      for (let call = 0; call < 11; call += 1) await store.enqueue(newJobs(1_000));
      const before = await store.stats(20_000);
      await store.pause(SMS, WHY);

      expect(before).toMatchObject({ queued: 11_000, cutShort: [], isOldestExact: true });
      const paused = await store.stats(100);
      expect(paused).toMatchObject({ queued: 100, held: 0, isOldestExact: false });
      expect(paused.cutShort).toEqual(["queued", "held"]);
      expect(await store.stats(20_000)).toMatchObject({ queued: 11_000, cutShort: [] });
    });

    test("counts a wait for a retry as scheduled and retrying, other ends not at all", async () => {
      await using db = await open();
      const { store } = db;
      for (const settlement of [retryIn(1_000), completed(), cancelled()]) {
        await add(store, {});
        await runOne(store, settlement);
      }

      await store.enqueue(newJobs(1, { due: { delayMs: 1_000 } }));

      expect(await store.stats(100)).toEqual({ ...NOTHING, scheduled: 2, retrying: 1 });
    });

    test("stops each count at the limit", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      await settleAll(store, await take(store), failedWith());
      await store.enqueue(newJobs(3));
      await take(store);
      await store.enqueue(newJobs(3, { type: "sms" }));
      await store.pause(SMS, WHY);
      await store.hold(100);
      await store.enqueue(newJobs(3));
      await store.enqueue(newJobs(3, { due: { delayMs: 1_000 } }));

      expect(await store.stats(2)).toMatchObject({
        scheduled: 2,
        queued: 2,
        held: 2,
        running: 2,
        failed: 2,
      });
      expect(await store.stats(-1)).toEqual({ ...NOTHING, oldestQueuedMs: 0 });
    });

    test.each([
      ["the first lane", { lane: "a", priority: 100 }],
      ["the last lane", { lane: "c", priority: 100 }],
      ["the most urgent", { lane: "b", priority: 0 }],
      ["the least urgent", { lane: "b", priority: 200 }],
      ["the middle", { lane: "b", priority: 100 }],
    ])("finds the job that has waited longest in %s", async (_, oldest) => {
      await using db = await open();
      const { store, clock } = db;
      const places = ["a", "b", "c"].flatMap((lane) =>
        [0, 100, 200].map((priority) => ({ lane, priority })),
      );
      // Every place is known first, so that the order of lanes does not hang on the oldest job.
      await add(store, ...places);
      await settleAll(store, await take(store), completed());
      await add(store, oldest);
      await clock.advance(300);
      await add(store, ...places);
      await clock.advance(50);

      expect(await store.stats(100)).toMatchObject({ queued: 10, oldestQueuedMs: 350 });
    });

    test.each([
      ["in its own lane", { lane: "b", priority: 100 }],
      ["in another lane", { lane: "c", priority: 100 }],
      ["before all others", { lane: "a", priority: 0 }],
    ])("finds a crashed job that has waited longest %s", async (_, oldest) => {
      await using db = await open();
      const { store, clock } = db;
      await addCrashed(store, 1, oldest);
      await clock.advance(300);
      await add(store, { lane: "b", priority: 100 }, { lane: "b", priority: 50 });
      await clock.advance(50);

      expect(await store.stats(100)).toMatchObject({ queued: 3, oldestQueuedMs: 350 });
    });

    test("says that a job behind ten thousand lanes and priorities may be older", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { priority: 20_000 });
      await clock.advance(300);
      const jobs = (from: number, count: number) =>
        Array.from({ length: count }, (_, n) => newJob({ priority: from + n }));
      await store.enqueue(jobs(0, 1_000));
      expect(await store.stats(1)).toMatchObject({ oldestQueuedMs: 300, isOldestExact: true });

      for (let from = 1_000; from < 10_000; from += 1_000) await store.enqueue(jobs(from, 1_000));

      expect(await store.stats(1)).toMatchObject({ oldestQueuedMs: 0, isOldestExact: false });
    });

    test("counts the wait from the time a job was due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { due: { delayMs: 100 } });
      await clock.advance(250);
      await store.promote(10);

      expect(await store.stats(100)).toMatchObject({ oldestQueuedMs: 150 });
    });

    test("has no oldest job when none waits to be claimed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { type: "sms" }, { due: { delayMs: 1_000 } });
      await store.pause(SMS, WHY);
      await store.hold(10);
      await add(store, {});
      await takeOne(store);
      await clock.advance(500);

      expect(await store.stats(100)).toEqual({ ...NOTHING, scheduled: 1, held: 1, running: 1 });
    });
  });
}
