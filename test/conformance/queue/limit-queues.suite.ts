import { describe, expect, test } from "vitest";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { newJobs } from "../../support/factories.ts";
import { add, claimable, recordOf, take, type Batch } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TENANT = { kind: "tenant", name: "acme" } as const;
const ACME = { tenant: "acme" } as const;
/** More jobs than `hold` moves in one call. */
const MANY = 1_100;

/** The limit of the tenant is used up by a running job, and these jobs wait for it in its queue. */
async function fillQueue(
  store: JobStore,
  running: Partial<NewJob>,
  jobs: Partial<NewJob>,
): Promise<Batch> {
  await store.setLimit(TENANT, { concurrency: 1, rate: null }, null);
  await add(store, { ...ACME, ...running });
  const batch = await take(store);
  await store.enqueue(newJobs(MANY, { ...ACME, ...jobs }));
  return batch;
}

/** Moves all jobs of limits that are used up to their queues. */
async function holdAll(store: JobStore): Promise<void> {
  while ((await store.hold(1_000)) > 0);
}

export function limitQueuesSuite(open: OpenStore): void {
  describe("a long queue of a limit", () => {
    test("gives out a job behind a thousand of a lane that the worker does not take", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await fillQueue(store, {}, { lane: "other" });
      const [free] = await add(store, ACME);
      await holdAll(store);
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store, { lanes: ["general"], limit: 1 })).toEqual([free]);
    });

    test("gives out a job behind a thousand of types that the worker does not take", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await fillQueue(store, {}, { type: "import" });
      const [free] = await add(store, ACME);
      await holdAll(store);
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store, { types: ["email"], limit: 1 })).toEqual([free]);
    });

    test("gives out a job behind a thousand whose key is taken, which go to the key", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await fillQueue(store, {}, { concurrencyKey: "import" });
      const [keyed] = await add(store, { ...ACME, concurrencyKey: "import" });
      const [free] = await add(store, ACME);
      await holdAll(store);
      await store.keepPermits(batch.worker, []);
      await take(store, { limit: 1 });
      await store.setLimit(TENANT, { concurrency: 2, rate: null }, null);
      expect(await claimable(store, { limit: 1 })).toEqual([free]);

      await store.setLimit(TENANT, { concurrency: 9, rate: null }, null);
      await holdAll(store);

      expect((await recordOf(store, keyed)).heldBy).toEqual({ kind: "key", name: "import" });
    });

    test("keeps the order of claims over its lanes", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await fillQueue(store, {}, { lane: "other", priority: 50 });
      const [third, first] = await add(
        store,
        { ...ACME, priority: 60 },
        { ...ACME, lane: "z", priority: 10 },
      );
      await holdAll(store);
      await store.keepPermits(batch.worker, []);
      await store.setLimit(TENANT, { concurrency: MANY + 2, rate: null }, null);

      expect(await claimable(store, { limit: 1 })).toEqual([first]);
      await store.setLimit(TENANT, { concurrency: 2, rate: null }, null);
      expect(await claimable(store, { lanes: ["general", "z"], limit: 1 })).toEqual([third]);
    });
  });
}
