/**
 * Jobs that claims have passed, because their concurrency key was taken, are below the position at
 * which the next claim starts. They are found as soon as the key is free, also while the rescans of
 * the store have used up their budget.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { completed } from "../support/factories.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { struckPool } from "../support/struck-pool.ts";
import { add, claimable, joinWorker, settleAll, takeOne, type Batch } from "../support/steps.ts";

const KEYED = { concurrencyKey: "docs/main" };
/** The time of a scan that is longer than the budget of rescans, in microseconds. */
const SLOW_SCAN = 5_000_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("a job whose key was released by the end of a run is claimed at once", async () => {
  await using scene = await passedJob("released");
  const { store, worker, holder, passed } = scene;

  await settleAll(store, holder, completed());

  expect(await claimable(store, { worker })).toEqual([passed]);
});

test("a claim that could not look everywhere is followed by a wake-up", async () => {
  await using scene = await passedJob("woken");
  const { store, worker } = scene;

  expect(await claimable(store, { worker })).toEqual([]);

  await new Promise<void>((resolve) => {
    store.watch((wakeUp) => void (wakeUp === "ready" && resolve()));
  });
}, 20_000);

interface Scene extends AsyncDisposable {
  readonly store: JobStore;
  readonly worker: string;
  /** The run that holds the key. */
  readonly holder: Batch;
  /** The job that waits for the key, below the position of the claims. */
  readonly passed: string;
}

/** One worker whose store has just made a rescan that took long. */
async function passedJob(schema: string): Promise<Scene> {
  const { pool, strike } = struckPool(server.url, 10);
  const store = makePostgresStore({ pool, schema });
  await store.open();
  const worker = await joinWorker(store, { leaseMs: 600_000 });
  const [, passed] = await add(store, KEYED, KEYED, {});
  const holder = await takeOne(store, { worker });
  await takeOne(store, { worker });
  strike(slowScan);
  expect(await claimable(store, { worker })).toEqual([]);
  strike(null);
  return {
    store,
    worker,
    holder,
    passed,
    async [Symbol.asyncDispose]() {
      await store.close();
      await pool.end();
    },
  };
}

/** The server says of a claim that its scan has taken long. */
function slowScan(sent: { readonly text: string }): object {
  if (!sent.text.includes("claim_batch")) return sent;
  const time = `CASE WHEN id IS NULL THEN ${SLOW_SCAN} ELSE created_at END AS created_at`;
  const rest = "kind, payload, payload_version, correlation, parent, concurrency, tags";
  const text = `SELECT lost, key, id, ${time}, ${rest} FROM (${sent.text}) AS claimed`;
  // A statement of another text must not have the name of the prepared one.
  return { ...sent, name: undefined, text };
}
