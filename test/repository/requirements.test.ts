/** The list of requirements and the numbers in the titles of tests tell the same. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/command.ts";
import { requirementsAndTests, testsOf } from "../../scripts/show/lib/requirements.ts";
import { readRepository } from "../tidy/tree.ts";

const run = promisify(execFile);
const repository = requirementsAndTests(readRepository());
const { requirements, tests, strays } = repository;
const listed = requirements.map(({ number }) => number);

describe("the list of requirements", () => {
  test("has each number of each origin once, without a gap", () => {
    for (const origin of ["000", "001", "002", "003", "004", "C"]) {
      const numbers = listed.filter((number) => number.startsWith(`${origin}-`)).toSorted();
      const expected = numbers.map((_, index) => `${origin}-${String(index + 1).padStart(2, "0")}`);
      expect(numbers).toEqual(expected);
      expect(numbers).not.toEqual([]);
    }
  });

  test("says “Not yet” of a requirement exactly when no test carries its number", () => {
    const wrong = requirements
      .filter(({ number, notYet }) => (notYet !== null) === testsOf(repository, number).length > 0)
      .map(({ number, notYet }) => `${number} ${notYet === null ? "has no test" : "has a test"}`);

    expect(wrong).toEqual([]);
  });
});

describe("the titles of tests", () => {
  test("carry no number that is not listed", () => {
    const unknown = tests.flatMap(({ path, line, numbers }) =>
      numbers.filter((number) => !listed.includes(number)).map((each) => `${path}:${line} ${each}`),
    );

    expect(unknown).toEqual([]);
  });

  test("are the only place in tests where numbers are", () => {
    expect(strays).toEqual([]);
  });
});

describe.each([
  ["002", "examples/account-deletion"],
  ["003", "examples/practice-management"],
])("the specification of origin %s, %s", (origin, folder) => {
  const page = readFileSync(join(root, folder, "specification.md"), "utf8");
  const rows = [...page.matchAll(/^\| (\d{3}-\d\d) +\|.*\|(.*)\|$/gm)];

  test("has a row for every number of its origin", () => {
    const numbers = rows.map(([, number = ""]) => number);

    expect(numbers).toEqual(listed.filter((number) => number.startsWith(`${origin}-`)).toSorted());
  });

  test("names tests whose titles carry the number of their row", () => {
    const wrong = rows.flatMap(([, number = "", links = ""]) => {
      const files = [...links.matchAll(/\]\(([^)#]+)\)/g)].map(([, file = ""]) => file);
      const known = testsOf(repository, number).map(({ path }) => relative(folder, path));
      const strange = files.filter((file) => !known.includes(file));
      return files.length === 0 ? [`${number} has no test`] : strange.map((f) => `${number} ${f}`);
    });

    expect(wrong).toEqual([]);
  });
});

describe("scripts/show/requirements.ts", () => {
  test("prints a requirement with its sentence and its tests", async () => {
    const proven = requirements.find(({ notYet }) => notYet === null);
    assert(proven !== undefined);
    const { number, sentence } = proven;

    const [first, ...lines] = (await show("--number", number)).trimEnd().split("\n");

    expect(first).toBe(`${number}  ${sentence}`);
    const expected = testsOf(repository, number).map(({ path, line }) => `    ${path}:${line} `);
    expect(lines.map((each) => each.replace(/(:\d+ ).*/, "$1"))).toEqual(expected);
  });

  test("draws the same requirements by the same seed, and only those with tests", async () => {
    const [first, again] = await Promise.all([
      show("--draw", "5", "--seed", "16"),
      show("--draw", "5", "--seed", "16"),
    ]);

    expect(again).toBe(first);
    expect(first.match(/^\S+-\d\d {2}/gm)).toHaveLength(5);
    expect(first).not.toContain("not yet:");
  });

  test("ends with 1 if a requirement of the origin that is asked for has no test", async () => {
    expect(await show("--origin", "003")).toMatch(/\n47 requirements: 47 with tests\n$/);

    const others = ["000", "001", "002", "004", "C"];
    const incomplete = others.find((origin) =>
      requirements.some(({ number, notYet }) => number.startsWith(origin) && notYet !== null),
    );
    if (incomplete === undefined) return;
    await expect(show("--origin", incomplete)).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining("not yet:"),
    });
  });

  test("lists what is missing, with the reason", async () => {
    const missing = requirements.filter(({ notYet }) => notYet !== null);

    const output = await show("--missing");

    expect(output.match(/^ {4}not yet: /gm)).toHaveLength(missing.length);
    expect(output).not.toMatch(/^ {4}(?:src|test|examples)\//m);
  });
});

async function show(...args: readonly string[]): Promise<string> {
  const script = join(root, "scripts", "show", "requirements.ts");
  const { stdout } = await run(process.execPath, [script, ...args]);
  return stdout;
}
