import { DatabaseSync, type StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newJobs, workerInfo } from "../../../../test/support/factories.ts";
import { addCrashed } from "../../../../test/support/steps.ts";
import { fail, uses } from "../../../../test/conformance/services/scene.ts";
import type { ClaimRequest } from "../../types/jobs-and-runs.ts";
import type { JobStore } from "../../store.ts";
import { makeSqliteStore } from "../create.ts";

const EMPTY = { lease: null, jobs: [], lost: false, awaitsAlone: false, tookAll: false };
const plainPrepare: DatabaseSync["prepare"] = Reflect.get(DatabaseSync.prototype, "prepare");
/** Where the disk fails: at the lock, before the commit, or after the commit. */
let broken: "lock" | "commit" | "answer" | null = null;
/** How often the write lock was requested. */
let locks = 0;
let store: JobStore;

beforeEach(async () => {
  broken = null;
  locks = 0;
  vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(prepareHooked);
  store = makeSqliteStore({ path: ":memory:" });
  await store.open();
});

afterEach(async () => {
  await store.close();
  vi.restoreAllMocks();
});

describe("a lost claim: committed and answered with an error", () => {
  test("is answered to the next claim with the same criteria", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", limit: 2, prefetch: false } as const;
    await store.register(worker);
    await store.enqueue(newJobs(3));

    await failClaim("answer", request);
    const found = await store.claim({ ...request, limit: 1 });
    const rest = await store.claim(request);
    const next = await store.claim(request);

    expect(found.jobs).toHaveLength(1);
    expect(rest.jobs).toHaveLength(1);
    expect(rest.lease).toEqual(found.lease);
    expect(next.jobs).toHaveLength(1);
    expect(next.lease).not.toEqual(found.lease);
    expect(await store.stats(10)).toMatchObject({ queued: 0, running: 3 });
  });

  test("is answered once when a second answer is lost as well", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", limit: 5, prefetch: false } as const;
    await store.register(worker);
    await store.enqueue(newJobs(2));

    await failClaim("answer", request);
    await failClaim("answer", request);
    const found = await store.claim(request);
    const again = await store.claim(request);

    expect(found.jobs).toHaveLength(2);
    expect(again.jobs).toEqual([]);
  });

  test("returns its prefetched jobs", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", limit: 2, prefetch: true } as const;
    await store.register(worker);
    await store.enqueue(newJobs(2));

    await failClaim("answer", request);
    const { jobs } = await store.claim({ ...request, prefetch: false });

    expect(jobs).toHaveLength(2);
    expect((await store.workers(1))[0]).toMatchObject({ running: 2, prefetched: 0 });
  });
});

describe("a lost claim of limited jobs", () => {
  const LIMIT = { concurrency: 5, rate: null } as const;

  test("is answered with the permits of its jobs", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", limit: 2, prefetch: false } as const;
    await store.register(worker);
    await store.setLimit({ kind: "type", name: "email" }, LIMIT, null);
    await store.enqueue(newJobs(2));

    await failClaim("answer", request);
    const found = await store.claim(request);
    await store.claim(request);

    const granted = [{ limit: (await store.limits())[0]?.id, count: 2 }];
    expect(found.permits?.granted).toEqual(granted);
    expect(await store.keepPermits(worker.id, found.permits?.granted ?? [])).toBe(true);
    expect(await store.limits()).toMatchObject([{ used: 2 }]);
  });

  test("brings no permit of a later limit that the store has not noted", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: ["general"], limit: 9, prefetch: false } as const;
    const fast = { ...request, lanes: ["fast"] } as const;
    await store.register(worker);
    await store.enqueue(newJobs(1));
    await failClaim("answer", request);
    await store.setLimit({ kind: "type", name: "email" }, { concurrency: 1, rate: null }, null);
    await store.enqueue(newJobs(2, { lane: "fast" }));

    const one = await store.claim(fast);
    const found = await store.claim(request);
    // The found job has ended, and the worker lends the permit that came with the job.
    const next = await store.claim({ ...fast, permits: found.permits?.granted ?? [] });

    expect([one.jobs.length, found.jobs.length]).toEqual([1, 1]);
    expect(await store.limits()).toMatchObject([{ used: 2 }]);
    expect(next.jobs).toEqual([]);
  });

  test("is answered once with the permits of a probe", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", cap: 3 } as const;
    await store.register(worker);
    await store.setLimit({ kind: "type", name: "email" }, LIMIT, null);
    await uses(store, ["bank"]);
    await store.enqueue(newJobs(1));
    await fail(store, { limits: { failuresMax: 1, openMs: 1 } });
    await vi.waitFor(async () => expect((await store.promote(1)).probeInMs).toBe(0));

    broken = "answer";
    await expect(store.claimProbe(request)).rejects.toMatchObject({ code: "STORE_FAILED" });
    broken = null;
    const found = await store.claimProbe(request);

    expect(found?.granted).toEqual([{ limit: (await store.limits())[0]?.id, count: 1 }]);
    expect(await store.claimProbe(request)).toBeNull();
    expect(await store.keepPermits(worker.id, found?.granted ?? [])).toBe(true);
    expect(await store.limits()).toMatchObject([{ used: 1 }]);
  });
});

