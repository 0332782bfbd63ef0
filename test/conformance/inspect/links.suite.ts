import { describe, expect, test } from "vitest";
import { completed, jobId, runAgain, workerInfo } from "../../support/factories.ts";
import { add, at, joinWorker, runOne, settleItem, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** The jobs and the worker that a job is linked to. */
export function linksSuite(open: OpenStore): void {
  describe("dependants", () => {
    test("answers the jobs that wait for a job, oldest first, and no more than asked", async () => {
      await using db = await open();
      const { store } = db;
      const [awaited, other] = await add(store, {}, {});
      const [first] = await add(store, { after: [awaited] });
      await add(store, { after: [other] });
      const [second] = await add(store, { after: [other, awaited] });

      expect(await store.dependants(awaited, 10)).toEqual([first, second]);
      expect(await store.dependants(awaited, 1)).toEqual([first]);
      expect(await store.dependants(awaited, 0)).toEqual([]);
      expect(await store.dependants(first, 10)).toEqual([]);
      expect(await store.dependants(jobId(), 10)).toEqual([]);
    });

    test("forgets a job that waits no more", async () => {
      await using db = await open();
      const { store } = db;
      const [awaited] = await add(store, { priority: 1 });
      const [stopped, kept] = await add(store, { after: [awaited] }, { after: [awaited] });
      await store.cancel(stopped, null, null);
      expect(await store.dependants(awaited, 10)).toEqual([kept]);

      await runOne(store, completed());
      await store.resolveDependencies(10);

      expect(await store.dependants(awaited, 10)).toEqual([]);
    });
  });

  describe("holder", () => {
    test("answers the worker that runs or has prefetched a job, with its heartbeat", async () => {
      await using db = await open();
      const { store, clock } = db;
      const info = workerInfo({ host: "mill-7", pid: 4_711, beatMs: 700 });
      await store.register(info);
      const [first, second] = await add(store, { priority: 1 }, { priority: 2 });
      await take(store, { worker: info.id, limit: 1 });
      await take(store, { worker: info.id, limit: 1, prefetch: true });
      await clock.advance(250);

      const until = clock.now() - 250 + info.leaseMs;
      const beats = { until, beatMs: 700, beatAgoMs: 250 };
      const shown = { id: info.id, host: "mill-7", pid: 4_711, ...beats };
      expect(await store.holder(first)).toEqual(shown);
      expect(await store.holder(second)).toEqual(shown);
    });

    test("answers null for a job that waits, has ended, or never was", async () => {
      await using db = await open();
      const { store } = db;
      const [ended, again] = await add(store, { priority: 1 }, { priority: 2 }, { priority: 3 });
      const batch = await take(store, { limit: 3 });
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
      await store.settle([settleItem(batch, at(batch.jobs, 1), runAgain())]);

      expect(await store.holder(ended)).toBeNull();
      expect(await store.holder(again)).toBeNull();
      expect(await store.holder(jobId())).toBeNull();
    });

    test("answers null for a job between two jobs of a lease", async () => {
      await using db = await open();
      const { store } = db;
      const [, between] = await add(store, { priority: 1 }, { priority: 3 }, { priority: 2 });
      await take(store, { limit: 2 });

      expect(await store.holder(between)).toBeNull();
    });

    test("answers the worker that holds the job now, not the one that held it before", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { priority: 1 }, { priority: 2 });
      const before = await take(store, { limit: 2 });
      await store.settle([settleItem(before, at(before.jobs, 0), runAgain())]);
      const worker = await joinWorker(store);
      await takeOne(store, { worker });

      expect(await store.holder(id)).toMatchObject({ id: worker });
    });
  });
}
