/**
 * Runs the code blocks of a page in order, as a reader would: in one shell, in a fresh folder where
 * the package is installed.
 *
 * A `ts` block whose first line is a comment with a file name is written to that file; any other
 * `ts` block is a program that is run. A `sh` block runs in the shell of the page, so that `$!` and
 * variables last from one block to the next. A `sql` block runs in the database of the page. A
 * `text` or `json` block is what the block above it prints.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { folderOutside, ROOT } from "../api/children.ts";
import { blocksOf, type Block } from "./markdown.ts";
import { urlAs } from "../support/engine-role.ts";
import { hasLines, isShown, promisedLines } from "./shown-output.ts";

/** The address that pages use for a PostgreSQL database. */
export const EXAMPLE_DATABASE = "postgres://app@db.example.com/app";

const LANGUAGES = ["ts", "sh", "sql", "text", "json"];
/** Packages besides Millrace that pages import. */
const NEIGHBOURS = ["pg", "standardwebhooks", "zod"];
const RUN_MS_MAX = 150_000;

export interface PageRun {
  readonly folder: string;
  /** What is wrong, one entry for each block; empty if the page is right. */
  readonly complaints: readonly string[];
}

/** Runs a page. `database` replaces the example address of PostgreSQL. */
export async function runPage(text: string, database: string | null): Promise<PageRun> {
  const folder = await folderOutside("docs");
  await installHere(folder);
  const blocks = blocksOf(text);
  const unknown = blocks.filter(({ language }) => !LANGUAGES.includes(language));
  if (unknown.length > 0) return { folder, complaints: unknown.map(ofUnknownLanguage) };
  const runnable = blocks.filter(({ notRun }) => notRun === null);
  const script: string[] = [PREAMBLE];
  const real = { folder, database: database ?? EXAMPLE_DATABASE };
  for (const [at, block] of runnable.entries()) {
    const before = runnable.slice(0, at).findLast(({ language }) => language === "sh");
    script.push(await partOf(block, before, real));
  }
  await writeFile(join(folder, ".blocks", "page.sh"), script.join("\n"));

  const status = await runScript(folder);
  const failure = status === "0" ? [] : [await failureOf(folder, status)];
  const differences = status === "0" ? await differencesOf(runnable, real) : [];
  return { folder, complaints: [...failure, ...differences] };
}

/** The files that a page tells its reader to write, and its programs; for the compiler. */
export function sourcesOf(text: string): ReadonlyMap<string, string> {
  const sources = blocksOf(text)
    .filter(({ language, notRun }) => language === "ts" && notRun === null)
    .map((block) => [fileNameOf(block) ?? `block-${block.line}.ts`, codeOf(block)] as const);
  return new Map(sources);
}

interface Surroundings {
  readonly folder: string;
  /** What stands in the place of the example address. */
  readonly database: string;
}

const PREAMBLE = `set -euo pipefail
wait_for() { until grep -qF -- "$1" "$2"; do sleep 0.05; done; }
trap 'kill -9 $(jobs -p) 2> .blocks/kill || true' EXIT`;

