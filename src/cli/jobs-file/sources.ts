/** Searches a file and the files that it imports. */
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface SourceLocation {
  readonly path: string;
  /** The first line has number 1. */
  readonly line: number;
}

/** The maximum number of files that a search reads. */
const FILES_MAX = 500;
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\()\s*(["'])(.+?)\1/g;

/** The first line that matches, in the order in which Node reads the files. */
export function findInSources(
  entry: string,
  isWanted: (source: { readonly path: string; readonly line: string }) => boolean,
): SourceLocation | null {
  const seen = new Set([entry]);
  // The loop over a set includes the entries that are added during the loop.
  for (const path of seen) {
    const lines = linesOf(path);
    const index = lines.findIndex((line) => isWanted({ path, line }));
    if (index >= 0) return { path, line: index + 1 };
    if (seen.size >= FILES_MAX) return null;
    for (const specifier of lines.flatMap(specifiersOf)) {
      if (specifier.startsWith(".")) seen.add(addressOf(specifier, path));
    }
  }
  return null;
}

/** The import specifiers in a line. */
export function specifiersOf(line: string): string[] {
  return [...line.matchAll(SPECIFIER)].flatMap(([, , specifier]) => specifier ?? []);
}

/** The path of a relative specifier. */
export function addressOf(specifier: string, from: string): string {
  return fileURLToPath(new URL(specifier, pathToFileURL(from)));
}

/** The lines of a file; none if the file cannot be read. */
export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
