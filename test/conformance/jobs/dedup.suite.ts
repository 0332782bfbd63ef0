import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { EnqueueAnswer } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJob,
  retryIn,
} from "../../support/factories.ts";
import {
  add,
  ask,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  stateOf,
  take,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SKIP = { key: "analysis-12345", onConflict: "skip" } as const;
const REPLACE = { key: "analysis-12345", onConflict: "replace" } as const;
const EXTEND = { key: "analysis-12345", onConflict: "extend" } as const;
const GATE = { kind: "type", name: "email" } as const;

/** Puts the holder of the key into each place where a job can wait. */
const WAITING: readonly (readonly [string, (store: JobStore) => Promise<JobId>])[] = [
  ["scheduled", (store) => addHolder(store, 60_000)],
  ["queued", (store) => addHolder(store, 0)],
  ["held", addHeldHolder],
];

export function dedupSuite(open: OpenStore): void {
  describe("enqueue with a dedup key", () => {
    test.each(WAITING)("gives way to a %s holder with skip (004-15, C-13)", async (_, hold) => {
      await using db = await open();
      const { store } = db;
      const holder = await hold(store);
      const before = await recordOf(store, holder);

      const answer = await ask(store, { dedup: SKIP, due: { delayMs: 5 } });

      const { state } = before;
      expect(answer).toEqual({ status: "existing", id: holder, state, by: "dedup" });
      expect(await recordOf(store, holder)).toEqual(before);
      expect((await store.count({}, 10)).count).toBe(1);
    });

    test.each(WAITING)("takes the place of a %s holder with replace (C-13)", async (_, hold) => {
      await using db = await open();
      const { store, clock } = db;
      const holder = await hold(store);

      const newcomer = newJob({ dedup: REPLACE, due: { delayMs: 10 } });
      const [answer] = await store.enqueue([newcomer]);

      expect(answer).toEqual({ status: "created", id: newcomer.id, state: "scheduled" });
      expect(await recordOf(store, holder)).toMatchObject({
        state: "cancelled",
        runAt: null,
        finishedAt: clock.now(),
        heldBy: null,
      });
      expect(await store.attempts(holder)).toMatchObject([{ n: 1, outcome: "cancelled" }]);
      expect(await eventsOf(store, holder)).toEqual(["job:enqueued", "job:cancelled"]);
      expect(await ask(store, { dedup: SKIP })).toMatchObject({ id: newcomer.id });
    });

    test.each(WAITING)("moves a %s holder to its due time with extend (C-13)", async (_, hold) => {
      await using db = await open();
      const { store, clock } = db;
      const holder = await hold(store);

      const answer = await ask(store, { dedup: EXTEND, due: { delayMs: 90_000 } });

      expect(answer).toEqual({
        status: "existing",
        id: holder,
        state: "scheduled",
        by: "dedup",
      });
      expect(await recordOf(store, holder)).toMatchObject({
        state: "scheduled",
        runAt: clock.now() + 90_000,
        heldBy: null,
      });
      expect((await store.count({}, 10)).count).toBe(1);
      expect(await claimable(store)).toEqual([]);
    });

    test("brings a scheduled holder forward when the newcomer is due now", async () => {
      await using db = await open();
      const { store, clock } = db;
      const holder = await addHolder(store, 60_000);

      const answer = await ask(store, { dedup: EXTEND });

      expect(answer).toMatchObject({ status: "existing", id: holder, state: "queued" });
      expect(await recordOf(store, holder)).toMatchObject({ state: "queued", runAt: clock.now() });
      expect(await claimable(store)).toEqual([holder]);
    });

    test("keeps the count of runs of a holder that is extended between two of them", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { dedup: SKIP });
      await runOne(store, retryIn(60_000));

      await ask(store, { dedup: EXTEND });

      const batch = await take(store);
      expect(batch.jobs).toMatchObject([{ id: holder, n: 2, tries: 1 }]);
    });

    test.each([SKIP, REPLACE, EXTEND])(
      "never disturbs a running holder with $onConflict",
      async (dedup) => {
        await using db = await open();
        const { store } = db;
        const [holder] = await add(store, { dedup: SKIP });
        const batch = await take(store);
        const before = await recordOf(store, holder);

        const answer = await ask(store, { dedup, due: { delayMs: 1_000 } });

        expect(answer).toEqual({
          status: "existing",
          id: holder,
          state: "running",
          by: "dedup",
        });
        expect(await recordOf(store, holder)).toEqual(before);
        expect(await store.renew(batch.worker, 30_000)).toMatchObject({ cancel: [] });
        expect((await store.count({}, 10)).count).toBe(1);
      },
    );

    test.each([completed(), completedWithErrors(1), failedWith(), cancelled()])(
      "is free again once its holder has ended as $to (C-13)",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        await add(store, { dedup: SKIP });
        await runOne(store, settlement);

        expect(await ask(store, { dedup: SKIP })).toMatchObject({ status: "created" });
      },
    );

    test("is free again once its waiting holder is cancelled", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { dedup: SKIP });
      await store.cancel(holder, null, null);

      expect(await ask(store, { dedup: SKIP })).toMatchObject({ status: "created" });
    });

    test("is free again when the job that asked with the key is refused", async () => {
      await using db = await open();
      const { store } = db;
      const refused = await ask(store, { dedup: SKIP, after: [newJob().id] });
      const newcomer = newJob({ dedup: SKIP });

      const [answer] = await store.enqueue([newcomer]);

      expect(refused).toMatchObject({ status: "refused", code: "AFTER_UNKNOWN" });
      expect(answer).toMatchObject({ status: "created", id: newcomer.id });
    });

    test("stays held between two runs of its holder", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { dedup: SKIP });
      await runOne(store, retryIn(1_000));

      expect(await ask(store, { dedup: SKIP })).toEqual({
        status: "existing",
        id: holder,
        state: "scheduled",
        by: "dedup",
      });
    });

    test("keeps tenants and types apart (C-13)", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { dedup: SKIP });

      const otherType = await ask(store, { dedup: SKIP, type: "analysis" });
      const otherTenant = await ask(store, { dedup: SKIP, tenant: "acme" });

      expect(otherType).toMatchObject({ status: "created" });
      expect(otherTenant).toMatchObject({ status: "created" });
    });

    test("works between jobs of one call, in the order asked", async () => {
      await using db = await open();
      const { store } = db;
      const [first, skipped, replacing] = [
        newJob({ dedup: SKIP }),
        newJob({ dedup: SKIP }),
        newJob({ dedup: REPLACE }),
      ];

      const answers = await store.enqueue([first, skipped, replacing]);

      expect(answers).toMatchObject([
        { status: "created", id: first.id },
        { status: "existing", id: first.id, by: "dedup" },
        { status: "created", id: replacing.id },
      ]);
      expect(await stateOf(store, first.id)).toBe("cancelled");
      expect(await claimable(store)).toEqual([replacing.id]);
    });

    test("lets one job in when two handles race (I9)", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const handles = Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other));

      const answers = await Promise.all(handles.map((handle) => ask(handle, { dedup: SKIP })));

      expect(answers.filter((answer) => answer.status === "created")).toHaveLength(1);
      expect(await claimable(store)).toHaveLength(1);
    });

    test.each([
      ["extend", 1],
      ["replace", 100],
    ] as const)("admits every caller who races to %s", async (onConflict, createdCount) => {
      await using db = await open();
      const handles = await Promise.all(Array.from({ length: 10 }, () => db.another()));
      const askOften = async (handle: JobStore): Promise<readonly EnqueueAnswer[]> => {
        const answers: EnqueueAnswer[] = [];
        for (let call = 0; call < 10; call += 1) {
          const due = { delayMs: call % 2 === 0 ? 0 : 60_000 };
          answers.push(await ask(handle, { dedup: { key: "one", onConflict }, due }));
        }
        return answers;
      };

      const answers = (await Promise.all(handles.map(askOften))).flat();

      const created = answers.filter(({ status }) => status === "created");
      expect(created).toHaveLength(createdCount);
      expect((await db.store.count({ states: ["queued", "scheduled"] }, 10)).count).toBe(1);
    });
  });
}

async function addHolder(store: JobStore, delayMs: number): Promise<JobId> {
  const [holder] = await add(store, { dedup: SKIP, due: { delayMs } });
  return holder;
}

async function addHeldHolder(store: JobStore): Promise<JobId> {
  const holder = await addHolder(store, 0);
  await store.pause(GATE, { reason: "maintenance", by: null });
  await store.hold(100);
  return holder;
}
