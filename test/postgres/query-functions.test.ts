/** Named queries as routines, for users who may not touch tables. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries, type DescribedQuery } from "../../scripts/sql/headers.ts";
import { parametersOf, routineOf } from "../../scripts/sql/routines.ts";
import { callOf } from "../../src/store/postgres/database/statements.ts";
import { queries as embedded } from "../../src/store/postgres/database/queries.gen.ts";
import { routinesOf } from "../../src/store/postgres/rights/routines.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { fillStates } from "../support/all-states.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const queries = describeQueries("postgres", queryFiles("postgres")).queries.filter(
  (query) => routineOf(query) !== null,
);
/**
 * These draw from a sequence, which no rollback resets, name the statement that asks, or read the
 * server's statistics, which arrive late.
 */
const UNREPEATABLE = new Set([
  "claim",
  "draw_keys",
  "insert_jobs",
  "table_health",
  "vacuum_holders",
]);
const DENIED = "42501";
const WRITES = /\b(?:INSERT|UPDATE|DELETE)\b/;

/** Rows, or how many rows a statement touched, or the code of an error. */
type Answer = readonly string[] | number | string;

let server: PostgresServer;
let client: Client;
let values: Readonly<Record<string, string | null>>;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  client = await connect(server.url);
  const store = makePostgresStore({ url: server.url, schema: "millrace" });
  await store.open();
  await fillStates(store, 100);
  await store.close();
  for (const { statement } of routinesOf("millrace")) await client.query(statement);
  values = await valuesToAskWith();
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

/** By the name of a parameter, else by its type. */
async function valuesToAskWith(): Promise<Readonly<Record<string, string | null>>> {
  const { rows } = await client.query(`SELECT
    (SELECT array_agg(key ORDER BY key)::text FROM millrace.job) AS "bigint[]",
    (SELECT array_agg(id ORDER BY key)::text FROM millrace.job) AS "uuid[]",
    (SELECT array_agg(id)::text FROM millrace.interned_name) AS "integer[]",
    lease.keys[1]::text AS "bigint", job.id::text AS "uuid", lease.worker::text AS worker,
    lease.number::text AS number, lease.secret AS secret, job.type::text AS type,
    job.lane::text AS lane, now()::text AS now
    FROM millrace.lease AS lease
    JOIN millrace.job AS job ON job.key = lease.keys[1]
    ORDER BY lease.number LIMIT 1`);
  return {
    ...rows[0],
    before: "9007199254740991",
    boolean: "true",
    from_at: "0",
    integer: "1",
    json: "[]",
    limit: "20",
    max: "20",
    schema: "millrace",
    smallint: "4",
    "smallint[]": "{4}",
    states: "{1,2,3,4,5,6,7}",
    tags: "{}",
    text: "default",
    "text[]": "{default}",
    timestamptz: null,
  };
}

function valuesOf(query: DescribedQuery): (string | null)[] {
  return parametersOf(query).map(({ name, type }) => {
    const value = values[name] ?? values[type];
    if (value === undefined) throw new Error(`${query.name}: no value for ${name} ${type}`);
    return value;
  });
}

describe("a query as a routine", () => {
  test("gives the answer of the query", async () => {
    const kinds = { reads: 0, writesAndReturns: 0, writes: 0 };
    for (const query of queries.filter(({ name }) => !UNREPEATABLE.has(name))) {
      const asQuery = await answerOf(query, bindParameters(query.text, "postgres").text);
      const asFunction = await answerOf(query, textOfCall(query));

      expect({ [query.name]: asFunction }).toEqual({ [query.name]: asQuery });
      if (typeof asQuery === "string" || asQuery === 0) continue;
      if (typeof asQuery === "number") kinds.writes += 1;
      else if (asQuery.length > 0) kinds[kindOf(query)] += 1;
    }
    expect(kinds.reads).toBeGreaterThan(40);
    expect(kinds.writesAndReturns).toBeGreaterThan(12);
    expect(kinds.writes).toBeGreaterThan(7);
  });

  test("can be called by a role that may not touch the tables", async () => {
    await client.query(
      "CREATE ROLE clerk; GRANT USAGE ON SCHEMA millrace TO clerk; SET ROLE clerk",
    );
    try {
      const query = queries.find(({ name }) => name === "job_by_id")!;
      expect(await answerOf(query, bindParameters(query.text, "postgres").text)).toBe(DENIED);
      expect(await answerOf(query, textOfCall(query))).toHaveLength(1);
    } finally {
      await client.query("RESET ROLE");
    }
  });
});

function kindOf({ text }: DescribedQuery): "reads" | "writesAndReturns" {
  return WRITES.test(text.replace(/--.*$/gm, "")) ? "writesAndReturns" : "reads";
}

function textOfCall({ name }: DescribedQuery): string {
  return (isEmbedded(name) ? callOf(name) : undefined) ?? "";
}

function isEmbedded(name: string): name is keyof typeof embedded {
  return name in embedded;
}

/** Runs a statement and takes back what it did. */
async function answerOf(query: DescribedQuery, text: string): Promise<Answer> {
  await client.query("BEGIN");
  try {
    const { rows, rowCount } = await client.query<unknown[]>({
      text,
      values: valuesOf(query),
      rowMode: "array",
    });
    if (query.returns !== null) return rows.map((row) => JSON.stringify(row)).toSorted();
    return text.startsWith("SELECT * FROM millrace.run_") ? Number(rows[0]?.[0]) : (rowCount ?? 0);
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    await client.query("ROLLBACK");
  }
}
