import { describe, expect, test } from "vitest";
import type { JobGroup } from "../../../src/store/types/records.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, failedWith, newJobs, retryIn, runAgain } from "../../support/factories.ts";
import { add, at, runOne, settleAll, settleItem, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const LIMITS = { rows: 1_000, groups: 100 };
const SMS = { kind: "type", name: "sms" } as const;
const WHY = { reason: "maintenance", by: null } as const;

export function groupedStatsSuite(open: OpenStore): void {
  describe("groupedStats", () => {
    test("counts nothing where nothing is", async () => {
      await using db = await open();

      expect(await db.store.groupedStats(LIMITS)).toEqual({
        groups: [],
        cutShort: [],
        hasMore: false,
      });
    });

    test("counts jobs by type, lane and tenant, wherever they are", async () => {
      await using db = await open();
      const { store } = db;
      const fast = { lane: "fast", tenant: "acme" };
      await store.enqueue(newJobs(3, fast));
      await settleAll(store, await take(store), failedWith());
      await store.enqueue(newJobs(2));
      await take(store, { limit: 1 });
      await take(store, { limit: 1, prefetch: true });
      await store.enqueue(newJobs(5, { type: "sms" }));
      await store.pause(SMS, WHY);
      await store.hold(100);
      await store.enqueue(newJobs(6));
      await store.enqueue(newJobs(7, { ...fast, due: { delayMs: 1_000 } }));

      const { groups, cutShort, hasMore } = await store.groupedStats(LIMITS);

      expect({ cutShort, hasMore }).toEqual({ cutShort: [], hasMore: false });
      expect(groups).toEqual([
        group({ ...fast, scheduled: 7, failed: 3 }),
        group({ queued: 6, running: 2 }),
        group({ type: "sms", held: 5 }),
      ]);
    });

    test("counts jobs behind a closed gate as held before they are moved", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(5, { type: "sms" }));
      await store.enqueue(newJobs(3));
      await store.pause(SMS, WHY);
      await store.hold(1);

      const { groups, cutShort } = await store.groupedStats(LIMITS);
      const few = await store.groupedStats({ ...LIMITS, rows: 4 });

      expect({ groups, cutShort }).toEqual({
        groups: [group({ type: "sms", held: 5 }), group({ queued: 3 })],
        cutShort: [],
      });
      expect(few.cutShort).toEqual(["queued", "held"]);
    });

    test("tells how long the oldest job of each group that may start has been due", async () => {
      await using db = await open();
      const { store, clock } = db;
      const fast = { lane: "fast", priority: 1 };
      await store.enqueue(newJobs(1, { type: "sms" }));
      await store.pause(SMS, WHY);
      await clock.advance(1_000);
      await store.enqueue(newJobs(1, { lane: "fast", priority: 200 }));
      await clock.advance(4_000);
      await store.enqueue(newJobs(1, fast));
      await store.enqueue(newJobs(1));
      await clock.advance(20_000);
      await store.enqueue(newJobs(1, fast));
      await store.enqueue(newJobs(1));

      expect((await store.groupedStats(LIMITS)).groups).toEqual(
        expect.arrayContaining([
          group({ type: "sms", held: 1, oldestQueuedMs: null }),
          group({ lane: "fast", queued: 3, oldestQueuedMs: 24_000 }),
          group({ queued: 2, oldestQueuedMs: 20_000 }),
        ]),
      );
    });

    test("tells how long a job with a turn has been due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await store.enqueue(newJobs(20, { tenant: "acme" }));
      await clock.advance(7_000);
      await store.enqueue(newJobs(1, { tenant: "umbra" }));
      const { given } = await store.giveTurns(100);

      const { groups } = await store.groupedStats(LIMITS);

      expect(groups.map(({ tenant, oldestQueuedMs }) => [tenant, oldestQueuedMs])).toEqual([
        ["acme", 7_000],
        ["umbra", 0],
      ]);
      expect(given).toBeGreaterThan(0);
    });

    test("keeps types, lanes and tenants apart", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { type: "sms" }, { lane: "fast" }, { tenant: "acme" }, {});

      const { groups } = await store.groupedStats(LIMITS);

      expect(groups).toHaveLength(4);
      for (const one of [{ type: "sms" }, { lane: "fast" }, { tenant: "acme" }, {}]) {
        expect(groups).toContainEqual(group({ ...one, queued: 1 }));
      }
    });

    test("keeps categories apart if asked to, in every place (003-33)", async () => {
      await using db = await open();
      const { store } = db;
      const [mail, scan] = [{ category: "ingestion" }, { category: "documents" }];
      await store.enqueue(newJobs(2, mail));
      await settleAll(store, await take(store), failedWith());
      await store.enqueue(newJobs(1, scan));
      await take(store);
      await store.enqueue(newJobs(4, mail));
      await store.enqueue(newJobs(3, { ...scan, due: { delayMs: 1_000 } }));
      await store.enqueue(newJobs(1));
      await store.enqueue(newJobs(2, { ...scan, type: "sms" }));
      await store.pause(SMS, WHY);
      await store.hold(100);

      const { groups } = await store.groupedStats({ ...LIMITS, categories: true });

      expect(groups).toEqual([
        group({ ...mail, queued: 4, failed: 2 }),
        group({ ...scan, scheduled: 3, running: 1 }),
        group({ ...scan, type: "sms", held: 2 }),
        group({ queued: 1 }),
      ]);
    });

    test("counts a run that has ended under an open lease no more", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const batch = await take(store);
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
      await store.settle([settleItem(batch, at(batch.jobs, 1), runAgain())]);

      expect((await store.groupedStats(LIMITS)).groups).toEqual([group({ queued: 1, running: 1 })]);
    });

    test("counts a failed attempt as scheduled and retrying, other ends not at all", async () => {
      await using db = await open();
      const { store } = db;
      for (const settlement of [retryIn(1_000), completed()]) {
        await add(store, {});
        await runOne(store, settlement);
      }

      await store.enqueue(newJobs(1, { due: { delayMs: 1_000 } }));

      const { groups } = await store.groupedStats(LIMITS);
      expect(groups).toEqual([group({ scheduled: 2, retrying: 1 })]);
    });

    test("reads so many jobs for each count, and names the counts it has cut short", async () => {
      await using db = await open();
      const { store } = db;
      await addThreeOfEach(store);

      const exact = await store.groupedStats({ rows: 3, groups: 10 });
      const cut = await store.groupedStats({ rows: 2, groups: 10 });

      const count = (each: number) => ({ scheduled: each, queued: each, running: each });
      expect(exact.cutShort).toEqual([]);
      expect(sumOf(exact.groups)).toMatchObject({ ...count(3), held: 3, failed: 3 });
      expect(cut.cutShort).toEqual(["scheduled", "queued", "held", "running", "failed"]);
      expect(sumOf(cut.groups)).toMatchObject({ ...count(2), held: 2, failed: 2 });
    });

    test("answers the groups of one tenant only, if asked to", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3, { tenant: "acme" }));
      await settleAll(store, await take(store), failedWith());
      await add(store, { tenant: "acme" }, { tenant: "umbra" }, { tenant: "umbra", lane: "fast" });

      expect(await store.groupedStats({ rows: 100, groups: 1 }, "acme")).toEqual({
        groups: [group({ tenant: "acme", queued: 1, failed: 3 })],
        cutShort: [],
        hasMore: false,
      });
      expect((await store.groupedStats({ rows: 100, groups: 1 }, "umbra")).hasMore).toBe(true);
      expect((await store.groupedStats(LIMITS, "unheard")).groups).toEqual([]);
    });

    test("answers the largest groups, and says that there are more", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2, { tenant: "b" }));
      await store.enqueue(newJobs(3, { tenant: "a" }));
      await store.enqueue(newJobs(1, { tenant: "c" }));

      const two = await store.groupedStats({ rows: 100, groups: 2 });
      const three = await store.groupedStats({ rows: 100, groups: 3 });

      expect(two.groups.map(({ tenant, queued }) => [tenant, queued])).toEqual([
        ["a", 3],
        ["b", 2],
      ]);
      expect(two.hasMore).toBe(true);
      expect(three.groups).toHaveLength(3);
      expect(three.hasMore).toBe(false);
    });
  });
}

function group(overrides: Partial<JobGroup>): JobGroup {
  const counts = { scheduled: 0, retrying: 0, queued: 0, held: 0, running: 0, failed: 0 };
  // No time passes in these tests, unless they say so.
  const oldestQueuedMs = (overrides.queued ?? 0) > 0 ? 0 : null;
  const names = { type: "email", lane: "general", tenant: "default", category: null };
  return { ...names, ...counts, oldestQueuedMs, ...overrides };
}

async function addThreeOfEach(store: JobStore): Promise<void> {
  await store.enqueue(newJobs(3));
  await settleAll(store, await take(store), failedWith());
  await store.enqueue(newJobs(3));
  await take(store);
  await store.enqueue(newJobs(3, { type: "sms" }));
  await store.pause(SMS, WHY);
  await store.hold(100);
  await store.enqueue(newJobs(3));
  await store.enqueue(newJobs(3, { due: { delayMs: 1_000 } }));
}

function sumOf(groups: readonly JobGroup[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const each of groups) {
    for (const [name, value] of Object.entries(each)) {
      if (typeof value === "number") sum[name] = (sum[name] ?? 0) + value;
    }
  }
  return sum;
}
