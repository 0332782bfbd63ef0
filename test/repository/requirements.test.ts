/** The list of requirements and the numbers in the titles of tests tell the same. */
import { describe, expect, test } from "vitest";
import { requirementsAndTests, testsOf } from "../../scripts/show/lib/requirements.ts";
import { readRepository } from "../tidy/tree.ts";

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
