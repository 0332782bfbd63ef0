/** Searches that must not scan a table on SQLite. */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";

const { queries } = describeQueries("sqlite", queryFiles("sqlite"));

test("ids_between reads ranges of indexes", () => {
  const steps = planOf("ids_between");

  expect(steps.filter((step) => /\bmillrace_\w+.*\(id>\? AND id<\?\)/.test(step))).toHaveLength(3);
  expect(steps.filter((step) => step.startsWith("SCAN millrace_"))).toEqual([]);
});

test("units_of_job reads one page in the order of an index, without a sort", () => {
  const steps = planOf("units_of_job");

  const search = steps.find((step) => step.startsWith("SEARCH unit"));
  expect(search).toMatch(/millrace_unit_turn \(key=\? AND \(phase,turn,unit\)>\(\?,\?,\?\)/);
  expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
});

test("count_ahead reads the order of the claim up to the job, and crashed jobs apart", () => {
  const steps = planOf("count_ahead");

  const [clean, crashed] = steps.filter((step) => step.startsWith("SEARCH ready"));
  expect(clean).toMatch(/\(lane=\? AND crashes=\? AND \(priority,rank,key\)<\(\?,\?,\?\)\)/);
  expect(crashed).toMatch(/\(lane=\? AND crashes>\?\)/);
  expect(steps.filter((step) => step.startsWith("SCAN ready"))).toEqual([]);
});

test("claim_limited reads one lane of the queue of a limit in the order of the claim", () => {
  const steps = planOf("claim_limited");

  const search = steps.find((step) => step.startsWith("SEARCH front"));
  expect(search).toMatch(/millrace_blocked_queue \(gate=\? AND lane=\? AND priority>/);
  expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
});

function planOf(name: string): string[] {
  using database = new DatabaseSync(":memory:");
  for (const { sql } of assembleMigrations("sqlite")) database.exec(sql);
  const { text } = queries.find((query) => query.name === name) ?? { text: "" };
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${bindParameters(text, "sqlite").text}`).all();
  return plan.map(({ detail }) => String(detail));
}