async function installHere(folder: string): Promise<void> {
  await mkdir(join(folder, ".blocks"));
  await mkdir(join(folder, "node_modules", ".bin"), { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  await symlink(ROOT, join(folder, "node_modules", "millrace"));
  for (const name of NEIGHBOURS) {
    await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  const program = join(folder, "node_modules", ".bin", "millrace");
  await writeFile(program, `#!/bin/sh\nexec node "${ROOT}/src/cli/main.ts" "$@"\n`);
  await chmod(program, 0o755);
}

/** The part of the shell script for one block. */
async function partOf(
  block: Block,
  before: Block | undefined,
  { folder, database }: Surroundings,
): Promise<string> {
  const { line, language, waitFor } = block;
  const wait = waitFor === null ? "" : `wait_for '${waitFor}' .blocks/${before?.line}.out\n`;
  const code = atRealDatabase(codeOf(block), database);
  const begin = `echo ${line} > .blocks/line\n: > .blocks/${line}.out\n${wait}`;
  const captured = (commands: string): string =>
    `${begin}{\n${commands}\n} > .blocks/${line}.out 2>&1 < /dev/null`;
  if (language === "sh") return captured(code);
  if (language === "sql") {
    await writeFile(join(folder, ".blocks", `${line}.mjs`), sqlProgram(database, code));
    return captured(`node .blocks/${line}.mjs`);
  }
  if (language !== "ts") return "";
  const name = fileNameOf(block);
  const source = name === null ? `block-${line}.ts` : join(".blocks", `${line}.ts`);
  await writeFile(join(folder, source), code);
  if (name === null) return captured(`node ${source}`);
  return captured(`mkdir -p ${dirname(name)} && cp ${source} ${name}`);
}

function sqlProgram(database: string, code: string): string {
  return `import { Client } from "pg";
const client = new Client(${JSON.stringify(database)});
await client.connect();
await client.query(${JSON.stringify(code)});
await client.end();
`;
}

function codeOf({ setup, code, behind }: Block): string {
  return `${setup}${code}${behind}`;
}

function fileNameOf({ language, code }: Block): string | null {
  if (language !== "ts") return null;
  return /^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1] ?? null;
}

/** Runs the script to its end; returns its exit code, or how it was ended. */
async function runScript(folder: string): Promise<string> {
  const { HOME = "", USER = "" } = process.env;
  const path = [join(folder, "node_modules", ".bin"), dirname(process.execPath)];
  const shell = spawn("bash", [".blocks/page.sh"], {
    cwd: folder,
    // A group of its own, so that everything it starts can be ended with it.
    detached: true,
    stdio: "ignore",
    env: {
      PATH: `${path.join(":")}:/usr/bin:/bin`,
      NODE_OPTIONS: "--conditions=source",
      // Each command is a process that loads the same files.
      NODE_COMPILE_CACHE: join(ROOT, ".millrace", "compile-cache"),
      HOME,
      USER,
    },
  });
  const exit = once(shell, "exit");
  const timer = setTimeout(() => endGroup(shell.pid), RUN_MS_MAX);
  const [code, signal] = await exit;
  clearTimeout(timer);
  endGroup(shell.pid);
  return String(code ?? signal);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!isGone) throw error;
  }
}

async function failureOf(folder: string, status: string): Promise<string> {
  const line = (await readFile(join(folder, ".blocks", "line"), "utf8")).trim();
  return `line ${line}: the block ended with ${status}:\n${await outputOf(folder, Number(line))}`;
}

function outputOf(folder: string, line: number): Promise<string> {
  return readFile(join(folder, ".blocks", `${line}.out`), "utf8");
}

/** Blocks that did not print what the page says. */
async function differencesOf(
  blocks: readonly Block[],
  { folder, database }: Surroundings,
): Promise<readonly string[]> {
  const complaints: string[] = [];
  let printed = "";
  for (const block of blocks) {
    const { line, language, code } = block;
    if (language === "text" || language === "json") {
      if (isShown(code, printed)) continue;
      complaints.push(`line ${line}: the output differs from what is shown:\n${printed}`);
    } else {
      printed = (await outputOf(folder, line)).replaceAll(database, EXAMPLE_DATABASE);
      const isProgram = language === "ts" && fileNameOf(block) === null;
      const promised = isProgram ? promisedLines(code) : [];
      if (hasLines(promised, printed)) continue;
      complaints.push(`line ${line}: the output is not what its comments say:\n${printed}`);
    }
  }
  return complaints;
}

/** The same code at the database of the page, by the users that the code names. */
function atRealDatabase(code: string, database: string): string {
  const others = EXAMPLE_DATABASE.replace("app@", "([a-z_]+)@");
  return code.replaceAll(new RegExp(others, "g"), (example, user: string) =>
    example === EXAMPLE_DATABASE ? database : urlAs(database, user),
  );
}

function ofUnknownLanguage({ line, language }: Block): string {
  return `line ${line}: a block of “${language}” is neither code nor output`;
}
