/**
 * The code base tests itself. Each rule is first shown to find what is planted in its fixture, at
 * the right lines and nowhere else; then the repository must give it nothing to find.
 */
import { describe, expect, test } from "vitest";
import type { Finding } from "./tidy/rule.ts";
import { RULES } from "./tidy/rules.ts";
import { longFiles } from "./tidy/sizes.ts";
import { dialectsOf } from "./tidy/sql-parity.ts";
import { readExpectedFindings, readFixture, readRepository } from "./tidy/tree.ts";

const repository = readRepository();

describe.each(RULES)("the rule $name", ({ name, find }) => {
  test("finds what is planted in its fixture, and only that", () => {
    expect(find(readFixture(name)).map(lineFor).toSorted()).toEqual(readExpectedFindings(name));
  });
});

describe("the repository", () => {
  test("is read as a whole", () => {
    const paths = new Set(repository.map(({ path }) => path));
    const samples = [
      ".ci/run",
      "LICENSE",
      "bin/millrace.js",
      "package-lock.json",
      "src/core/job.ts",
    ];
    expect(samples.filter((path) => !paths.has(path))).toEqual([]);
  });

  test.each(RULES)("obeys $name: $demands", ({ find }) => {
    expect(find(repository).map(lineFor)).toEqual([]);
  });

  const { long, all } = longFiles(repository);
  test(`has ${long} files of ${all} above the 300 lines wanted, at most one in twenty`, () => {
    expect(long).toBeLessThanOrEqual(all / 20);
  });

  const dialects = dialectsOf(repository).join(" and ");
  test(`compares the SQL of two dialects, once both are there: now ${dialects}`, () => {
    expect(["sqlite", "postgres and sqlite"]).toContain(dialects);
  });
});

function lineFor({ path, line, message }: Finding): string {
  return `${path}:${line} ${message}`;
}
