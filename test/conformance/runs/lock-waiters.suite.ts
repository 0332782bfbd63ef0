import { describe, expect, test } from "vitest";
import { explain } from "../../../src/client/explain.ts";
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
  ask,
  at,
  claimable,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const KEYED = { concurrencyKey: "docs/main" } as const;
const HELD = { kind: "key", name: "docs/main" } as const;
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

export function lockWaitersSuite(open: OpenStore): void {
  describe("lock that others are held for", () => {
    holdTests(open);
    handOffTests(open);
    releaseTests(open);
  });
}

function holdTests(open: OpenStore): void {
  test("moves jobs whose key is taken out of the way, and says why", async () => {
    await using db = await open();
    const { store, clock } = db;
    const runAt = clock.now();
    const [running, second, third] = await add(store, KEYED, KEYED, KEYED);
    await takeOne(store);
    const [plain, other] = await add(store, {}, { concurrencyKey: "b" });

    const moved = await store.hold(100);

    expect(moved).toBe(2);
    for (const id of [second, third]) {
      expect(await recordOf(store, id)).toMatchObject({ state: "queued", heldBy: HELD, runAt });
    }
    for (const id of [running, plain, other]) {
      expect((await recordOf(store, id)).heldBy).toBeNull();
    }
    expect(await claimable(store)).toEqual([plain, other]);
  });

  test("moves nothing whose key is free, also when another tenant has it", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, KEYED);
    expect(await store.hold(100)).toBe(0);
    await add(store, { ...KEYED, tenant: "acme" });
    await take(store, { tenants: ["acme"] });

    expect(await store.hold(100)).toBe(0);
    expect(await claimable(store)).toEqual([id]);
  });

  test("moves the waiting job of the tenant that has the key, and of no other tenant", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { ...KEYED, tenant: "acme" });
    await take(store, { tenants: ["acme"] });
    const [theirs] = await add(store, { ...KEYED, tenant: "acme" });
    const [ours] = await add(store, KEYED);

    expect(await store.hold(100)).toBe(1);
    expect(await recordOf(store, theirs)).toMatchObject({ heldBy: HELD });
    expect(await claimable(store)).toEqual([ours]);
  });

  test("lets a closed gate come before a taken key", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, KEYED);
    const batch = await takeOne(store);
    const [id] = await add(store, KEYED);
    await store.pause(TYPE, WHY);

    expect(await store.hold(100)).toBe(1);

    expect((await recordOf(store, id)).heldBy).toEqual(TYPE);
    await settleAll(store, batch, completed());
    expect((await recordOf(store, id)).heldBy).toEqual(TYPE);
  });

  test("moves no more than asked, and all in the end", async () => {
    await using db = await open();
    const { store } = db;
    await store.enqueue(newJobs(6, KEYED));
    await takeOne(store);

    const moves = [];
    for (let call = 0; call < 4; call += 1) moves.push(await store.hold(2));

    expect(moves).toEqual([2, 2, 1, 0]);
    expect((await store.count({ states: ["queued"] }, 10)).count).toBe(5);
  });

  test("lets a claim see what lies behind a thousand jobs of a taken key", async () => {
    await using db = await open();
    const { store } = db;
    await store.enqueue(newJobs(1_200, { ...KEYED, priority: 1 }));
    await takeOne(store);
    const [plain] = await add(store, {});

    for (let call = 0; call < 10; call += 1) await store.hold(1_000);

    expect(await claimable(store, { limit: 1 })).toEqual([plain]);
  });

  test("shows held jobs in lists, with what holds them", async () => {
    await using db = await open();
    const { store } = db;
    const [, held] = await add(store, KEYED, KEYED);
    await takeOne(store);
    await store.hold(100);

    const { jobs } = await store.list({ states: ["queued"] }, { limit: 10 });

    expect(jobs.map(({ id, heldBy }) => [id, heldBy])).toEqual([[held, HELD]]);
  });

  test("keeps the count of runs of a held job", async () => {
    await using db = await open();
    const { store } = db;
    const seasoned = { ...KEYED, lane: "fast", tenant: "acme", priority: 9 };
    const [id] = await add(store, seasoned);
    await runOne(store, crashedOnce());
    await add(store, { ...seasoned, priority: 1 });
    const batch = await takeOne(store);
    await store.hold(100);
    await settleAll(store, batch, completed());

    const { job } = await takeOne(store, { lanes: ["fast"], tenants: ["acme"] });

    expect(job).toMatchObject({ id, n: 2, tries: 1, crashes: 1, priority: 9, ...KEYED });
  });

  test("holds no job that was cancelled, hurried or moved meanwhile", async () => {
    await using db = await open();
    const { store } = db;
    const dedup = { key: "d", onConflict: "extend" } as const;
    const [, gone, hurried, moved] = await add(store, KEYED, KEYED, KEYED, { ...KEYED, dedup });
    await takeOne(store);
    await store.hold(100);

    const answers = [
      await store.cancel(gone, "ada", "not needed"),
      await store.hurry(hurried),
      await ask(store, { dedup, due: { delayMs: 60_000 } }),
    ];

    expect(answers).toMatchObject([
      { status: "cancelled" },
      { status: "done", state: "queued" },
      { status: "existing", id: moved, state: "scheduled" },
    ]);
    expect(await recordOf(store, gone)).toMatchObject({ state: "cancelled", heldBy: null });
    expect(await recordOf(store, moved)).toMatchObject({ state: "scheduled", heldBy: null });
    expect(await claimable(store)).toEqual([]);
  });
}

