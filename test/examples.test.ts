/** Every example in the documentation of the source runs, and every public function has one. */
import { glob, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMPILERS, folderInside, ROOT, runNode } from "./api/children.ts";
import { entries } from "./api/installed.ts";
import { examplesIn } from "./api/doc-examples.ts";
import type { DocExample } from "./api/doc-examples.ts";

const examples = await allExamples();

describe("an example in the documentation", () => {
  let folder = "";
  let complaints: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    folder = await folderInside("examples");
    await Promise.all(
      examples.map((example) => writeFile(join(folder, example.file), example.code)),
    );
    complaints = await runExamples(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(examples)("runs: $place", ({ file }) => {
    expect(complaints[file]).toBe("");
  });

  test("compiles under the strictest settings", async () => {
    const files = examples.map(({ file }) => file);
    const config = { extends: "../../test/api/tsconfig.json", files };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));

    expect(await runNode([COMPILERS["TypeScript 7"], "-p", folder])).toEqual({
      status: 0,
      output: "",
    });
  });
});

describe("a public function or class", () => {
  test("has an example", async () => {
    const shown = new Set(examples.map(({ subject }) => subject));
    const missing: string[] = [];

    for (const { specifier, source } of await entries()) {
      const door: object = await import(pathToFileURL(join(ROOT, source)).href);
      for (const [name, value] of Object.entries(door)) {
        if (typeof value === "function" && !shown.has(name)) missing.push(`${specifier}: ${name}`);
      }
    }

    expect(missing).toEqual([]);
  });
});

describe("the search for examples", () => {
  test("finds the code and the name it documents", () => {
    const text = documented('@example\n```ts\nimport "millrace";\n\nhello();\n```');

    expect(examplesIn("src/hello.ts", text)).toEqual([
      { place: "src/hello.ts:1 hello", subject: "hello", code: 'import "millrace";\n\nhello();\n' },
    ]);
  });

  test("passes over comments without an example", () => {
    expect(examplesIn("src/hello.ts", documented("Nothing more."))).toEqual([]);
  });

  test("refuses an example without code", () => {
    expect(() => examplesIn("src/hello.ts", documented("@example\nhello()"))).toThrow(
      "src/hello.ts:1 hello: the @example has no ts block",
    );
  });
});

function documented(block: string): string {
  const lines = ["Says hello.", "", ...block.split("\n")].map((line) => ` * ${line}`);
  return ["/**", ...lines, " */", "export function hello(): void {}"].join("\n");
}

interface FiledExample extends DocExample {
  readonly file: string;
}

async function allExamples(): Promise<readonly FiledExample[]> {
  const found: DocExample[] = [];
  for await (const path of glob("src/**/*.ts", { cwd: ROOT })) {
    found.push(...examplesIn(path, await readFile(join(ROOT, path), "utf8")));
  }
  return found
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map((example, index) => ({ ...example, file: `example-${index}.ts` }));
}

/** Runs all files in one child, for starting one costs more than all examples together. */
async function runExamples(folder: string): Promise<Readonly<Record<string, string>>> {
  const runner = join(folder, "runner.mjs");
  await writeFile(
    runner,
    `const complaints = {};
    for (const file of process.argv.slice(2)) {
      complaints[file] = await import("./" + file).then(() => "", (error) => String(error?.stack));
    }
    console.log("\\n" + JSON.stringify(complaints));`,
  );
  const files = examples.map(({ file }) => file);
  const { status, output } = await runNode(["--conditions=source", runner, ...files], folder);
  if (status !== 0) throw new Error(`the examples ended their process:\n${output}`);
  const complaints: Record<string, string> = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  return complaints;
}
