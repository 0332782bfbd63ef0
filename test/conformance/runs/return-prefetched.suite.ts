import { describe, expect, test } from "vitest";
import { completed, newJobs, retryIn } from "../../support/factories.ts";
import {
  add,
  ask,
  at,
  claimable,
  eventsOf,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
  startAll,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function returnPrefetchedSuite(open: OpenStore): void {
  describe("returnPrefetched", () => {
    test("puts unstarted jobs back in their place, uncharged", async () => {
      await using db = await open();
      const { store, clock } = db;
      const runAt = clock.now();
      const jobs = newJobs(3);
      await store.enqueue(jobs);
      const batch = await take(store, { prefetch: true });
      await clock.advance(5_000);
      const [latecomer] = await add(store, {});

      const count = await store.returnPrefetched(batch.lease, keysOf(batch.jobs));

      expect(count).toBe(3);
      expect(await recordOf(store, jobs[0]!.id)).toMatchObject({
        state: "queued",
        runAt,
        attempts: 0,
        startedAt: null,
      });
      expect(await store.attempts(jobs[0]!.id)).toEqual([]);
      const again = await take(store);
      expect(again.jobs.map((job) => job.id)).toEqual([...jobs.map((job) => job.id), latecomer]);
      expect(again.jobs).toMatchObject(again.jobs.map(() => ({ n: 1, tries: 0, crashes: 0 })));
      expect(again.jobs[0]).toEqual(batch.jobs[0]);
    });

    test("keeps the count of runs and the due time of a job that has run before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await runOne(store, retryIn(100));
      await clock.advance(300);
      await store.promote(1);
      const runAt = clock.now() - 200;
      const batch = await take(store, { prefetch: true });

      await store.returnPrefetched(batch.lease, keysOf(batch.jobs));

      expect(await recordOf(store, id)).toMatchObject({ state: "queued", runAt, attempts: 1 });
      expect(await store.attempts(id)).toHaveLength(1);
      expect((await takeOne(store)).job).toMatchObject({ n: 2, tries: 1, runAt });
    });

    test("keeps the place of a job whose due time was moved before its first run", async () => {
      await using db = await open();
      const { store, clock } = db;
      const dedup = { key: "d", onConflict: "extend" } as const;
      const [extended] = await add(store, { dedup });
      await ask(store, { dedup, due: { delayMs: 100 } });
      await clock.advance(50);
      const [between] = await add(store, {});
      await clock.advance(50);
      await store.promote(100);
      const runAt = clock.now();
      const batch = await take(store, { prefetch: true });

      await store.returnPrefetched(batch.lease, keysOf(batch.jobs));

      expect((await recordOf(store, extended)).runAt).toBe(runAt);
      expect(await claimable(store)).toEqual([between, extended]);
    });

    test("gives back a part and keeps the rest", async () => {
      await using db = await open();
      const { store } = db;
      const [kept, given, keptToo] = await add(store, {}, {}, {});
      const batch = await take(store, { prefetch: true });

      const count = await store.returnPrefetched(batch.lease, [at(batch.jobs, 1).key]);
      const started = await startAll(store, batch);

      expect(count).toBe(1);
      expect(started.status).toBe("started");
      expect(await stateOf(store, given)).toBe("queued");
      expect((await recordOf(store, given)).startedAt).toBeNull();
      expect(await eventsOf(store, given)).toEqual(["job:enqueued"]);
      const mine = { ...batch, jobs: batch.jobs.filter((job) => job.id !== given) };
      await settleAll(store, mine, completed());
      expect(await stateOf(store, kept)).toBe("completed");
      expect(await stateOf(store, keptToo)).toBe("completed");
      expect(await claimable(store)).toEqual([given]);
    });

    test("keeps lane, priority and place of jobs that are given back one by one", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [seasoned] = await add(store, { lane: "fast", priority: 7 });
      await runOne(store, retryIn(100));
      await clock.advance(100);
      await store.promote(1);
      const [second] = await add(store, { lane: "fast", priority: 7 });
      await clock.advance(5);
      const [first] = await add(store, { lane: "fast", priority: 3 });
      const batch = await take(store, { prefetch: true });

      for (const { key } of batch.jobs) await store.returnPrefetched(batch.lease, [key]);

      const again = await take(store, { lanes: ["fast"] });
      expect(again.jobs).toEqual(batch.jobs);
      expect(again.jobs.map(({ id, n }) => [id, n])).toEqual([
        [first, 1],
        [seasoned, 2],
        [second, 1],
      ]);
    });

    test("takes nothing from the other buffers of the worker", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const mine = await take(store, { prefetch: true, limit: 2 });
      const other = await take(store, { worker: mine.worker, prefetch: true });

      await store.returnPrefetched(mine.lease, [at(mine.jobs, 0).key]);

      expect((await startAll(store, other)).begun).toEqual(keysOf(other.jobs));
    });

    test("refuses what the holder says of a job it has given back", async () => {
      await using db = await open();
      const { store } = db;
      const [given] = await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      await store.returnPrefetched(batch.lease, [at(batch.jobs, 0).key]);
      await startAll(store, batch);

      const whileWaiting = await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
      await take(store);
      const whileWithAnother = await store.settle([
        settleItem(batch, at(batch.jobs, 0), completed()),
      ]);

      expect(whileWaiting).toEqual(["stale"]);
      expect(whileWithAnother).toEqual(["stale"]);
      expect(await stateOf(store, given)).toBe("running");
    });

    test("leaves nothing behind when all is given back", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store, { prefetch: true });

      await store.returnPrefetched(batch.lease, keysOf(batch.jobs));
      await store.deregister(batch.worker);

      expect(await store.silent(10)).toEqual([]);
      expect(await startAll(store, batch)).toMatchObject({ status: "stale" });
    });

    test("counts a job once, however often it is named or given back", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      const { key } = at(batch.jobs, 0);

      const first = await store.returnPrefetched(batch.lease, [key, key]);
      const again = await store.returnPrefetched(batch.lease, [key]);

      expect([first, again]).toEqual([1, 0]);
      expect(await claimable(store)).toEqual([id]);
    });

    test("takes nothing back from a lease that has started", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const run = await take(store, { limit: 1 });
      const prefetch = await take(store, { prefetch: true, limit: 1 });
      await startAll(store, prefetch);

      const counts = [
        await store.returnPrefetched(run.lease, keysOf(run.jobs)),
        await store.returnPrefetched(prefetch.lease, keysOf(prefetch.jobs)),
      ];

      expect(counts).toEqual([0, 0]);
      expect(await stateOf(store, id)).toBe("running");
      expect(await claimable(store)).toEqual([]);
    });

    test("refuses a wrong secret, an unknown number and foreign keys", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const mine = await take(store, { prefetch: true, limit: 1 });
      const theirs = await take(store, { prefetch: true, limit: 1 });
      const keys = keysOf(mine.jobs);

      const counts = [
        await store.returnPrefetched({ ...mine.lease, secret: theirs.lease.secret }, keys),
        await store.returnPrefetched({ ...mine.lease, number: theirs.lease.number + 1 }, keys),
        await store.returnPrefetched(mine.lease, keysOf(theirs.jobs)),
        await store.returnPrefetched(mine.lease, []),
      ];

      expect(counts).toEqual([0, 0, 0, 0]);
      expect(await claimable(store)).toEqual([]);
    });

    test("refuses a lease whose jobs were rescued and claimed by another", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await store.deregister(batch.worker);
      await rescueSilent(store, batch.worker, { decide: () => completed() });
      await take(store, { prefetch: true });

      const count = await store.returnPrefetched(batch.lease, keysOf(batch.jobs));

      expect(count).toBe(0);
      expect(await stateOf(store, id)).toBe("running");
    });

    test("does not lose a request to cancel (I8)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await store.cancel(id, "ada", "not needed");

      const count = await store.returnPrefetched(batch.lease, keysOf(batch.jobs));

      expect(count).toBe(0);
      expect(await claimable(store)).toEqual([]);
      expect(await stateOf(store, id)).toBe("cancelled");
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:cancelled"]);
    });

    test("leaves no lease behind when the last open job goes back", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      const [first, second] = keysOf(batch.jobs);
      await store.startPrefetched(batch.lease, [first!]);
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

      await store.returnPrefetched(batch.lease, [second!]);
      await store.deregister(batch.worker);

      expect(await store.silent(10)).toEqual([]);
    });
  });
}

function keysOf(jobs: readonly { readonly key: number }[]): readonly number[] {
  return jobs.map((job) => job.key);
}
