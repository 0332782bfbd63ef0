/** A statement time-out or a cancel that strikes around a transaction of the store. */
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { workerInfo } from "../../support/factories.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";

/** The session cancels its own statement. */
const STRUCK = "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

type Strike = (text: string) => string;

const inBegin: Strike = (text) => (text.startsWith("BEGIN") ? `${text}; ${STRUCK}` : text);
const atCommit: Strike = (text) => (text === "COMMIT" ? `${STRUCK}; ${text}` : text);
const atRollback: Strike = (text) => (text === "ROLLBACK" ? `${STRUCK}; ${text}` : inBegin(text));

describe("a cancel leaves no open transaction in a connection of the caller's pool", () => {
  const leaving = async (store: Store): Promise<void> => store.deregister(workerInfo().id);

  test.each([
    ["in the BEGIN of a write", inBegin, leaving],
    ["at the COMMIT of a write", atCommit, leaving],
    ["at the ROLLBACK after it", atRollback, leaving],
    ["in the BEGIN of a snapshot", inBegin, (store: Store) => store.stats(10)],
    ["at the COMMIT of a snapshot", atCommit, (store: Store) => store.stats(10)],
    ["in the BEGIN of a dry run", inBegin, (store: Store) => store.examine()],
    ["at the ROLLBACK of a dry run", atRollback, (store: Store) => store.examine()],
  ])("%s", async (_, strike, work) => {
    await using caller = await openCaller();

    caller.strike(strike);
    await expect(work(caller.store)).rejects.toMatchObject({ code: "STORE_BUSY" });
    caller.strike(null);

    const { rows } = await caller.pool.query("SELECT 1 AS answer");
    expect(rows).toEqual([{ answer: 1 }]);
  });
});

type Store = ReturnType<typeof makePostgresStore>;

/** A store on a pool of one connection, whose texts can be changed on their way to the server. */
async function openCaller() {
  let strike: Strike | null = null;
  class StruckClient extends Client {
    // The driver has many forms of this method; the store uses one of them.
    override query(...args: [any, ...any[]]): any {
      const [sent, ...rest] = args;
      const text: unknown = sent?.text;
      const isStruck = strike !== null && typeof text === "string";
      return super.query(isStruck ? { ...sent, text: strike?.(text) } : sent, ...rest);
    }
  }
  const pool = new Pool({ connectionString: server.url, max: 1, Client: StruckClient });
  const store = makePostgresStore({ pool, schema: "struck" });
  await store.open();
  return {
    pool,
    store,
    strike: (next: Strike | null): void => void (strike = next),
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close();
      await pool.end();
    },
  };
}
