import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import type { RemovalStep } from "../../../src/store/types/tenants.ts";
import {
  completed,
  failedWith,
  jobId,
  newJob,
  newOperation,
  newSchedule,
  newToken,
} from "../../support/factories.ts";
import { add, settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const WHY = { reason: "the contract has ended", by: "ada" } as const;
const NONE = { waiting: null, rate: null, payloadBytes: null };

export function tenantSuite(open: OpenStore): void {
  describe("tenantNames", () => {
    test("tells tenants of jobs, schedules, tokens and settings, page by page", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue([newJob({ tenant: "b" })]);
      await saveSchedule(store, "a", "s");
      await store.createToken(newToken({ tenant: "c" }));
      await store.createToken(newToken({ tenant: null }));
      await store.setQuota("d", { ...NONE, waiting: 1 }, WHY);

      expect(await store.tenantNames({ limit: 9 })).toEqual(["a", "b", "c", "d", "default"]);
      expect(await store.tenantNames({ limit: 2 })).toEqual(["a", "b"]);
      expect(await store.tenantNames({ limit: 2, after: "b" })).toEqual(["c", "d"]);
      expect(await store.tenantNames({ limit: 2, after: "default" })).toEqual([]);
    });
  });

  describe("beginRemoval", () => {
    test("keeps the removal that is under way", async () => {
      await using db = await open();
      const { store, clock } = db;
      const begunAt = clock.now();
      await store.beginRemoval("acme", WHY);
      await clock.advance(5);
      await store.beginRemoval("acme", { by: "eve", reason: "again" });
      expect(await store.removal("acme")).toMatchObject({ ...WHY, begunAt });
    });
  });

  describe("removal", () => {
    test("tells who has asked for it, and when it was done", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await store.removal("acme")).toBeNull();
      const begunAt = clock.now();
      await store.beginRemoval("acme", WHY);
      await clock.advance(5);

      const record = { tenant: "acme", ...WHY, begunAt, doneAt: null, removed: 0 };
      expect(await store.removal("acme")).toEqual(record);
      expect(await store.removeOfTenant("acme", 10)).toMatchObject({ status: "done" });
      expect(await store.removal("acme")).toEqual({ ...record, doneAt: begunAt + 5 });
      await store.beginRemoval("acme", { by: "eve", reason: "again" });
      expect(await store.removal("acme")).toMatchObject({ by: "eve", doneAt: null });
    });
  });

  describe("openRemovals", () => {
    test("answers the removals that are under way, the oldest first", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await store.openRemovals(10)).toEqual([]);
      for (const tenant of ["b", "c", "a"]) {
        await store.beginRemoval(tenant, WHY);
        await clock.advance(5);
      }
      expect(await store.removeOfTenant("c", 10)).toMatchObject({ status: "done" });

      const [first, second] = await store.openRemovals(10);
      expect([first, second]).toEqual([await store.removal("b"), await store.removal("a")]);
      expect(await store.openRemovals(1)).toEqual([first]);
    });
  });

  describe("removeOfTenant", () => {
    test("deletes what one tenant has, in steps that another process continues", async () => {
      await using db = await open();
      const { store } = db;
      await fill(store, "umbra");
      const before = await contentOf(store, "umbra");
      await fill(store, "acme");
      await store.beginRemoval("acme", WHY);

      const first = await store.removeOfTenant("acme", 1);
      expect(first).toEqual({ status: "removing", removed: 1, isBlocked: false });
      // The process dies here.
      const { steps, done } = await removeAll(await db.another());

      expect(steps).toBeGreaterThan(1);
      expect(Object.keys(done.rows)).toEqual(
        expect.arrayContaining(["dead_letter", "operation", "operation_item"]),
      );
      expect(Object.values(done.rows).filter((count) => count !== 0)).toEqual([]);
      expect(await contentOf(store, "acme")).toEqual({
        jobs: [],
        letters: [],
        schedules: [],
        tokens: [],
        limits: [],
        gates: [],
        quota: null,
        weights: undefined,
        operations: [],
      });
      expect(await contentOf(store, "umbra")).toEqual(before);
      expect((await store.removal("acme"))?.removed).toBeGreaterThan(6);
    });

    test("deletes nothing unless a removal is under way", async () => {
      await using db = await open();
      const { store } = db;
      await fill(store, "acme");
      const before = await contentOf(store, "acme");
      const never = await store.removeOfTenant("acme", 10);
      expect(never).toMatchObject({ status: "done", rows: { job: 2, schedule: 1 } });
      expect(await contentOf(store, "acme")).toEqual(before);
      await store.beginRemoval("acme", WHY);
      await removeAll(store);
      const ended = await store.removal("acme");
      await fill(store, "acme");
      const again = await contentOf(store, "acme");

      const late = await store.removeOfTenant("acme", 10);
      expect(late).toMatchObject({ status: "done", rows: { job: 2, schedule: 1 } });
      expect(await contentOf(store, "acme")).toEqual(again);
      expect(await store.removal("acme")).toEqual(ended);
    });

    test("deletes no job that waits or runs, and says so", async () => {
      await using db = await open();
      const { store } = db;
      const [queued] = await add(store, { tenant: "acme" });
      await store.beginRemoval("acme", WHY);
      const blocked = { status: "removing", removed: 0, isBlocked: true } as const;
      expect(await store.removeOfTenant("acme", 10)).toEqual(blocked);
      const batch = await takeOne(store);
      expect(await store.removeOfTenant("acme", 10)).toEqual(blocked);
      expect(await store.get(queued)).not.toBeNull();
      await settleAll(store, batch, completed());
      expect(await store.removeOfTenant("acme", 10)).toMatchObject({ removed: 1 });
    });

    test("stops operations of the tenant, and no other, before jobs are deleted", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { tenant: "acme" });
      const { id } = await store.startOperation(newOperation({}, { tenant: "acme" }));
      const other = await store.startOperation(newOperation());
      await store.beginRemoval("acme", WHY);
      await store.removeOfTenant("acme", 10);
      expect(await store.operation(id)).toMatchObject({ status: "stopped" });
      expect(await store.operation(other.id)).toMatchObject({ status: "pending" });
    });

    test("frees the keys of the tenant at once", async () => {
      await using db = await open();
      const { store } = db;
      const idempotency = { key: "k", onConflict: "return-existing" } as const;
      await add(store, { tenant: "acme", idempotency });
      await settleAll(store, await takeOne(store), completed());
      await store.beginRemoval("acme", WHY);
      await removeAll(store);
      const again = newJob({ tenant: "acme", idempotency, type: "other" });
      expect(await store.enqueue([again])).toMatchObject([{ status: "created" }]);
    });
  });
}

