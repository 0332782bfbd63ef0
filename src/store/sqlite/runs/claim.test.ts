import { DatabaseSync, type StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newJobs, workerInfo } from "../../../../test/support/factories.ts";
import type { ClaimRequest } from "../../types/jobs-and-runs.ts";
import type { JobStore } from "../../store.ts";
import { makeSqliteStore } from "../create.ts";

const EMPTY = { lease: null, jobs: [], lost: false };
const plainPrepare: DatabaseSync["prepare"] = Reflect.get(DatabaseSync.prototype, "prepare");
/** Where the disk fails: nobody gets the lock, no commit is made, or one is made unheard. */
let broken: "lock" | "commit" | "answer" | null = null;
/** How often the write lock was asked for. */
let locks = 0;
let store: JobStore;

beforeEach(async () => {
  broken = null;
  locks = 0;
  vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(prepareTapped);
  store = makeSqliteStore({ path: ":memory:" });
  await store.open();
});

afterEach(async () => {
  await store.close();
  vi.restoreAllMocks();
});

describe("a claim that was committed and answered with an error", () => {
  test("is the answer to the next one for the same slots", async () => {
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

  test("is not told twice when the answer to that is lost as well", async () => {
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

  test("gives its prefetch back", async () => {
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

describe("a claim that took nothing and was answered with an error", () => {
  test("is never looked for when the store let nobody in, however often", async () => {
    const { request, taker } = await twoWorkers();

    for (let time = 0; time < 100; time += 1) await failClaim("lock", request);
    await takeAll(taker);

    expect(await locksToFindNothing(request)).toBe(0);
  });

  test("is looked for once, under the lock, when its commit failed", async () => {
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

/** One job that is due, and what two workers ask for it. */
async function twoWorkers() {
  const [one, other] = [workerInfo(), workerInfo()];
  await store.register(one);
  await store.register(other);
  await store.enqueue(newJobs(1));
  const request = { worker: one.id, lanes: "any", limit: 1, prefetch: false } as const;
  return { request, taker: { ...request, worker: other.id } };
}

/** Until a claim finds nothing: the next one looks before it asks for the lock. */
async function takeAll(request: ClaimRequest): Promise<void> {
  while ((await store.claim(request)).jobs.length > 0);
}

async function locksToFindNothing(request: ClaimRequest): Promise<number> {
  const before = locks;
  expect(await store.claim(request)).toEqual(EMPTY);
  return locks - before;
}

function prepareTapped(this: DatabaseSync, text: string): StatementSync {
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
