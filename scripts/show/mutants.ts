/**
 * Shows that the conformance suite bites: copies the store once per mutant, breaks each copy in one
 * place and runs the suite of the verb on it, which must fail.
 *
 *     node scripts/show/mutants.ts [--store sqlite|postgres] [--seconds 2700] [verb …]
 *
 * Prints which test caught which mutant, and fails if one survives. Tests that fail without any
 * mutant catch nothing. The mutants of one verb are one part. A part that takes longer than its
 * limit of seconds is ended, and its mutants are tried one by one: a mutant whose suite never ends,
 * because the mutant loops, is caught as well.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { mutants, type Mutant } from "../../test/conformance/mutants/all.ts";
import { VERBS, type Verb } from "../../src/store/verbs.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { root } from "../lib/command.ts";
import { table } from "../lib/table.ts";
import { assembleMigrations, bindParameters, queryFiles, splitQueries } from "../sql/files.ts";

const COPIED = ["package.json", "src", "test/conformance", "test/support"];
const SUITES = "test/conformance";
const OPENER = "test/support/stores.ts";
const STORES = "src/store";
/** Verbs that only open or close a handle. */
const MAKE_A_HANDLE: readonly Verb[] = ["open", "close"];
const TEST_MS_MAX = 60_000;
/** The limit of one part, unless the command line names another. */
const PART_SECONDS_MAX = "2700";
/** The limit of one mutant of a part that has reached its limit. */
const MUTANT_MS_MAX = 120_000;
const NEVER_ENDS = "the suite does not end";

/**
 * How the suites are run on a store, by the database: `OPENER` and `FOLDER` stand for those of the
 * copy. The server is shared by all copies.
 */
const RUNNERS = {
  sqlite: `
    import { describe } from "vitest";
    import { unblockWrites } from "../../src/store/FOLDER/copy/write-block.ts";
    import { makeSqliteStore } from "../../src/store/FOLDER/create.ts";
    import { openSqlite } from "../support/OPENER.ts";
    import { suites } from "./all.ts";
    import { sqliteCallers } from "./transactions/callers.ts";
    import { insideSuite } from "./transactions/enqueue-in-transaction.suite.ts";
    import { sqliteOwnSuite } from "./database/sqlite-own.suite.ts";
    describe("TITLE", () => {
      for (const suite of suites) suite(openSqlite);
      insideSuite(sqliteCallers(makeSqliteStore));
      sqliteOwnSuite({ makeSqliteStore, unblockWrites });
    });`,
  postgres: `
    import { describe } from "vitest";
    import { openPostgres } from "../support/OPENER.ts";
    import { suites } from "./all.ts";
    import { postgresCallers } from "./transactions/callers.ts";
    import { insideSuite } from "./transactions/enqueue-in-transaction.suite.ts";
    import { rowLocksSuite } from "./runs/postgres-row-locks.suite.ts";
    import { commitsSuite } from "./database/postgres-commits.suite.ts";
    import { ownWaysSuite } from "./runs/postgres-own.suite.ts";
    const url = process.env["MILLRACE_MUTANTS_URL"];
    const server = { url, async [Symbol.asyncDispose]() {} };
    const open = (connections = "shared") => openPostgres(server, connections);
    describe("TITLE", () => {
      for (const suite of [...suites, rowLocksSuite, ownWaysSuite, commitsSuite]) suite(open);
      insideSuite(postgresCallers(open));
    });`,
} as const;

/** What the tests of a copy are called, and where it lies. */
interface Copy {
  readonly title: string;
  /** The file that opens it. */
  readonly opener: string;
  readonly folder: string;
}

interface Report {
  readonly testResults: readonly {
    /** The path of the test file. */
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly ancestorTitles: readonly string[];
      readonly status: string;
    }[];
  }[];
}

/** What the suites said about the mutants of one verb; by the name of the copy. */
type Failures = ReadonlyMap<string, readonly string[]>;

interface Planted extends Mutant {
  readonly name: string;
}

