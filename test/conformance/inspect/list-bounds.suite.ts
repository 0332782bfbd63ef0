import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import { LIST_STATEMENTS_MAX, pageChunks } from "../../../src/store/shared/lists/bounds.ts";
import type { ListFilter, Listing, Page } from "../../../src/store/types/lists.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, newJobs, runAgain } from "../../support/factories.ts";
import { add, at, runOne, settleItem, take } from "../../support/steps.ts";
import { countStatements } from "../../support/statements.ts";
import type { OpenStore, TestStore } from "../../support/stores.ts";

const LIMIT = 10;
/** More jobs than a page reads. */
const CROWD = pageChunks(LIMIT).reduce((sum, size) => sum + size, 0) + 100;
/** The maximum of jobs in one call. */
const CALL_MAX = 1_000;
const PAGES_MAX = 20;
const DAY_MS = 86_400_000;

export function listBoundsSuite(open: OpenStore): void {
  describe("list among many jobs", () => {
    test("says that a page was cut short, and continues at its cursor", async () => {
      await using db = await open();
      const { store } = db;
      const wanted = await add(store, {}, {});
      await addCrowd(store);

      const first = await page(store, { tenant: "default" });
      expect(first).toMatchObject({ jobs: [], isCutShort: true });

      const { ids, pages } = await follow(store, { tenant: "default" });
      expect(ids).toEqual(wanted.toReversed());
      expect(pages).toBe(2);
    });

    test("finds every job by its cursors while jobs come, run and end", async () => {
      await using db = await open();
      const { store } = db;
      const wanted = await add(store, { priority: 1 }, { priority: 1 }, { priority: 1 });
      await addCrowd(store);

      const { ids } = await follow(store, { tenant: "default" }, async () => {
        await runOne(store, completed());
        await add(store, { tenant: "acme" }, {});
        await runOne(store, runAgain());
      });

      expect(ids.filter((id) => wanted.includes(id))).toEqual(wanted.toReversed());
      expect(new Set(ids).size).toBe(ids.length);
    });

    test("is not cut short where an index is narrow (000-13)", async () => {
      await using db = await open();
      const { store } = db;
      const { done, waiting, tagged } = await addRare(db);
      await addCrowd(store, { tags: { crowd: "yes" } });

      const filters: readonly (readonly [ListFilter, readonly JobId[]])[] = [
        [{ states: ["completed"] }, [done]],
        [{ states: ["completed", "failed"], tenant: "default" }, [done]],
        [{ states: ["queued"], type: "rare" }, [waiting]],
        [{ states: ["completed", "queued"], type: "rare" }, [waiting, done]],
        [{ states: ["queued"], category: "rare" }, [waiting]],
        [{ type: "email", tags: { crowd: "yes", rare: "yes" } }, [tagged]],
        [{ states: ["failed"], tenant: "acme" }, []],
        [{ states: ["running"], type: "email" }, []],
      ];
      for (const [filter, ids] of filters) {
        const found = await page(store, filter);
        expect({ filter, ids: found.jobs.map(({ id }) => id) }).toEqual({ filter, ids });
        expect({ filter, ...found }).toMatchObject({ filter, next: null, isCutShort: false });
      }
    });

    test("is not cut short where few jobs were created in the time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [early] = await add(store, {});
      await clock.advance(DAY_MS);
      await addCrowd(store);
      await clock.advance(DAY_MS);
      const [late] = await add(store, {});
      const now = clock.now();

      const since = await page(store, { createdFrom: now - DAY_MS / 2 });
      const until = await page(store, { createdBefore: now - 1.5 * DAY_MS });
      const never = await page(store, { createdFrom: now - DAY_MS / 2, tenant: "acme" });

      expect(since).toMatchObject({ jobs: [{ id: late }], next: null, isCutShort: false });
      expect(until).toMatchObject({ jobs: [{ id: early }], next: null, isCutShort: false });
      expect(never).toMatchObject({ jobs: [], next: null, isCutShort: false });
    });

    test("reads the start of all running jobs of a page at once", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(200));
      await take(store, { limit: 200 });

      const { jobs } = await page(store, { states: ["running"] }, { limit: 200 });

      expect(jobs).toHaveLength(200);
      expect(jobs.every(({ startedAt }) => startedAt !== null)).toBe(true);
    });

    test("misses no job when another job has many ledger rows", async () => {
      await using db = await open();
      const { store } = db;
      const [waiting] = await add(store, { priority: 9 });
      const [ended] = await add(store, { priority: 1 });
      await runOne(store, completed());
      const [often] = await add(store, { priority: 1 });
      for (let run = 0; run < 120; run += 1) await runOne(store, runAgain());

      const { ids } = await follow(store, { states: ["completed", "queued"] });

      expect(ids).toEqual([often, ended, waiting]);
    });

    test("misses no job when many leases name another job", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(120, { priority: 2 }));
      const [often] = await add(store, { priority: 1 });
      for (let run = 0; run < 120; run += 1) {
        const batch = await take(store, { limit: 2 });
        expect(at(batch.jobs, 0).id).toBe(often);
        await store.settle([settleItem(batch, at(batch.jobs, 0), runAgain())]);
      }

      const { ids } = await follow(store, { states: ["running"] });

      expect(ids).toHaveLength(120);
    });
  });
}

/** The named maximum itself must stay small. */
const STATEMENTS_MAX = 30;

/** One page, which needs a bounded number of statements. */
async function page(
  store: JobStore,
  filter: ListFilter,
  wanted: Page = { limit: LIMIT },
): Promise<Listing> {
  const { answer, statements } = await countStatements(() => store.list(filter, wanted));
  expect(statements).toBeGreaterThan(0);
  expect(statements).toBeLessThanOrEqual(LIST_STATEMENTS_MAX);
  expect(LIST_STATEMENTS_MAX).toBeLessThanOrEqual(STATEMENTS_MAX);
  return answer;
}

/** All jobs that the cursors lead to; `between` happens after each page. */
async function follow(
  store: JobStore,
  filter: ListFilter,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<{ ids: readonly JobId[]; pages: number }> {
  let found = await page(store, filter);
  const ids = found.jobs.map(({ id }) => id);
  let pages = 1;
  while (found.next !== null) {
    assert.ok(pages < PAGES_MAX, "the pages never end");
    await between();
    found = await page(store, filter, { limit: LIMIT, after: found.next });
    ids.push(...found.jobs.map(({ id }) => id));
    pages += 1;
  }
  return { ids, pages };
}

/** Jobs of another tenant, newer than all others. */
async function addCrowd(store: JobStore, more: Parameters<typeof newJobs>[1] = {}): Promise<void> {
  for (let left = CROWD; left > 0; left -= CALL_MAX) {
    await store.enqueue(newJobs(Math.min(left, CALL_MAX), { tenant: "acme", ...more }));
  }
}

async function addRare({
  store,
}: TestStore): Promise<{ done: JobId; waiting: JobId; tagged: JobId }> {
  await add(store, { type: "rare" });
  const done = await runOne(store, completed());
  const [waiting] = await add(store, { type: "rare", category: "rare" });
  const [tagged] = await add(store, { tags: { crowd: "yes", rare: "yes" } });
  return { done, waiting, tagged };
}
