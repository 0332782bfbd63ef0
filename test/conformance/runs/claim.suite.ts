import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  newJob,
  newJobs,
  retryIn,
  runAgain,
  workerId,
  workerInfo,
} from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  eventsOf,
  joinWorker,
  recordOf,
  runOne,
  settleAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function claimSuite(open: OpenStore): void {
  describe("claim", () => {
    test("takes jobs by priority, due time and age (003-10, C-11, C-15)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const now = clock.now();
      const [late, early, urgent, young, old] = await add(
        store,
        { priority: 100, due: { at: now - 10 } },
        { priority: 100, due: { at: now - 500 } },
        { priority: 0, due: { at: now } },
        { priority: 50, due: { at: now - 10 } },
        { priority: 50, due: { at: now - 10 } },
      );

      const order = await claimable(store);

      expect(order).toEqual([urgent, young, old, early, late]);
    });

    test("takes the most urgent when it may not take all", async () => {
      await using db = await open();
      const { store, clock } = db;
      const now = clock.now();
      const [, , second, , first] = await add(
        store,
        { priority: 200, due: { at: now - 9_000 } },
        { priority: 50, due: { at: now } },
        { priority: 50, due: { at: now - 10 } },
        { priority: 100, due: { at: now - 500 } },
        { priority: 50, due: { at: now - 20 } },
      );

      const order = await claimable(store, { limit: 2 });

      expect(order).toEqual([first, second]);
    });

    test("takes jobs of equal priority and due time in the order they came", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(50);
      await store.enqueue(jobs.slice(0, 20));
      await store.enqueue(jobs.slice(20));

      const order = await claimable(store);

      expect(order).toEqual(jobs.map((job) => job.id));
    });

    test("merges several lanes in one order, and leaves other lanes alone (004-01)", async () => {
      await using db = await open();
      const { store } = db;
      const [slow, fast, bulk, urgent] = await add(
        store,
        { lane: "general", priority: 20 },
        { lane: "fast", priority: 30 },
        { lane: "bulk", priority: 1 },
        { lane: "general", priority: 10 },
      );

      const fromTwo = await claimable(store, { lanes: ["fast", "general"], limit: 2 });
      const fromFast = await claimable(store, { lanes: ["fast"] });
      const fromAny = await claimable(store, { lanes: "any" });

      expect(fromTwo).toEqual([urgent, slow]);
      expect(fromFast).toEqual([fast]);
      expect(fromAny).toEqual([bulk]);
    });

    test("merges all lanes in one order when any will do", async () => {
      await using db = await open();
      const { store, clock } = db;
      const now = clock.now();
      const [third, first, fourth, second] = await add(
        store,
        { lane: "a", due: { at: now - 20 } },
        { lane: "b", priority: 1 },
        { lane: "c", due: { at: now - 10 } },
        { lane: "d", due: { at: now - 30 } },
      );

      const order = await claimable(store, { lanes: "any", limit: 4 });

      expect(order).toEqual([first, second, third, fourth]);
    });

    test.each([1, 3, 100])("never takes more than asked: %i", async (limit) => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(130).map((job, index) => ({ ...job, lane: `lane-${index % 3}` }));
      await store.enqueue(jobs);

      const order = await claimable(store, { limit });

      expect(order).toEqual(jobs.slice(0, limit).map((job) => job.id));
      expect((await store.count({ states: ["queued"] }, 200)).count).toBe(130 - limit);
    });

    test("never takes a job twice, by three at once (001-17, 003-09, 003-40)", async () => {
      await using db = await open();
      const handles = [db.store, await db.another(), await db.another()];
      const jobs = newJobs(300);
      await db.store.enqueue(jobs);

      const hands = await Promise.all(handles.map((handle) => claimUntilEmpty(handle)));

      const taken = hands.flat();
      expect(taken).toHaveLength(300);
      expect(new Set(taken)).toEqual(new Set(jobs.map((job) => job.id)));
    });

    test("takes a job once though its lane is named twice", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, { lane: "fast" }, { lane: "fast" });

      const order = await claimable(store, { lanes: ["fast", "fast"], types: ["email", "email"] });

      expect(order).toEqual(ids);
    });

    test("takes only the types asked for and leaves the rest waiting", async () => {
      await using db = await open();
      const { store } = db;
      const [, sms, , push] = await add(
        store,
        { type: "email" },
        { type: "sms" },
        { type: "email" },
        { type: "push" },
      );

      const order = await claimable(store, { types: ["push", "sms"], limit: 2 });

      expect(order).toEqual([sms, push]);
      expect((await store.count({ states: ["queued"], type: "email" }, 10)).count).toBe(2);
      expect(await claimable(store, { types: [] })).toEqual([]);
    });

    test("takes only the tenants asked for and leaves the rest waiting (003-12)", async () => {
      await using db = await open();
      const { store } = db;
      const [, bolt] = await add(store, { tenant: "acme" }, { tenant: "bolt" });

      const order = await claimable(store, { tenants: ["bolt", "unknown"], limit: 5 });

      expect(order).toEqual([bolt]);
      expect((await store.count({ states: ["queued"], tenant: "acme" }, 10)).count).toBe(1);
    });

    test("does not take a job before it is due (I8)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { due: { delayMs: 1_000 } });

      await clock.advance(999);
      await store.promote(100);

      expect(await claimable(store)).toEqual([]);
    });

    test.each([
      { kind: "type", name: "analysis" },
      { kind: "tenant", name: "acme" },
      { kind: "lane", name: "bulk" },
    ] as const)("takes nothing behind a closed $kind (C-04, I8)", async (gate) => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const behind = newJobs(60, { type: "analysis", tenant: "acme", lane: "bulk" });
      const [inFront, afterwards] = [newJob(), newJob()];
      await store.enqueue([inFront, ...behind, afterwards]);
      expect(await claimable(store, { limit: 1 })).toEqual([inFront.id]);

      await other.pause(gate, { reason: "maintenance", by: null });

      expect(await claimable(store, { limit: 5 })).toEqual([afterwards.id]);
      expect((await store.count({ states: ["queued"] }, 100)).count).toBe(60);
    });

    test("hands everything over that a run needs", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [parentId] = await add(store, { type: "parent", priority: 999 });
      const job = newJob({
        tenant: "acme",
        lane: "fast",
        priority: 3,
        due: { at: clock.now() - 7 },
        maxAttempts: 2,
        timeoutMs: 9_000,
        payload: '{"to":"åsa"}',
        payloadVersion: "2",
        correlationId: "c-1",
        parentId,
        concurrencyKey: "mailbox-1",
        tags: { region: "nord", "no value": "" },
        onOrphan: "fail",
        retryOwner: "supervisor",
      });
      await store.enqueue([job]);
      const createdAt = clock.now();
      await clock.advance(20);

      const { job: claimed } = await takeOne(store);

      const { key, ...rest } = claimed;
      expect(key).toBe((await recordOf(store, job.id)).key);
      expect(rest).toEqual({
        id: job.id,
        n: 1,
        isSuccessor: false,
        tries: 0,
        crashes: 0,
        maxAttempts: 2,
        onOrphan: "fail",
        retryOwner: "supervisor",
        type: "email",
        tenant: "acme",
        lane: "fast",
        priority: 3,
        payload: '{"to":"åsa"}',
        payloadVersion: "2",
        correlationId: "c-1",
        parentId,
        timeoutMs: 9_000,
        concurrencyKey: "mailbox-1",
        tags: { region: "nord", "no value": "" },
        createdAt,
        runAt: createdAt - 7,
      });
    });

    test("says of a job that it repeats another job", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await add(store, {});
      await settleAll(store, await takeOne(store), failedWith());
      await add(store, { retryOf, timeoutMs: 9_000 });

      const { job } = await takeOne(store);

      expect(job).toMatchObject({ n: 1, isSuccessor: true, timeoutMs: 9_000 });
    });

    test("counts runs, charged attempts and crashes from claim to claim (I7)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});

      const first = await takeOne(store);
      await settleAll(store, first, retryIn(10));
      await clock.advance(10);
      await store.promote(1);
      const second = await takeOne(store);
      await settleAll(store, second, { ...crashedOnce(), tries: 2 });
      const third = await takeOne(store);
      await settleAll(store, third, { ...runAgain(), tries: 2, crashes: 1 });
      const fourth = await takeOne(store);

      expect(first.job).toMatchObject({ n: 1, tries: 0, crashes: 0 });
      expect(second.job).toMatchObject({ n: 2, tries: 1, crashes: 0 });
      expect(third.job).toMatchObject({ n: 3, tries: 2, crashes: 1 });
      expect(fourth.job).toMatchObject({ n: 4, tries: 2, crashes: 1 });
    });

    test("gives every lease a higher number and a secret of its own (I3)", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      await store.enqueue(newJobs(4));

      // Each lease is gone before the next is made: its number must not come back.
      const leases = [];
      for (const handle of [store, other, store, other]) {
        const batch = await takeOne(handle);
        await settleAll(handle, batch, completed());
        leases.push(batch.lease);
      }

      const numbers = leases.map((lease) => lease.number);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(new Set(leases.map((lease) => lease.secret)).size).toBe(4);
    });

    test("makes a job running from this moment on, and tells the feed once a batch", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {}, {});
      await clock.advance(5);

      await take(store, { limit: 2 });

      expect(await recordOf(store, ids[0])).toMatchObject({
        state: "running",
        startedAt: clock.now(),
        runAt: null,
        attempts: 0,
      });
      expect(await stateOf(store, ids[2])).toBe("queued");
      const started = (await store.feed(0, 10)).filter(({ kind }) => kind === "job:started");
      expect(started.map((entry) => entry.jobs.toSorted())).toEqual([ids.slice(0, 2).toSorted()]);
      expect(started).toMatchObject([{ at: clock.now() }]);
    });

    test("gives no lease when there is nothing to take (003-09)", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);

      const claim = await store.claim(claimRequest(worker));

      expect(claim).toEqual({
        lease: null,
        jobs: [],
        lost: false,
        awaitsAlone: false,
        tookAll: false,
      });
      expect(await store.feed(0, 10)).toEqual([]);
    });

    describe("says that it has taken all jobs of its lanes", () => {
      test.each([
        { lanes: "any", limit: 3, isAll: true },
        { lanes: ["general", "fast"], limit: 3, isAll: true },
        { lanes: ["fast"], limit: 3, isAll: true },
        { lanes: "any", limit: 2, isAll: false },
        { lanes: "any", limit: 1, isAll: false },
      ] as const)("lanes $lanes, at most $limit: $isAll", async ({ lanes, limit, isAll }) => {
        await using db = await open();
        await add(db.store, { lane: "general" }, { lane: "fast" });
        const worker = await joinWorker(db.store);

        const claim = await db.store.claim(claimRequest(worker, { lanes, limit }));

        expect(claim.tookAll).toBe(isAll);
      });

      test.each([
        { left: "of another type", job: { type: "other" } },
        { left: "of another tenant", job: { tenant: "other" } },
        { left: "with the key of a claimed job", job: { concurrencyKey: "account" } },
      ])("but not if a job $left is left", async ({ job }) => {
        await using db = await open();
        const mine = { type: "email", tenant: "default", concurrencyKey: "account" };
        await add(db.store, { ...mine, priority: 1 }, { ...mine, concurrencyKey: null, ...job });
        if (job.concurrencyKey !== undefined) await add(db.store, mine);
        const worker = await joinWorker(db.store);
        const filter = { types: ["email"], tenants: ["default"], limit: 9 };

        const claim = await db.store.claim(claimRequest(worker, filter));

        expect(claim.jobs.length).toBeGreaterThan(0);
        expect(claim.tookAll).toBe(false);
      });

      test("but not if a job is left that has crashed before", async () => {
        await using db = await open();
        await addCrashed(db.store, 1, {});
        await add(db.store, {});
        const worker = await joinWorker(db.store);
        const crashed = { once: 0, often: 0, cap: 3 };

        const claim = await db.store.claim(claimRequest(worker, { limit: 9, crashed }));

        expect(claim.jobs).toHaveLength(1);
        expect(claim.tookAll).toBe(false);
      });

      test("but not of jobs that it prefetches", async () => {
        await using db = await open();
        await add(db.store, {});
        const worker = await joinWorker(db.store);

        const claim = await db.store.claim(claimRequest(worker, { limit: 9, prefetch: true }));

        expect(claim.jobs).toHaveLength(1);
        expect(claim.tookAll).toBe(false);
      });
    });

    test("gives an unknown worker nothing and says that it is lost", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await joinWorker(store);

      const claim = await store.claim(claimRequest(workerId()));

      expect(claim).toEqual({
        lease: null,
        jobs: [],
        lost: true,
        awaitsAlone: false,
        tookAll: false,
      });
      expect(await stateOf(store, id)).toBe("queued");
    });

    test("gives a worker whose lease has run out nothing until it joins anew", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const sleeper = workerInfo({ leaseMs: 1_000 });
      await store.register(sleeper);
      await clock.advance(1_001);

      const expired = await store.claim(claimRequest(sleeper.id));
      await store.register(sleeper);
      const rejoined = await store.claim(claimRequest(sleeper.id));

      expect(expired).toEqual({
        lease: null,
        jobs: [],
        lost: true,
        awaitsAlone: false,
        tookAll: false,
      });
      expect(rejoined).toMatchObject({ lost: false, jobs: [{ id }] });
    });

    test("gives a quiet worker nothing, which is not lost and keeps what it has", async () => {
      await using db = await open();
      const { store } = db;
      const [, waiting] = await add(store, { priority: 1 }, { priority: 2 });
      const held = await takeOne(store);
      await store.quiet(held.worker);

      const run = await store.claim(claimRequest(held.worker));
      const prefetch = await store.claim(claimRequest(held.worker, { prefetch: true }));

      expect(run).toEqual({
        lease: null,
        jobs: [],
        lost: false,
        awaitsAlone: false,
        tookAll: false,
      });
      expect(prefetch).toEqual({
        lease: null,
        jobs: [],
        lost: false,
        awaitsAlone: false,
        tookAll: false,
      });
      expect(await claimable(store)).toEqual([waiting]);
      await settleAll(store, held, completed());
    });

    test("gives no work to a worker that speaks an older protocol", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const worker = await joinWorker(store, { protocol: 0 });

      expect(await claimable(store, { worker })).toEqual([]);
      expect(await stateOf(store, id)).toBe("queued");
    });
  });

  describe("claim of a prefetch", () => {
    test("takes jobs without starting them", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});

      const batch = await take(store, { prefetch: true });

      expect(batch.jobs).toMatchObject([{ id, n: 1, tries: 0 }]);
      expect(await recordOf(store, id)).toMatchObject({ state: "running", startedAt: null });
      expect(await eventsOf(store, id)).toEqual(["job:enqueued"]);
      expect(await claimable(store)).toEqual([]);
    });

    test("never takes a job that has crashed before; a claim to run does", async () => {
      await using db = await open();
      const { store } = db;
      const [poison] = await add(store, { priority: 1 });
      await runOne(store, crashedOnce());
      const [healthy] = await add(store, { priority: 2 });

      const buffered = await claimable(store, { prefetch: true, limit: 1 });
      const run = await claimable(store, { prefetch: false });

      expect(buffered).toEqual([healthy]);
      expect(run).toEqual([poison]);
    });

    test.each([-1, 0, Number.NaN])("takes nothing for a limit of %d", async (limit) => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const worker = await joinWorker(store);

      const claim = await store.claim({ worker, lanes: "any", limit, prefetch: false });

      expect(claim.jobs).toEqual([]);
    });

    test("takes a job alone that is heavier than all a worker should bear at once", async () => {
      await using db = await open();
      const { store } = db;
      const [heavy] = await add(store, { payload: JSON.stringify("x".repeat(9_000_000)) }, {});

      expect(await claimable(store)).toEqual([heavy]);
    });

    test("takes no more payload at once than a worker can bear, but at least one job", async () => {
      await using db = await open();
      const { store } = db;
      const payload = JSON.stringify("x".repeat(900_000));
      await add(store, ...Array.from({ length: 12 }, () => ({ payload })));

      const first = await take(store, { limit: 12 });

      expect(first.jobs.length).toBeGreaterThan(0);
      expect(first.jobs.length).toBeLessThan(12);
    });
  });
}

async function claimUntilEmpty(store: JobStore): Promise<readonly JobId[]> {
  const worker = await joinWorker(store);
  const taken: JobId[] = [];
  for (let ids = await claimable(store, { worker, limit: 7 }); ids.length > 0;) {
    taken.push(...ids);
    assert.ok(taken.length <= 300, "more was taken than there is");
    ids = await claimable(store, { worker, limit: 7 });
  }
  return taken;
}