const { values, positionals: verbs } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    seconds: { type: "string", default: PART_SECONDS_MAX },
  },
  allowPositionals: true,
});
const store = values.store === "postgres" ? "postgres" : "sqlite";
assert.equal(values.store, store, "there are two stores: sqlite and postgres");
const partMsMax = 1_000 * Number(values.seconds);
assert.ok(partMsMax >= 1, "--seconds takes the limit of a part, above zero");
const chosen: readonly Planted[] = mutants[store]
  .filter(({ verb }) => verbs.length === 0 || verbs.includes(verb))
  .map((mutant, index) => ({ ...mutant, name: `mutant-${index}` }));
assert.ok(chosen.length > 0, "there is no such mutant");
const unproven = VERBS.filter(
  (verb) => !MAKE_A_HANDLE.includes(verb) && !mutants[store].some((each) => each.verb === verb),
);
assert.deepEqual(unproven, [], "every verb that asks the database needs a mutant");

const tree = mkdtempSync(join(tmpdir(), "millrace-mutants-"));
process.on("exit", () => rmSync(tree, { recursive: true, force: true }));
for (const path of COPIED) cpSync(join(root, path), join(tree, path), { recursive: true });
symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
writeRunner("original", { title: "original", opener: "stores", folder: store });
for (const mutant of chosen) plant(mutant);

const rows: string[][] = [];
const broken = new Set<string>();
let survived = 0;
await runAll();
for (const line of table(["verb", "place", "mutant", "caught by"], rows)) console.log(line);
if (broken.size > 0) console.log(`\nThese fail without any mutant:\n  ${[...broken].join("\n  ")}`);
const total = chosen.length;
console.log(`\n${total} mutants, ${total - survived} caught, ${survived} survived`);
if (survived > 0) process.exitCode = 1;

/** One part after the other: a slow machine needs long for all, but not for one. */
async function runAll(): Promise<void> {
  await using server = store === "postgres" ? await startPostgres({ durable: false }) : null;
  for (const [verb, part = []] of Object.entries(Object.groupBy(chosen, (each) => each.verb))) {
    const began = performance.now();
    const failures = await runSuites(part, partMsMax, server?.url);
    if (failures === null) await runEach(part, server?.url);
    else judge(part, failures);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    console.error(`${verb}: ${part.length} mutants, ${seconds} s`);
  }
}

/** A mutant that loops has kept the part from ending. */
async function runEach(part: readonly Planted[], url?: string): Promise<void> {
  const sound = await runSuites([], MUTANT_MS_MAX, url, part);
  assert.ok(sound, "the suites of the store itself do not end");
  for (const mutant of part) {
    const failures = await runSuites([mutant], MUTANT_MS_MAX, url);
    judge([mutant], failures ?? new Map([[mutant.name, [NEVER_ENDS]]]));
  }
}

function judge(part: readonly Planted[], failures: Failures): void {
  const known = failures.get("original") ?? [];
  for (const test of known) broken.add(test);
  for (const { name, verb, place, mutant } of part) {
    const caught = failures.get(name)?.filter((test) => !known.includes(test)) ?? [];
    rows.push([verb, place, mutant, verdictOf(caught)]);
    if (caught.length === 0) survived += 1;
  }
}

function verdictOf([first, ...others]: readonly string[]): string {
  if (first === undefined) return "SURVIVED";
  return others.length > 0 ? `${first} and ${others.length} more` : first;
}

/** Puts a broken copy of the store beside it, with the suites that run on it. */
function plant({ name, verb, place, replace: [from, to] }: Planted): void {
  cpSync(join(tree, STORES, store), join(tree, STORES, name), { recursive: true });
  copy(OPENER, `test/support/${name}.ts`, (text) =>
    // On a shared server, the schemas of all copies must differ.
    replaceOnce(text, `/${store}/`, `/${name}/`).replace("`test_", `\`${name.replace("-", "_")}_`),
  );
  writeRunner(name, { title: `mutant of ${verb}`, opener: name, folder: name });
  if (place.endsWith(".ts")) {
    const path = `${STORES}/${name}/${place}`;
    copy(path, path, (text) => replaceOnce(text, from, to));
    return;
  }
  const isMigration = place.endsWith(".sql");
  const module = isMigration ? "migrations" : "queries";
  const path = `${STORES}/${name}/database/${module}.gen.ts`;
  const override = isMigration
    ? overrideMigration(place, from, to)
    : overrideQuery(place, from, to);
  copy(path, path, (text) => text + override);
}

