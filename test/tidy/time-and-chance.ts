import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { chainOf, importsOf, isValueName, lineOf, nodesOf, parse } from "./syntax.ts";

/** The one file that may touch the real clock and the real dice. */
const PORT = "src/lib/system.ts";

const GLOBALS = new Set(["setTimeout", "setInterval", "setImmediate"]);
const CHAINS = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "process.hrtime",
]);

/** The same things under the names by which they can be imported. */
const IMPORTED: Readonly<Record<string, RegExp>> = {
  "node:crypto": /^(random\w*|getRandomValues|webcrypto)$/,
  "node:perf_hooks": /^performance$/,
  "node:process": /^hrtime$/,
  "node:timers": /./,
  "node:timers/promises": /./,
};

/** Time and chance come in through the ports of `core/clock.ts`, so that tests own both. */
export function timeAndChance(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isShipped(path) && path !== PORT)
    .flatMap((file) =>
      [...namedIn(file), ...importedBy(file)].map(({ name, line }) => ({
        path: file.path,
        line,
        message: `${name} belongs to ${PORT}: take a Clock or Dice as an argument`,
      })),
    );
}

interface Use {
  readonly name: string;
  readonly line: number;
}

function namedIn(file: SourceFile): Use[] {
  return [...nodesOf(parse(file))].flatMap((node) => {
    const name = forbiddenName(node);
    return name === null ? [] : [{ name, line: lineOf(node) }];
  });
}

function forbiddenName(node: ts.Node): string | null {
  if (ts.isNewExpression(node)) {
    const isNow = chainOf(node.expression) === "Date" && (node.arguments ?? []).length === 0;
    return isNow ? "new Date()" : null;
  }
  if (ts.isPropertyAccessExpression(node)) {
    const chain = chainOf(node)?.replace(/^globalThis\./, "") ?? "";
    return CHAINS.has(chain) || GLOBALS.has(chain) ? chain : null;
  }
  if (ts.isIdentifier(node)) return GLOBALS.has(node.text) && isValueName(node) ? node.text : null;
  return null;
}

function importedBy(file: SourceFile): Use[] {
  return importsOf(file).flatMap(({ specifier, names, line, isTypeOnly }) => {
    const forbidden = IMPORTED[specifier.startsWith("node:") ? specifier : `node:${specifier}`];
    if (forbidden === undefined || isTypeOnly) return [];
    return names.filter((name) => forbidden.test(name)).map((name) => ({ name, line }));
  });
}
