import { describe, expect, test } from "vitest";
import { OperationRunner } from "../../../src/jobs/operations/runner.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { OPERATION_LEASE_MS } from "../../../src/store/types/operations.ts";
import { wrapStore } from "../../../src/store/wrap-store.ts";
import { failedWith, jobId, newJobs, newOperation } from "../../support/factories.ts";
import { settleAll, take } from "../../support/steps.ts";
import { openSqlite, type TestStore } from "../../support/stores.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function runnerOn({ clock }: TestStore, store: JobStore): OperationRunner {
  return new OperationRunner({
    store,
    clock,
    newId: jobId,
    logger: silent,
    known: { phasesOf: () => [], restarts: () => false },
    idempotencyMs: 0,
  });
}

/** The store of a process that dies after a number of chunks: in the middle of the next one. */
function mortal(store: JobStore, chunks: number, isApplied: boolean): JobStore {
  let left = chunks;
  const dead = new Error("this process was killed");
  return wrapStore(store, (verb) => async (call) => {
    if (left < 0) throw dead;
    if (verb !== "applyChunk" || (left -= 1) >= 0) return call();
    if (isApplied) await call();
    throw dead;
  });
}

async function withLetters(db: TestStore, count: number): Promise<string> {
  const { store } = db;
  await store.enqueue(newJobs(count, {}));
  await settleAll(store, await take(store, { limit: count }), failedWith());
  const plan = { action: "reprocess", deadLetters: { status: "pending_review" } } as const;
  const { id } = await store.startOperation(newOperation(plan, { chunk: 10, rate: 100_000 }));
  return id;
}

async function runToEnd(db: TestStore, runner: OperationRunner): Promise<void> {
  for (;;) {
    const nextMs = await runner.step();
    if (nextMs === null) return;
    await db.clock.advance(nextMs);
  }
}

async function successors(store: JobStore): Promise<number> {
  const { jobs } = await store.list({ states: ["queued"] }, { limit: 1_000 });
  return new Set(jobs.map(({ retryOf }) => retryOf)).size === jobs.length ? jobs.length : -1;
}

describe("runners of operations", () => {
  test.each([
    ["before the commit", false],
    ["after the commit", true],
  ])("a runner that is killed %s of a chunk is replaced after the lease", async (_, isApplied) => {
    await using db = await openSqlite();
    const { store, clock } = db;
    const id = await withLetters(db, 100);
    const first = runnerOn(db, mortal(store, 3, isApplied));
    const second = runnerOn(db, store);

    for (let step = 0; step < 4; step += 1) await first.step().catch(() => {});
    expect(await second.step()).toBeNull();
    await clock.advance(OPERATION_LEASE_MS + 1_000);
    await runToEnd(db, second);

    const ended = await store.operation(id);
    expect(ended).toMatchObject({ status: "completed", items: 100, done: 100, skipped: {} });
    expect(await successors(store)).toBe(100);
    expect(await store.operationItems(id, { after: 0, limit: 1_000 })).toHaveLength(100);
  });

  test("two runners at the same time apply each chunk once", async () => {
    await using db = await openSqlite();
    const { store, clock } = db;
    const id = await withLetters(db, 100);
    const runners = [runnerOn(db, store), runnerOn(db, store)];

    for (let step = 0; step < 20; step += 1) {
      // The lease of one of them has just ended, and it does not know.
      await clock.advance(OPERATION_LEASE_MS + 1_000);
      await Promise.all(runners.map((runner) => runner.step()));
    }

    expect(await store.operation(id)).toMatchObject({ status: "completed", items: 100, done: 100 });
    expect(await successors(store)).toBe(100);
  });

  test("a runner of a slow operation looks for others meanwhile", async () => {
    await using db = await openSqlite();
    const { store, clock } = db;
    await store.enqueue(newJobs(10, {}));
    const plan = { action: "cancel", jobs: { states: ["queued"] } } as const;
    const slow = await store.startOperation(newOperation(plan, { rate: 1 / 60 }));
    const runner = runnerOn(db, store);
    while ((await runner.step()) === 0);
    const urgent = await store.startOperation(newOperation(plan));
    const begunAt = clock.monotonic();
    const isOver = async (): Promise<boolean> =>
      (await store.operation(urgent.id))?.status === "completed";
    while (!(await isOver())) await clock.advance((await runner.step()) ?? 0);

    expect(clock.monotonic() - begunAt).toBeLessThan(5_000);
    expect(await store.operation(slow.id)).toMatchObject({ status: "running" });
  });

  test("an operation finds letters that are later than now", async () => {
    await using db = await openSqlite();
    const { store, clock } = db;
    await store.enqueue(newJobs(5, {}));
    await settleAll(store, await take(store, { limit: 5 }), failedWith());
    clock.setBack(120_000);
    const plan = { action: "discard", deadLetters: { status: "pending_review" } } as const;
    const { id } = await store.startOperation(newOperation(plan));

    await runToEnd(db, runnerOn(db, store));

    expect(await store.operation(id)).toMatchObject({ status: "completed", done: 5 });
  });

  test("a chunk that fails is tried again, and then its operation has failed", async () => {
    await using db = await openSqlite();
    const { store } = db;
    const id = await withLetters(db, 10);
    const full = wrapStore(store, (verb) => async (call) => {
      if (verb === "applyChunk") throw new Error("no space left");
      return call();
    });
    const runner = runnerOn(db, full);

    await runToEnd(db, runner);

    expect(await store.operation(id)).toMatchObject({
      status: "failed",
      items: 0,
      error: { name: "Error", message: "no space left" },
    });
    expect(await successors(store)).toBe(0);
  });
});
