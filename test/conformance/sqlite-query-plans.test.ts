/** Searches that must not scan a table on SQLite. */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";

const { queries } = describeQueries("sqlite", queryFiles("sqlite"));

test.each(["ids_between"])("%s reads ranges of indexes", (name) => {
  using database = new DatabaseSync(":memory:");
  for (const { sql } of assembleMigrations("sqlite")) database.exec(sql);
  const { text } = queries.find((query) => query.name === name) ?? { text: "" };

  const plan = database.prepare(`EXPLAIN QUERY PLAN ${bindParameters(text, "sqlite").text}`).all();

  const steps = plan.map(({ detail }) => String(detail));
  expect(steps.filter((step) => /\bmillrace_\w+.*\(id>\? AND id<\?\)/.test(step))).toHaveLength(3);
  expect(steps.filter((step) => step.startsWith("SCAN millrace_"))).toEqual([]);
});
