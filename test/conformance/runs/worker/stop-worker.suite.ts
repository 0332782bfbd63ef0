import { describe, expect, test } from "vitest";
import { newJobs } from "../../../support/factories.ts";
import { claimRequest, joinWorker, take } from "../../../support/steps.ts";
import type { OpenStore } from "../../../support/stores.ts";
import { workerRequestTests } from "../../inspect/worker-requests.suite.ts";

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

    workerRequestTests(open, {
      verb: "stopWorker",
      renewal: { quiet: true, stop: true },
      shown: { quiet: true, stopping: true },
    });
  });
}
