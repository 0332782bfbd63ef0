/**
 * Prints how large the code is, folder by folder: median and largest file, median and largest
 * function. Below stand the totals, and how many names of types are declared more than once.
 * Measured as the tidy test measures.
 *
 *     node scripts/show/size-table.ts
 *     node scripts/show/size-table.ts --against ../before
 *     node scripts/show/size-table.ts --duplicates
 *
 * Tests are the files named `.test.ts`, `.test-d.ts` and `.suite.ts`, wherever they stand. Code is
 * every other file that is not generated, also what the tests share.
 *
 * A name of a type is shared when several files of `src` declare an interface, a type alias, a
 * class or an enum of this name at their top level, exported or not. Twins are a name that the two
 * dialects of the store declare once each, and no other file.
 */
import { parseArgs } from "node:util";
import { linesOf } from "../../test/tidy/measure.ts";
import { isGenerated, isShipped, isTest, type SourceFile } from "../../test/tidy/rule.ts";
import { readRepository } from "../../test/tidy/tree.ts";
import { table } from "../lib/table.ts";
import { folderOf, sizesOf, type Extent, type Sizes } from "./lib/code-sizes.ts";
import { treeAt } from "./lib/tree.ts";
import { sharedNames, type Scope } from "./lib/type-names.ts";

const USAGE = `node scripts/show/size-table.ts [options]

  --tree DIR     the checkout to measure (default: this repository)
  --against DIR  measures a second checkout too, and prints the totals side by side;
                 the second one stands first, as “before”
  --duplicates   lists the names of types that several files declare
  --help         prints this text
`;

/** A checkout, its files sorted. */
interface Tree {
  readonly all: readonly SourceFile[];
  readonly code: readonly SourceFile[];
  readonly tests: readonly SourceFile[];
}

const { values: options } = parseArgs({
  options: {
    tree: { type: "string" },
    against: { type: "string" },
    duplicates: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const tree = readTree(treeAt(options.tree));
process.stdout.write(`${output().join("\n")}\n`);

function output(): string[] {
  if (options.duplicates) return duplicates(tree);
  if (options.against === undefined) return [...folders(tree), "", ...totals([tree])];
  return totals([readTree(treeAt(options.against)), tree]);
}

function readTree(root: string): Tree {
  const all = readRepository(root);
  const written = all.filter(({ path }) => /\.(ts|js|mjs)$/.test(path) && !isGenerated(path));
  return {
    all,
    code: written.filter(({ path }) => !isTest(path)),
    tests: written.filter(({ path }) => isTest(path)),
  };
}

function folders({ code, tests }: Tree): string[] {
  const groups = Object.entries(Object.groupBy(code, ({ path }) => folderOf(path)));
  const rows = groups
    .map(([folder, group = []]) => row(folder, sizesOf(group)))
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  const head = ["folder", "files", "median", "largest", "", "functions", "median", "largest", ""];
  return table(head, [...rows, row("all code", sizesOf(code)), row("all tests", sizesOf(tests))]);
}

function row(folder: string, { files, functions }: Sizes): string[] {
  return [folder, ...columns(files), ...columns(functions)];
}

function columns({ count, median, largest }: Extent): string[] {
  return [String(count), String(median ?? "–"), String(largest?.lines ?? "–"), largest?.name ?? ""];
}

/** One column for each tree. Two are called before and after. */
function totals(trees: readonly Tree[]): string[] {
  const columnsOfTotals = trees.map((one) => totalsOf(one));
  const names = columnsOfTotals[0]?.map(([name]) => name) ?? [];
  const rows = names.map((name, index) => [
    name,
    ...columnsOfTotals.map((column) => column[index]?.[1] ?? ""),
  ]);
  return table(["totals", ...(trees.length > 1 ? ["before", "after"] : [""])], rows);
}

type Total = readonly [name: string, value: string];

function totalsOf({ all, code, tests }: Tree): Total[] {
  const source = code.filter(({ path }) => isShipped(path));
  const support = code.filter(({ path }) => path.startsWith("test/"));
  const sql = all.filter(({ path }) => path.endsWith(".sql"));
  return [
    ...sizeTotals("all code", sizesOf(code)),
    ...sizeTotals("all tests", sizesOf(tests)),
    ["src: files", String(source.length)],
    ["src: lines", linesOfAll(source)],
    ["shared by tests (rest of test/): lines", linesOfAll(support)],
    ["SQL: lines", linesOfAll(sql)],
    ["src: most files in one folder", fullestFolder(source)],
    ["all code: most files in one folder", fullestFolder(code)],
    ...nameTotals(all, "all", "type names declared more than once"),
    ...nameTotals(all, "exported", "exported type names declared more than once"),
  ];
}

function sizeTotals(name: string, { files, functions }: Sizes): Total[] {
  return [
    [`${name}: files`, String(files.count)],
    [`${name}: lines`, String(files.lines)],
    [`${name}: median and largest file`, extremes(files)],
    [`${name}: functions`, String(functions.count)],
    [`${name}: median and largest function`, extremes(functions)],
  ];
}

function extremes({ median, largest }: Extent): string {
  return `${median ?? "–"}, ${largest?.lines ?? "–"} (${largest?.name ?? "none"})`;
}

function linesOfAll(files: readonly SourceFile[]): string {
  return String(files.reduce((sum, file) => sum + linesOf(file), 0));
}

function fullestFolder(files: readonly SourceFile[]): string {
  const groups = Object.entries(Object.groupBy(files, ({ path }) => folderOf(path)));
  const [fullest] = groups
    .map(([folder, group = []]) => ({ folder, count: group.length }))
    .toSorted((a, b) => b.count - a.count);
  return fullest === undefined ? "none" : `${fullest.count} (${fullest.folder})`;
}

function nameTotals(files: readonly SourceFile[], scope: Scope, title: string): Total[] {
  const names = sharedNames(files, scope);
  const others = names.filter(({ isTwin }) => !isTwin);
  return [
    [title, String(names.length)],
    ["  without twins of the dialects", String(others.length)],
  ];
}

function duplicates({ all }: Tree): string[] {
  return sharedNames(all, "all").flatMap(({ name, files, isTwin }) => [
    isTwin ? `${name} (twins)` : name,
    ...files.map((file) => `    ${file}`),
  ]);
}
