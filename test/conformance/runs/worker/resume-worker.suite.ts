import { describe, expect, test } from "vitest";
import { newJobs, workerId } from "../../../support/factories.ts";
import { claimRequest, joinWorker, take } from "../../../support/steps.ts";
import type { OpenStore } from "../../../support/stores.ts";

export function resumeWorkerSuite(open: OpenStore): void {
  describe("resumeWorker", () => {
    test("lets one quiet worker take jobs again; its renewal tells it", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2));
      const [worker, other] = [await joinWorker(store), await joinWorker(store)];
      for (const id of [worker, other]) await store.quiet(id);
      expect(await store.claim(claimRequest(worker))).toMatchObject({ jobs: [] });

      expect(await store.resumeWorker(worker)).toBe("resumed");

      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: false, stop: false });
      expect(await store.renew(other, 1_000)).toMatchObject({ quiet: true });
      expect((await take(store, { worker })).jobs).toHaveLength(2);
    });

    test("changes nothing for a worker that is not quiet, and for an unknown one", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      const [before] = await store.workers(1);

      expect(await store.resumeWorker(worker)).toBe("resumed");
      expect(await store.resumeWorker(workerId())).toBe("unknown");

      expect(await store.workers(10)).toEqual([before]);
      expect(await store.audits({}, { limit: 10 })).toEqual([]);
    });

    test("leaves a worker alone that was asked to stop", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      await store.stopWorker(worker);

      expect(await store.resumeWorker(worker)).toBe("stopping");

      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true, stop: true });
    });

    test("is no beat, and leaves the worker what it holds", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(1));
      const { worker } = await take(store);
      const [before] = await store.workers(1);
      await store.quiet(worker);

      await store.resumeWorker(worker);

      expect(await store.workers(1)).toEqual([before]);
    });
  });
}