async function removeAll(
  store: JobStore,
): Promise<{ steps: number; done: Extract<RemovalStep, { status: "done" }> }> {
  for (let steps = 1; steps < 50; steps += 1) {
    const step = await store.removeOfTenant("acme", 1);
    if (step.status === "done") return { steps, done: step };
  }
  throw new Error("the removal does not end");
}

/** Two final jobs with all that jobs have, and everything that an operator can set. */
async function fill(store: JobStore, tenant: string): Promise<void> {
  await add(store, {
    tenant,
    tags: { mark: tenant },
    idempotency: { key: `${tenant}-1`, onConflict: "return-existing" },
  });
  await settleAll(store, await takeOne(store), completed());
  await add(store, { tenant, dedup: { key: "weekly", onConflict: "skip" } });
  await settleAll(store, await takeOne(store), failedWith());
  await operate(store, tenant);
  await saveSchedule(store, tenant, `${tenant}-daily`);
  await store.createToken(newToken({ tenant }));
  const rate = { count: 1, perMs: 1_000, burst: 1 };
  await store.setLimit({ kind: "tenant", name: tenant }, { concurrency: 3, rate: null }, "ada");
  await store.setLimit({ kind: "key", name: "k", tenant }, { concurrency: null, rate }, "ada");
  await store.pause({ kind: "tenant", name: tenant }, { reason: "late", by: "ada" });
  await store.setQuota(tenant, { ...NONE, waiting: 5 }, WHY);
  const lane = (await store.fairLanes())[0]?.weights ?? {};
  await store.setFairness("general", { ...lane, [tenant]: 3 }, "ada");
}

/** An operation of the tenant that has ended, and open ones of the tenant and about it. */
async function operate(store: JobStore, tenant: string): Promise<void> {
  const { id } = await store.startOperation(newOperation({}, { tenant }));
  const held = await store.claimOperations("runner-1");
  const from = held.find((each) => each.id === id)!.cursor;
  const items = [{ id: jobId(), skip: "state" }];
  await store.applyChunk(id, { runner: "runner-1", from, to: null, items, idempotencyMs: 0 });
  await store.startOperation(newOperation({}, { tenant }));
  await store.startOperation(newOperation({ action: "cancel", jobs: { tenant } }));
  await store.startOperation(newOperation({ action: "discard", deadLetters: { tenant } }));
}

async function contentOf(store: JobStore, tenant: string): Promise<object> {
  const isOwn = ({ kind, name }: { kind: string; name: string }): boolean =>
    kind === "tenant" && name === tenant;
  const limits = await store.limits();
  return {
    jobs: (await store.list({ tenant }, { limit: 9 })).jobs.map(({ id }) => id),
    letters: (await store.deadLetters({ tenant }, { limit: 9 })).map(({ id }) => id),
    schedules: (await store.schedules({ tenant }, { limit: 9 })).map(({ name }) => name),
    tokens: (await store.tokens({ tenant }, { limit: 9 })).map(({ id }) => id),
    limits: limits
      .filter((limit) => isOwn(limit) || limit.tenant === tenant)
      .map(({ kind }) => kind),
    gates: (await store.gates()).filter(isOwn).map(({ reason }) => reason),
    quota: (await store.quotas()).find((each) => each.tenant === tenant)?.waiting ?? null,
    weights: (await store.fairLanes())[0]?.weights[tenant],
    operations: (await store.operations({}, { limit: 99 }))
      .filter((each) => JSON.stringify(each).includes(tenant))
      .map(({ id, finishedAt, items }) => ({ id, finishedAt, items })),
  };
}

async function saveSchedule(store: JobStore, tenant: string, name: string): Promise<void> {
  const schedule = newSchedule({ name, job: { tenant } });
  await store.saveSchedule(schedule, { revision: null, by: null }, () => 4_000_000_000_000);
}
