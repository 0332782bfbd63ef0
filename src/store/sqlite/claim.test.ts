import { DatabaseSync, type StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newJobs, workerInfo } from "../../../test/support/factories.ts";
import type { ClaimRequest, JobStore } from "../store.ts";
import { makeSqliteStore } from "./make.ts";

const plainPrepare: DatabaseSync["prepare"] = Reflect.get(DatabaseSync.prototype, "prepare");
/** The next commits that are made, and answered with an error all the same. */
let lost = 0;
let store: JobStore;

beforeEach(async () => {
  lost = 0;
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
    const request = { worker: worker.id, lanes: "any", limit: 2, buffer: false } as const;
    await store.join(worker);
    await store.enqueue(newJobs(3));

    await loseClaim(request);
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
    const request = { worker: worker.id, lanes: "any", limit: 5, buffer: false } as const;
    await store.join(worker);
    await store.enqueue(newJobs(2));

    await loseClaim(request);
    await loseClaim(request);
    const found = await store.claim(request);
    const again = await store.claim(request);

    expect(found.jobs).toHaveLength(2);
    expect(again.jobs).toEqual([]);
  });

  test("gives its buffer back", async () => {
    const worker = workerInfo();
    const request = { worker: worker.id, lanes: "any", limit: 2, buffer: true } as const;
    await store.join(worker);
    await store.enqueue(newJobs(2));

    await loseClaim(request);
    const { jobs } = await store.claim({ ...request, buffer: false });

    expect(jobs).toHaveLength(2);
    expect((await store.workers(1))[0]).toMatchObject({ running: 2, buffered: 0 });
  });
});

async function loseClaim(request: ClaimRequest): Promise<void> {
  lost = 1;
  await expect(store.claim(request)).rejects.toMatchObject({ code: "STORE_FAILED" });
}

function prepareTapped(this: DatabaseSync, text: string): StatementSync {
  const statement: StatementSync = Reflect.apply(plainPrepare, this, [text]);
  if (text !== "COMMIT") return statement;
  const run = statement.run.bind(statement);
  return Object.assign(statement, {
    run() {
      const answer = run();
      if (lost === 0) return answer;
      lost -= 1;
      throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
    },
  });
}
