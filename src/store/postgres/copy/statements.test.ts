import { expect, test } from "vitest";
import { migrations } from "../database/migrations.gen.ts";
import { ANALYZE, EMPTY, GUARD, KEPT, OCCUPIED } from "./statements.ts";

test("a copy guards, checks and empties every table but meta and the owner's settings", () => {
  const sql = migrations.map((migration) => migration.sql).join("\n");
  const tables = [...sql.matchAll(/^CREATE TABLE millrace\.(\w+)/gm)].map(([, name]) => name);
  const wanted = new Set(tables.filter((name) => name !== "meta" && !KEPT.includes(`${name}`)));

  expect(tables).toEqual(expect.arrayContaining([...KEPT]));
  expect(named(GUARD, /DELETE ON millrace\.(\w+)/g)).toEqual(wanted);
  expect(named(OCCUPIED, /FROM millrace\.(\w+)/g)).toEqual(wanted);
  expect(named(ANALYZE, /millrace\.(\w+)/g)).toEqual(wanted);
  const [truncate = ""] = EMPTY.split(";");
  expect(named(truncate, /millrace\.(\w+)/g)).toEqual(wanted);
});

function named(text: string, pattern: RegExp): ReadonlySet<string | undefined> {
  return new Set([...text.matchAll(pattern)].map(([, name]) => name));
}
