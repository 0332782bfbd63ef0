import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import type { ListFilter } from "../../../src/store/types/lists.ts";
import { completed, newJobs, runAgain } from "../../support/factories.ts";
import { add, at, settleAll, settleItem, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const MINUTE = 60_000;

export function longRunsSuite(open: OpenStore): void {
  describe("list of long runs", () => {
    test("has the jobs whose present run started so long ago, newest first (004-31)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [one, two, three] = await add(store, {}, {}, {}, { due: { delayMs: 9_000_000 } });
      await take(store, { limit: 2 });
      await clock.advance(MINUTE);
      await take(store, { limit: 1 });
      await clock.advance(MINUTE);

      expect(await idsOf(store, { runningMs: 2 * MINUTE })).toEqual([two, one]);
      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([three, two, one]);
      expect(await idsOf(store, { runningMs: 2 * MINUTE + 1 })).toEqual([]);
      expect((await store.count({ runningMs: 2 * MINUTE }, 10)).count).toBe(2);
      expect((await store.count({ runningMs: 2 * MINUTE }, 1)).count).toBe(1);
    });

    test("has no job that waits, has ended, or was only prefetched", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [ended, again, prefetched] = await add(store, {}, {}, {}, {});
      const first = await takeOne(store);
      const second = await takeOne(store, { worker: first.worker });
      const third = await take(store, { worker: first.worker, limit: 2, prefetch: true });
      await clock.advance(MINUTE);
      await settleAll(store, first, completed());
      await settleAll(store, second, runAgain());

      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([]);
      await store.startPrefetched(third.lease, [at(third.jobs, 0).key]);
      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([]);
      await clock.advance(MINUTE);
      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([prefetched]);
      expect([first.job.id, second.job.id]).toEqual([ended, again]);
    });

    test("goes by the present run, not by an earlier one of the same job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id, other] = await add(store, {}, {});
      const batch = await take(store);
      // The first lease stays, because its other job runs on.
      await store.settle([settleItem(batch, at(batch.jobs, 0), runAgain())]);
      await clock.advance(MINUTE);
      expect((await takeOne(store)).job.id).toBe(id);
      await clock.advance(MINUTE - 1);

      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([other]);
      await clock.advance(1);
      expect(await idsOf(store, { runningMs: MINUTE })).toEqual([other, id]);
    });

    test("has the newest of many first", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(150));
      await take(store, { limit: 150 });
      await clock.advance(MINUTE);

      const all = await store.list({}, { limit: 150 });
      const page = await store.list({ runningMs: MINUTE }, { limit: 20 });
      expect(page.jobs).toEqual(all.jobs.slice(0, 20));
      expect((await store.count({ runningMs: MINUTE }, 1_000)).count).toBe(150);
    });

    test("has no short run of a rare type", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      await take(store);
      await clock.advance(MINUTE);
      await add(store, { type: "rare" });
      await take(store);

      expect(await idsOf(store, { runningMs: MINUTE, type: "rare" })).toEqual([]);
      expect(await idsOf(store, { runningMs: MINUTE })).toHaveLength(3);
    });

    test("may be narrowed by the other filters, and is read page by page", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(
        store,
        { type: "report", tags: { a: "1" } },
        { type: "report", tenant: "acme" },
        { tenant: "acme" },
      );
      await take(store);
      await clock.advance(MINUTE);

      const runningMs = MINUTE;
      expect(await idsOf(store, { runningMs, type: "report" })).toEqual([ids[1], ids[0]]);
      expect(await idsOf(store, { runningMs, tenant: "acme" })).toEqual([ids[2], ids[1]]);
      expect(await idsOf(store, { runningMs, tags: { a: "1" } })).toEqual([ids[0]]);
      expect(await idsOf(store, { runningMs, createdBefore: 0 })).toEqual([]);
      expect(await idsOf(store, { runningMs, states: ["running"] })).toHaveLength(3);
      const page = await store.list({ runningMs }, { limit: 2 });
      expect(page.jobs.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
      const rest = await store.list({ runningMs }, { limit: 2, after: page.next! });
      expect(rest.jobs.map(({ id }) => id)).toEqual([ids[0]]);
    });
  });
}

async function idsOf(store: JobStore, filter: ListFilter): Promise<readonly string[]> {
  return (await store.list(filter, { limit: 100 })).jobs.map(({ id }) => id);
}
