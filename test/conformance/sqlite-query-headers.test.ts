/** What the headers of the queries say is what SQLite returns. */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";

const { queries } = describeQueries("sqlite", queryFiles("sqlite"));
/** What SQLite calls the types of a header. It knows the type of a column, not of an expression. */
const NAMES: Readonly<Record<string, string>> = {
  blob: "BLOB",
  boolean: "INTEGER",
  integer: "INTEGER",
  real: "REAL",
  text: "TEXT",
};

test.each(queries)("$name has the columns of its header", ({ text, returns }) => {
  using database = new DatabaseSync(":memory:");
  for (const { sql } of assembleMigrations("sqlite")) database.exec(sql);

  const found = database.prepare(bindParameters(text, "sqlite").text).columns();

  const columns = returns?.columns ?? [];
  expect(columns.map(({ name, type }, index) => [name, found[index]?.type && NAMES[type]])).toEqual(
    found.map(({ name, type }) => [name, type]),
  );
});

test.each([
  ["an unknown type", "-- returns: key number", /key has an unknown type/],
  ["a column without a type", "-- returns: key, n integer", /cannot read "key, n/],
  ["a row that is not declared", "-- returns: KeyRow", /KeyRow is not declared/],
  ["a tuple for a row", "-- tuple Pair: a text\n-- returns: Pair", /Pair is a tuple/],
])("a header with %s is refused", (_, header, message) => {
  const text = `-- name: find\n-- Finds.\n${header}\nSELECT 1;`;
  expect(() => describeQueries("sqlite", [{ path: "find.sql", text }])).toThrow(message);
});