describe("a lost claim of a lone job", () => {
  test.each(["claim", "claimAlone"] as const)("is returned by the next %s", async (verb) => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", cap: 1 } as const;
    await store.register(worker);
    const id = await addCrashed(store, 1, { concurrencyKey: "k" });

    broken = "answer";
    await expect(store.claimAlone(request)).rejects.toMatchObject({ code: "STORE_FAILED" });
    broken = null;
    const limits = { limit: 1, prefetch: false, crashed: { once: 1, often: 1, cap: 1 } };
    const claim = verb === "claim" ? await store.claim({ ...request, ...limits }) : null;
    const found = await store.claimAlone(request);

    expect(claim?.awaitsAlone ?? true).toBe(true);
    expect(found?.job).toMatchObject({ id, n: 2, crashes: 1 });
    expect((await store.workers(5)).find((each) => each.id === worker.id)).toMatchObject({
      running: 0,
      prefetched: 1,
    });
  });

  test("is not searched for when the lock was refused", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", cap: 1 } as const;
    await store.register(worker);
    const id = await addCrashed(store, 1);
    broken = "lock";
    await expect(store.claimAlone(request)).rejects.toMatchObject({ code: "STORE_FAILED" });
    broken = null;

    const found = await store.claimAlone(request);
    const before = locks;

    expect(found?.job.id).toBe(id);
    expect(await store.claimAlone(request)).toBeNull();
    expect(locks).toBe(before);
  });
});

describe("a claim that took nothing and was answered with an error", () => {
  test("is never searched for when the lock was refused, however often", async () => {
    const { request, taker } = await twoWorkers();

    for (let time = 0; time < 100; time += 1) await failClaim("lock", request);
    await takeAll(taker);

    expect(await locksToFindNothing(request)).toBe(0);
  });

  test("is searched for once, under the lock, when its commit failed", async () => {
    const { request, taker } = await twoWorkers();

    await failClaim("commit", request);
    await takeAll(taker);

    expect(await locksToFindNothing(request)).toBe(1);
    expect(await locksToFindNothing(request)).toBe(0);
  });
});

async function failClaim(where: typeof broken, request: ClaimRequest): Promise<void> {
  broken = where;
  await expect(store.claim(request)).rejects.toMatchObject({ code: "STORE_FAILED" });
  broken = null;
}

/** One due job, and the claims of two workers. */
async function twoWorkers() {
  const [one, other] = [workerInfo(), workerInfo()];
  await store.register(one);
  await store.register(other);
  await store.enqueue(newJobs(1));
  const request = { worker: one.id, lanes: "any", limit: 1, prefetch: false } as const;
  return { request, taker: { ...request, worker: other.id } };
}

/** Until a claim finds nothing: the next claim reads before it requests the lock. */
async function takeAll(request: ClaimRequest): Promise<void> {
  while ((await store.claim(request)).jobs.length > 0);
}

async function locksToFindNothing(request: ClaimRequest): Promise<number> {
  const before = locks;
  expect(await store.claim(request)).toEqual(EMPTY);
  return locks - before;
}

function prepareHooked(this: DatabaseSync, text: string): StatementSync {
  const statement: StatementSync = Reflect.apply(plainPrepare, this, [text]);
  const run = statement.run.bind(statement);
  if (text === "BEGIN IMMEDIATE") {
    return Object.assign(statement, {
      run() {
        locks += 1;
        failIf(broken === "lock");
        return run();
      },
    });
  }
  if (text !== "COMMIT") return statement;
  return Object.assign(statement, {
    run() {
      failIf(broken === "commit");
      const answer = run();
      failIf(broken === "answer");
      return answer;
    },
  });
}

function failIf(isBroken: boolean): void {
  if (!isBroken) return;
  throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
}
