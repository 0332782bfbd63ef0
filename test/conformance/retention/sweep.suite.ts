/** A sweep: the pages of `expired`, one behind the other. */
import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import type { FinalState, JobId } from "../../../src/core/job.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { JobRecord, Periods } from "../../../src/store/types/records.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJobs,
  retention,
} from "../../support/factories.ts";
import { at, recordOf, settleAll, settleItem, take, type Batch } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { pagesOf } from "../../support/sweeps.ts";

const HOUR = 3_600_000;
const ENDINGS = [completed(), completedWithErrors(1), failedWith(), cancelled()] as const;
const NOW = { finishedMs: every(0) };
const BUT_REPORTS = { finishedMs: every(0), types: { report: every(HOUR) } };
/** More than one look walks past. */
const VERY_MANY = 2_500;

export function sweepSuite(open: OpenStore): void {
  describe("sweep", () => {
    pageTests(open);
    borderTests(open);
    leftTests(open);
    secondLookTests(open);
  });
}

function every(ms: number): Readonly<Record<FinalState, number>> {
  return { completed: ms, completed_with_errors: ms, failed: ms, cancelled: ms };
}

/** Jobs that end at once, all alike. Nothing else may be waiting. */
async function end(
  store: JobStore,
  count: number,
  { type = "email", ending = completed() }: { type?: string; ending?: Settlement } = {},
): Promise<readonly JobId[]> {
  const jobs = newJobs(count, { type });
  await store.enqueue(jobs);
  for (let left = count; left > 0; left -= 500) {
    await settleAll(store, await take(store, { limit: Math.min(left, 500) }), ending);
  }
  return jobs.map(({ id }) => id);
}

interface Ends {
  readonly store: JobStore;
  readonly clock: { advance(ms: number): Promise<void> };
}

/** Jobs of three types in all final states, some of which end together. */
async function endMixed({ store, clock }: Ends): Promise<readonly JobRecord[]> {
  const ids: JobId[] = [];
  for (let turn = 0; turn < 24; turn += 1) {
    const type = ["email", "report", "note"][turn % 3] ?? "";
    ids.push(...(await end(store, 1 + (turn % 2), { type, ending: at(ENDINGS, turn % 4) })));
    if (turn % 5 > 0) await clock.advance(7);
  }
  await clock.advance(1);
  const records = await Promise.all(ids.map((id) => recordOf(store, id)));
  return records.toSorted(byEnd);
}

function byEnd(left: JobRecord, right: JobRecord): number {
  assert.ok(left.finishedAt !== null && right.finishedAt !== null);
  return left.finishedAt - right.finishedAt || left.key - right.key;
}

async function sweepIds(
  store: JobStore,
  periods: Periods,
  { fresh = false, limit = 100 } = {},
): Promise<readonly JobId[]> {
  return (await pagesOf(store, periods, { fresh, limit })).flat().map(({ id }) => id);
}

