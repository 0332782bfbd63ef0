import { describe, expect, test } from "vitest";
import { completed, newJobs, workerId, workerInfo } from "../../support/factories.ts";
import { add, claimRequest, joinWorker, settleAll, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function stopWorkerSuite(open: OpenStore): void {
  describe("stopWorker", () => {
    test("asks one worker to stop; each of its renewals reports the request", async () => {
      await using db = await open();
      const { store } = db;
      const [worker, other] = [await joinWorker(store), await joinWorker(store)];

      expect(await store.stopWorker(worker)).toBe(true);

      expect(await store.renew(worker, 1_000)).toMatchObject({ stop: true, quiet: true });
      expect(await store.renew(worker, 1_000)).toMatchObject({ stop: true, quiet: true });
      expect(await store.renew(other, 1_000)).toMatchObject({ stop: false, quiet: false });
      const shown = await store.workers(10);
      expect(shown.filter(({ stopping }) => stopping).map(({ id }) => id)).toEqual([worker]);
    });

    test("gives the worker no more jobs from now on", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2));
      const [worker, other] = [await joinWorker(store), await joinWorker(store)];

      await store.stopWorker(worker);

      expect(await store.claim(claimRequest(worker))).toMatchObject({ jobs: [], lost: false });
      expect((await take(store, { worker: other })).jobs).toHaveLength(2);
    });

    test("stops a worker that is quiet, and a quiet worker is not asked to stop", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      await store.quiet(worker);
      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true, stop: false });

      expect(await store.stopWorker(worker)).toBe(true);

      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true, stop: true });
      await store.quiet(worker);
      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true, stop: true });
    });

    test("says when a worker is not known", async () => {
      await using db = await open();
      const { store } = db;
      const gone = await joinWorker(store);
      await store.deregister(gone);

      expect(await store.stopWorker(workerId())).toBe(false);
      expect(await store.stopWorker(gone)).toBe(false);
      expect(await store.workers(10)).toEqual([]);
    });

    test("is known again when it is repeated, and outlives a second join", async () => {
      await using db = await open();
      const { store } = db;
      const info = workerInfo();
      await store.register(info);

      expect(await store.stopWorker(info.id)).toBe(true);
      expect(await store.stopWorker(info.id)).toBe(true);
      await store.register(info);

      expect(await store.renew(info.id, 1_000)).toMatchObject({ stop: true });
    });

    test("is no beat, and leaves the worker its lease and what it holds", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const batch = await takeOne(store);
      const [before] = await store.workers(1);

      await store.stopWorker(batch.worker);

      expect(await store.workers(1)).toEqual([{ ...before, quiet: true, stopping: true }]);
      await settleAll(store, batch, completed());
    });
  });
}
