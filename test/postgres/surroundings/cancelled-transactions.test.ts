/** A statement time-out or a cancel that strikes around a transaction of the store. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { workerInfo } from "../../support/factories.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { CANCELLED, struckPool } from "../../support/struck-pool.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const inBegin = (text: string): string =>
  text.startsWith("BEGIN") ? `${text}; ${CANCELLED}` : text;
const atCommit = (text: string): string => (text === "COMMIT" ? `${CANCELLED}; ${text}` : text);
const atRollback = (text: string): string =>
  text === "ROLLBACK" ? `${CANCELLED}; ${text}` : inBegin(text);

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
    await Promise.allSettled([work(caller.store)]);
    caller.strike(null);

    const { rows } = await caller.pool.query("SELECT 1 AS answer");
    expect(rows).toEqual([{ answer: 1 }]);
    expect(caller.struck()).toBeGreaterThan(0);
  });
});

type Store = ReturnType<typeof makePostgresStore>;

/** A store on a pool of one connection. */
async function openCaller() {
  const { pool, strike } = struckPool(server.url, 1);
  let struck = 0;
  const store = makePostgresStore({ pool, schema: "struck" });
  await store.open();
  return {
    pool,
    store,
    /** How many statements were changed. */
    struck: (): number => struck,
    strike: (next: ((text: string) => string) | null): void =>
      strike((sent) => {
        const text = next?.(sent.text) ?? sent.text;
        if (text !== sent.text) struck += 1;
        return { ...sent, text };
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close();
      await pool.end();
    },
  };
}
