import { expect, test } from "vitest";
import { completed, workerId, workerInfo } from "../../support/factories.ts";
import { add, joinWorker, settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

interface WorkerRequest {
  readonly verb: "quiet" | "stopWorker";
  /** What the renewals of the worker report. */
  readonly renewal: object;
  /** What the list of workers shows. */
  readonly shown: object;
}

/** What is true of every request of an operator to one worker. */
export function workerRequestTests(open: OpenStore, { verb, renewal, shown }: WorkerRequest): void {
  test("says when a worker is not known", async () => {
    await using db = await open();
    const { store } = db;
    const gone = await joinWorker(store);
    await store.deregister(gone);

    expect(await store[verb](workerId())).toBe(false);
    expect(await store[verb](gone)).toBe(false);
    expect(await store.workers(10)).toEqual([]);
  });

  test("is known again when it is repeated, and outlives a second join", async () => {
    await using db = await open();
    const { store } = db;
    const info = workerInfo();
    await store.register(info);

    expect(await store[verb](info.id)).toBe(true);
    expect(await store[verb](info.id)).toBe(true);
    await store.register(info);

    expect(await store.renew(info.id, 1_000)).toMatchObject(renewal);
  });

  test("is no beat, and leaves the worker its lease and what it holds", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    const [before] = await store.workers(1);

    await store[verb](batch.worker);

    expect(await store.workers(1)).toEqual([{ ...before, ...shown }]);
    await settleAll(store, batch, completed());
  });
}
