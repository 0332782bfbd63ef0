import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { openPostgres, type PostgresTestStore } from "../../support/stores.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("runFunction on PostgreSQL", () => {
  test("hands the whole payload to the function, and its JSON back (002-11, 002-13)", async () => {
    await using db = await openPostgres(server, "shared");
    await register(db, "echo", "jsonb_build_object('status', 'succeeded', 'payload', payload)");

    const answer = await db.store.runFunction("comms.echo", '{"id": 7, "deep": {"a": [1]}}');

    expect(JSON.parse(answer)).toEqual({
      status: "succeeded",
      payload: { id: 7, deep: { a: [1] } },
    });
  });

  test("answers null for a function that answers NULL", async () => {
    await using db = await openPostgres(server, "shared");
    await register(db, "nothing", "NULL::jsonb");

    expect(await db.store.runFunction("comms.nothing", "{}")).toBe("null");
  });

  test("tells a function that raises from one that does not exist", async () => {
    await using db = await openPostgres(server, "shared");
    await register(db, "broken", "to_jsonb(1 / 0)");

    await expect(db.store.runFunction("comms.broken", "{}")).rejects.toMatchObject({
      code: "FUNCTION_FAILED",
      message: expect.stringContaining("division by zero"),
      details: { function: "comms.broken", sqlState: "22012" },
    });
    await expect(db.store.runFunction("comms.other", "{}")).rejects.toMatchObject({
      code: "FUNCTION_UNKNOWN",
    });
  });
});

describe("the code of an error on PostgreSQL", () => {
  test.each(["ACC01", "P0001", "22023", "23505", "42P01", "MR123", "2F003", "44000"])(
    "%s is the function's own",
    async (state) => {
      await using db = await openPostgres(server, "shared");
      await raises(db, state);
      await expect(db.store.runFunction("comms.raising", "{}")).rejects.toMatchObject({
        code: "FUNCTION_FAILED",
        message: 'the function "comms.raising" raised: account closed',
        details: { sqlState: state },
      });
    },
  );

  test.each(["42501", "53100", "55P03", "57014", "58030", "XX000", "MR001"])(
    "%s is one of the database",
    async (state) => {
      await using db = await openPostgres(server, "shared");
      await raises(db, state);
      const called = db.store.runFunction("comms.raising", "{}");
      await expect(called).rejects.toMatchObject({ code: expect.stringMatching(/^STORE_/) });
    },
  );
});

describe("the time of a function on PostgreSQL", () => {
  const limit = "(SELECT to_jsonb(setting) FROM pg_settings WHERE name = 'statement_timeout')";

  test.each([
    [{}, 86_400_000],
    [{ leftMs: 90_000 }, 90_000],
  ])("is with %o what is left to the run: %d ms", async (limits, most) => {
    await using db = await openPostgres(server, "shared");
    await register(db, "limit", limit);
    const ms = Number(JSON.parse(await db.store.runFunction("comms.limit", "{}", limits)));
    // A part of the time has passed.
    expect(ms).toBeLessThanOrEqual(most);
    expect(ms).toBeGreaterThan(most - 5_000);
  });

  test("is named by the failure of a function that exceeds it", async () => {
    await using db = await openPostgres(server, "shared");
    await register(db, "slow", "to_jsonb(pg_sleep(60)::text)");
    await expect(db.store.runFunction("comms.slow", "{}", { leftMs: 200 })).rejects.toMatchObject({
      code: "FUNCTION_FAILED",
      message: expect.stringContaining("did not end within 200 ms"),
    });
  });

  test("ends with the run: an abort cancels the call", async () => {
    await using db = await openPostgres(server, "shared");
    await register(db, "slow", "to_jsonb(pg_sleep(60)::text)");
    const stop = new AbortController();
    const called = db.store.runFunction("comms.slow", "{}", { signal: stop.signal });
    await vi.waitFor(async () => expect(await sleeping(db)).toBe(1));
    stop.abort(new Error("the run is over"));
    await expect(called).rejects.toThrow("the run is over");
    expect(await sleeping(db)).toBe(0);
  });
});

async function sleeping(db: PostgresTestStore): Promise<number> {
  const { rows } = await db.pool.query(
    "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
  );
  return rows[0].n;
}

/** Registers a function that raises this code. */
async function raises(db: PostgresTestStore, state: string): Promise<void> {
  await db.pool.query(
    `CREATE OR REPLACE FUNCTION "${db.schema}".raise_it() RETURNS jsonb
     LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'account closed' USING ERRCODE = '${state}';
     END $$`,
  );
  await register(db, "raising", `"${db.schema}".raise_it()`);
}

/** Registers a function as `comms.<name>`; its body is an expression that may use `payload`. */
async function register(db: PostgresTestStore, name: string, body: string): Promise<void> {
  const signature = `"${db.schema}".${name}(jsonb)`;
  await db.pool.query(
    `CREATE OR REPLACE FUNCTION "${db.schema}".${name}(payload jsonb) RETURNS jsonb
     LANGUAGE sql AS $$ SELECT ${body} $$`,
  );
  await db.pool.query(`SELECT "${db.schema}".register_function($1::regprocedure, $2)`, [
    signature,
    `comms.${name}`,
  ]);
}
