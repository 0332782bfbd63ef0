import { describe, expect, test } from "vitest";
import { completed } from "../../support/factories.ts";
import { add, at, settleItem, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function overdueSuite(open: OpenStore): void {
  describe("overdue", () => {
    test("names runs beyond their limit and the slack, with the proof to end them", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { timeoutMs: 1_000, maxAttempts: 4 }, { timeoutMs: 9_000 });
      const { worker, lease, jobs } = await take(store);
      const { key, n } = at(jobs, 0);

      await clock.advance(1_100);
      expect(await store.overdue(worker, 100)).toEqual([]);
      await clock.advance(1);

      const [run, ...others] = await store.overdue(worker, 100);
      expect(others).toEqual([]);
      expect(run).toMatchObject({ lease, key, n, limitMs: 1_000, ranMs: 1_101 });
      expect(run?.facts).toMatchObject({ id, type: "email", tries: 0, crashes: 0, maxAttempts: 4 });
    });

    test("leaves out runs without a limit, unstarted ones and those that ended", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { timeoutMs: null }, { timeoutMs: 10 });
      const batch = await take(store, { limit: 2 });
      await add(store, { timeoutMs: 10 });
      await take(store, { worker: batch.worker, prefetch: true });
      await store.settle([settleItem(batch, at(batch.jobs, 1), completed())]);

      await clock.advance(1_000);

      expect(await store.overdue(batch.worker, 0)).toEqual([]);
    });

    test("looks at one worker only", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { timeoutMs: 10 }, { timeoutMs: 10 });
      const mine = await take(store, { limit: 1 });
      await take(store, { limit: 1 });

      await clock.advance(1_000);

      expect(await store.overdue(mine.worker, 0)).toHaveLength(1);
    });
  });
}
