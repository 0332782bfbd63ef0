/** Every code block of README.md and docs/*.md runs, and prints what the page shows. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { COMPILERS, folderInside, runNode } from "../api/children.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { blocksOf } from "./markdown.ts";
import { EXAMPLE_DATABASE, runPage, sourcesOf } from "./page-run.ts";
import { userPages } from "./pages.ts";

/** The blocks that are shown and not run, in the order of the pages. */
const NOT_RUN: readonly string[] = [
  "README.md: the commands install packages and serve until they are stopped",
  "README.md: the commands take minutes to hours, and the campaign runs them",
  "docs/choosing-a-store.md: the benchmarks take minutes and need a clone of the repository",
  "docs/dashboard.md: it listens until Ctrl-C",
  "docs/getting-started.md: the package comes from a registry",
  "docs/http-api.md: the address is not that of this machine",
  "docs/http-api.md: a browser",
];

const pages = await userPages();

describe("a page for users", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(pages)("runs as it stands: $path", async ({ path, text }) => {
    const needsDatabase = text.includes(EXAMPLE_DATABASE);
    const database = needsDatabase ? await newDatabase(server.url, path) : null;

    const { folder, complaints } = await runPage(text, database);
    onTestFinished(() => rm(folder, { recursive: true }));

    expect(complaints).toEqual([]);
  });

  test("compiles under the strictest settings", async () => {
    const folder = await folderInside("docs");
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const { path, text } of pages) {
      for (const [name, code] of sourcesOf(text)) await writeInto(join(folder, path, name), code);
    }
    const config = { extends: "../../test/api/tsconfig.json", files: [], include: ["**/*.ts"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));

    expect(await runNode([COMPILERS["TypeScript 7"], "-p", folder])).toEqual({
      status: 0,
      output: "",
    });
  });

  test("begins with a quickstart of at most eleven lines", () => {
    const [readme] = pages.filter(({ path }) => path === "README.md");
    const [quickstart] = blocksOf(readme?.text ?? "");

    expect(quickstart?.code).toContain("openMillrace");
    expect(quickstart?.code.trimEnd().split("\n").length).toBeLessThanOrEqual(11);
  });

  test("gives a reason for each block that is not run", () => {
    const reasons = pages.flatMap(({ path, text }) =>
      blocksOf(text).flatMap(({ notRun }) => (notRun === null ? [] : [`${path}: ${notRun}`])),
    );

    expect(reasons).toEqual(NOT_RUN);
  });
});

async function newDatabase(url: string, path: string): Promise<string> {
  const name = path.replaceAll(/\W/g, "_").toLowerCase();
  const client = await connect(url);
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return new URL(`/${name}`, url).href;
}

async function writeInto(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
