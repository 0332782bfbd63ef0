import { describe, expect, test } from "vitest";
import { completed } from "../../support/factories.ts";
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
  startAll,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function startSuite(open: OpenStore): void {
  describe("startPrefetched", () => {
    test("begins a prefetch as a whole", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {}, {});
      const batch = await take(store, { prefetch: true });
      await clock.advance(700);

      const answer = await startAll(store, batch);

      expect(answer).toEqual({ status: "started", begun: batch.jobs.map(({ key }) => key) });
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
      const batch = await take(store, { prefetch: true });
      const claimedAt = clock.now();
      await clock.advance(700);

      await startAll(store, batch);
      await settleAll(store, batch, completed());

      expect(await store.attempts(id)).toMatchObject([{ claimedAt, startedAt: clock.now() }]);
    });

    test("begins some jobs of a prefetch and leaves the others in it", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first, second, third] = await add(store, {}, {}, {});
      const batch = await take(store, { prefetch: true });
      const [one, two] = batch.jobs.map(({ key }) => key);

      await store.startPrefetched(batch.lease, [one!]);
      await clock.advance(50);
      const answer = await store.startPrefetched(batch.lease, [one!, two!]);

      expect(answer.begun).toEqual([one, two]);
      expect((await recordOf(store, first)).startedAt).toBe(clock.now() - 50);
      expect((await recordOf(store, second)).startedAt).toBe(clock.now());
      expect((await recordOf(store, third)).startedAt).toBeNull();
      expect(await store.settle([settleItem(batch, at(batch.jobs, 2), completed())])).toEqual([
        "stale",
      ]);
      expect(await store.returnPrefetched(batch.lease, [two!])).toBe(0);
      expect(await store.returnPrefetched(batch.lease, [at(batch.jobs, 2).key])).toBe(1);
      await store.deregister(batch.worker);
      const rescue = await rescueSilent(store, batch.worker, { decide: () => completed() });
      expect(rescue.settled.map(({ id }) => id)).toEqual([first, second]);
    });

    test("does not name a job that ended cancelled when it is repeated", async () => {
      await using db = await open();
      const { store } = db;
      const [goes] = await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      await store.cancel(goes, null, null);
      await startAll(store, batch);

      const again = await startAll(store, batch);

      expect(again.begun).toEqual([at(batch.jobs, 1).key]);
    });

    test("begins only the prefetch it was asked to begin", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await add(store, {}, {});
      const mine = await take(store, { prefetch: true, limit: 1 });
      const other = await take(store, { worker: mine.worker, prefetch: true, limit: 1 });

      await startAll(store, mine);

      expect((await recordOf(store, first)).startedAt).not.toBeNull();
      expect((await recordOf(store, second)).startedAt).toBeNull();
      expect((await startAll(store, other)).begun).toEqual([at(other.jobs, 0).key]);
    });

    test("ends jobs whose cancellation was asked for, without naming them", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [stays, goes] = await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      const requested = await store.cancel(goes, "ada", "not needed");

      const answer = await startAll(store, batch);

      expect(requested).toEqual({ status: "requested" });
      expect(answer).toEqual({ status: "started", begun: [at(batch.jobs, 0).key] });
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

    test("leaves a job that it has cancelled to no worker", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { dedup: { key: "d", onConflict: "skip" } });
      const batch = await take(store, { prefetch: true });
      await store.cancel(id, null, null);
      await startAll(store, batch);

      const settled = await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

      expect(settled).toEqual(["stale"]);
      expect(await stateOf(store, id)).toBe("cancelled");
      const kinds = (await store.feed(0, 100)).map((entry) => entry.kind);
      expect(kinds).toEqual(["job:enqueued", "job:cancelled"]);
      expect(await store.renew(batch.worker, 1_000)).toMatchObject({ cancel: [] });
      await add(store, { dedup: { key: "d", onConflict: "skip" } });
    });

    test("leaves nothing behind when every job of the prefetch was cancelled", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await store.cancel(id, null, null);

      await startAll(store, batch);
      await store.deregister(batch.worker);

      expect(await store.silent(10)).toEqual([]);
    });

    test("is harmless when it is repeated after a lost answer", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await startAll(store, batch);
      const before = await recordOf(store, id);
      await clock.advance(100);

      const again = await startAll(store, batch);

      expect(again).toEqual({ status: "started", begun: [at(batch.jobs, 0).key] });
      expect(await recordOf(store, id)).toEqual(before);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started"]);
    });

    test("does not name a job that has ended, and does not start it again", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store, { prefetch: true });
      const [first, second] = batch.jobs;
      await store.startPrefetched(batch.lease, [first!.key]);
      await store.settle([settleItem(batch, first!, completed())]);

      const answer = await startAll(store, batch);

      expect(answer.begun).toEqual([second!.key]);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started", "job:completed"]);
    });

    test("names the runs of a claim without prefetch, which have started already", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store);
      const before = await recordOf(store, id);
      await clock.advance(100);

      const answer = await startAll(store, batch);

      expect(answer).toEqual({ status: "started", begun: [at(batch.jobs, 0).key] });
      expect(await recordOf(store, id)).toEqual(before);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started"]);
    });

    test("refuses a lease with a wrong secret or an unknown number", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { lease, jobs } = await take(store, { prefetch: true });
      const keys = jobs.map(({ key }) => key);

      const wrongSecret = await store.startPrefetched({ ...lease, secret: "guessed" }, keys);
      const unknown = await store.startPrefetched({ ...lease, number: lease.number + 1 }, keys);

      expect(wrongSecret).toEqual({ status: "stale", begun: [] });
      expect(unknown).toEqual({ status: "stale", begun: [] });
      expect((await recordOf(store, id)).startedAt).toBeNull();
    });

    test("refuses a lease whose jobs were rescued", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await store.deregister(batch.worker);
      await rescueSilent(store, batch.worker, { decide: () => completed() });

      const answer = await startAll(store, batch);

      expect(answer).toEqual({ status: "stale", begun: [] });
      expect(await stateOf(store, id)).toBe("queued");
    });
  });
}
