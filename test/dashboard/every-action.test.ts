/** Every call of the page that changes something has a browser test, which waits for its answer. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLACES } from "../../dashboard/src/api/operations.gen.ts";
import { root } from "../cli/programs.ts";

const CALL = /\bcall\(\s*"(\w+)"/g;
const ANSWERED = /\.answered\(([^)]*)\)/g;

test("every call of the page that changes something is made in a browser test", () => {
  const called = textOf("dashboard/src/**/*.{ts,tsx}")
    .flatMap((text) => [...text.matchAll(CALL)])
    .map(([, name]) => name ?? "");
  const changing = Object.entries(PLACES)
    .filter(([name, { method }]) => method !== "GET" && called.includes(name))
    .map(([name]) => name);
  const tested = textOf("test/dashboard/*.test.ts")
    .flatMap((text) => [...text.matchAll(ANSWERED)])
    .flatMap(([, names = ""]) => [...names.matchAll(/"(\w+)"/g)].map(([, name]) => name));

  expect(changing.length).toBeGreaterThan(40);
  expect(changing.filter((name) => !tested.includes(name))).toEqual([]);
});

function textOf(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
}