function handOffTests(open: OpenStore): void {
  test.each(ENDS)("goes to the most urgent when a run ended as $outcome", async (settlement) => {
    await using db = await open();
    const { store } = db;
    await add(store, { ...KEYED, priority: 1 });
    const batch = await takeOne(store);
    const [last, urgent, other] = await add(
      store,
      { ...KEYED, priority: 9 },
      { ...KEYED, priority: 5 },
      { ...KEYED, priority: 7 },
    );
    await store.hold(100);

    await settleAll(store, batch, settlement);

    expect((await recordOf(store, urgent)).heldBy).toBeNull();
    for (const id of [last, other]) expect((await recordOf(store, id)).heldBy).toEqual(HELD);
    // An interrupted run is more urgent still.
    const next = settlement.to === "queued" ? batch.job.id : urgent;
    expect(await claimable(store)).toEqual([next]);
  });

  test("passes on and on until no run waits", async () => {
    await using db = await open();
    const { store } = db;
    const jobs = newJobs(6, KEYED);
    await store.enqueue(jobs);
    const ran = [];

    for (let turn = 0; turn < 6; turn += 1) {
      const batch = await take(store);
      await store.hold(100);
      ran.push(...batch.jobs.map(({ id }) => id));
      await settleAll(store, batch, completed());
    }

    expect(ran).toEqual(jobs.map(({ id }) => id));
    expect(await claimable(store)).toEqual([]);
  });

  test("passes several keys on in one settle, each to its own", async () => {
    await using db = await open();
    const { store } = db;
    const keys = ["a", "b", "c"].map((concurrencyKey) => ({ concurrencyKey }));
    await add(store, ...keys);
    const batch = await take(store);
    const next = await add(store, ...keys, ...keys);
    await store.hold(100);

    await settleAll(store, batch, completed());

    expect(await claimable(store)).toEqual(next.slice(0, 3));
    expect((await recordOf(store, next[3]!)).heldBy).toEqual({ kind: "key", name: "a" });
  });

  test("passes the key on when a worker is rescued or an operator ends a run", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [, second, third] = await add(store, KEYED, KEYED, KEYED);
    const { worker } = await takeOne(store);
    await store.hold(100);
    await clock.advance(LEASE_AND_MORE_MS);

    await rescueSilent(store, worker, { decide: () => failedWith() });
    const afterRescue = await claimable(store);
    await store.intervene(second, () => failedWith());

    expect(afterRescue).toEqual([second]);
    expect(await claimable(store)).toEqual([third]);
  });

  test("passes nothing on to another tenant or key", async () => {
    await using db = await open();
    const { store } = db;
    const others = [{ ...KEYED, tenant: "acme" }, { concurrencyKey: "b" }];
    await add(store, KEYED, ...others);
    const batch = await take(store);
    const held = await add(store, ...others);
    await store.hold(100);

    await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

    expect(await claimable(store)).toEqual([]);
    for (const id of held) expect((await recordOf(store, id)).heldBy?.kind).toBe("key");
  });

  test("passes nothing on to a job that waits behind a gate", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { ...KEYED, type: "sms" });
    const batch = await takeOne(store);
    const [paused] = await add(store, KEYED);
    await store.pause(TYPE, WHY);
    await store.hold(100);
    const [free] = await add(store, { ...KEYED, type: "sms" });
    await store.hold(100);

    await settleAll(store, batch, completed());

    // Without a call of `release`: the end of the run itself passes the key on.
    expect(await claimable(store)).toEqual([free]);
    expect(await stateOf(store, paused)).toBe("queued");
  });

  test("wakes those who listen in another process", async () => {
    await using db = await open();
    const other = await db.another();
    await add(db.store, KEYED, KEYED);
    const batch = await takeOne(db.store);
    await db.store.hold(100);

    await wakes(db, () => settleAll(db.store, batch, completed()), other);

    expect(await claimable(other)).toHaveLength(1);
  });
}

