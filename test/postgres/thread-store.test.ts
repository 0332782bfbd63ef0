/** The store of the heartbeat thread on PostgreSQL, which has the verbs of the thread alone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaults } from "../../src/core/presets.ts";
import { settle } from "../../src/core/settle.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { makeThreadStore } from "../../src/store/postgres/thread-store.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, at, joinWorker, stateOf, take } from "../support/steps.ts";

/** Longer than any run: every run with a time limit is overdue. */
const SLACK_MS = -3_600_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("renews, ends an overdue run, and resolves the dependants of its job", async () => {
  const address = { url: server.url, schema: "thread_store" };
  const store = makePostgresStore(address);
  await store.open();
  const worker = await joinWorker(store);
  const [id] = await add(store, { timeoutMs: 1_000, maxAttempts: 1 });
  const [dependant] = await add(store, { after: [id] });
  await take(store, { worker });
  const thread = makeThreadStore(address);
  await thread.open();

  expect(await thread.renew(worker, 60_000)).toMatchObject({ status: "renewed", busy: true });
  const { lease, key, n, limitMs, facts } = at(await thread.overdue(worker, SLACK_MS), 0);
  const context = { policy: defaults.retry, random: 0 };
  const settlement = settle(facts, { type: "timed_out", limitMs }, context);
  expect(await thread.settle([{ lease, key, n, settlement }])).toEqual(["settled"]);

  expect(await stateOf(store, id)).toBe("failed");
  await expect.poll(() => stateOf(store, dependant), { timeout: 60_000 }).toBe("cancelled");
  await store.close();
});
