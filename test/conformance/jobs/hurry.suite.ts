import { describe, expect, test } from "vitest";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  jobId,
  retryIn,
} from "../../support/factories.ts";
import { add, claimable, eventsOf, recordOf, runOne, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { GATE, HELD_BY_WORKER } from "../../support/waiting.ts";
import { wakes } from "../../support/flows.ts";

export function hurrySuite(open: OpenStore): void {
  describe("hurry", () => {
    test("makes a scheduled job due now", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id, other] = await add(
        store,
        { due: { delayMs: 60_000 } },
        { due: { delayMs: 60_000 } },
      );
      await clock.advance(5_000);

      const answer = await store.hurry(id);

      expect(answer).toEqual({ status: "done", state: "queued" });
      expect(await recordOf(store, id)).toMatchObject({ state: "queued", runAt: clock.now() });
      expect((await recordOf(store, other)).state).toBe("scheduled");
      expect(await claimable(store)).toEqual([id]);
      await clock.advance(60_000);
      await store.promote(10);
      expect(await claimable(store)).toEqual([other]);
    });

    test("puts the job behind what was due before, and before what comes later", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [hurried, before] = await add(store, { due: { delayMs: 60_000 } }, {});
      await clock.advance(1_000);
      await store.hurry(hurried);
      await clock.advance(1_000);
      const [after] = await add(store, {});

      expect(await claimable(store)).toEqual([before, hurried, after]);
    });

    test("keeps the priority of the job", async () => {
      await using db = await open();
      const { store } = db;
      const [low, normal] = await add(
        store,
        { priority: 200, due: { delayMs: 60_000 } },
        { priority: 100 },
      );

      await store.hurry(low);

      expect((await recordOf(store, low)).priority).toBe(200);
      expect(await claimable(store)).toEqual([normal, low]);
    });

    test("keeps the number of the next run and what was charged", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await runOne(store, retryIn(60_000));

      await store.hurry(id);

      const { job } = await takeOne(store);
      expect(job).toMatchObject({ id, n: 2, tries: 1, crashes: 0 });
    });

    test("leaves a queued job in its place", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first, second] = await add(store, {}, {});
      const before = await recordOf(store, first);
      await clock.advance(1_000);

      const answer = await store.hurry(first);

      expect(answer).toEqual({ status: "done", state: "queued" });
      expect(await recordOf(store, first)).toEqual(before);
      expect(await claimable(store)).toEqual([first, second]);
    });

    test("leaves a held job held", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await store.pause(GATE, { reason: "maintenance", by: null });
      await store.hold(10);
      const before = await recordOf(store, id);
      await clock.advance(1_000);

      const answer = await store.hurry(id);

      expect(answer).toEqual({ status: "done", state: "queued" });
      expect(await recordOf(store, id)).toEqual(before);
      expect(before.heldBy).toEqual(GATE);
    });

    test.each(HELD_BY_WORKER)("leaves a %s job alone, and says so", async (_, put) => {
      await using db = await open();
      const { store, clock } = db;
      const id = await put(store);
      const before = await recordOf(store, id);
      await clock.advance(1_000);

      expect(await store.hurry(id)).toEqual({ status: "running" });
      expect(await recordOf(store, id)).toEqual(before);
    });

    test.each([completed(), completedWithErrors(1), failedWith(), cancelled()])(
      "leaves a job alone that has ended as $to, and says so",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await runOne(store, settlement);

        expect(await store.hurry(id)).toEqual({ status: "final", state: settlement.to });
        expect(await claimable(store)).toEqual([]);
      },
    );

    test("does not know a job that never was", async () => {
      await using db = await open();

      expect(await db.store.hurry(jobId())).toEqual({ status: "unknown" });
    });

    test("is no run: neither the ledger nor the feed tells of it", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { due: { delayMs: 60_000 } });

      await store.hurry(id);

      expect(await store.attempts(id)).toEqual([]);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued"]);
    });

    test("wakes those who wait for work", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { due: { delayMs: 600_000 } });

      await wakes(db, () => store.hurry(id));

      expect(await claimable(store)).toEqual([id]);
    });

    test("moves the job once when two handles hurry it at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await add(store, { due: { delayMs: 60_000 } });

      const answers = await Promise.all([store.hurry(id), other.hurry(id)]);

      expect(answers).toEqual([
        { status: "done", state: "queued" },
        { status: "done", state: "queued" },
      ]);
      expect(await claimable(store)).toEqual([id]);
    });
  });
}
