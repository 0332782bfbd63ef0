/** How large a set of source files is, measured as the tidy test measures. */
import { functionsOf, linesOf } from "../../../test/tidy/measure.ts";
import type { SourceFile } from "../../../test/tidy/rule.ts";

export interface Sizes {
  readonly files: Extent;
  readonly functions: Extent;
}

/** How many things there are, and how many lines they have. */
export interface Extent {
  readonly count: number;
  readonly lines: number;
  /** Null where there is nothing. */
  readonly median: number | null;
  readonly largest: Sized | null;
}

interface Sized {
  readonly name: string;
  readonly lines: number;
}

export function sizesOf(files: readonly SourceFile[]): Sizes {
  return {
    files: extentOf(files.map((file) => ({ name: fileName(file.path), lines: linesOf(file) }))),
    functions: extentOf(files.flatMap((file) => functionsOf(file))),
  };
}

/** The folder of a file: `.` for the root of the repository. */
export function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/") || ".";
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function extentOf(sizes: readonly Sized[]): Extent {
  const sorted = sizes.toSorted((a, b) => a.lines - b.lines);
  return {
    count: sorted.length,
    lines: sorted.reduce((sum, { lines }) => sum + lines, 0),
    median: sorted[Math.floor(sorted.length / 2)]?.lines ?? null,
    largest: sorted.at(-1) ?? null,
  };
}
