/**
 * Measures the walk of one plain job through the code, from `enqueue` to the end of `wait`: which
 * files and functions of `src` it enters, how many statements the store executes, how many traps of
 * proxies are called. V8 counts the functions. The job is warm: jobs of the same type ran before.
 *
 *     node scripts/show/walk.ts
 *     node scripts/show/walk.ts --against ../before --store sqlite
 *
 * What the worker does meanwhile in the background is counted as well, so one walk differs from the
 * next. Each figure is therefore the median of several walks, with the smallest and the largest;
 * the medians of the parts need not add up. Each tree and store has a process of its own.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { table } from "../lib/table.ts";
import type { StoreKind } from "./lib/options.ts";
import { treeAt } from "./lib/tree.ts";
import { figuresOf, isNamed, isPart, usualFunctions, type Figure } from "./lib/walk/figures.ts";
import { measureWalks, type Walk } from "./lib/walk/walk.ts";

const USAGE = `node scripts/show/walk.ts [options]

  --tree DIR               the checkout to measure (default: this repository)
  --against DIR            measures a second checkout too, and prints it first, as “before”
  --store sqlite|postgres  one store alone (default: one after the other)
  --walks 25               how many walks to measure
  --warm-up 200            how many jobs run before them
  --list                   prints the files and functions that at least half of the walks enter
  --json                   prints JSON
  --help                   prints this text
`;

const STORES: readonly StoreKind[] = ["sqlite", "postgres"];

interface Measured {
  readonly tree: string;
  readonly store: StoreKind;
  readonly walks: readonly Walk[];
  readonly figures: ReadonlyMap<string, Figure>;
}

const { values: options } = parseArgs({
  options: {
    tree: { type: "string" },
    against: { type: "string" },
    store: { type: "string" },
    walks: { type: "string", default: "25" },
    "warm-up": { type: "string", default: "200" },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) leave(0);
const stores = STORES.filter((store) => store === (options.store ?? store));
const walks = Number(options.walks);
const warmUp = Number(options["warm-up"]);
if (stores.length === 0 || !(walks >= 1) || !(warmUp >= 0)) leave(2);

const { against } = options;
const trees = [...(against === undefined ? [] : [treeAt(against)]), treeAt(options.tree)];
// A server of this program must not outlive it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const results: Measured[] = [];
for (const store of stores) {
  for (const tree of trees) results.push(await measured(tree, store));
}
process.stdout.write(options.json ? jsonOf(results) : textOf(results));

function leave(code: number): never {
  process.stdout.write(USAGE);
  process.exit(code);
}

async function measured(tree: string, store: StoreKind): Promise<Measured> {
  const taken = await measureWalks(store, { tree, warmUp, walks });
  return { tree, store, walks: taken, figures: figuresOf(taken, store) };
}

function jsonOf(all: readonly Measured[]): string {
  const plain = all.map(({ tree, store, walks: taken, figures }) => ({
    tree,
    store,
    figures: Object.fromEntries(figures),
    ...(options.list ? { functions: usualFunctions(taken) } : {}),
  }));
  return `${JSON.stringify(plain, null, 2)}\n`;
}

function textOf(all: readonly Measured[]): string {
  const lines = stores.flatMap((store) => {
    const ofStore = all.filter((one) => one.store === store);
    const lists = options.list ? ofStore.flatMap((one) => ["", ...listOf(one)]) : [];
    return ["", ...tableOf(store, ofStore), ...lists];
  });
  return `${lines.slice(1).join("\n")}\n`;
}

function tableOf(store: StoreKind, ofStore: readonly Measured[]): string[] {
  const isPair = ofStore.length > 1;
  const titles = isPair ? ["before", "after"] : ["median"];
  const names = [...(ofStore[0]?.figures.keys() ?? [])];
  const rows = names.map((name) => [
    isPart(name) ? `  ${name === "dialect" ? `store/${store}` : name}` : name,
    ...ofStore.flatMap(({ figures }) => cellsOf(figures.get(name))),
  ]);
  return table([store, ...titles.flatMap((title) => [title, "min–max"])], rows);
}

function cellsOf(figure: Figure | undefined): string[] {
  if (figure === undefined) return ["–", ""];
  const { median, min, max } = figure;
  return [String(median), min === max ? "" : `${min}–${max}`];
}

/** Each file with its functions: the line on which one begins, its name, its calls in one walk. */
function listOf({ tree, store, walks: taken }: Measured): string[] {
  const byFile = Object.groupBy(usualFunctions(taken), ({ file }) => file);
  const lines = Object.entries(byFile).flatMap(([file, functions = []]) => {
    const text = readFileSync(join(tree, file), "utf8");
    return [
      file,
      ...functions.filter(isNamed).map(({ name, offset, calls }) => {
        const line = text.slice(0, offset).split("\n").length;
        return `${String(line).padStart(6)}  ${name}${calls > 1 ? ` × ${calls}` : ""}`;
      }),
    ];
  });
  return [`${tree} on ${store}:`, ...lines];
}
