/** What the headers of the queries say is what PostgreSQL returns. */
import type { Client, Connection, FieldDef, Submittable } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const { queries } = describeQueries("postgres", queryFiles("postgres"));

let server: PostgresServer;
let client: Client;
let typeNames: ReadonlyMap<number, string>;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  client = await connect(server.url);
  await client.query("CREATE SCHEMA millrace");
  for (const { sql } of assembleMigrations("postgres")) await client.query(sql);
  const { rows } = await client.query<{ oid: number; name: string }>(
    "SELECT oid::integer, format_type(oid, NULL) AS name FROM pg_type",
  );
  typeNames = new Map(rows.map(({ oid, name }) => [oid, name]));
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

test.each(queries)("$name has the columns of its header", async ({ text, returns }) => {
  const found = await describeStatement(bindParameters(text, "postgres").text);

  const columns = (returns?.columns ?? []).map(({ name, type }) => `${name} ${type}`);
  expect(columns).toEqual(
    found.map(({ name, dataTypeID }) => `${name} ${typeNames.get(dataTypeID)}`),
  );
});

/** The columns of a statement that is parsed and not run. */
function describeStatement(text: string): Promise<readonly FieldDef[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly FieldDef[]>();
  let fields: readonly FieldDef[] = [];
  client.query({
    submit(connection: Connection): void {
      connection.parse({ name: "", text, types: [] }, true);
      connection.describe({ type: "S", name: "" }, true);
      connection.sync();
    },
    handleRowDescription(message: { fields: readonly FieldDef[] }): void {
      fields = message.fields;
    },
    handleError: reject,
    handleReadyForQuery: () => resolve(fields),
  } as Submittable);
  return promise;
}
