import { describe, expect, test } from "vitest";
import { completed } from "../support/factories.ts";
import {
  add,
  at,
  eventsOf,
  recordOf,
  rescueSilent,
  settleAll,
  settleItem,
  stateOf,
  take,
} from "../support/steps.ts";
import type { OpenStore } from "../support/stores.ts";

export function startSuite(open: OpenStore): void {
  describe("start", () => {
    test("begins a buffer as a whole", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {}, {});
      const batch = await take(store, { buffer: true });
      await clock.advance(700);

      const answer = await store.start(batch.lease);

      expect(answer).toEqual({ status: "started", cancelled: [] });
      for (const id of ids) {
        expect(await recordOf(store, id)).toMatchObject({
          state: "running",
          startedAt: clock.now(),
        });
      }
      const started = (await store.feed(0, 10)).filter(({ kind }) => kind === "job:started");
      expect(started.map((entry) => entry.jobs.toSorted())).toEqual([ids.toSorted()]);
    });

    test("writes the time of the claim and of the start into the ledger", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { buffer: true });
      const claimedAt = clock.now();
      await clock.advance(700);

      await store.start(batch.lease);
      await settleAll(store, batch, completed());

      expect(await store.attempts(id)).toMatchObject([{ claimedAt, startedAt: clock.now() }]);
    });

    test("begins only the buffer it was asked to begin", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await add(store, {}, {});
      const mine = await take(store, { buffer: true, limit: 1 });
      await take(store, { worker: mine.worker, buffer: true, limit: 1 });

      await store.start(mine.lease);

      expect((await recordOf(store, first)).startedAt).not.toBeNull();
      expect((await recordOf(store, second)).startedAt).toBeNull();
    });

    test("ends jobs whose cancellation was asked for, unstarted, and names them", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [stays, goes] = await add(store, {}, {});
      const batch = await take(store, { buffer: true });
      const requested = await store.cancel(goes, "ada", "not needed");

      const answer = await store.start(batch.lease);

      expect(requested).toEqual({ status: "requested" });
      expect(answer).toEqual({ status: "started", cancelled: [at(batch.jobs, 1).key] });
      expect(await stateOf(store, stays)).toBe("running");
      expect(await recordOf(store, goes)).toMatchObject({
        state: "cancelled",
        attempts: 0,
        startedAt: null,
        finishedAt: clock.now(),
        cancelReason: "not needed",
        cancelRequested: false,
      });
      expect(await store.attempts(goes)).toMatchObject([
        { n: 1, outcome: "cancelled", startedAt: null, finishedAt: clock.now() },
      ]);
      expect(await eventsOf(store, goes)).toEqual(["job:enqueued", "job:cancelled"]);
      expect(await eventsOf(store, stays)).toEqual(["job:enqueued", "job:started"]);
    });

    test("leaves a job that it has cancelled to nobody", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { dedup: { key: "d", onConflict: "skip" } });
      const batch = await take(store, { buffer: true });
      await store.cancel(id, null, null);
      await store.start(batch.lease);

      const settled = await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

      expect(settled).toEqual(["stale"]);
      expect(await stateOf(store, id)).toBe("cancelled");
      const kinds = (await store.feed(0, 100)).map((entry) => entry.kind);
      expect(kinds).toEqual(["job:enqueued", "job:cancelled"]);
      expect(await store.renew(batch.worker, 1_000)).toMatchObject({ cancel: [] });
      await add(store, { dedup: { key: "d", onConflict: "skip" } });
    });

    test("is harmless when it is repeated after a lost answer", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { buffer: true });
      await store.start(batch.lease);
      const before = await recordOf(store, id);
      await clock.advance(100);

      const again = await store.start(batch.lease);

      expect(again).toEqual({ status: "started", cancelled: [] });
      expect(await recordOf(store, id)).toEqual(before);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started"]);
    });

    test("refuses a lease with a wrong secret or an unknown number", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { lease } = await take(store, { buffer: true });

      const wrongSecret = await store.start({ ...lease, secret: "guessed" });
      const unknown = await store.start({ ...lease, number: lease.number + 1 });

      expect(wrongSecret).toEqual({ status: "stale", cancelled: [] });
      expect(unknown).toEqual({ status: "stale", cancelled: [] });
      expect((await recordOf(store, id)).startedAt).toBeNull();
    });

    test("refuses a lease whose jobs were rescued", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { buffer: true });
      await store.leave(batch.worker);
      await rescueSilent(store, batch.worker, { decide: () => completed() });

      const answer = await store.start(batch.lease);

      expect(answer).toEqual({ status: "stale", cancelled: [] });
      expect(await stateOf(store, id)).toBe("queued");
    });
  });
}
