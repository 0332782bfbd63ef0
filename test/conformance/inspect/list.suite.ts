import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import { STATES } from "../../../src/core/job.ts";
import type { JobId, State } from "../../../src/core/job.ts";
import type { ListFilter } from "../../../src/store/types/lists.ts";
import type { JobRecord } from "../../../src/store/types/records.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJob,
  newJobs,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  at,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** The order in which `addInEveryState` makes its jobs. */
const OLDEST_FIRST: readonly State[] = [
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
  "running",
  "queued",
  "scheduled",
];

export function listSuite(open: OpenStore): void {
  describe("list", () => {
    test("shows jobs newest first, whole", async () => {
      await using db = await open();
      const { store } = db;
      const [oldest, newest] = await add(store, { priority: 9, tags: { a: "1" } }, { priority: 1 });

      const page = await store.list({}, { limit: 10 });

      expect(page).toEqual({
        jobs: [await recordOf(store, newest), await recordOf(store, oldest)],
        next: null,
        isCutShort: false,
      });
    });

    test("pages through jobs of the same millisecond without losing or repeating one", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(100);
      await store.enqueue(jobs);

      const pages = await pagesOf(store, {}, 7);

      expect(Math.max(...pages.map((page) => page.length))).toBe(7);
      expect(pages.flat().map((job) => job.id)).toEqual(jobs.map((job) => job.id).toReversed());
    });

    test("does not lose its place when jobs arrive or move between pages", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(30);
      await store.enqueue(jobs);

      const pages = await pagesOf(store, {}, 4, async () => {
        await add(store, {});
        await runOne(store, completed());
      });

      expect(pages.flat().map((job) => job.id)).toEqual(jobs.map((job) => job.id).toReversed());
    });

    test("pages through a filter without losing or repeating one", async () => {
      await using db = await open();
      const { store } = db;
      const wanted = newJobs(20, { type: "sms", tags: { a: "1" } });
      await store.enqueue(wanted.flatMap((job) => [job, newJob({ tags: { a: "1" } }), newJob()]));

      const byType = await pagesOf(store, { type: "sms" }, 3);
      const byBoth = await pagesOf(store, { type: "sms", tags: { a: "1" } }, 3);
      const byState = await pagesOf(store, { type: "sms", states: ["queued"] }, 3);

      const expected = wanted.map((job) => job.id).toReversed();
      for (const pages of [byType, byBoth, byState]) {
        expect(pages.flat().map((job) => job.id)).toEqual(expected);
      }
    });

    test("filters by each state and by several (003-34, C-03)", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await addInEveryState(store);

      const byState = await Promise.all(
        STATES.map(async (state) => [state, await idsOf(store, { states: [state] })]),
      );
      expect(byState).toEqual(STATES.map((state) => [state, [ids[state]]]));
      expect(await idsOf(store, { states: ["failed", "scheduled"] })).toEqual(
        newestFirst(ids, ["failed", "scheduled"]),
      );
      expect(await idsOf(store, { states: STATES })).toEqual(newestFirst(ids, STATES));
    });

    test("pages through several states without losing or repeating one", async () => {
      await using db = await open();
      const { store } = db;
      const ids: JobId[] = [];
      for (let round = 0; round < 6; round += 1) {
        const made = await addInEveryState(store);
        ids.push(made.failed, made.cancelled, made.running, made.scheduled);
      }

      const states = ["scheduled", "running", "failed", "cancelled"] as const;
      const pages = await pagesOf(store, { states }, 5);

      expect(pages.flat().map((job) => job.id)).toEqual(ids.toReversed());
    });

    test("shows a running job once, after another worker held it", async () => {
      await using db = await open();
      const { store } = db;
      const [again] = await add(store, { priority: 1 }, { priority: 2 });
      const batch = await take(store);
      await store.settle([settleItem(batch, at(batch.jobs, 0), runAgain())]);
      await takeOne(store);

      const running = await idsOf(store, { states: ["running"] });

      expect(running).toHaveLength(2);
      expect(running).toContain(again);
      expect((await store.count({ states: ["running"] }, 10)).count).toBe(2);
    });

    test("shows every running job of a large fleet", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(300));
      const first = await take(store, { limit: 300 });
      await store.settle([settleItem(first, at(first.jobs, 250), runAgain())]);
      await takeOne(store);
      await store.enqueue(newJobs(300));
      await take(store, { limit: 300 });

      const running = await idsOf(store, { states: ["running"] });

      expect(new Set(running).size).toBe(600);
      expect(running).toHaveLength(600);
      expect((await store.count({ states: ["running"] }, 1_000)).count).toBe(600);
    });

    test("counts a held job among the queued", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await store.pause({ kind: "type", name: "email" }, { reason: "pause", by: null });
      await store.hold(10);

      expect(await idsOf(store, { states: ["queued"] })).toEqual([id]);
      expect(await idsOf(store, { states: ["running"] })).toEqual([]);
    });

    test("shows a job in exactly one state as it lives (000-10)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { due: { delayMs: 10 } });
      const states = async (): Promise<readonly State[]> => {
        const lists = await Promise.all(STATES.map((state) => idsOf(store, { states: [state] })));
        return STATES.filter((_, index) => lists[index]?.includes(id) === true);
      };

      expect(await states()).toEqual(["scheduled"]);
      await clock.advance(10);
      await store.promote(1);
      expect(await states()).toEqual(["queued"]);
      const batch = await takeOne(store);
      expect(await states()).toEqual(["running"]);
      await settleAll(store, batch, completedWithErrors(1));

      expect(await states()).toEqual(["completed_with_errors"]);
    });

    test.each<[string, ListFilter]>([
      ["type (003-34)", { type: "sms" }],
      ["tenant (000-12, I16)", { tenant: "acme" }],
      ["category (003-34)", { category: "documents" }],
      ["correlation (003-34, 004-17, 004-38)", { correlationId: "user-action-123" }],
      ["one tag (000-13)", { tags: { edition: "main" } }],
      ["two tags (000-13)", { tags: { edition: "main", region: "nord" } }],
    ])("filters by %s", async (_, filter) => {
      await using db = await open();
      const { store } = db;
      const wanted = newJob({
        type: "sms",
        tenant: "acme",
        category: "documents",
        correlationId: "user-action-123",
        tags: { edition: "main", region: "nord", more: "x" },
      });
      const decoy = newJob({
        category: "sync",
        correlationId: "user-action-12",
        tags: { edition: "beta", other: "main", region: "sued" },
      });
      await store.enqueue([wanted, decoy, newJob()]);

      expect(await idsOf(store, filter)).toEqual([wanted.id]);
      expect((await store.count(filter, 10)).count).toBe(1);
    });

    test("filters by the time of creation, without the last moment (003-34)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids: JobId[] = [];
      for (let turn = 0; turn < 4; turn += 1) {
        ids.push(...(await add(store, {})));
        await clock.advance(10);
      }
      const [first, second, third, fourth] = ids;
      const { createdAt } = at((await store.list({}, { limit: 1 })).jobs, 0);

      const from = { createdFrom: createdAt - 10 };
      const before = { createdBefore: createdAt - 10 };
      const between = { createdFrom: createdAt - 20, createdBefore: createdAt };
      expect(await idsOf(store, from)).toEqual([fourth, third]);
      expect(await idsOf(store, before)).toEqual([second, first]);
      expect(await idsOf(store, { ...between, type: "email" })).toEqual([third, second]);
      expect(await idsOf(store, { createdFrom: createdAt + 1 })).toEqual([]);
      expect(await idsOf(store, { createdBefore: 0 })).toEqual([]);
      expect((await store.count(from, 10)).count).toBe(2);
      expect((await store.count(before, 10)).count).toBe(2);
    });

    test("demands that every part of a filter match", async () => {
      await using db = await open();
      const { store } = db;
      const [parentId, otherId] = await add(store, {}, {});
      const wanted = {
        type: "sms",
        tenant: "acme",
        category: "documents",
        correlationId: "user-action-123",
        parentId,
        tags: { edition: "main" },
      };
      const nearMisses = [
        { type: "push" },
        { tenant: "bolt" },
        { category: "sync" },
        { correlationId: null },
        { parentId: otherId },
        { tags: { edition: "beta" } },
        { due: { delayMs: 60_000 } },
      ];
      const [id] = await add(store, wanted, ...nearMisses.map((miss) => ({ ...wanted, ...miss })));

      const filter = { ...wanted, states: ["queued"] } as const;

      expect(await idsOf(store, filter)).toEqual([id]);
      expect((await store.count(filter, 10)).count).toBe(1);
    });

    test("checks each part of a filter among jobs that another part has found", async () => {
      await using db = await open();
      const { store } = db;
      const common = { tenant: "acme", category: "sync", correlationId: "trace", tags: { a: "1" } };
      await add(store, common, common, common);
      const [id] = await add(store, { type: "sms", ...common }, { type: "sms" });

      for (const [name, value] of Object.entries(common)) {
        expect({ name, ids: await idsOf(store, { type: "sms", [name]: value }) }).toEqual({
          name,
          ids: [id],
        });
      }
    });

    test("demands that all tags match on the same job", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { tags: { a: "1", b: "1" } }, { tags: { a: "2", b: "2" } });

      expect(await idsOf(store, { tags: { a: "1", b: "2" } })).toEqual([]);
      expect(await idsOf(store, { tags: { c: "1" } })).toEqual([]);
      expect(await idsOf(store, { tags: {} })).toHaveLength(2);
    });

    test("filters by the default tenant, too", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, { tenant: "acme" });

      expect(await idsOf(store, { tenant: "default" })).toEqual([id]);
      expect((await store.count({ tenant: "default" }, 10)).count).toBe(1);
    });

    test("filters by parent (004-38)", async () => {
      await using db = await open();
      const { store } = db;
      const [parentId] = await add(store, {});
      const [child] = await add(store, { parentId }, {});

      expect(await idsOf(store, { parentId })).toEqual([child]);
    });

    test("finds a job without correlation by its own id, with those it caused", async () => {
      await using db = await open();
      const { store } = db;
      const [root] = await add(store, {});
      const [child] = await add(store, { correlationId: idUuid(root) }, {});

      expect(await idsOf(store, { correlationId: idUuid(root) })).toEqual([child, root]);
      expect(await idsOf(store, { correlationId: root })).toEqual([child, root]);
    });

    test("finds nothing for names that were never used", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});

      const nothing: readonly ListFilter[] = [
        { type: "unheard" },
        { tenant: "unheard" },
        { category: "unheard" },
        { correlationId: "unheard" },
      ];
      for (const filter of nothing) {
        expect(await idsOf(store, filter)).toEqual([]);
        expect((await store.count(filter, 10)).count).toBe(0);
      }
    });

    test("tells since when each job runs, by the newest lease that names it", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first, second, third] = await add(store, {}, {}, {});
      const batch = await take(store);
      const began = clock.now();
      for (const index of [0, 2]) {
        await clock.advance(10);
        await store.settle([settleItem(batch, at(batch.jobs, index), runAgain())]);
        await takeOne(store);
      }

      const { jobs } = await store.list({ states: ["running"] }, { limit: 10 });

      expect(jobs.map(({ id, startedAt }) => [id, startedAt])).toEqual([
        [third, began + 20],
        [second, began],
        [first, began + 10],
      ]);
    });
  });

  describe("count", () => {
    test("counts each state by itself", async () => {
      await using db = await open();
      const { store } = db;
      await addInEveryState(store);
      await store.enqueue(newJobs(5));

      const counts = await Promise.all(
        STATES.map(async (state) => [state, (await store.count({ states: [state] }, 100)).count]),
      );

      expect(counts).toEqual(STATES.map((state) => [state, state === "queued" ? 6 : 1]));
      expect((await store.count({ states: ["queued", "failed"] }, 100)).count).toBe(7);
      expect((await store.count({}, 100)).count).toBe(STATES.length + 5);
    });

    test("counts what matches every part of a filter", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      await runOne(store, completed());
      await store.enqueue(newJobs(4, { type: "sms" }));

      expect((await store.count({ type: "email" }, 10)).count).toBe(3);
      expect((await store.count({ type: "email", states: ["completed"] }, 10)).count).toBe(1);
      expect((await store.count({ type: "sms", states: ["queued"] }, 10)).count).toBe(4);
    });

    test("checks the state of jobs found by type, and the type of others", async () => {
      await using db = await open();
      const { store } = db;
      const due = { delayMs: 60_000 };
      await store.enqueue([newJob(), newJob({ due }), ...newJobs(5, { type: "sms" })]);
      await store.enqueue(newJobs(3, { type: "sms", due }));

      // The type has the fewest candidates, then the state has.
      expect((await store.count({ type: "email", states: ["scheduled"] }, 10)).count).toBe(1);
      expect((await store.count({ type: "sms", states: ["scheduled"] }, 10)).count).toBe(3);
    });

    test("counts held jobs among the queued", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue([...newJobs(3), ...newJobs(2, { type: "sms" })]);
      await store.pause({ kind: "type", name: "sms" }, { reason: "maintenance", by: null });
      await store.hold(10);

      expect((await store.count({ states: ["queued"] }, 10)).count).toBe(5);
    });

    test("stops at its maximum", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(12));

      expect((await store.count({}, 5)).count).toBe(5);
      expect((await store.count({ states: ["queued"] }, 5)).count).toBe(5);
      expect((await store.count({ type: "email" }, 12)).count).toBe(12);
    });
  });
}

