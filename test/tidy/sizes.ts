import { functionsOf, linesOf } from "./measure.ts";
import { isGenerated, isTest } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";

const FILE_LINES_WANTED = 300;
const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const COLUMNS_MAX = 100;
const FOLDER_FILES_MAX = 20;
/** A list of commands, one file each. */
const LISTS_OF_COMMANDS = new Set(["scripts/show"]);

/** No file is longer than one can keep in mind. */
export function fileSize(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => isMeasured(file) && linesOf(file) > FILE_LINES_MAX)
    .map((file) => ({
      path: file.path,
      line: FILE_LINES_MAX + 1,
      message: `${linesOf(file)} lines, at most ${FILE_LINES_MAX}: split it by subject`,
    }));
}

/** How many files are longer than wanted, though not too long, and of how many. */
export function longFiles(files: readonly SourceFile[]): { long: number; all: number } {
  const measured = files.filter(isMeasured);
  const long = measured.filter((file) => linesOf(file) > FILE_LINES_WANTED);
  return { long: long.length, all: measured.length };
}

/** No function is longer than a screen. */
export function functionSize(files: readonly SourceFile[]): Finding[] {
  return files.filter(isMeasured).flatMap((file) =>
    functionsOf(file)
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
      .map(({ name, line, lines }) => ({
        path: file.path,
        line,
        message: `${name} has ${lines} lines, at most ${FUNCTION_LINES_MAX}: split it in steps`,
      })),
  );
}

/** No folder has more source files than one can take in at a glance. */
export function folderSize(files: readonly SourceFile[]): Finding[] {
  const folders = Map.groupBy(files.filter(isSource), ({ path }) => folderOf(path));
  return [...folders]
    .filter(([path, inside]) => inside.length > FOLDER_FILES_MAX && !LISTS_OF_COMMANDS.has(path))
    .map(([path, { length }]) => ({
      path,
      line: 1,
      message: `${length} source files, at most ${FOLDER_FILES_MAX}: split it by subject`,
    }));
}

/** A test in `src` lies beside its source and does not count. */
function isSource({ path }: SourceFile): boolean {
  if (!path.endsWith(".ts") || isGenerated(path)) return false;
  if (path.startsWith("src/")) return !isTest(path);
  return path.startsWith("test/") || path.startsWith("scripts/");
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** No line of code is wider than two can stand side by side. Prose wraps as it likes. */
export function lineWidth(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => /\.(ts|js|mjs|css|sql)$/.test(path) && !isGenerated(path))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((content, index) => {
        const columns = Array.from(content).length;
        if (columns <= COLUMNS_MAX) return [];
        return [{ path, line: index + 1, message: `${columns} columns, at most ${COLUMNS_MAX}` }];
      }),
    );
}

function isMeasured({ path }: SourceFile): boolean {
  return /\.(ts|js|mjs)$/.test(path) && !isTest(path) && !isGenerated(path);
}
