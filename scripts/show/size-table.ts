/**
 * Prints how large the code is, folder by folder: median and largest file, median and largest
 * function. Measured as the tidy test measures.
 *
 *     node scripts/show/size-table.ts
 */
import { functionsOf, linesOf } from "../../test/tidy/measure.ts";
import type { SourceFile } from "../../test/tidy/rule.ts";
import { isGenerated, isTest } from "../../test/tidy/rule.ts";
import { readRepository } from "../../test/tidy/tree.ts";
import { table } from "../lib/table.ts";

interface Sized {
  readonly name: string;
  readonly lines: number;
}

const files = readRepository().filter(({ path }) => /\.(ts|js|mjs)$/.test(path));
const code = files.filter(({ path }) => !isTest(path) && !isGenerated(path));
const tests = files.filter(({ path }) => isTest(path));

const folders = Object.entries(Object.groupBy(code, ({ path }) => folderOf(path)));
const rows = folders.map(([folder, group = []]) => row(folder, group));
rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));

const head = ["folder", "files", "median", "largest", "", "functions", "median", "largest", ""];
const lines = table(head, [...rows, row("all code", code), row("all tests", tests)]);
process.stdout.write(`${lines.join("\n")}\n`);

/** `src/store/sqlite` is a folder of its own; `src` alone would hide everything. */
function folderOf(path: string): string {
  return path.split("/").slice(0, -1).slice(0, 3).join("/") || ".";
}

function row(folder: string, group: readonly SourceFile[]): string[] {
  const fileSizes = group.map((file) => ({ name: fileName(file.path), lines: linesOf(file) }));
  const functions = group.flatMap((file) => functionsOf(file));
  return [folder, ...columns(fileSizes), ...columns(functions)];
}

function columns(sizes: readonly Sized[]): string[] {
  const sorted = sizes.toSorted((a, b) => a.lines - b.lines);
  const median = sorted[Math.floor(sorted.length / 2)];
  const largest = sorted.at(-1);
  return [
    String(sorted.length),
    String(median?.lines ?? "–"),
    String(largest?.lines ?? "–"),
    largest?.name ?? "",
  ];
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
