import { describe, expect, test } from "vitest";
import type { NewJob, SettleItem } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJob,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  recordOf,
  settleItem,
  stateOf,
  take,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { wakes } from "../../support/flows.ts";

/** Jobs that come into being with the end of another. */
export function childrenSuite(open: OpenStore): void {
  describe("children", () => {
    test.each([completed(), completedWithErrors(2)])(
      "come into being when their parent ends as $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [parentId] = await add(store, {});
        const batch = await takeOne(store);
        const children = [
          newJob({ parentId, payload: '{"a":1}', correlationId: "chain" }),
          newJob({ parentId, due: { delayMs: 1_000 } }),
        ];

        const answers = await store.settle([
          { ...settleItem(batch, batch.job, settlement), children },
        ]);

        expect(answers).toEqual(["settled"]);
        expect(await recordOf(store, at(children, 0).id)).toMatchObject({
          state: "queued",
          parentId,
          payload: '{"a":1}',
          correlationId: "chain",
        });
        expect(await stateOf(store, at(children, 1).id)).toBe("scheduled");
        expect((await store.list({ parentId }, { limit: 10 })).jobs).toHaveLength(2);
        expect(await claimable(store)).toEqual([at(children, 0).id]);
      },
    );

    test("have the parent that they name, or none", async () => {
      await using db = await open();
      const { store } = db;
      const [, other] = await add(store, { priority: 1 }, { priority: 2 });
      const batch = await takeOne(store);
      const children = [newJob({ parentId: other }), newJob()];

      await store.settle([withChildren(batch, children)]);

      expect((await recordOf(store, at(children, 0).id)).parentId).toBe(other);
      expect((await recordOf(store, at(children, 1).id)).parentId).toBeNull();
    });

    test("are told to the feed after the end of their parent", async () => {
      await using db = await open();
      const { store } = db;
      const [parentId] = await add(store, {});
      const batch = await takeOne(store);
      const child = newJob({ parentId });

      await store.settle([withChildren(batch, [child])]);

      const entries = await store.feed(0, 100);
      expect(entries.slice(-2)).toMatchObject([
        { kind: "job:completed", jobs: [parentId] },
        { kind: "job:enqueued", jobs: [child.id] },
      ]);
    });

    test("wake those who wait for work", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const batch = await takeOne(store);

      const child = newJob();

      await wakes(db, () => store.settle([withChildren(batch, [child])]));

      expect(await claimable(store)).toEqual([child.id]);
    });

    test.each([failedWith(), cancelled(), retryIn(10), runAgain()])(
      "are not born of a $outcome run that ends in $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        await add(store, {});
        const batch = await takeOne(store);
        const child = newJob();

        const answers = await store.settle([
          { ...settleItem(batch, batch.job, settlement), children: [child] },
        ]);

        expect(answers).toEqual(["settled"]);
        expect(await store.get(child.id)).toBeNull();
        expect(await eventsOf(store, child.id)).toEqual([]);
      },
    );

    test("are not born of an end that is stale", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { priority: 1 }, { priority: 2 });
      const batch = await takeOne(store);
      await store.intervene(id, () => failedWith());
      const child = newJob();

      expect(await store.settle([withChildren(batch, [child])])).toEqual(["stale"]);
      expect(await store.get(child.id)).toBeNull();
    });

    test("are born once though the end is told twice", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store);
      const first = { ...batch, jobs: [at(batch.jobs, 0)] };
      const [child, twin] = [newJob(), newJob()];

      const answers = await store.settle([
        withChildren(first, [child]),
        withChildren(first, [twin]),
      ]);
      const later = await store.settle([withChildren(first, [twin])]);

      expect([...answers, ...later]).toEqual(["settled", "stale", "stale"]);
      expect(await claimable(store)).toEqual([child.id]);
    });

    test("belong to the ends that are accepted, and to no other of the same call", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, { priority: 1 }, { priority: 2 }, { priority: 3 });
      const batch = await take(store);
      await store.intervene(ids[1], () => failedWith());
      const children = [newJob(), newJob(), newJob()];

      const answers = await store.settle(
        batch.jobs.map((job, index) => ({
          ...settleItem(batch, job, completed()),
          children: [at(children, index)],
        })),
      );

      expect(answers).toEqual(["settled", "stale", "settled"]);
      expect(await claimable(store)).toEqual([at(children, 0).id, at(children, 2).id]);
    });

    test("are not born of an end that the database refuses", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { priority: 1 }, { priority: 2 });
      const batch = await take(store);
      const [none, one] = [newJob(), newJob()];

      const answers = await store.settle([
        { ...settleItem(batch, at(batch.jobs, 0), completed("no json")), children: [none] },
        { ...settleItem(batch, at(batch.jobs, 1), completed()), children: [one] },
      ]);

      expect(answers).toEqual(["refused", "settled"]);
      expect(await store.get(none.id)).toBeNull();
      expect(await stateOf(store, one.id)).toBe("queued");
    });

    test("that exist already stay as they are", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { priority: 1 });
      const batch = await takeOne(store);
      const dedup = { key: "once", onConflict: "skip" } as const;
      const child = newJob({ payload: '{"a":1}', dedup });
      await store.enqueue([child]);
      const before = await recordOf(store, child.id);

      const answers = await store.settle([withChildren(batch, [child, newJob({ dedup })])]);

      expect(answers).toEqual(["settled"]);
      expect(await recordOf(store, child.id)).toEqual(before);
      expect(await claimable(store)).toEqual([child.id]);
    });
  });
}

/** The success of the first job of a batch, and what it brings into being. */
function withChildren(batch: Batch, children: readonly NewJob[]): SettleItem {
  return { ...settleItem(batch, at(batch.jobs, 0), completed()), children };
}
