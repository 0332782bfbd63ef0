import { describe, expect, test } from "vitest";
import { idsWithPrefix } from "../../../src/core/ids.ts";
import type { JobId } from "../../../src/core/job.ts";
import { completed, failedWith, jobId, newJob, retention } from "../../support/factories.ts";
import { keep } from "../../support/notes.ts";
import { add, runOne, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const DEDUP = { key: "site-1", onConflict: "skip" } as const;
const ALL = { from: "0".repeat(26), to: `7${"Z".repeat(25)}` };

export function idsBetweenSuite(open: OpenStore): void {
  describe("idsBetween", () => {
    test("answers the ids of jobs in a range with both of its ends, in order", async () => {
      await using db = await open();
      const { store } = db;
      const ids = [jobId(), jobId(), jobId(), jobId()].toSorted();
      await store.enqueue(ids.toReversed().map((id) => newJob({ id })));
      const [from, to] = [ids[1] ?? "", ids[2] ?? ""];

      expect(await store.idsBetween({ from, to }, 10)).toEqual([from, to]);
      expect(await store.idsBetween(ALL, 10)).toEqual(ids);
      expect(await store.idsBetween({ from: to, to: from }, 10)).toEqual([]);
    });

    test("answers the first ids of a range, and no more than asked", async () => {
      await using db = await open();
      const { store } = db;
      const ids = (await add(store, {}, {}, {})).toSorted();

      expect(await store.idsBetween(ALL, 2)).toEqual(ids.slice(0, 2));
      expect(await store.idsBetween(ALL, 0)).toEqual([]);
      expect(await store.idsBetween(ALL, -1)).toEqual([]);
    });

    test("finds a job by each prefix of its id, and only this job by a long one", async () => {
      await using db = await open();
      const { store } = db;
      const id = idLike("8");
      const near = idLike("9");
      await store.enqueue([id, near].map((each) => newJob({ id: each })));

      for (let letters = 4; letters <= 26; letters += 1) {
        const range = idsWithPrefix(id.slice(0, letters));
        const found = range === null ? [] : await store.idsBetween(range, 10);
        expect({ letters, found }).toEqual({ letters, found: letters < 26 ? [id, near] : [id] });
      }
    });

    test("finds the id of a child that gave way to the holder of its key", async () => {
      await using db = await open();
      const { store } = db;
      const [parent] = await add(store, { lane: "parents" });
      const batch = await takeOne(store, { lanes: ["parents"] });
      const [holder] = await add(store, { dedup: DEDUP });
      const child = newJob({ parentId: parent, dedup: DEDUP });
      await keep(store, batch, { completed: { name: "one", result: null }, children: [child] });

      expect(await store.idsBetween(ALL, 10)).toEqual([parent, holder, child.id].toSorted());
    });

    test("finds jobs in every state, and dead letters whose job is gone", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [dead] = await add(store, { priority: 1 });
      await runOne(store, failedWith());
      const [done] = await add(store, { priority: 1 });
      await runOne(store, completed());
      const [waiting, later] = await add(store, {}, { due: { delayMs: 1_000 } });
      const all = [dead, done, waiting, later].toSorted();
      expect(await store.idsBetween(ALL, 10)).toEqual(all);

      await clock.advance(10);
      const gone = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
      await store.prune(retention({ finishedMs: gone }), 10);

      const left = [dead, waiting, later].toSorted();
      expect(await store.idsBetween(ALL, 10)).toEqual(left);
      expect(await store.idsBetween(ALL, 2)).toEqual(left.slice(0, 2));
    });
  });
}

/** An id that differs from the others of this kind in its last letter only. */
function idLike(last: string): JobId {
  return `01KE6Z4XP07V1H8R2N5QWT9AC${last}`;
}
