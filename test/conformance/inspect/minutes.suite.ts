import { describe, expect, test } from "vitest";
import { histogramOf } from "../../../src/core/metrics/histogram.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { MinutesQuery, MinuteFigures } from "../../../src/store/types/minutes.ts";
import {
  cancelled,
  completed,
  crashedOnce,
  failedWith,
  newJobs,
  retention,
  retryIn,
} from "../../support/factories.ts";
import {
  add,
  at,
  joinWorker,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  startAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ALWAYS: MinutesQuery = { from: 0, to: 9_000_000_000_000, stepMs: null };

export function minutesSuite(open: OpenStore): void {
  describe("minutes", () => {
    test("counts ended runs by type, lane and outcome, with their times (004-11)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { type: "mail" }, { type: "mail", lane: "fast" });
      await clock.advance(100);
      await add(store, { type: "mail" });
      await clock.advance(30);
      const batch = await take(store);
      await clock.advance(250);
      const [first, second, third] = batch.jobs;
      await store.settle([
        settleItem(batch, first!, completed()),
        settleItem(batch, second!, completed()),
        settleItem(batch, third!, failedWith()),
      ]);

      const { figures, isCutShort } = await store.minutes(ALWAYS);

      expect(isCutShort).toBe(false);
      const ends = batch.jobs.map(
        ({ lane }, index) => `${lane} ${index === 2 ? "failed" : "succeeded"}`,
      );
      const found = figures.map(({ lane, outcome }) => `${lane} ${outcome}`);
      expect(new Set(found)).toEqual(new Set(ends));
      expect(figures.every(({ type }) => type === "mail")).toBe(true);
      expect(sumOf(figures)).toEqual({ count: 3, waitMs: 130 + 130 + 30, runMs: 3 * 250 });
      expect(figures.map(({ runs }) => runs)).toEqual(figures.map(() => histogramOf([250])));
      const old = figures.filter(({ waitMs }) => waitMs === 130);
      expect(old.map(({ waits }) => waits)).toEqual([histogramOf([130]), histogramOf([130])]);
    });

    test("counts the runs of one type, lane and outcome together", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(3));
      await clock.advance(7);
      const batch = await take(store);
      await clock.advance(11);
      await settleAll(store, batch, completed());
      await store.enqueue(newJobs(1));
      await runOne(store, completed());

      const { figures } = await store.minutes(ALWAYS);

      expect(figures).toHaveLength(1);
      expect(figures[0]).toMatchObject({
        outcome: "succeeded",
        count: 4,
        waitMs: 21,
        runMs: 33,
        waits: histogramOf([7, 7, 7, 0]),
        runs: histogramOf([11, 11, 11, 0]),
      });
    });

    test("ends the wait of a prefetched job with its start", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await clock.advance(10);
      const batch = await take(store, { prefetch: true });
      await clock.advance(20);
      await startAll(store, batch);
      await clock.advance(5);
      await settleAll(store, batch, completed());

      const { figures } = await store.minutes(ALWAYS);

      expect(sumOf(figures)).toEqual({ count: 1, waitMs: 30, runMs: 5 });
    });

    test("counts each run of a job, and the wait of a retry from its own due time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await runOne(store, retryIn(1_000));
      await clock.advance(1_000);
      await store.promote(10);
      await clock.advance(40);
      await runOne(store, completed());

      const { figures } = await store.minutes(ALWAYS);

      expect(figures.map(({ outcome, count, waitMs }) => ({ outcome, count, waitMs }))).toEqual([
        { outcome: "failed", count: 1, waitMs: 0 },
        { outcome: "succeeded", count: 1, waitMs: 40 },
      ]);
    });

    test("counts an accepted end once, and a stale one never (004-11)", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store);
      const [first, second] = batch.jobs;
      const forged = { ...batch, lease: { ...batch.lease, secret: "guessed" } };
      const end = settleItem(batch, first!, completed());
      expect(await store.settle([settleItem(forged, second!, completed())])).toEqual(["stale"]);
      expect(await store.settle([end])).toEqual(["settled"]);
      expect(await store.settle([end])).toEqual(["stale"]);
      const both = [end, settleItem(batch, second!, failedWith())];
      expect(await store.settle(both)).toEqual(["stale", "settled"]);

      const { figures } = await store.minutes(ALWAYS);

      expect(figures.map(({ outcome, count }) => ({ outcome, count }))).toEqual([
        { outcome: "failed", count: 1 },
        { outcome: "succeeded", count: 1 },
      ]);
    });

    test("counts the runs that a rescue ends, but not prefetched jobs", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(3));
      const worker = await joinWorker(store);
      await take(store, { worker, limit: 2 });
      await take(store, { worker, limit: 1, prefetch: true });
      await clock.advance(40_000);
      await rescueSilent(store, worker, { decide: crashedOnce });

      const { figures } = await store.minutes(ALWAYS);

      expect(figures).toHaveLength(1);
      expect(figures[0]).toMatchObject({ outcome: "crashed", count: 2, waitMs: 0, runMs: 80_000 });
    });

    test("counts a run that an operator ends, but not a wait", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [running] = await add(store, {});
      await takeOne(store);
      const [waiting, other] = await add(store, {}, {});
      await clock.advance(500);
      await store.intervene(running, () => failedWith());
      await store.intervene(waiting, () => failedWith());
      await store.cancel(other, null, null);

      const { figures } = await store.minutes(ALWAYS);

      expect(figures).toHaveLength(1);
      expect(figures[0]).toMatchObject({ outcome: "failed", count: 1, runMs: 500 });
    });

    test("counts the outcome of the ledger", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await store.cancel(id, null, null);
      await settleAll(store, batch, cancelled());

      const { figures } = await store.minutes(ALWAYS);

      expect(figures).toMatchObject([{ outcome: "cancelled", count: 1 }]);
    });

    test("still counts jobs that retention has removed (004-11)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(4));
      await settleAll(store, await take(store), completed());
      const before = await store.minutes(ALWAYS);
      const now = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
      await clock.advance(1);
      const { jobs } = await store.prune(retention({ finishedMs: now }), 100);

      expect(jobs).toBe(4);
      expect(before.figures).toMatchObject([{ count: 4 }]);
      expect(await store.minutes(ALWAYS)).toEqual(before);
    });

    test.each([false, true])(
      "reads the whole minutes of a stretch, in steps (folded: %s)",
      async (isFolded) => {
        await using db = await open();
        const { store, clock } = db;
        const start = await toNextHour(clock);
        for (let index = 0; index < 4; index += 1) {
          await store.enqueue(newJobs(1));
          await runOne(store, completed());
          await clock.advance(MINUTE_MS / 2);
        }
        if (isFolded) await store.foldMinutes(100);
        const countOf = async (query: Partial<MinutesQuery>): Promise<readonly number[]> => {
          const { figures } = await store.minutes({ ...ALWAYS, ...query });
          return figures.map(({ count }) => count);
        };

        expect(await countOf({ from: start, to: start + MINUTE_MS })).toEqual([2]);
        expect(await countOf({ from: start + 1, to: start + 2 })).toEqual([2]);
        expect(await countOf({ from: start + MINUTE_MS })).toEqual([2]);
        expect(await countOf({ to: start })).toEqual([]);
        expect(await countOf({ from: start + 2 * MINUTE_MS })).toEqual([]);
        const steps = { from: start - HOUR_MS, to: start + HOUR_MS, stepMs: MINUTE_MS };
        const { figures } = await store.minutes(steps);
        expect(figures).toMatchObject([
          { at: start, count: 2 },
          { at: start + MINUTE_MS, count: 2 },
        ]);
      },
    );

    test.each([false, true])(
      "reads hours and the minutes around them (folded: %s)",
      async (isFolded) => {
        await using db = await open();
        const { store, clock } = db;
        const start = (await toNextHour(clock)) - MINUTE_MS;
        await clock.advance(HOUR_MS - MINUTE_MS);
        for (let index = 0; index < 4; index += 1) {
          await store.enqueue(newJobs(1));
          await runOne(store, completed());
          await clock.advance(HOUR_MS / 2);
        }
        if (isFolded) await store.foldMinutes(100);
        // The runs ended 59, 89, 119 and 149 minutes after the hour.
        const hour = start + MINUTE_MS;
        const sum = async (from: number, to: number): Promise<number> => {
          const { figures } = await store.minutes({ from, to, stepMs: null });
          return sumOf(figures).count;
        };

        expect(await sum(hour, hour + 3 * HOUR_MS)).toBe(4);
        expect(await sum(hour + 59 * MINUTE_MS, hour + 149 * MINUTE_MS)).toBe(3);
        expect(await sum(hour + 60 * MINUTE_MS, hour + 150 * MINUTE_MS)).toBe(3);
        expect(await sum(hour + 119 * MINUTE_MS, hour + 180 * MINUTE_MS)).toBe(2);
        const byHour = await store.minutes({
          from: hour + MINUTE_MS,
          to: hour + 3 * HOUR_MS,
          stepMs: HOUR_MS,
        });
        expect(byHour.figures).toMatchObject([
          { at: hour, count: 1 },
          { at: hour + HOUR_MS, count: 2 },
          { at: hour + 2 * HOUR_MS, count: 1 },
        ]);
      },
    );

    test.each([false, true])("reads one type or one lane (folded: %s)", async (isFolded) => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(1, { type: "mail", lane: "fast" }));
      await store.enqueue(newJobs(2, { type: "mail" }));
      await store.enqueue(newJobs(4, { type: "sms" }));
      await settleAll(store, await take(store), completed());
      if (isFolded) await store.foldMinutes(100);
      const countOf = async (query: Partial<MinutesQuery>): Promise<number> =>
        sumOf((await store.minutes({ ...ALWAYS, ...query })).figures).count;

      expect(await countOf({})).toBe(7);
      expect(await countOf({ type: "mail" })).toBe(3);
      expect(await countOf({ lane: "fast" })).toBe(1);
      expect(await countOf({ lane: "general" })).toBe(6);
      expect(await countOf({ type: "sms", lane: "fast" })).toBe(0);
      expect(await countOf({ type: "fax" })).toBe(0);
      expect(await countOf({ lane: "slow" })).toBe(0);
    });
  });

  describe("foldMinutes", () => {
    test("leaves the answers as they were, and has nothing to do a second time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await runSome(store, clock);
      const before = await store.minutes({ ...ALWAYS, stepMs: MINUTE_MS });

      const folded = await store.foldMinutes(100);

      expect(folded).toBe(6);
      expect(await store.minutes({ ...ALWAYS, stepMs: MINUTE_MS })).toEqual(before);
      expect(await store.foldMinutes(100)).toBe(0);
      expect(await store.minutes({ ...ALWAYS, stepMs: MINUTE_MS })).toEqual(before);
    });

    test("adds to what was folded before, no more batches than asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      await runSome(store, clock);
      const before = await store.minutes(ALWAYS);

      const folded = [await store.foldMinutes(4), await store.foldMinutes(4)];

      expect(folded).toEqual([4, 2]);
      expect(await store.minutes(ALWAYS)).toEqual(before);
      expect(await store.foldMinutes(0)).toBe(0);
    });

    test("counts every run once, however many processes fold (004-11)", async () => {
      await using db = await open();
      const { store } = db;
      const stores = [store, await db.another(), await db.another()];
      for (let round = 0; round < 4; round += 1) {
        await store.enqueue(newJobs(6));
        const batch = await take(store);
        const settled = batch.jobs.map((job) =>
          store.settle([settleItem(batch, job, completed())]),
        );
        await Promise.all([...settled, ...stores.map((each) => each.foldMinutes(2))]);
        await Promise.all(stores.map((each) => each.foldMinutes(3)));
      }
      while ((await store.foldMinutes(100)) > 0);

      const { figures } = await store.minutes(ALWAYS);

      expect(sumOf(figures).count).toBe(24);
    });
  });

  describe("prune", () => {
    test("removes minutes and hours that ended longer ago than they are kept", async () => {
      await using db = await open();
      const { store, clock } = db;
      await toNextHour(clock);
      await store.enqueue(newJobs(1));
      await runOne(store, completed());
      await store.foldMinutes(100);
      const rules = retention({ minutesMs: HOUR_MS });
      const pruned = async (): Promise<number> => (await store.prune(rules, 100)).minutes;

      await clock.advance(HOUR_MS + MINUTE_MS - 1);
      expect(await pruned()).toBe(0);
      await clock.advance(1);
      expect(await pruned()).toBe(1);
      expect(sumOf((await store.minutes(ALWAYS)).figures).count).toBe(1);
      await clock.advance(HOUR_MS - MINUTE_MS - 1);
      expect(await pruned()).toBe(0);
      await clock.advance(1);
      expect(await pruned()).toBe(1);
      expect((await store.minutes(ALWAYS)).figures).toEqual([]);
    });

    test("removes no more minutes than asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      await runSome(store, clock);
      await store.foldMinutes(100);
      await clock.advance(3 * HOUR_MS);
      const rules = retention({ minutesMs: 0 });

      const first = await store.prune(rules, 3);

      expect(first).toMatchObject({ minutes: 3, more: true });
      while ((await store.prune(rules, 3)).minutes > 0);
      expect((await store.minutes(ALWAYS)).figures).toEqual([]);
    });
  });
}

