import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/core/outcome.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  crashedOnce,
  failedWith,
  newJobs,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { wakes } from "../../support/flows.ts";
import {
  add,
  at,
  claimable,
  joinWorker,
  rescueSilent,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const KEYED = { concurrencyKey: "docs/main" } as const;
const TYPE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;
const LEASE_AND_MORE_MS = 30_001;

const SNOOZED: Settlement = { ...retryIn(25), outcome: "snoozed", tries: 0, fault: null };

/** Every way in which a run can end. */
const ENDS: readonly Settlement[] = [
  completed(),
  completedWithErrors(1),
  failedWith(),
  cancelled(),
  retryIn(60_000),
  SNOOZED,
  runAgain(),
];

export function locksSuite(open: OpenStore): void {
  describe("lock of a concurrency key", () => {
    claimTests(open);
    endTests(open);
  });
  describe("lockHolder", () => {
    occupantTests(open);
  });
}

function claimTests(open: OpenStore): void {
  test("is had by one job at a time: two workers, one key", async () => {
    await using db = await open();
    const { store } = db;
    const [first, second] = await add(store, KEYED, KEYED);

    const one = await take(store);
    const meanwhile = await claimable(store);
    await settleAll(store, one, completed());
    const later = await claimable(store);

    expect(one.jobs.map(({ id }) => id)).toEqual([first]);
    expect(one.jobs).toMatchObject([KEYED]);
    expect(meanwhile).toEqual([]);
    expect(later).toEqual([second]);
  });

  test("goes to the most urgent of its key, and to one of a batch", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [, third, first] = await add(
      store,
      { ...KEYED, priority: 9 },
      { ...KEYED, priority: 5 },
      { ...KEYED, priority: 1 },
    );
    await clock.advance(10);
    const [second, plain] = await add(store, { ...KEYED, priority: 1 }, { priority: 7 });

    const order = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const batch = await take(store);
      order.push(batch.jobs.map(({ id }) => id));
      await settleAll(store, batch, completed());
    }

    expect(order).toEqual([[first, plain], [second], [third]]);
  });

  test.each([8, 9, 20])("keeps its jobs out of a claim while %i locks are held", async (count) => {
    await using db = await open();
    const { store } = db;
    const keyed = Array.from({ length: count }, (_, key) => ({ concurrencyKey: `key ${key}` }));
    const held = await add(store, ...keyed);
    const batch = await take(store);

    for (let turn = 0; turn < 20; turn += 1) await add(store, ...keyed);
    const [other] = await add(store, KEYED);

    expect(batch.jobs.map(({ id }) => id)).toEqual(held);
    expect(await claimable(store, { limit: 1 })).toEqual([other]);
  });

  test("leaves jobs of many other keys and of none alone", async () => {
    await using db = await open();
    const { store } = db;
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index % 5}`);
    const ids = await add(store, ...keys.map((concurrencyKey) => ({ concurrencyKey })), {}, {});

    const batch = await take(store);

    expect(batch.jobs.map(({ id }) => id)).toEqual([...ids.slice(0, 5), ...ids.slice(10)]);
    const holders = await Promise.all(
      keys.slice(0, 5).map((name) => store.lockHolder("default", name)),
    );
    expect(holders).toEqual(ids.slice(0, 5));
    await settleAll(store, batch, completed());
    expect(await claimable(store)).toEqual(ids.slice(5, 10));
  });

  test("keeps tenants apart, and the same text with other case or spaces", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(
      store,
      KEYED,
      { ...KEYED, tenant: "acme" },
      { concurrencyKey: "Docs/main" },
      { concurrencyKey: "docs/main " },
    );

    expect(await claimable(store)).toEqual(ids);
  });

  test("keeps lanes and types together", async () => {
    await using db = await open();
    const { store } = db;
    const [first] = await add(store, KEYED, { ...KEYED, lane: "slow" }, { ...KEYED, type: "sms" });

    expect(await claimable(store)).toEqual([first]);
    expect(await claimable(store, { lanes: ["slow"] })).toEqual([]);
    expect(await claimable(store, { types: ["sms"] })).toEqual([]);
  });

  test("is given to one job in a claim across lanes", async () => {
    await using db = await open();
    const { store } = db;
    const [, urgent, plain] = await add(
      store,
      { ...KEYED, lane: "a", priority: 5 },
      { ...KEYED, lane: "b", priority: 1 },
      { lane: "a", priority: 9 },
    );

    expect(await claimable(store)).toEqual([urgent, plain]);
  });

  test("does not let a claim take less urgent jobs of other lanes before others", async () => {
    await using db = await open();
    const { store } = db;
    const [first, , urgent] = await add(
      store,
      { ...KEYED, lane: "a", priority: 1 },
      { ...KEYED, lane: "a", priority: 2 },
      { lane: "a", priority: 3 },
      { lane: "b", priority: 4 },
    );

    expect(await claimable(store, { limit: 2 })).toEqual([first, urgent]);
  });

  test("goes to the most urgent of all lanes, though others of a lane come before it", async () => {
    await using db = await open();
    const { store } = db;
    const [first, , urgent] = await add(
      store,
      { ...KEYED, lane: "a", priority: 1 },
      { ...KEYED, lane: "a", priority: 2 },
      { concurrencyKey: "docs/next", lane: "a", priority: 3 },
      { concurrencyKey: "docs/next", lane: "b", priority: 4 },
    );

    expect(await claimable(store, { limit: 2 })).toEqual([first, urgent]);
  });

  test("does not keep what lies behind many jobs of a taken key from a claim", async () => {
    await using db = await open();
    const { store } = db;
    await store.enqueue(newJobs(80, { ...KEYED, priority: 1 }));
    await takeOne(store);
    const [other, plain] = await add(store, { concurrencyKey: "docs/next" }, {});

    expect(await claimable(store, { limit: 2 })).toEqual([other, plain]);
  });

  test("does not keep what lies behind many jobs of its own key from a claim", async () => {
    await using db = await open();
    const { store } = db;
    const many = newJobs(80, { ...KEYED, priority: 1 });
    await store.enqueue(many);
    const [other, plain] = await add(store, { concurrencyKey: "docs/next" }, {});

    expect(await claimable(store, { limit: 3 })).toEqual([at(many, 0).id, other, plain]);
  });

  test("never lies in a prefetch", async () => {
    await using db = await open();
    const { store } = db;
    const [keyed, plain] = await add(store, KEYED, {});

    const buffered = await claimable(store, { prefetch: true });

    expect(buffered).toEqual([plain]);
    expect(await store.lockHolder("default", "docs/main")).toBeNull();
    expect(await claimable(store)).toEqual([keyed]);
  });

  test("is taken by nothing that only waits", async () => {
    await using db = await open();
    const { store } = db;
    const [, due] = await add(store, { ...KEYED, due: { delayMs: 60_000 } }, KEYED);
    expect(await store.lockHolder("default", "docs/main")).toBeNull();

    expect(await claimable(store)).toEqual([due]);
  });

  test("is not taken by a job behind a closed gate", async () => {
    await using db = await open();
    const { store } = db;
    const [paused, free] = await add(store, { ...KEYED, priority: 1 }, { ...KEYED, type: "sms" });
    await store.pause(TYPE, WHY);

    const batch = await take(store);
    await settleAll(store, batch, completed());
    await store.resume(TYPE);

    expect(batch.jobs.map(({ id }) => id)).toEqual([free]);
    expect(await claimable(store)).toEqual([paused]);
  });

  test("is never had twice when two handles race, and every job runs once", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    const jobs = Array.from({ length: 4 }, (_, key) =>
      newJobs(8, { concurrencyKey: `key ${key}` }),
    ).flat();
    await db.store.enqueue(jobs);
    const workers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => joinWorker(handles[index % 2]!)),
    );
    const ran: string[] = [];

    for (let round = 0; round < 200 && ran.length < jobs.length; round += 1) {
      const claims = await Promise.all(
        workers.map((worker, index) =>
          handles[index % 2]!.claim({ worker, lanes: "any", limit: 3, prefetch: false }),
        ),
      );
      const taken = claims.flatMap((claim) => claim.jobs);
      const keys = taken.map(({ concurrencyKey }) => concurrencyKey);
      expect(keys).toHaveLength(new Set(keys).size);
      ran.push(...taken.map(({ id }) => id));
      for (const { lease, jobs: own } of claims) {
        if (lease === null) continue;
        await settleAll(db.store, { worker: at(workers, 0), lease, jobs: own }, completed());
      }
    }

    expect(ran.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });
}

function endTests(open: OpenStore): void {
  test.each(ENDS)("ends with a run that ended as $outcome, to: $to", async (settlement) => {
    await using db = await open();
    const { store } = db;
    const [first, second] = await add(store, KEYED, { ...KEYED, priority: 200 });
    const batch = await takeOne(store);
    expect(await store.lockHolder("default", "docs/main")).toBe(first);

    await settleAll(store, batch, settlement);

    expect(await store.lockHolder("default", "docs/main")).toBeNull();
    const next = settlement.to === "queued" ? first : second;
    expect(await claimable(store)).toEqual([next]);
    expect(await store.lockHolder("default", "docs/main")).toBe(next);
  });

  test("ends with its run alone, not with others of the batch", async () => {
    await using db = await open();
    const { store } = db;
    const [, other] = await add(store, KEYED, { concurrencyKey: "b" }, KEYED);
    const batch = await take(store);
    await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

    expect(await store.lockHolder("default", "b")).toBe(other);
    expect(await claimable(store)).toHaveLength(1);
  });

  test("is not ended by a settle that is stale", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, KEYED, KEYED);
    const batch = await takeOne(store);
    const item = settleItem(batch, batch.job, completed());

    const answers = await store.settle([
      { ...item, lease: { ...item.lease, secret: "guessed" } },
      { ...item, n: item.n + 1 },
    ]);

    expect(answers).toEqual(["stale", "stale"]);
    expect(await store.lockHolder("default", "docs/main")).toBe(id);
    expect(await claimable(store)).toEqual([]);
  });

  test("is not ended by the late word of a run whose job runs again (I4)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, { ...KEYED, priority: 1 }, KEYED);
    const zombie = await takeOne(store);
    await clock.advance(LEASE_AND_MORE_MS);
    await rescueSilent(store, zombie.worker, { decide: crashedOnce });
    await takeOne(store);

    const late = await store.settle([settleItem(zombie, zombie.job, completed())]);

    expect(late).toEqual(["stale"]);
    expect(await store.lockHolder("default", "docs/main")).toBe(id);
    expect(await claimable(store)).toEqual([]);
  });

  test.each([crashedOnce(), failedWith(), retryIn(60_000)])(
    "ends when a silent worker's run is rescued to $to",
    async (settlement) => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, KEYED, KEYED);
      const { worker } = await takeOne(store);
      await clock.advance(LEASE_AND_MORE_MS);
      expect(await claimable(store)).toEqual([]);

      await rescueSilent(store, worker, { decide: () => settlement });

      expect(await claimable(store)).toHaveLength(1);
    },
  );

  test("stays with a silent worker until its run is rescued", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, KEYED, KEYED);
    const { worker } = await takeOne(store);
    await store.deregister(worker);
    await clock.advance(LEASE_AND_MORE_MS);
    await store.release(100);

    expect(await claimable(store)).toEqual([]);
  });

  test.each([failedWith(), retryIn(60_000), cancelled()])(
    "ends when an operator ends the run: to $to",
    async (settlement) => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await add(store, KEYED, KEYED);
      await takeOne(store);

      await store.intervene(first, () => settlement);

      expect(await store.lockHolder("default", "docs/main")).toBeNull();
      expect(await claimable(store)).toEqual([second]);
    },
  );

  test("ends with a run that was over its time and is settled as timed out", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [, second] = await add(store, { ...KEYED, timeoutMs: 10 }, KEYED);
    const { worker } = await takeOne(store);
    await clock.advance(1_000);
    const [run] = await store.overdue(worker, 0);

    await store.settle([{ ...run!, settlement: { ...retryIn(60_000), outcome: "timed_out" } }]);

    expect(await claimable(store)).toEqual([second]);
  });

  test("stays when a cancellation is asked for, and ends with the run", async () => {
    await using db = await open();
    const { store } = db;
    const [first, second] = await add(store, KEYED, KEYED);
    const batch = await takeOne(store);

    await store.cancel(first, null, null);
    const meanwhile = await claimable(store);
    await settleAll(store, batch, cancelled());

    expect(meanwhile).toEqual([]);
    expect(await claimable(store)).toEqual([second]);
  });

  test("stays when another job of its key is cancelled, failed or replaced", async () => {
    await using db = await open();
    const { store } = db;
    const dedup = { key: "d", onConflict: "replace" } as const;
    const [holder, second, third] = await add(store, KEYED, KEYED, KEYED, { ...KEYED, dedup });
    await takeOne(store);

    await store.cancel(second, null, null);
    await store.intervene(third, () => failedWith());
    await add(store, { ...KEYED, dedup });

    expect(await store.lockHolder("default", "docs/main")).toBe(holder);
    expect(await claimable(store)).toEqual([]);
  });

  test("wakes those who may claim what waited for it", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, KEYED, KEYED);
    const batch = await takeOne(store);

    await wakes(db, () => settleAll(store, batch, completed()));

    expect(await claimable(store)).toHaveLength(1);
  });
}

function occupantTests(open: OpenStore): void {
  test("is the job that runs under a key, within its tenant", async () => {
    await using db = await open();
    const { store } = db;
    const [id, theirs] = await add(store, KEYED, { ...KEYED, tenant: "acme" }, KEYED);
    const before = await store.lockHolder("default", "docs/main");
    const batch = await take(store);

    expect(before).toBeNull();
    expect(await store.lockHolder("default", "docs/main")).toBe(id);
    expect(await store.lockHolder("acme", "docs/main")).toBe(theirs);
    for (const [tenant, name] of [
      ["unknown", "docs/main"],
      ["default", "docs"],
      ["default", "docs/main/"],
    ] as const) {
      expect(await store.lockHolder(tenant, name)).toBeNull();
    }
    await settleAll(store, batch, completed());
    expect(await store.lockHolder("default", "docs/main")).toBeNull();
  });
}
