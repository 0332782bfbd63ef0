/** Any name of a schema will do, and installations in one database never touch each other. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { completed, retention } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, claimable, settleAll, stateOf, take } from "../support/steps.ts";

let server: PostgresServer;
let client: Client;
beforeAll(async () => {
  server = await startPostgres();
  client = await connect(server.url);
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

async function open(schema: string) {
  const store = makePostgresStore({ url: server.url, schema, poolSize: 4 });
  await store.open();
  return store;
}

describe("the functions of a schema", () => {
  test("are executable with a grant only; functions of others stay as they are", async () => {
    await client.query(`CREATE SCHEMA guarded;
      CREATE FUNCTION guarded.theirs() RETURNS integer LANGUAGE sql RETURN 1;
      CREATE ROLE stranger; CREATE ROLE clerk LOGIN;`);
    const owner = await open("guarded");
    await client.query(`GRANT USAGE ON SCHEMA guarded TO clerk, stranger;
      GRANT ALL ON ALL TABLES IN SCHEMA guarded TO clerk;
      GRANT ALL ON ALL SEQUENCES IN SCHEMA guarded TO clerk;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA guarded TO clerk`);
    const url = new URL(server.url);
    url.username = "clerk";
    const store = makePostgresStore({ url: url.href, schema: "guarded", poolSize: 4 });
    await store.open();

    const [id] = await add(store, {});
    await settleAll(store, await take(store), completed());

    expect(await stateOf(store, id)).toBe("completed");
    expect(await executableBy("stranger")).toEqual(["theirs"]);
    expect(await executableBy("clerk")).toContain("enqueue_alike");
    await Promise.all([store.close(), owner.close()]);
  });
});

async function executableBy(role: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc
     WHERE pronamespace = 'guarded'::regnamespace AND has_function_privilege($1, oid, 'EXECUTE')
     ORDER BY proname`,
    [role],
  );
  return rows.map(({ name }) => name);
}

describe("a schema", () => {
  test.each([
    ['My "Schema"'],
    ["O'Brien; --"],
    ["queue$1"],
    ["millrace.job"],
    ["größe, 鐘, 🕰"],
    ["é".repeat(31) + "x"],
    ["SELECT"],
    ["public"],
    [String.raw`C:\new\table' OR '\one`],
  ])("may be called %s", async (schema) => {
    const [store, other] = [await open(schema), await open(schema)];
    const woken = new Promise((resolve) => other.watch(resolve));

    const [id] = await add(store, { tags: { a: "b" }, idempotency: KEY });
    await settleAll(store, await take(store), completed());

    expect(await woken).toBe("work");
    // The first hint comes with the connection; those that follow have come over it.
    const wokenAgain = new Promise((resolve) => other.watch(resolve));
    await store.pause(GATE, { reason: "to be heard of", by: null });
    await store.resume(GATE);
    expect(["work", "final", "events"]).toContain(await wokenAgain);
    expect(await stateOf(other, id)).toBe("completed");
    expect((await store.list({ tags: { a: "b" } }, { limit: 5 })).jobs).toMatchObject([{ id }]);
    expect(await store.feed(0, 10)).toHaveLength(3);
    expect((await store.prune(retention(), 10)).more).toBe(false);
    await Promise.all([store.close(), other.close()]);
  });

  test("may have a backslash where a backslash escapes in strings", async () => {
    await client.query("CREATE DATABASE old_strings");
    await client.query("ALTER DATABASE old_strings SET standard_conforming_strings = off");
    const url = new URL(server.url);
    url.pathname = "old_strings";
    const schema = String.raw`C:\new\table' OR '\one`;
    const store = makePostgresStore({ url: url.href, schema, poolSize: 4 });
    await store.open();

    const [id] = await add(store, { tags: { a: String.raw`b\c` }, idempotency: KEY });
    await settleAll(store, await take(store), completed());

    expect(await stateOf(store, id)).toBe("completed");
    const tagged = await store.list({ tags: { a: String.raw`b\c` } }, { limit: 5 });
    expect(tagged.jobs).toMatchObject([{ id }]);
    expect((await store.examine()).findings).toEqual([]);
    await store.close();
  });

  test("is examined under any name", async () => {
    const store = await open('Odd "name", schräg');
    expect((await store.examine()).findings).toEqual([]);
    await store.close();
  });

  test.each([
    [""],
    ["pg_mine"],
    ["a$claim$b"],
    ["a\0b"],
    ["two\nlines"],
    ["x".repeat(64)],
    ["é".repeat(32)],
  ])("may not be called %j", (schema) => {
    const make = () => makePostgresStore({ url: server.url, schema });
    expect(make).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

const GATE = { kind: "type", name: "email" } as const;
const KEY = { key: "once", onConflict: "return-existing" } as const;

describe("two installations in one database", () => {
  test("never touch each other, not even when their names differ by a capital", async () => {
    const [small, capital] = [await open("fleet"), await open("Fleet")];
    const [theirs] = await add(capital, { idempotency: KEY });
    const before = await contentsOf("Fleet");

    const [ours] = await add(small, { idempotency: KEY });
    await settleAll(small, await take(small), completed());
    await small.pause(GATE, { reason: "ours alone", by: null });
    await small.prune({ ...retention(), eventMs: 0 }, 10);

    expect(await contentsOf("Fleet")).toEqual(before);
    expect(await capital.get(ours)).toBeNull();
    await client.query('DROP SCHEMA "fleet" CASCADE');
    expect(await claimable(capital)).toEqual([theirs]);
    await Promise.all([small.close(), capital.close()]);
  });
});

/** Every row of every table. */
async function contentsOf(schema: string): Promise<Record<string, unknown>> {
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 ORDER BY 1",
    [schema],
  );
  const contents: Record<string, unknown> = {};
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT * FROM "${schema}"."${name}"`);
    contents[name] = rows;
  }
  return contents;
}
