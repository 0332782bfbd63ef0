/** The connection on which hints of other processes are heard. */
import { Client, Pool, type ClientConfig } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("a listener bounds its wait for a connection, though the caller's pool does not", async () => {
  const connections: ClientConfig[] = [];
  class WatchedClient extends Client {
    constructor(config: ClientConfig = {}) {
      super(config);
      connections.push(config);
    }
  }
  const pool = new Pool({ connectionString: server.url, Client: WatchedClient });
  // The driver ends a process that does not listen.
  pool.on("error", () => {});
  const store = makePostgresStore({ pool, schema: "listener" });
  await store.open();
  const heard = new Promise((resolve) => store.watch(resolve));

  // What was said while no connection listened is told as soon as the listener stands.
  await heard;

  const bounds = connections.map(({ connectionTimeoutMillis }) => connectionTimeoutMillis);
  expect(bounds.filter((ms) => ms === undefined).length).toBeGreaterThan(0);
  expect(bounds.filter((ms) => ms !== undefined && ms > 0)).toHaveLength(1);
  await store.close();
  await pool.end();
});
