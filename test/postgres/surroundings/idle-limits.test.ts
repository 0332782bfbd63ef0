/** A role whose transactions may be idle for a moment only, on a connection that is slower. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { completed } from "../../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { add, settleAll, take } from "../../support/steps.ts";

/** Many times the limit of the role. */
const STATEMENT_MS = 15;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  const client = await connect(server.url);
  await client.query("ALTER ROLE postgres SET idle_in_transaction_session_timeout = '1ms'");
  // Single statements then need a transaction, too.
  await client.query("ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
  await client.end();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Each statement leaves late. */
class SlowClient extends Client {
  override async query(sent: any): Promise<any> {
    await sleep(STATEMENT_MS);
    return super.query(sent);
  }
}

test("transactions of the store have a limit of their own", async () => {
  const pool = new Pool({ connectionString: server.url, Client: SlowClient, max: 1 });
  const ends: unknown[] = [];
  pool.on("error", (error) => ends.push(error));
  pool.on("connect", (client) => client.on("error", (error) => ends.push(error)));
  // Opening migrates.
  const store = makePostgresStore({ pool, schema: "idle" });
  await store.open();

  await store.pause({ kind: "lane", name: "mail" }, { reason: "repair", by: null });
  await add(store, {}, { dedup: { key: "site 7", onConflict: "skip" } });
  await settleAll(store, await take(store), completed());
  await store.stats(100);
  const { findings } = await store.examine();

  expect(findings.map(({ name }) => name)).not.toContain("schema");
  expect(ends).toEqual([]);
  await store.close();
  await pool.end();
});
