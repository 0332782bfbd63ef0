/**
 * The public API, seen from outside: through both compilers that its types are promised for, as
 * declarations that may not change unnoticed, and as a package that CommonJS can load.
 */
import { copyFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMPILERS, folderInside, folderOutside, ROOT, runNode } from "./children.ts";
import { publicDeclarations } from "./declarations.ts";
import { builtFiles, entries, install } from "./installed.ts";
import type { Installed } from "./installed.ts";

const CONFIG = join(import.meta.dirname, "tsconfig.json");
const FILES = ["usage.ts", "api.test-d.ts", "channels.test-d.ts"];
const compilers = Object.entries(COMPILERS);

const temporary: string[] = [];
afterAll(async () => {
  await Promise.all(temporary.map((folder) => rm(folder, { recursive: true, force: true })));
});

const PLANTED = [
  {
    planted: "an expected mistake that compiles",
    file: "unneeded-expectation.ts",
    code: "TS2578",
    text: `import { defineJob } from "millrace";
      // @ts-expect-error nothing is wrong with the next line
      defineJob({ type: "fine" });`,
  },
  {
    planted: "a payload of the wrong type",
    file: "wrong-payload.ts",
    code: "TS2322",
    text: `import { defineJob, openMillrace, typed } from "millrace";
      const job = defineJob({ type: "n", payload: typed<{ n: number }>() }).run(({ n }) => n);
      await (await openMillrace()).enqueue(job, { n: "one" });`,
  },
];

describe.each(compilers)("under %s, the source of the API", (_, compiler) => {
  let complaints: readonly string[] = [];
  // One program for all, because it is the source that takes long to compile.
  beforeAll(async () => {
    const folder = await folderInside("planted");
    temporary.push(folder);
    await Promise.all(PLANTED.map(({ file, text }) => writeFile(join(folder, file), text)));
    const used = FILES.map((file) => join(import.meta.dirname, file));
    const files = [...used, ...PLANTED.map(({ file }) => file)];
    const config = { extends: "../../test/api/tsconfig.json", files };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));

    const { output } = await runNode([compiler, "-p", folder]);
    complaints = output.trim().split("\n");
  });

  test("does the ten commonest tasks and refuses the known mistakes", () => {
    const isPlanted = (line: string): boolean => PLANTED.some(({ file }) => line.includes(file));
    expect(complaints.filter((line) => !isPlanted(line))).toEqual([]);
  });

  test.each(PLANTED)("does not compile with $planted", ({ file, code }) => {
    const found = complaints.filter((line) => line.includes(file));
    expect(found).toEqual([expect.stringContaining(`error ${code}`)]);
  });
});

describe("the package as installed", () => {
  let installed: Installed;
  beforeAll(async () => {
    const folder = await folderOutside("installed");
    temporary.push(folder);
    installed = await install(folder);
    await Promise.all(
      FILES.map((file) => copyFile(join(ROOT, "test/api", file), join(installed.folder, file))),
    );
  });

  // Libraries are checked here too, and declarations are emitted: the types of jobs that a user
  // exports must be nameable from outside.
  test.each(compilers)("gives its types to users of %s", async (name, compiler) => {
    const config = {
      extends: CONFIG,
      compilerOptions: {
        customConditions: [],
        allowImportingTsExtensions: false,
        skipLibCheck: false,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: ".",
        outDir: join(installed.folder, name),
      },
      files: FILES,
    };
    await writeFile(join(installed.folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(installed.folder, "tsconfig.json"), JSON.stringify(config));

    expect(await runNode([compiler, "-p", installed.folder])).toEqual({ status: 0, output: "" });
  });

  test("declares exactly what the snapshots show", async () => {
    for (const entry of await entries()) {
      const { packageFolder } = installed;
      const declarations = publicDeclarations(join(packageFolder, entry.types), packageFolder);
      // Not named .d.ts to the end: the compiler and the linter would take it for one of ours.
      const snapshot = join("__snapshots__", `${basename(entry.specifier)}.d.ts.txt`);
      await expect(declarations).toMatchFileSnapshot(snapshot);
    }
  });

  test("can be loaded with require, and is then what import gives", async () => {
    const consumer = join(installed.folder, "consumer.cjs");
    const specifiers = (await entries()).map(({ specifier }) => specifier);
    await writeFile(
      consumer,
      `const { defineJob } = require("millrace");
      if (defineJob({ type: "tick" }).run(() => {}).type !== "tick") process.exit(2);
      Promise.all(${JSON.stringify(specifiers)}.map(async (specifier) => {
        if (require(specifier) !== await import(specifier)) process.exit(3);
      })).then(() => console.log("same"));`,
    );

    expect(await runNode([consumer], installed.folder)).toEqual({ status: 0, output: "same\n" });
  });

  test("has no top-level await, which would break require", async () => {
    const planted = join(installed.folder, "planted.js");
    await writeFile(planted, "await Promise.resolve();");
    const finder = join(installed.folder, "finder.mjs");
    await writeFile(
      finder,
      `import { readFileSync } from "node:fs";
      import { SourceTextModule } from "node:vm";
      const waits = (file) => new SourceTextModule(readFileSync(file, "utf8")).hasTopLevelAwait();
      console.log(JSON.stringify(process.argv.slice(2).filter(waits)));`,
    );

    const files = [planted, ...(await builtFiles(installed))];
    const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
    const { output } = await runNode([...flags, finder, ...files]);

    expect(files.length).toBeGreaterThan(10);
    expect(JSON.parse(output)).toEqual([planted]);
  });
});
