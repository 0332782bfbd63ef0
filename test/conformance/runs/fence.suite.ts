import { describe, expect, test } from "vitest";
import type { ClaimedJob, SettleItem } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  newJobs,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  at,
  claimable,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  take,
  takeOne,
  startAll,
} from "../../support/steps.ts";
import type { Batch } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** Each way to say something of a job that one does not hold. */
const FORGERIES: readonly (readonly [string, (item: SettleItem) => SettleItem])[] = [
  ["a wrong secret", (item) => ({ ...item, lease: { ...item.lease, secret: "guessed" } })],
  ["an empty secret", (item) => ({ ...item, lease: { ...item.lease, secret: "" } })],
  ["an unknown lease", (item) => ({ ...item, lease: { ...item.lease, number: 9_999 } })],
  ["the number of an earlier run", (item) => ({ ...item, n: item.n - 1 })],
  ["the number of a later run", (item) => ({ ...item, n: item.n + 1 })],
  ["an unknown job", (item) => ({ ...item, key: 9_999 })],
];

export function fenceSuite(open: OpenStore): void {
  describe("settle behind the fence", () => {
    test.each(FORGERIES)("refuses %s and changes nothing (I4)", async (_, forge) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { job, ...batch } = await takeOne(store);
      const before = await pictureOf(store, id);

      const answers = await store.settle([forge(settleItem(batch, job, failedWith()))]);

      expect(answers).toEqual(["stale"]);
      expect(await pictureOf(store, id)).toEqual(before);
      expect(await store.settle([settleItem(batch, job, completed())])).toEqual(["settled"]);
    });

    test("is proven by secrets of 128 bits, each of its own", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2));

      const secrets = [(await takeOne(store)).lease.secret, (await takeOne(store)).lease.secret];

      expect(secrets).toEqual([
        expect.stringMatching(/^[0-9a-f]{32}$/),
        expect.stringMatching(/^[0-9a-f]{32}$/),
      ]);
      expect(secrets[0]).not.toBe(secrets[1]);
    });

    test("refuses a job that belongs to another lease", async () => {
      await using db = await open();
      const { store } = db;
      const [, theirs] = await add(store, {}, {});
      const mine = await takeOne(store);
      const other = await takeOne(store);
      const before = await pictureOf(store, theirs);

      const answers = await store.settle([settleItem(mine, other.job, completed())]);

      expect(answers).toEqual(["stale"]);
      expect(await pictureOf(store, theirs)).toEqual(before);
    });

    test("refuses a job of one lease under another that is settled in the same call", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const mine = await take(store, { limit: 1 });
      const other = await take(store, { limit: 2 });
      const [theirs, also] = [at(other.jobs, 0), at(other.jobs, 1)];
      const before = await pictureOf(store, theirs.id);

      const answers = await store.settle([
        settleItem(mine, theirs, completed()),
        settleItem(other, also, completed()),
        settleItem(mine, at(mine.jobs, 0), completed()),
      ]);

      expect(answers).toEqual(["stale", "settled", "settled"]);
      expect(await pictureOf(store, theirs.id)).toEqual(before);
    });

    test("accepts the first settlement of a run and no other (002-03, C-25, I4, I6)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store);
      const job = at(batch.jobs, 0);
      await store.settle([settleItem(batch, job, completed('"first"'))]);
      const before = await pictureOf(store, id);

      const later = await store.settle([settleItem(batch, job, failedWith())]);

      expect(later).toEqual(["stale"]);
      expect(await pictureOf(store, id)).toEqual(before);
    });

    test("accepts one of two settlements in one call, the first", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { job, ...batch } = await takeOne(store);

      const answers = await store.settle([
        settleItem(batch, job, completed('"first"')),
        settleItem(batch, job, retryIn(5)),
      ]);

      expect(answers).toEqual(["settled", "stale"]);
      expect(await recordOf(store, id)).toMatchObject({ state: "completed", result: '"first"' });
      expect(await store.attempts(id)).toHaveLength(1);
    });

    test("accepts one of two settlements that race on two handles", async () => {
      await using db = await open();
      const handles = [db.store, await db.another()];
      await db.store.enqueue(newJobs(50));
      const batch = await take(db.store);

      const answers = await Promise.all(
        batch.jobs.flatMap((job) =>
          handles.map((handle) => handle.settle([settleItem(batch, job, completed())])),
        ),
      );

      expect(answers.flat().filter((answer) => answer === "settled")).toHaveLength(50);
      expect((await db.store.count({ states: ["completed"] }, 100)).count).toBe(50);
    });

    test("refuses jobs of a prefetch that has not started", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      const item = settleItem(batch, at(batch.jobs, 0), completed());

      const early = await store.settle([item]);
      const picture = await pictureOf(store, id);
      await startAll(store, batch);
      const started = await store.settle([item]);

      expect(early).toEqual(["stale"]);
      expect(picture.record).toMatchObject({ state: "running", finishedAt: null });
      expect(picture.attempts).toEqual([]);
      expect(started).toEqual(["settled"]);
    });

    test("tells good from stale item by item, across two leases", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(4));
      const one = await take(store, { limit: 2 });
      const two = await take(store, { limit: 2 });
      const [a, b] = [at(one.jobs, 0), at(one.jobs, 1)];
      const [c, d] = [at(two.jobs, 0), at(two.jobs, 1)];

      const answers = await store.settle([
        settleItem(two, d, completed()),
        settleItem(one, c, completed()),
        settleItem(one, a, failedWith()),
        settleItem(two, d, completed()),
        settleItem({ ...one, lease: { ...one.lease, secret: "x" } }, b, completed()),
        settleItem(two, c, retryIn(5)),
      ]);

      expect(answers).toEqual(["settled", "stale", "settled", "stale", "stale", "settled"]);
      const states = await Promise.all([a, b, c, d].map(async (job) => store.get(job.id)));
      expect(states.map((record) => record?.state)).toEqual([
        "failed",
        "running",
        "scheduled",
        "completed",
      ]);
    });

    test("accepts what a silent worker says as long as no worker has rescued its job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const late = await takeOne(store);
      await clock.advance(30_001);

      const answers = await store.settle([settleItem(late, late.job, completed("1"))]);

      expect(answers).toEqual(["settled"]);
      expect(await recordOf(store, id)).toMatchObject({ state: "completed", result: "1" });
    });

    test("refuses the old holder of a job that was rescued (C-25, I3, I4)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const zombie = await takeOne(store);
      await clock.advance(30_001);
      await rescueSilent(store, zombie.worker, { decide: crashedOnce });

      const waiting = await store.settle([settleItem(zombie, zombie.job, completed())]);
      const heir = await takeOne(store);
      const running = await store.settle([settleItem(zombie, zombie.job, completed())]);
      const forged = await store.settle([settleItem(zombie, heir.job, completed())]);
      const mixed = await store.settle([settleItem(heir, zombie.job, completed())]);

      expect([waiting, running, forged, mixed].flat()).toEqual(Array(4).fill("stale"));
      expect(heir.lease.number).toBeGreaterThan(zombie.lease.number);
      expect(await recordOf(store, id)).toMatchObject({ state: "running", attempts: 1 });
      await settleAll(store, heir, completed());
    });

    test("refuses the holder of the run before, when the same worker runs it again", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const before = await takeOne(store);
      await settleAll(store, before, runAgain());
      const now = await takeOne(store, { worker: before.worker });

      const answers = await store.settle([
        settleItem(before, before.job, failedWith()),
        settleItem(before, now.job, failedWith()),
        settleItem(now, now.job, completed()),
      ]);

      expect(answers).toEqual(["stale", "stale", "settled"]);
    });

    test.each([completed(), failedWith()])(
      "lets nothing change a job that has ended as $to (I6)",
      async (settlement) => {
        await using db = await open();
        const { store, clock } = db;
        const [id] = await add(store, {});
        const batch = await takeOne(store);
        await settleAll(store, batch, settlement);
        const before = await pictureOf(store, id);

        await clock.advance(60_000);
        await store.settle([settleItem(batch, batch.job, runAgain())]);
        await store.returnPrefetched(batch.lease, [batch.job.key]);
        await startAll(store, batch);
        await store.cancel(id, null, null);
        await rescueSilent(store, batch.worker, { decide: crashedOnce });
        await store.promote(100);

        expect(await pictureOf(store, id)).toEqual(before);
        expect(await claimable(store)).toEqual([]);
      },
    );

    test("does not lose a request to cancel when the job is to run again (I8)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await store.cancel(id, "ada", "not needed");

      await settleAll(store, batch, runAgain());

      expect(await endsCancelled(store, id)).toBe(true);
    });

    test("does not use up a request to cancel with a settlement that is stale", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const before = await take(store);
      const first = settleItem(before, at(before.jobs, 0), runAgain());
      await store.settle([first]);
      const now = await takeOne(store);
      await store.cancel(id, null, "enough");

      const repeated = await store.settle([first]);

      expect(repeated).toEqual(["stale"]);
      expect((await recordOf(store, id)).cancelRequested).toBe(true);
      expect(await store.renew(now.worker, 30_000)).toMatchObject({
        cancel: [{ key: now.job.key, reason: "enough" }],
      });
    });

    test("gives the next run of a job to the settlement of that run alone", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await runOne(store, runAgain());

      await runOne(store, completed());

      expect((await store.attempts(id)).map(({ n, outcome }) => [n, outcome])).toEqual([
        [1, "interrupted"],
        [2, "succeeded"],
      ]);
    });
  });
}

/** All that can be seen of a job: when two pictures are equal, nothing has changed. */
async function pictureOf(store: JobStore, id: ClaimedJob["id"]) {
  return {
    record: await store.get(id),
    attempts: await store.attempts(id),
    letter: await store.deadLetter(id),
    feed: (await store.feed(0, 1_000)).filter((entry) => entry.jobs.includes(id)),
  };
}

/** True when the job is cancelled, or its next holder is told so. */
async function endsCancelled(store: JobStore, id: ClaimedJob["id"]): Promise<boolean> {
  if ((await recordOf(store, id)).state === "cancelled") return true;
  const next: Batch = await take(store);
  const renewal = await store.renew(next.worker, 30_000);
  return renewal.status === "renewed" && renewal.cancel.length === 1;
}
