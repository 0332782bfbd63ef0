import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { standInFunctions } from "../../support/channels/run-function.ts";
import { openPostgres } from "../../support/stores.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("runFunction on PostgreSQL", () => {
  test("hands the whole payload to the function, and its JSON back (002-11, 002-13)", async () => {
    await using db = await openPostgres(server, "shared");
    const functions = await standInFunctions(db.pool, db.schema);
    await functions.add(
      "comms.echo",
      "jsonb_build_object('status', 'succeeded', 'payload', payload)",
    );

    const answer = await db.store.runFunction("comms.echo", '{"id": 7, "deep": {"a": [1]}}');

    expect(JSON.parse(answer)).toEqual({
      status: "succeeded",
      payload: { id: 7, deep: { a: [1] } },
    });
  });

  test("answers null for a function that answers NULL", async () => {
    await using db = await openPostgres(server, "shared");
    const functions = await standInFunctions(db.pool, db.schema);
    await functions.add("comms.nothing", "NULL::jsonb");

    expect(await db.store.runFunction("comms.nothing", "{}")).toBe("null");
  });

  test("tells a function that raises from one that does not exist", async () => {
    await using db = await openPostgres(server, "shared");
    const functions = await standInFunctions(db.pool, db.schema);
    await functions.add("comms.broken", "to_jsonb(1 / 0)");

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
