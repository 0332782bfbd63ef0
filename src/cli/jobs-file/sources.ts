/** Reads through a file and its neighbours, as far as their imports lead. */
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface Place {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
}

/** A search through somebody's project ends here at the latest. */
const FILES_MAX = 500;
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\()\s*(["'])(.+?)\1/g;

/** The first line that is wanted, in the order in which Node reads the files. */
export function findInSources(
  entry: string,
  isWanted: (source: { readonly path: string; readonly line: string }) => boolean,
): Place | null {
  const seen = new Set([entry]);
  // A set goes on to what is added while it is walked through.
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

/** What a line imports. */
export function specifiersOf(line: string): string[] {
  return [...line.matchAll(SPECIFIER)].flatMap(([, , specifier]) => specifier ?? []);
}

/** The file that a relative specifier names. */
export function addressOf(specifier: string, from: string): string {
  return fileURLToPath(new URL(specifier, pathToFileURL(from)));
}

/** The lines of a file; none if there is no such file. */
export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
