import { describe, expect, test } from "vitest";
import { EVENT_KINDS } from "../../../src/api/events.ts";
import { idUuid } from "../../../src/core/ids.ts";
import type { EventKind, FeedEntry } from "../../../src/store/types/records.ts";
import { FEED_BYTES_MAX } from "../../../src/store/shared/events/feed-page.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { ClaimedJob } from "../../../src/store/types/jobs-and-runs.ts";
import { MOVES_MAX, type RunNote } from "../../../src/store/types/notes.ts";
import {
  completed,
  failedWith,
  fault,
  newJobs,
  retention,
  retryIn,
} from "../../support/factories.ts";
import { broken, halfway, keep, runNote } from "../../support/notes.ts";
import {
  add,
  at,
  runOne,
  settleAll,
  settleItem,
  take,
  takeOne,
  startAll,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const ALL_KINDS: ReadonlySet<EventKind> = new Set(EVENT_KINDS);
const KEEP_NO_JOBS = retention({
  finishedMs: { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 },
});

export function feedSuite(open: OpenStore): void {
  describe("feedEnd", () => {
    test("is 0 at first, then the position of the last entry", async () => {
      await using db = await open();
      const { store } = db;
      expect(await store.feedEnd()).toBe(0);

      await add(store, {}, {}, {});
      await add(store, {});

      const last = (await store.feed(0, 10)).at(-1)?.position;
      expect(await store.feedEnd()).toBe(last);
      expect(await store.feed(await store.feedEnd(), 10)).toEqual([]);
    });

    test("stays when the last entry is removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await add(store, {});
      const end = await store.feedEnd();

      await removeEntries(store, 0);

      expect(end).toBeGreaterThan(0);
      expect(await store.feedEnd()).toBe(end);
      await clock.advance(1);
      await add(store, {});
      expect((await store.feed(end, 10)).map(({ position }) => position)).toEqual([end + 1]);
    });
  });

  describe("feedStart", () => {
    test("is 0 until an entry is removed", async () => {
      await using db = await open();
      const { store } = db;
      expect(await store.feedStart()).toBe(0);

      await add(store, {});

      expect(await store.feedStart()).toBe(0);
      expect(await store.feed(await store.feedStart(), 10)).toHaveLength(1);
    });

    test("is the position before the first entry that is left", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await add(store, {});
      await clock.advance(10_000);
      await add(store, {});
      await add(store, {});
      const all = await store.feed(0, 10);

      await removeEntries(store, 5_000);

      const start = await store.feedStart();
      expect(start).toBe(at(all, 1).position);
      expect(await store.feed(start, 10)).toEqual(all.slice(2));
    });

    test("is the end of the feed when all entries are removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await add(store, {});
      const end = await store.feedEnd();

      await removeEntries(store, 0);

      expect(end).toBeGreaterThan(0);
      expect([await store.feedStart(), await store.feedEnd()]).toEqual([end, end]);
      await clock.advance(1);
      const [id] = await add(store, {});
      expect(await store.feedStart()).toBe(end);
      expect(await store.feed(end, 10)).toMatchObject([{ jobs: [id] }]);
      expect(await store.feedStart()).toBe(end);
    });
  });

  describe("feed", () => {
    test("tells what happened in the order in which it happened (I13)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const start = clock.now();
      const [a, b] = await add(store, { priority: 1 }, { priority: 2 });
      await clock.advance(10);
      const batch = await take(store);
      await clock.advance(10);
      await store.settle([settleItem(batch, at(batch.jobs, 1), retryIn(1_000))]);
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
      await clock.advance(10);
      await store.cancel(b, null, null);

      const entries = await store.feed(0, 100);

      expect(entries.map(({ kind, at: when, jobs }) => [kind, when - start, jobs])).toEqual([
        ["job:enqueued", 0, [a, b]],
        ["job:started", 10, [a, b]],
        ["job:retrying", 20, [b]],
        ["job:completed", 20, [a]],
        ["job:cancelled", 30, [b]],
      ]);
    });

    test("names jobs that end together in the order in which they were settled", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {}, {});
      const batch = await take(store);

      await settleAll(store, batch, completed());

      expect((await store.feed(0, 100)).at(-1)).toMatchObject({ kind: "job:completed", jobs: ids });
    });

    test("names every job of a call whose keys take more than one statement", async () => {
      await using db = await open();
      const { store } = db;
      const keyed = ["a", "b", "c"].map((key) => ({
        dedup: { key, onConflict: "skip" as const },
      }));

      const ids = await add(store, ...keyed);

      const told = (await store.feed(0, 100)).flatMap(({ jobs }) => jobs);
      expect(told).toEqual(ids);
    });

    test("numbers entries upwards and continues after a position, without it", async () => {
      await using db = await open();
      const { store } = db;
      for (let call = 0; call < 5; call += 1) await add(store, {});

      const all = await store.feed(0, 100);
      const afterSecond = await store.feed(at(all, 1).position, 100);

      const positions = all.map((entry) => entry.position);
      expect(positions).toEqual([...new Set(positions)].toSorted((x, y) => x - y));
      expect(at(positions, 0)).toBeGreaterThan(0);
      expect(afterSecond).toEqual(all.slice(2));
      expect(await store.feed(at(all, 4).position, 100)).toEqual([]);
    });

    test("reads no more than asked, oldest first, and misses nothing", async () => {
      await using db = await open();
      const { store } = db;
      for (let call = 0; call < 7; call += 1) await add(store, {});
      const all = await store.feed(0, 100);

      const pages = await pagesOf(store, 3);

      expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
      expect(pages.flat()).toEqual(all);
    });

    test("misses nothing while two handles write", async () => {
      await using db = await open();
      const handles = [db.store, await db.another()];
      const jobs = newJobs(40);

      const seen: FeedEntry[] = [];
      await Promise.all(
        jobs.map(async (job, index) => {
          await handles[index % 2]!.enqueue([job]);
          seen.push(...(await db.store.feed(seen.at(-1)?.position ?? 0, 100)));
        }),
      );
      seen.push(...(await db.store.feed(seen.at(-1)?.position ?? 0, 100)));

      const told = new Set(seen.flatMap((entry) => entry.jobs));
      expect(told).toEqual(new Set(jobs.map((job) => job.id)));
      expect(await db.store.feed(0, 1_000)).toHaveLength(
        new Set(seen.map((entry) => entry.position)).size,
      );
    });

    test("tells the kinds of a mixed settlement apart", async () => {
      await using db = await open();
      const { store } = db;
      const [a, b, c, d] = await add(store, {}, {}, {}, {});
      const batch = await take(store);
      const { position } = at((await store.feed(0, 100)).slice(-1), 0);
      const endings = [completed(), failedWith(), completed(), retryIn(5)];

      await store.settle(
        batch.jobs.map((job, index) => settleItem(batch, job, at(endings, index))),
      );

      const entries = await store.feed(position, 100);
      const told = entries.flatMap(({ kind, jobs }) => jobs.map((id) => `${kind} ${id}`));
      expect(told.toSorted()).toEqual(
        [
          `job:completed ${a}`,
          `job:failed ${b}`,
          `job:completed ${c}`,
          `job:retrying ${d}`,
        ].toSorted(),
      );
    });

    test("stays silent about what was refused", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const batch = await take(store);
      await settleAll(store, batch, completed());
      const before = await store.feed(0, 100);

      await store.settle([settleItem(batch, at(batch.jobs, 0), failedWith())]);
      await store.cancel(at(batch.jobs, 0).id, null, null);
      await startAll(store, batch);

      expect(await store.feed(0, 100)).toEqual(before);
    });

    test("continues for a handle that is opened later", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      await runOne(store, completed());

      const other = await db.another();

      expect(await other.feed(0, 100)).toEqual(await store.feed(0, 100));
    });

    test("tells the facts of jobs as they are, of the kinds it was asked about", async () => {
      await using db = await open();
      const { store, clock } = db;
      const start = clock.now();
      const error = fault({ message: "no such address" });
      const [a, b, c] = await add(
        store,
        { type: "email", tenant: "acme", correlationId: "order-7" },
        { type: "report" },
        { type: "sync" },
      );
      const batch = await take(store);
      await keep(store, { ...batch, job: at(batch.jobs, 0) }, { progress: halfway() });
      await clock.advance(10);
      await store.settle([
        settleItem(batch, at(batch.jobs, 0), failedWith(error)),
        settleItem(batch, at(batch.jobs, 1), retryIn(1_000)),
      ]);
      const none = await store.feed(0, 100);

      const entries = await store.feed(0, 100, new Set<EventKind>(["job:enqueued", "job:failed"]));

      const emailed = {
        type: "email",
        tenant: "acme",
        correlationId: "order-7",
        state: "failed",
        attempts: 1,
        runAt: null,
        finishedAt: start + 10,
        fault: error,
        phase: "build",
        overall: 75,
      };
      const reported = { type: "report", state: "scheduled", attempts: 1, runAt: start + 1_010 };
      expect(entries.filter(({ kind }) => kind === "job:enqueued")).toEqual([
        {
          ...at(none, 0),
          jobs: [a, b, c],
          facts: [
            emailed,
            expect.objectContaining({ ...reported, finishedAt: null }),
            {
              ...emailed,
              type: "sync",
              tenant: "default",
              correlationId: idUuid(c),
              state: "running",
              attempts: 0,
              finishedAt: null,
              fault: null,
              phase: null,
              overall: null,
            },
          ],
        },
      ]);
      expect(entries.find(({ kind }) => kind === "job:failed")).toMatchObject({
        jobs: [a],
        facts: [emailed],
      });
      expect(
        entries.filter(({ kind }) => kind !== "job:enqueued" && kind !== "job:failed"),
      ).toEqual(none.filter(({ kind }) => kind !== "job:enqueued" && kind !== "job:failed"));
      expect(none.every((entry) => !("facts" in entry))).toBe(true);
    });

    test("tells the process that has written events the same facts as others", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      const order = { tenant: "acme", correlationId: "order-7" };
      await add(store, { type: "email", ...order }, {}, {}, {}, {});
      const end = (await store.feed(0, 100, ALL_KINDS)).at(-1)?.position ?? 0;

      const batch = await take(store);
      const started = await store.feed(end, 100, ALL_KINDS);
      const startedThere = await other.feed(end, 100, ALL_KINDS);
      await clock.advance(10);
      await keep(store, { ...batch, job: at(batch.jobs, 1) }, { progress: halfway() });
      const endings = [completed("7"), completed(), failedWith(), retryIn(1_000), completed()];
      const { position } = at((await store.feed(0, 100)).slice(-1), 0);
      await store.settle([settleItem(batch, at(batch.jobs, 4), completed())]);
      await store.settle(
        batch.jobs.slice(0, 4).map((job, index) => settleItem(batch, job, at(endings, index))),
      );
      const ended = await store.feed(position, 100, ALL_KINDS);

      expect(started.map(({ kind }) => kind)).toEqual(["job:started"]);
      expect(started).toEqual(startedThere);
      expect(new Set(ended.map(({ kind }) => kind))).toEqual(
        new Set(["job:completed", "job:failed", "job:retrying"]),
      );
      expect(ended).toEqual(await other.feed(position, 100, ALL_KINDS));
    });

    test("takes no event of another process for an own one", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      await store.feed(0, 100, ALL_KINDS);
      await add(store, {});
      await runOne(store, retryIn(10));
      const { position } = at((await store.feed(0, 100)).slice(-1), 0);
      await clock.advance(10);
      await other.promote(10);
      await take(other);

      const entries = await store.feed(position, 100, ALL_KINDS);

      const again = entries.find(({ kind }) => kind === "job:started");
      expect(again?.facts).toMatchObject([{ state: "running", attempts: 1 }]);
    });

    test("does not name an own job that was removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.feed(0, 100, ALL_KINDS);
      const [id] = await add(store, {});
      await settleAll(store, await take(store), completed());
      await clock.advance(1_000);
      await store.prune(KEEP_NO_JOBS, 10);

      const feed = await store.feed(0, 10, ALL_KINDS);

      expect(feed.map(({ kind, jobs }) => [kind, jobs])).toEqual([
        ["job:enqueued", []],
        ["job:started", []],
        ["job:completed", []],
        ["job:deleted", [id]],
      ]);
    });

    test("tells type and tenant to a handle that has not used them", async () => {
      await using db = await open();
      await add(db.store, { type: "email", tenant: "acme" });
      const other = await db.another();

      const [enqueued] = await other.feed(0, 10, new Set<EventKind>(["job:enqueued"]));

      expect(enqueued?.facts).toMatchObject([{ type: "email", tenant: "acme" }]);
    });

    test("keeps facts beside their jobs where others have gone", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [, later] = await add(store, { type: "short" }, { type: "long", delayMs: 60_000 });
      await runOne(store, completed());
      await clock.advance(1_000);
      const none = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
      await store.prune(retention({ finishedMs: none }), 10);

      const [enqueued] = await store.feed(0, 10, new Set<EventKind>(["job:enqueued"]));

      expect(enqueued).toMatchObject({ jobs: [later], facts: [{ type: "long" }] });
    });

    test("keeps the place of a job in its entry when the jobs before it are removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [a, b, c] = await add(store, { priority: 1 }, { priority: 2 }, { priority: 3 });
      const [whole] = await store.feed(0, 10);
      await runOne(store, completed());
      await clock.advance(1_000);
      await store.prune(KEEP_NO_JOBS, 10);

      const [rest] = await store.feed(0, 10);

      expect(whole).toMatchObject({ jobs: [a, b, c], places: [0, 1, 2] });
      expect(rest).toMatchObject({ position: whole?.position, jobs: [b, c], places: [1, 2] });
    });

    test("keeps details beside their jobs where jobs before them are removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {});
      const batch = await take(store);
      await store.record(
        batch.jobs.map((job, index) => {
          return runNote(batch, job, { progress: halfway({ overall: index }) });
        }),
      );
      await store.settle([
        settleItem(batch, at(batch.jobs, 0), completed()),
        settleItem(batch, at(batch.jobs, 1), retryIn(60_000)),
      ]);
      await clock.advance(1_000);
      await store.prune(KEEP_NO_JOBS, 10);

      const told = (await store.feed(0, 10)).filter(({ kind }) => kind === "job:progress");

      expect(told.flatMap(({ jobs }) => jobs)).toEqual([at(ids, 1)]);
      expect(told.flatMap(({ places }) => places)).toEqual([1]);
      expect(told.flatMap(({ details }) => details).map((json) => JSON.parse(json ?? ""))).toEqual([
        expect.objectContaining({ overall: 1 }),
      ]);
    });

    test("gives the jobs of a removal their places, too", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      await settleAll(store, await take(store), completed());
      await clock.advance(1_000);
      await store.prune(KEEP_NO_JOBS, 10);

      const told = (await store.feed(0, 10)).at(-1);

      expect(told).toMatchObject({ kind: "job:deleted", places: [0, 1] });
      expect(told?.jobs).toHaveLength(2);
    });

    test("has no facts of a removed job, where they were requested", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      await settleAll(store, await take(store), completed());
      await clock.advance(1);
      await store.prune(KEEP_NO_JOBS, 10);

      const told = (await store.feed(0, 10, new Set<EventKind>(["job:deleted"]))).at(-1);

      expect(told).toMatchObject({ kind: "job:deleted", facts: [null, null] });
      expect(told?.details).toHaveLength(2);
    });

    test("reads shorter pages where it looks up facts, and misses nothing", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(1_500);
      for (let from = 0; from < jobs.length; from += 300) {
        await store.enqueue(jobs.slice(from, from + 300));
      }

      const about = new Set<EventKind>(["job:enqueued"]);
      const pages = await pagesOf(store, 100, about);

      const told = pages.map((page) => page.flatMap((entry) => entry.jobs));
      expect(told.map((ids) => ids.length)).toEqual([900, 600]);
      expect(told.flat().toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(
        pages.flat().every(({ facts = [], jobs: { length } }) => facts.length === length),
      ).toBe(true);
    });

    test("reads at most so many bytes, and misses nothing", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, ...Array.from({ length: 60 }, () => ({})));
      const batch = await take(store, { limit: 60 });
      const end = await store.feedEnd();
      const noteOf = (job: ClaimedJob, percent: number): RunNote => ({
        lease: batch.lease,
        key: job.key,
        n: job.n,
        progress: halfway({ percent, data: JSON.stringify("x".repeat(60_000)) }),
      });
      for (const percent of [1, 2]) {
        await store.record(batch.jobs.map((job) => noteOf(job, percent)));
      }

      const pages = await feedPages(store, end);

      const told = pages
        .flat()
        .flatMap(({ jobs, details }) =>
          jobs.map((id, index) => [id, JSON.parse(details?.[index] ?? "{}").percent]),
        );
      expect(told).toEqual([1, 2].flatMap((percent) => ids.map((id) => [id, percent])));
      const sizes = pages.map((page) =>
        page.reduce((sum, { details }) => sum + (details ?? []).join("").length, 0),
      );
      expect(pages.length).toBeGreaterThan(5);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(FEED_BYTES_MAX);
      expect(Math.max(...sizes)).toBeGreaterThan(FEED_BYTES_MAX / 4);
    });

    test("reads an entry of more bytes alone", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      const units = Array.from({ length: MOVES_MAX }, (_, turn) => {
        return { ...broken(`${turn}`.padStart(500, "é")), turn: turn + 1 };
      });
      await keep(store, batch, { progress: halfway() }, { units }, { progress: halfway() });

      const pages = await feedPages(store, 0);

      expect(pages.map((page) => page.map(({ kind }) => kind))).toEqual([
        ["job:enqueued", "job:started", "job:progress"],
        ["job:unit"],
        ["job:progress"],
      ]);
      expect(pages.flat().every(({ jobs }) => jobs.includes(id))).toBe(true);
    });

    test("names a job that retention has removed only where it says so", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await settleAll(store, await take(store), completed());
      await clock.advance(1_000);
      const none = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

      await store.prune(retention({ finishedMs: none }), 10);

      const feed = await store.feed(0, 10);
      expect(feed.map(({ kind, jobs }) => [kind, jobs])).toEqual([
        ["job:enqueued", []],
        ["job:started", []],
        ["job:completed", []],
        ["job:deleted", [id]],
      ]);
    });
  });
}

/** Removes the entries of at least this age. */
async function removeEntries(store: JobStore, eventMs: number): Promise<void> {
  const pruned = await store.prune(retention({ eventMs }), 100);
  expect(pruned).toMatchObject({ events: 2, more: false });
}

async function pagesOf(
  store: JobStore,
  limit: number,
  about?: ReadonlySet<EventKind>,
): Promise<readonly (readonly FeedEntry[])[]> {
  const pages: (readonly FeedEntry[])[] = [];
  let page = await store.feed(0, limit, about);
  while (page.length > 0 && pages.length < 100) {
    pages.push(page);
    page = await store.feed(page.at(-1)!.position, limit, about);
  }
  return pages;
}

/** Everything after a position, as a reader gets it. */
async function feedPages(store: JobStore, from: number): Promise<(readonly FeedEntry[])[]> {
  const pages: (readonly FeedEntry[])[] = [];
  let page = await store.feed(from, 1_000);
  while (page.length > 0 && pages.length < 1_000) {
    pages.push(page);
    page = await store.feed(at(page, -1).position, 1_000);
  }
  return pages;
}
