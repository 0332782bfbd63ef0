import { describe, expect, test } from "vitest";
import { firstSlot } from "../../../src/core/cron/plan.ts";
import { DECLARED_MS } from "../../../src/store/roles/schedules.ts";
import { completed, newSchedule, retryIn } from "../../support/factories.ts";
import { add, claimable, recordOf, runOne, stateOf, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function promoteSuite(open: OpenStore): void {
  describe("promote", () => {
    test("queues what is due and nothing else (001-15, I8)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [due, later] = await add(
        store,
        { due: { delayMs: 1_000 } },
        { due: { delayMs: 1_001 } },
      );
      await clock.advance(1_000);

      const promotion = await store.promote(100);

      expect(promotion).toMatchObject({ moved: 1, nextDueMs: 1 });
      expect(await stateOf(store, due)).toBe("queued");
      expect(await stateOf(store, later)).toBe("scheduled");
    });

    test("says how long until the next job is due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { due: { delayMs: 9_000 } }, { due: { delayMs: 4_000 } }, {});

      const before = await store.promote(100);
      await clock.advance(1_500);
      const later = await store.promote(100);

      expect(before).toMatchObject({ moved: 0, nextDueMs: 4_000 });
      expect(later).toMatchObject({ moved: 0, nextDueMs: 2_500 });
    });

    test("says that none waits", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});

      expect(await store.promote(100)).toMatchObject({ moved: 0, nextDueMs: null });
    });

    test("moves the earliest first, no more than asked, and says that more are due", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [third, first, second] = await add(
        store,
        { due: { delayMs: 30 } },
        { due: { delayMs: 10 } },
        { due: { delayMs: 20 } },
      );
      await clock.advance(1_000);

      const promotion = await store.promote(2);

      expect(promotion).toMatchObject({ moved: 2, nextDueMs: 0 });
      expect(await claimable(store)).toEqual([first, second]);
      expect(await stateOf(store, third)).toBe("scheduled");
      expect(await store.promote(2)).toMatchObject({ moved: 1, nextDueMs: null });
    });

    test("ranks jobs by their due time, not by the time of the move", async () => {
      await using db = await open();
      const { store, clock } = db;
      const now = clock.now();
      const [late, early] = await add(store, { due: { delayMs: 30 } }, { due: { delayMs: 10 } });
      await clock.advance(20);
      const [between] = await add(store, {});
      await clock.advance(1_000);
      const [afterwards] = await add(store, {});

      await store.promote(100);

      expect((await recordOf(store, early)).runAt).toBe(now + 10);
      expect(await claimable(store)).toEqual([early, between, late, afterwards]);
    });

    test("keeps lane, priority, type and tenant of a job, and its count of runs", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { lane: "fast", priority: 3, type: "sms", tenant: "acme" });
      await runOne(store, { ...retryIn(10), tries: 1, crashes: 1 });
      await clock.advance(10);

      await store.promote(100);

      const { job } = await takeOne(store, { lanes: ["fast"], types: ["sms"], tenants: ["acme"] });
      expect(job).toMatchObject({ lane: "fast", priority: 3, n: 2, tries: 1, crashes: 1 });
      expect(job.runAt).toBe(clock.now());
    });

    test("moves each job once when two handles promote at once", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      const due = { delayMs: 5 };
      const ids = await add(store, { due }, { due }, { due }, { due });
      await clock.advance(5);

      const promotions = await Promise.all([store.promote(100), other.promote(100)]);

      expect(promotions.reduce((sum, { moved }) => sum + moved, 0)).toBe(4);
      expect(await claimable(store)).toEqual(ids);
    });

    test("says that there is nothing else to do in a store that is idle", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { due: { delayMs: 9_000 } }, {});
      await runOne(store, completed());

      expect(await store.promote(100)).toMatchObject({ waiting: NOTHING });
    });

    test("says that a job may be claimable", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});

      expect(await store.promote(100)).toMatchObject({ waiting: { ...NOTHING, ready: true } });
    });

    test("says that the job which it has moved may be claimable", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { due: { delayMs: 10 } });
      await clock.advance(10);

      expect(await store.promote(100)).toMatchObject({ moved: 1, waiting: { ready: true } });
    });

    test("says that jobs are behind a gate, and when the gate has opened", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { type: "email" });
      await store.pause(EMAIL, { reason: "maintenance", by: null });
      await store.hold(10);
      const closed = await store.promote(100);
      await store.resume(EMAIL);
      const opened = await store.promote(100);
      await store.release(10);
      const released = await store.promote(100);

      expect(closed.waiting).toEqual({ ...NOTHING, blocked: true });
      expect(opened.waiting).toMatchObject({ released: true, blocked: true });
      expect(released.waiting).toEqual({ ...NOTHING, ready: true });
    });

    test("says that a gate is closed, so that jobs may have to be held", async () => {
      await using db = await open();
      const { store } = db;
      await store.pause(EMAIL, { reason: "maintenance", by: null });

      expect(await store.promote(100)).toMatchObject({ waiting: { ...NOTHING, blocked: true } });
    });

    test("says that a gate has opened by time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { type: "email" });
      await store.pause(EMAIL, { reason: "maintenance", by: null, forMs: 1_000 });
      await store.hold(10);
      await clock.advance(1_000);

      expect(await store.promote(100)).toMatchObject({ waiting: { released: true } });
    });

    test("says that there are dependencies", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, {});
      await add(store, { after: [first] });

      expect(await store.promote(100)).toMatchObject({ waiting: { ready: true, blocked: true } });
    });

    test("says that there are locks", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { concurrencyKey: "docs/main" });
      await takeOne(store);

      expect(await store.promote(100)).toMatchObject({ waiting: { ready: false, blocked: true } });
    });

    test("says that a slot of a schedule of operators is due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.saveSchedule(newSchedule(), { revision: null, by: "ada" }, firstSlot);
      const before = await store.promote(100);
      await clock.advance(HOUR);
      const due = await store.promote(100);
      await store.pauseSchedule("hourly", { by: "ada", reason: "maintenance" });
      const paused = await store.promote(100);

      // After a slow call PostgreSQL does not look for claimable jobs: `ready` may be true.
      expect([before, due, paused].map(({ waiting }) => waiting.slotDue)).toEqual([
        false,
        true,
        false,
      ]);
    });

    test("says so of a schedule of code only as long as workers declare it", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareSchedules([newSchedule({ cron: "* * * * *" })], firstSlot);
      await clock.advance(DECLARED_MS - 1);
      const declared = await store.promote(100);
      await clock.advance(1);

      expect(declared.waiting.slotDue).toBe(true);
      expect((await store.promote(100)).waiting.slotDue).toBe(false);
    });
  });
}

const HOUR = 3_600_000;
const EMAIL = { kind: "type", name: "email" } as const;
const NOTHING = { ready: false, released: false, blocked: false, slotDue: false, fair: false };