function overrideQuery(place: string, from: string, to: string): string {
  const query = bindParameters(replaceOnce(queryText(place), from, to), store);
  return `Object.assign(queries.${place}, ${JSON.stringify(query)});\n`;
}

/** A place is a file below `sql/<dialect>`; the migration that includes it is assembled again. */
function overrideMigration(place: string, from: string, to: string): string {
  let isFound = false;
  const changed = assembleMigrations(store, ({ path, text }) => {
    if (path !== place) return text;
    isFound = true;
    return replaceOnce(text, from, to);
  });
  assert.ok(isFound, `there is no file ${place}`);
  return `migrations.splice(0, Infinity, ...${JSON.stringify(changed)});\n`;
}

/** A test file that runs all suites on a copy of the store. */
function writeRunner(name: string, { title, opener, folder }: Copy): void {
  const text = RUNNERS[store]
    .replaceAll("TITLE", title)
    .replaceAll("OPENER", opener)
    .replaceAll("FOLDER", folder);
  writeFileSync(join(tree, SUITES, `${name}.test.ts`), text);
}

function copy(from: string, to: string, change: (text: string) => string): void {
  writeFileSync(join(tree, to), change(readFileSync(join(tree, from), "utf8")));
}

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  assert.equal(parts.length, 2, `${JSON.stringify(from)} must occur once in:\n${text}`);
  return parts.join(to);
}

function queryText(name: string): string {
  const found = queryFiles(store)
    .flatMap(({ path, text }) => splitQueries(path, text))
    .find((query) => query.name === name);
  assert.ok(found, `there is no query ${name}`);
  return found.text;
}

/**
 * Which tests failed on the store and on these copies, of the suites of `tested`; null: they took
 * longer than the limit.
 */
async function runSuites(
  part: readonly Planted[],
  limitMs: number,
  url?: string,
  tested: readonly Planted[] = part,
): Promise<Failures | null> {
  const report = join(tree, "report.json");
  rmSync(report, { force: true });
  const vitest = spawn(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      `--root=${tree}`,
      `--testNamePattern=${testsOf(tested)}`,
      // Each copy has modules of its own, so it needs no process of its own; and Node reads them
      // as they are, faster than anything could transform them.
      "--no-isolate",
      "--experimental.viteModuleRunner=false",
      "--experimental.nodeLoader=false",
      "--maxWorkers=100%",
      // A slow machine catches nothing.
      `--testTimeout=${TEST_MS_MAX}`,
      "--reporter=json",
      `--outputFile=${report}`,
      ...["original", ...part.map(({ name }) => name)].map((name) => `${SUITES}/${name}.test.ts`),
    ],
    {
      cwd: tree,
      env: { ...process.env, MILLRACE_MUTANTS_URL: url },
      stdio: ["ignore", "ignore", "inherit"],
      detached: true,
    },
  );
  const { pid } = vitest;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    // The whole group: a worker that loops does not hear that its parent has ended.
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  }, limitMs);
  const [code] = await once(vitest, "exit");
  clearTimeout(timer);
  if (isLate) return null;
  assert.ok(existsSync(report), `the suites ended with ${code} and without a report`);
  const { testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
  return new Map(testResults.map((file) => [basename(file.name, ".test.ts"), failedTests(file)]));
}

/** Of a mutant the tests of its verb, which their outer `describe` names; of the store the same. */
function testsOf(planted: readonly Mutant[]): string {
  const names = [...new Set(planted.map(({ verb }) => verb))].join("|");
  return `^(?:original[ >]+(?:${names})|mutant of (${names})[ >]+\\1)[ >]`;
}

function failedTests({ message, assertionResults }: Report["testResults"][number]): string[] {
  const ran = assertionResults.filter(({ status }) => status === "passed" || status === "failed");
  assert.ok(ran.length > 0, `no test ran: ${message}`);
  return ran
    .filter(({ status }) => status === "failed")
    .map(({ ancestorTitles, title }) => [...ancestorTitles.slice(1), title].join(" "));
}