/** Six batches in the outbox: three minutes, each with a success and a failure. */
async function runSome(
  store: JobStore,
  clock: { advance(ms: number): Promise<void> },
): Promise<void> {
  for (let index = 1; index <= 3; index += 1) {
    await store.enqueue(newJobs(2));
    await clock.advance(10 ** index);
    const batch = await take(store);
    await clock.advance(3 ** index);
    await store.settle([
      settleItem(batch, at(batch.jobs, 0), completed()),
      settleItem(batch, at(batch.jobs, 1), failedWith()),
    ]);
    await clock.advance(MINUTE_MS);
  }
}

function sumOf(
  figures: readonly MinuteFigures[],
): Pick<MinuteFigures, "count" | "waitMs" | "runMs"> {
  const sum = { count: 0, waitMs: 0, runMs: 0 };
  for (const { count, waitMs, runMs } of figures) {
    sum.count += count;
    sum.waitMs += waitMs;
    sum.runMs += runMs;
  }
  return sum;
}

/** Moves to the beginning of the next hour. */
async function toNextHour(clock: {
  now(): number;
  advance(ms: number): Promise<void>;
}): Promise<number> {
  const hour = Math.ceil((clock.now() + 1) / HOUR_MS) * HOUR_MS;
  await clock.advance(hour - clock.now());
  return hour;
}
