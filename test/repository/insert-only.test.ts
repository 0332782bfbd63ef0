/** Which tables the SQL of a store changes. Every line of SQL is below `sql/`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRepository } from "../tidy/tree.ts";
import { root } from "../../scripts/lib/command.ts";
import type { Dialect } from "../../scripts/sql/files.ts";

const UPDATE = /\bUPDATE\s+(?:ONLY\s+)?millrace[_.](\w+)/g;
const UPSERT = /\bINSERT INTO millrace[_.](\w+)(?:(?!\bINSERT INTO\b)[^;])*\bDO UPDATE\b/g;

describe.each(["sqlite", "postgres"] as const)("the SQL of %s", (dialect) => {
  test("updates no request, no run of the ledger and no event (002-01, 002-04, C-16)", () => {
    const updated = updatedTables(dialect);

    expect(["job", "attempt", "event"].filter((table) => updated.has(table))).toEqual([]);
    expect([...updated]).toEqual(expect.arrayContaining(["lease", "unit", "run", "worker"]));
  });

  test("keeps progress and leases in tables of their own (C-16)", () => {
    const tables = new Map(tablesOf(dialect));

    expect([...tables.keys()]).toEqual(expect.arrayContaining(["lease", "run", "phase", "unit"]));
    expect(tables.get("job")).not.toMatch(/\b(state|progress|percent|phase|worker|lease|fence)\b/);
  });
});

function updatedTables(dialect: Dialect): ReadonlySet<string> {
  const text = sqlOf(dialect);
  return new Set(
    [...text.matchAll(UPDATE), ...text.matchAll(UPSERT)].map(([, table = ""]) => table),
  );
}

/** The text of each `CREATE TABLE`, by the name of the table. */
function tablesOf(dialect: Dialect): readonly (readonly [string, string])[] {
  const text = readFileSync(join(root, "sql", dialect, "migrations", "0001_tables.sql"), "utf8");
  return [...text.matchAll(/^CREATE TABLE millrace[_.](\w+) \(([\s\S]*?)^\)/gm)].map(
    ([, table = "", columns = ""]) => [table, columns],
  );
}

function sqlOf(dialect: Dialect): string {
  return readRepository()
    .filter(({ path }) => path.startsWith(`sql/${dialect}/`))
    .map(({ text }) => text.replaceAll(/--.*$/gm, ""))
    .join("\n");
}
