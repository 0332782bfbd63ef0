/** Puts several walks together: each figure is the median of all walks, with the extremes. */
import type { StoreKind } from "../options.ts";
import type { EnteredFunction } from "./coverage.ts";
import type { Walk } from "./walk.ts";

export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The parts of `src` that the functions of a walk are sorted into. */
const PARTS = [
  "dialect",
  "store shared",
  "runtime",
  "client",
  "jobs",
  "events",
  "core",
  "lib",
  "api",
  "elsewhere",
] as const;

type Part = (typeof PARTS)[number];

/** By the name of what is counted, in the order in which it is printed. */
export function figuresOf(walks: readonly Walk[], store: StoreKind): Map<string, Figure> {
  const figures = new Map<string, Figure>();
  const add = (name: string, count: (walk: Walk) => number): void => {
    figures.set(name, figureOf(walks.map(count)));
  };
  add("files entered", ({ functions }) => new Set(functions.map(({ file }) => file)).size);
  add("functions entered", ({ functions }) => functions.filter(isNamed).length);
  for (const part of PARTS) {
    add(
      part,
      ({ functions }) =>
        functions.filter((entered) => isNamed(entered) && partOf(entered.file, store) === part)
          .length,
    );
  }
  add("statements", ({ statements }) => statements);
  add("BEGIN, COMMIT, …", ({ brackets }) => brackets);
  add("proxy calls", ({ proxyCalls }) => proxyCalls);
  return figures;
}

/** True for a figure that is a share of the functions. */
export function isPart(name: string): boolean {
  return PARTS.some((part) => part === name);
}

/** V8 has names in angle brackets for initialisers, which are no functions of the source. */
export function isNamed({ name }: EnteredFunction): boolean {
  return name !== "" && !name.startsWith("<");
}

/** The functions that at least half of the walks entered, in the order of files and of text. */
export function usualFunctions(walks: readonly Walk[]): EnteredFunction[] {
  const all = walks.flatMap(({ functions }) => functions);
  const groups = Object.values(
    Object.groupBy(all, ({ file, offset, name }) => `${file} ${offset} ${name}`),
  );
  return groups
    .flatMap((group = []) => (group.length * 2 >= walks.length ? group.slice(0, 1) : []))
    .toSorted((a, b) => (a.file === b.file ? a.offset - b.offset : a.file < b.file ? -1 : 1));
}

function partOf(file: string, store: StoreKind): Part {
  const [, folder = "", inner] = file.split("/");
  if (folder === "store") return inner === store ? "dialect" : "store shared";
  // The folder of the public interface had another name before.
  const name = folder === "face" ? "api" : folder;
  return PARTS.find((part) => part === name) ?? "elsewhere";
}

function figureOf(counts: readonly number[]): Figure {
  const sorted = counts.toSorted((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
  };
}
