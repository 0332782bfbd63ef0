/**
 * Shows that the conformance suite bites: breaks one query at a time in a copy of the tree and runs
 * the suite of the verb, which must fail.
 *
 *     node scripts/show/mutants.ts [verb …]
 *
 * Prints which test caught which mutant, and fails if one survives. Tests that fail without any
 * mutant catch nothing.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mutants, type Mutant } from "../../test/conformance/mutants.ts";
import { root } from "../lib/command.ts";
import { table } from "../lib/table.ts";

const COPIED = ["src", "sql", "scripts", "test/conformance", "test/support", "package.json"];
const CONFIGS = ["tsconfig.json", "vitest.config.ts"];
const RUN_MS_MAX = 180_000;

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const verbs = process.argv.slice(2);
const chosen = mutants.filter(({ verb }) => verbs.length === 0 || verbs.includes(verb));
const tree = mkdtempSync(join(tmpdir(), "millrace-mutants-"));
process.on("exit", () => rmSync(tree, { recursive: true, force: true }));
copyTree();

const broken = new Set(failures(".*"));
const caught = chosen.map((mutant) => catchersOf(mutant));

const rows = chosen.map(({ verb, mutant, query }, index) => {
  const [first, ...others] = caught[index] ?? [];
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [verb, query, mutant, first === undefined ? "SURVIVED" : `${first}${more}`];
});
for (const line of table(["verb", "query", "mutant", "caught by"], rows)) console.log(line);

const survivors = caught.filter((tests) => tests.length === 0).length;
console.log(`\n${chosen.length - survivors} of ${chosen.length} mutants caught`);
if (broken.size > 0) console.log(`${broken.size} tests fail without any mutant`);
if (survivors > 0 || chosen.length === 0) process.exitCode = 1;

function copyTree(): void {
  for (const path of [...COPIED, ...CONFIGS]) {
    cpSync(join(root, path), join(tree, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
}

/** The tests of the verb that fail because of the mutant. */
function catchersOf(mutant: Mutant): readonly string[] {
  const path = join(tree, "sql", "sqlite", "queries", mutant.file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, mutated(original, mutant));
  embed();
  const failed = failures(`^SQLite[ >]+${mutant.verb}[ >]`).filter((test) => !broken.has(test));
  writeFileSync(path, original);
  return failed.map((test) => test.replace(/^SQLite /, ""));
}

/** The file with the replacement made in the one query. */
function mutated(text: string, { query, replace: [from, to] }: Mutant): string {
  const start = text.search(new RegExp(`^-- name: ${query}$`, "m"));
  assert.notEqual(start, -1, `there is no query ${query}`);
  const next = text.indexOf("-- name:", start + 1);
  const end = next === -1 ? text.length : next;
  const parts = text.slice(start, end).split(from);
  assert.equal(parts.length, 2, `"${from}" must occur once in ${query}`);
  return text.slice(0, start) + parts.join(to) + text.slice(end);
}

function embed(): void {
  const { status, stderr } = run(["scripts/embed-sql.ts"]);
  assert.equal(status, 0, stderr);
}

/** Runs the tests whose names match, in the copy. Answers the names of those that fail. */
function failures(pattern: string): readonly string[] {
  const report = join(tree, "report.json");
  const { stderr } = run([
    "node_modules/vitest/vitest.mjs",
    "run",
    "test/conformance/sqlite.test.ts",
    `--testNamePattern=${pattern}`,
    "--reporter=json",
    `--outputFile=${report}`,
  ]);
  try {
    const { testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
    rmSync(report);
    const results = testResults.flatMap((file) => file.assertionResults);
    assert.ok(
      results.some(({ status }) => status !== "skipped" && status !== "pending"),
      `no test matches ${pattern}`,
    );
    return results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
  } catch (error) {
    throw new Error(`the suite did not run: ${stderr}`, { cause: error });
  }
}

function run(args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, args, {
    cwd: tree,
    encoding: "utf8",
    timeout: RUN_MS_MAX,
  });
}