function pageTests(open: OpenStore): void {
  test.each([1, 2, 5, 7, 100])(
    "names each once, in the order of their ends, %d at a time",
    async (limit) => {
      await using db = await open();
      const { store } = db;
      const jobs = await endMixed(db);
      const types = { report: { ...every(HOUR), failed: 0 }, note: { ...every(0), cancelled: 30 } };
      const periods = { finishedMs: { ...every(0), completed: 50 }, types };
      const now = db.clock.now();
      const isDue = ({ type, state, finishedAt }: JobRecord): boolean => {
        const lengths: Readonly<Record<string, number>> =
          type === "report" ? types.report : type === "note" ? types.note : periods.finishedMs;
        return (finishedAt ?? now) + (lengths[state] ?? 0) <= now;
      };
      const due = jobs.filter(isDue);
      expect(due.length).toBeGreaterThan(10);

      const all = await pagesOf(store, periods, { fresh: false, limit });
      await store.markStale(due.filter((_, turn) => turn % 3 === 0).map(({ key }) => key));
      const fresh = await sweepIds(store, periods, { fresh: true, limit });

      expect(all.flat()).toEqual(due);
      expect(all.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      expect(fresh).toEqual(due.filter((_, turn) => turn % 3 > 0).map(({ id }) => id));
    },
  );

  test("has nothing behind the last, and loses nothing by looking there", async () => {
    await using db = await open();
    const { store } = db;
    const jobs = await endMixed(db);
    const from = { at: db.clock.now() + HOUR, key: 0 };

    const behind = await store.expired(NOW, { fresh: false, limit: 100, from });

    expect(behind).toEqual({ jobs: [], next: null });
    expect(await sweepIds(store, NOW)).toEqual(jobs.map(({ id }) => id));
  });

  test.each([
    ["marked", true],
    ["removed", false],
  ])("leaves none out if those before are %s", async (_, fresh) => {
    await using db = await open();
    const { store } = db;
    const jobs = await endMixed(db);
    const rules = retention(NOW);

    const pages = await pagesOf(store, NOW, {
      fresh,
      limit: 5,
      each: async (page) => {
        const keys = page.map(({ key }) => key);
        return fresh ? store.markStale(keys) : store.remove(keys, rules);
      },
    });

    expect(pages.flat().map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    expect(await sweepIds(store, NOW, { fresh })).toEqual([]);
  });

  test("is at its end in an empty store, and goes nowhere if nothing is asked for", async () => {
    await using db = await open();
    const { store, clock } = db;
    const nothing = { jobs: [], next: null };
    expect(await store.expired(NOW, { fresh: true, limit: 9, from: null })).toEqual(nothing);
    await end(store, 3);
    await clock.advance(1);
    const { next } = await store.expired(NOW, { fresh: true, limit: 1, from: null });

    const none = await store.expired(NOW, { fresh: true, limit: 0, from: next });

    expect(next).not.toBeNull();
    expect(none).toEqual({ jobs: [], next });
  });

  test("finds what ends while it goes on", async () => {
    await using db = await open();
    const { store, clock } = db;
    const first = await end(store, 3);
    await clock.advance(1);
    const { next } = await store.expired(NOW, { fresh: false, limit: 2, from: null });
    await clock.advance(1);
    const second = await end(store, 2);
    await clock.advance(1);

    const page = await store.expired(NOW, { fresh: false, limit: 9, from: next });

    expect(page.jobs.map(({ id }) => id)).toEqual([first[2], ...second]);
    expect(page.next).toBeNull();
  });
}

function borderTests(open: OpenStore): void {
  test("goes on behind very many that are kept longer, in a few calls", async () => {
    await using db = await open();
    const { store, clock } = db;
    await end(store, VERY_MANY, { type: "report" });
    await clock.advance(1);
    const due = await end(store, 3);
    await clock.advance(1);

    const pages = await pagesOf(store, BUT_REPORTS, { fresh: false, limit: 10 });

    expect(pages.flat().map(({ id }) => id)).toEqual(due);
    expect(pages.length).toBeLessThan(5);
  });

  test("keeps the order of all states, though one has more to walk past", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [oldest] = await end(store, 1);
    await clock.advance(1);
    const [early] = await end(store, 1, { ending: failedWith() });
    await clock.advance(1);
    await end(store, VERY_MANY, { type: "report" });
    await clock.advance(1);
    const [late] = await end(store, 1, { ending: failedWith() });
    await clock.advance(1);
    const [last] = await end(store, 1);
    await clock.advance(1);

    // What is left as it is keeps its place in sight, so the second sweep walks all the way again.
    const sweeps = [await sweepIds(store, BUT_REPORTS), await sweepIds(store, BUT_REPORTS)];

    const ids = [oldest, early, late, last];
    expect(sweeps).toEqual([ids, ids]);
  });
}

function leftTests(open: OpenStore): void {
  test("comes upon those again that were left, and on each once", async () => {
    await using db = await open();
    const { store, clock } = db;
    const left = await end(store, 7);
    await clock.advance(1);
    const young = await end(store, 2);
    await clock.advance(1);

    const first = await sweepIds(store, NOW, { limit: 3 });
    const second = await sweepIds(store, NOW, { limit: 3 });
    await store.remove(await keysOf(store, young), retention(NOW));
    const third = await sweepIds(store, NOW, { limit: 3 });

    expect([first, second, third]).toEqual([[...left, ...young], [...left, ...young], left]);
  });

  test("comes upon those again that were left behind very many that are kept", async () => {
    await using db = await open();
    const { store, clock } = db;
    await end(store, VERY_MANY, { type: "report" });
    await clock.advance(1);
    const left = await end(store, 4);
    await clock.advance(1);

    const first = await sweepIds(store, BUT_REPORTS, { fresh: true, limit: 2 });
    const second = await sweepIds(store, BUT_REPORTS, { fresh: true, limit: 2 });

    expect([first, second]).toEqual([left, left]);
  });
}

async function keysOf(store: JobStore, ids: readonly JobId[]): Promise<readonly number[]> {
  return (await Promise.all(ids.map((id) => recordOf(store, id)))).map(({ key }) => key);
}

function secondLookTests(open: OpenStore): void {
  test("finds what a lease has named, and again if it is left, with all behind it", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, ids } = await endButOne(store, 150);
    await clock.advance(1);
    const young = await end(store, 2);
    await clock.advance(1);
    expect(await sweepIds(store, NOW)).toEqual(young);
    await store.remove(await keysOf(store, young), retention(NOW));
    expect(await sweepIds(store, NOW)).toEqual([]);
    await store.settle([settleItem(batch, at(batch.jobs, -1), completed())]);
    await clock.advance(1);

    const sweeps = [await sweepIds(store, NOW), await sweepIds(store, NOW)];

    expect(sweeps).toEqual([ids, ids]);
  });

  test.each(["before", "behind"])(
    "finds what a lease has named %s very many that are kept, by and by",
    async (place) => {
      await using db = await open();
      const { store, clock } = db;
      if (place === "behind") await end(store, VERY_MANY, { type: "report" });
      await clock.advance(1);
      const { batch, ids } = await endButOne(store, 3);
      await clock.advance(1);
      await end(store, VERY_MANY, { type: "report" });
      await clock.advance(1);
      expect(await sweepIds(store, BUT_REPORTS)).toEqual([]);
      await store.settle([settleItem(batch, at(batch.jobs, -1), completed())]);
      await clock.advance(1);

      const found = new Set<JobId>();
      for (let sweep = 0; sweep < 4; sweep += 1) {
        for (const id of await sweepIds(store, BUT_REPORTS)) found.add(id);
      }

      expect(found).toEqual(new Set(ids));
    },
  );
}

/** Jobs of one lease, of which all but the last have ended. */
async function endButOne(
  store: JobStore,
  count: number,
): Promise<{ readonly batch: Batch; readonly ids: readonly JobId[] }> {
  await store.enqueue(newJobs(count));
  const batch = await take(store, { limit: count });
  const ended = batch.jobs.slice(0, -1);
  await settleAll(store, { ...batch, jobs: ended }, completed());
  return { batch, ids: batch.jobs.map(({ id }) => id) };
}
