/** A store behind a pooler in transaction mode: each transaction may have another session. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { completed } from "../../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { add, settleAll, startAll, stateOf, take } from "../../support/steps.ts";
import { startPooler } from "../../support/transaction-pooler.ts";

const SESSIONS = 2;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false, settings: ["synchronous_commit=off"] });
});
afterAll(() => server[Symbol.asyncDispose]());

test("the pooler of this test forgets what a session was told", async () => {
  await using pooler = await startPooler(server.url, SESSIONS);
  const [one, other] = [await connect(pooler.url), await connect(pooler.url)];
  await one.query("BEGIN");
  await other.query("SET application_name = 'remembered'");
  await one.query("COMMIT");
  await other.query("BEGIN");
  const { rows } = await other.query("SHOW application_name");
  expect(rows).not.toEqual([{ application_name: "remembered" }]);
  await other.query("COMMIT");
  await Promise.all([one.end(), other.end()]);
});

test("a store behind a pooler does its work and leaves nothing in a session", async () => {
  await using pooler = await startPooler(server.url, SESSIONS);
  const store = makePostgresStore({ url: pooler.url, schema: "pooled" });
  await store.open();
  const warned = new Promise<void>((resolve) => {
    store.onWarning((warning) => void (warning.includes("by polling only") && resolve()));
  });
  store.watch(() => {});
  await warned;
  const keyed = { dedup: { key: "site 7", onConflict: "skip" } } as const;
  const added = await Promise.all([{}, { priority: 7 }, keyed].map((job) => add(store, job)));
  const batch = await take(store, { prefetch: true });
  await startAll(store, batch);
  await settleAll(store, batch, completed());
  await store.pause({ kind: "lane", name: "general" }, { reason: "repair", by: null });

  const states = await Promise.all(added.flat().map((id) => stateOf(store, id)));
  expect(states).toEqual(["completed", "completed", "completed"]);
  expect(await store.gates()).toMatchObject([{ reason: "repair" }]);
  await store.close();

  // Each of the clients has one of the sessions.
  const clients = await Promise.all(Array.from({ length: SESSIONS }, () => connect(pooler.url)));
  for (const client of clients) await client.query("BEGIN");
  for (const client of clients) {
    const { rows } = await client.query("SHOW synchronous_commit");
    expect(rows).toEqual([{ synchronous_commit: "off" }]);
    const { rows: left } = await client.query(
      "SELECT name FROM pg_prepared_statements UNION ALL SELECT pg_listening_channels()",
    );
    expect(left).toEqual([]);
  }
  await Promise.all(clients.map((client) => client.end()));
});