function releaseTests(open: OpenStore): void {
  test("moves nothing while the key is taken", async () => {
    await using db = await open();
    const { store } = db;
    const [, held] = await add(store, KEYED, KEYED);
    await takeOne(store);
    await store.hold(100);

    expect(await store.release(100)).toBe(0);
    expect((await recordOf(store, held)).heldBy).toEqual(HELD);
  });

  test("brings back the most urgent whose key is free, when a hand-off was in vain", async () => {
    await using db = await open();
    const { store } = db;
    const [, handed, last, urgent] = await add(
      store,
      { ...KEYED, priority: 1 },
      { ...KEYED, priority: 2 },
      { ...KEYED, priority: 9 },
      { ...KEYED, priority: 5 },
    );
    const batch = await takeOne(store);
    await store.hold(100);
    await settleAll(store, batch, completed());
    await store.cancel(handed, null, null);
    expect(await claimable(store)).toEqual([]);

    const moved = await store.release(100);

    expect(moved).toBeGreaterThan(0);
    expect(await claimable(store)).toEqual([urgent]);
    expect(await stateOf(store, last)).toBe("queued");
  });

  test("lets others of a key go on when the most urgent is behind a closed gate", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { ...KEYED, type: "sms" });
    const batch = await takeOne(store);
    const [paused, free] = await add(
      store,
      { ...KEYED, priority: 1 },
      { ...KEYED, type: "sms", priority: 9 },
    );
    await store.hold(100);
    await settleAll(store, batch, completed());
    await store.pause(TYPE, WHY);

    await store.hold(100);
    await store.release(100);

    expect(await claimable(store)).toEqual([free]);
    expect((await recordOf(store, paused)).heldBy).toEqual(TYPE);
  });

  test("lets explain tell a key that is taken from one that is free again", async () => {
    await using db = await open();
    const { store } = db;
    const [running, , last] = await add(store, KEYED, KEYED, KEYED);
    const batch = await takeOne(store);
    await store.hold(100);
    const asked = async (): Promise<string> =>
      (await explain(store, await recordOf(store, last), { crashCap: 3 })).sentence;

    const taken = await asked();
    await settleAll(store, batch, completed());
    const free = await asked();
    await store.release(100);

    expect(taken).toBe(`It is due, but its concurrency key docs/main is taken by job ${running}.`);
    expect(free).toBe(
      "Its concurrency key docs/main is free again; it returns to the queue in a moment.",
    );
    expect(await asked()).toMatch(/^It is due; 1 worker\(s\) take it/);
  });

  test("brings back each of many names, no more than asked at a time", async () => {
    await using db = await open();
    const { store } = db;
    const keys = Array.from({ length: 5 }, (_, index) => ({ concurrencyKey: `key ${index}` }));
    await add(store, ...keys);
    const batch = await take(store);
    const handed = await add(store, ...keys);
    const waiting = await add(store, ...keys);
    await store.hold(100);
    await settleAll(store, batch, completed());
    for (const id of handed) await store.cancel(id, null, null);

    const moves = [];
    for (let call = 0; call < 4; call += 1) moves.push(await store.release(2));

    expect(moves).toEqual([2, 2, 1, 0]);
    expect(await claimable(store)).toEqual(waiting);
  });
}
