import { describe, expect, test } from "vitest";
import {
  cancelled,
  completed,
  failedWith,
  fault,
  jobId,
  newJob,
  retryIn,
} from "../../support/factories.ts";
import { keep } from "../../support/notes.ts";
import { add, recordOf, runOne, settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const DEDUP = { key: "site-1", onConflict: "skip" } as const;
const OPEN = { status: "open" };

export function endsSuite(open: OpenStore): void {
  describe("ends", () => {
    test("tells open jobs from jobs that do not exist, in the order given", async () => {
      await using db = await open();
      const { store } = db;
      const unknown = jobId();
      const [retried, running] = await add(store, {}, {});
      await runOne(store, retryIn(60_000));
      await takeOne(store);
      const [queued, scheduled] = await add(store, {}, { due: { delayMs: 1_000 } });

      const ends = await store.ends([queued, unknown, scheduled, running, retried]);

      expect(ends).toEqual([OPEN, { status: "missing" }, OPEN, OPEN, OPEN]);
    });

    test.each([
      ["completed", completed('{"sent":1}')],
      ["failed", failedWith(fault({ message: "no route" }))],
      ["cancelled", cancelled("not needed")],
    ] as const)("has the same as the record of a job that is %s", async (state, settlement) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { type: "report" });
      await settleAll(store, await takeOne(store), settlement);

      const [end] = await store.ends([id]);

      const { type, result, fault: error, cancelReason } = await recordOf(store, id);
      expect(end).toEqual({
        status: "final",
        job: { id, type, state, result, fault: error, cancelReason },
      });
      expect(type).toBe("report");
    });

    test("tells the end of a job that has failed before its last run", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await runOne(store, retryIn(1_000));
      await clock.advance(1_000);
      await store.promote(10);
      await runOne(store, completed('"late"'));

      expect(await store.ends([id])).toMatchObject([
        { status: "final", job: { result: '"late"' } },
      ]);
    });

    test("follows the id of a child that gave way to the job which has its key", async () => {
      await using db = await open();
      const { store } = db;
      const [parent] = await add(store, { lane: "parents" });
      const batch = await takeOne(store, { lanes: ["parents"] });
      const [holder] = await add(store, { dedup: DEDUP });
      const child = newJob({ parentId: parent, dedup: DEDUP });
      await keep(store, batch, { completed: { name: "one", result: null }, children: [child] });
      await runOne(store, completed('"held"'));

      expect(await store.ends([child.id])).toMatchObject([
        { status: "final", job: { id: holder, result: '"held"' } },
      ]);
    });

    test("answers for no job and for many", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, ...Array.from({ length: 300 }, () => ({})));

      expect(await store.ends([])).toEqual([]);
      expect(await store.ends(ids)).toEqual(ids.map(() => OPEN));
    });
  });
}
