/**
 * Everything a machine can say about the code without running it. One line per step; a step that
 * fails shows what it found.
 *
 *     npm run check
 *     npm run check -- --fix     formats, and repairs what the linter can repair
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { build } from "./build.ts";
import { bin, root, runQuietly } from "./lib/command.ts";
import type { Ending } from "./lib/command.ts";

interface Step {
  readonly name: string;
  readonly run: () => Promise<Ending>;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--fix")) await fix();

  const waiting = steps();
  let failures = 0;
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      if (!(await passes(step))) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failures === 0 ? 0 : 1;
}

async function fix(): Promise<void> {
  await runQuietly(bin("oxlint"), ["--fix"]);
  await runQuietly(bin("oxfmt"), []);
}

/** The slow ones first, so that none of them is left over at the end. */
function steps(): Step[] {
  return [
    program("tidy", bin("vitest"), ["run", "--project=tidy", "--reporter=dot"]),
    { name: "package", run: checkPackage },
    typeScript59(),
    program("unused", bin("knip"), ["--no-progress"]),
    program("lint", bin("oxlint"), []),
    program("types", bin("tsc"), ["-p", "tsconfig.json"]),
    program("types as shipped", bin("tsc"), ["--noEmit", "-p", "tsconfig.build.json"]),
    program("types of the page", bin("tsc"), ["-p", "dashboard/tsconfig.json"]),
    program("calls of the page", process.execPath, [
      "--conditions=source",
      "scripts/embed-api.ts",
      "--check",
    ]),
    program("embedded sql", process.execPath, ["scripts/embed-sql.ts", "--check"]),
    program("format", bin("oxfmt"), ["--check"]),
  ];
}

function program(name: string, path: string, args: readonly string[]): Step {
  return { name, run: () => runQuietly(path, args) };
}

/** Users may have an older compiler than we do: the public types must hold there as well. */
function typeScript59(): Step {
  const compiler = join(root, "node_modules", "typescript-5.9", "lib", "tsc.js");
  return program("types in 5.9", process.execPath, [compiler, "-p", "test/api/tsconfig.json"]);
}

/** Looks at the package the way npm and its users will see it. */
async function checkPackage(): Promise<Ending> {
  const { ok, complaints } = await build();
  if (!ok) return { code: 1, output: complaints };
  return runQuietly(bin("publint"), ["--strict"]);
}

async function passes(step: Step): Promise<boolean> {
  const began = performance.now();
  const { code, output } = await step.run();
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(5);
  const isGood = code === 0;
  const mark = isGood ? styleText("green", "ok    ") : styleText("red", "FAILED");
  process.stdout.write(`${mark} ${seconds} s  ${step.name}\n`);
  if (!isGood) process.stdout.write(`${output.trimEnd()}\n\n`);
  return isGood;
}
