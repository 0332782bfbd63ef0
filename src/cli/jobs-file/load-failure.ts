/**
 * Explains why a user's file did not load.
 *
 * Node runs TypeScript by removing the types. Syntax that needs a compiler (`enum`, decorators,
 * JSX) and imports of another file name (`./x.js` for `x.ts`) cause errors that do not name the
 * fix, and some that do not name the line. The line is then searched in the sources.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { addressOf, findInSources, linesOf, specifiersOf } from "./sources.ts";
import type { SourceLocation } from "./sources.ts";
import { shownPath } from "../terminal/shown-path.ts";

const NEEDS_LOADER =
  "Use syntax that needs no compiler, or compile the file with tsx:\n" +
  "  npm install --save-dev tsx\n" +
  "  node --import tsx node_modules/millrace/bin/millrace.js … (with the same arguments)";

const TYPESCRIPT = /\.[cm]?tsx?$/;
const DECORATOR = /^\s*(?:export\s+(?:default\s+)?)?@[\p{L}_$]/u;

/** The failure for `error`, which was thrown while `entry` was imported. */
export function loadFailure(error: unknown, entry: string): CommandFailure {
  const { code, message, stack } = factsOf(error);
  switch (code) {
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return failure(
        placeIn(stack, entry),
        `${wordsOf(message)} is not supported by Node`,
        NEEDS_LOADER,
      );
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return unknownExtension(message, entry);
    case "ERR_MODULE_NOT_FOUND":
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return missingModule(error, message, entry);
    default:
      return error instanceof SyntaxError
        ? wrongSyntax(message, stack, entry)
        : thrownInside(error, entry);
  }
}

function factsOf(error: unknown): { code: unknown; message: string; stack: string } {
  if (!(error instanceof Error)) return { code: null, message: String(error), stack: "" };
  const { message, stack = "" } = error;
  return { code: "code" in error ? error.code : null, message, stack };
}

/** "TypeScript enum is not supported in strip-only mode" → "TypeScript enum". */
function wordsOf(message: string): string {
  return message.replace(/ is not supported.*$/s, "");
}

function unknownExtension(message: string, entry: string): CommandFailure {
  const [, path = entry] = / for (.+)$/.exec(message) ?? [];
  const place = findInSources(entry, ({ path: from, line }) =>
    specifiersOf(line).some((specifier) => isAddressOf(specifier, from, path)),
  );
  const name = shownPath(path);
  return failure(place ?? { path, line: 1 }, `Node cannot run ${name}`, NEEDS_LOADER);
}

/** The failure for a wrong file name, or for a package that is not installed. */
function missingModule(error: unknown, message: string, entry: string): CommandFailure {
  const [, importer = entry] = / imported from (.+)$/.exec(message) ?? [];
  const [, packageName] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  if (packageName !== undefined) {
    const place = findInFile(importer, (specifier) => specifier.startsWith(packageName));
    const what = `the package ${packageName} is not installed`;
    return failure(place, what, `Install the package: npm install ${packageName}`);
  }
  const url = error instanceof Error && "url" in error ? String(error.url) : null;
  const missing = url === null ? "" : fileURLToPath(url);
  const place = findInFile(importer, (specifier) => isAddressOf(specifier, importer, missing));
  const written = place.specifier ?? shownPath(missing);
  const found = nameThatExists(missing);
  if (found === null)
    return failure(place, `there is no ${written}`, "Check the name of the file.");
  const right = written.replace(/(?:\.[cm]?jsx?)?\/?$/, found);
  const hint = `Write "${right}", the name of the file, or resolve the name with tsx:\n`;
  return failure(
    place,
    `Node finds no "${written}"`,
    `${hint}${NEEDS_LOADER.split("\n").slice(1).join("\n")}`,
  );
}

/** The ending with which the file exists; `null` when none does. */
function nameThatExists(missing: string): string | null {
  const stem = missing.replace(/\.[cm]?jsx?$/, "");
  const endings = [".ts", ".mts", ".cts", ".js", ".mjs", ".tsx", "/index.ts", "/index.js"];
  return endings.find((ending) => existsSync(stem + ending)) ?? null;
}

function wrongSyntax(message: string, stack: string, entry: string): CommandFailure {
  const [, name] = /does not provide an export named '([^']+)'/.exec(message) ?? [];
  const place = placeIn(stack, entry);
  if (name !== undefined && TYPESCRIPT.test(place.path)) {
    const hint = `If ${name} is a type, write: import type { ${name} } from …`;
    return failure(place, message, hint);
  }
  const decorator = findInSources(
    entry,
    ({ path, line }) => TYPESCRIPT.test(path) && DECORATOR.test(line),
  );
  if (decorator !== null && /Invalid or unexpected token/.test(message)) {
    return failure(decorator, "a decorator is not supported by Node", NEEDS_LOADER);
  }
  return failure(place, message, "Correct the syntax in this line.");
}

/** The failure of a file whose own code threw. */
function thrownInside(error: unknown, entry: string): CommandFailure {
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CommandFailure(`${shownPath(entry)} threw an error while it was loaded:\n${story}`, {
    hint: "Correct the code of the file outside its handlers.",
    exitCode: EXIT.broken,
  });
}

function failure({ path, line }: SourceLocation, what: string, hint: string): CommandFailure {
  const message = `${shownPath(path)}:${line}: ${what}.`;
  return new CommandFailure(message, { hint, exitCode: EXIT.usage });
}

/** The location that Node usually writes above the stack of a syntax error. */
function placeIn(stack: string, entry: string): SourceLocation {
  const [, path, line] = /^(\S.*?):(\d+)\n/.exec(stack) ?? [];
  if (path === undefined) return { path: entry, line: 1 };
  return {
    path: path.startsWith("file:") ? fileURLToPath(path) : path,
    line: Number(line),
  };
}

function findInFile(
  path: string,
  isWanted: (specifier: string) => boolean,
): SourceLocation & { readonly specifier?: string } {
  for (const [index, line] of linesOf(path).entries()) {
    const specifier = specifiersOf(line).find(isWanted);
    if (specifier !== undefined) return { path, line: index + 1, specifier };
  }
  return { path, line: 1 };
}

function isAddressOf(specifier: string, from: string, path: string): boolean {
  if (!specifier.startsWith(".")) return false;
  return addressOf(specifier, from).replace(/\/$/, "") === path.replace(/\/$/, "");
}