async function idsOf(store: JobStore, filter: ListFilter): Promise<readonly JobId[]> {
  return (await pagesOf(store, filter, 200)).flat().map((job) => job.id);
}

/** Reads pages until the store says that nothing follows; `between` happens after each. */
async function pagesOf(
  store: JobStore,
  filter: ListFilter,
  limit: number,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly (readonly JobRecord[])[]> {
  let page = await store.list(filter, { limit });
  const pages = [page.jobs];
  while (page.next !== null) {
    assert.ok(pages.length < 100, "the pages never end");
    await between();
    page = await store.list(filter, { limit, after: page.next });
    pages.push(page.jobs);
  }
  return pages;
}

/** One job for each state. Those that run are urgent, so that each claim meets its own job. */
async function addInEveryState(store: JobStore): Promise<Readonly<Record<State, JobId>>> {
  const runTo = async (settlement: Parameters<typeof runOne>[1]): Promise<JobId> => {
    await add(store, { priority: 1 });
    return runOne(store, settlement);
  };
  const ended = {
    completed: await runTo(completed()),
    completed_with_errors: await runTo(completedWithErrors(1)),
    failed: await runTo(failedWith()),
    cancelled: await runTo(cancelled()),
  };
  const [running] = await add(store, { priority: 1 });
  await takeOne(store);
  const [queued, scheduled] = await add(store, {}, { due: { delayMs: 60_000 } });
  return { ...ended, running, queued, scheduled };
}

/** Ids of the given states, youngest job first. */
function newestFirst(
  ids: Readonly<Record<State, JobId>>,
  states: readonly State[],
): readonly JobId[] {
  return OLDEST_FIRST.filter((state) => states.includes(state))
    .map((state) => ids[state])
    .toReversed();
}
