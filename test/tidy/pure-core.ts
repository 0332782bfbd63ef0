import { isBuiltin } from "node:module";
import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { importsOf, isValueName, lineOf, nodesOf, parse } from "./syntax.ts";

const HOST_NAMES = new Set(["process", "Buffer", "require", "globalThis", "fetch"]);

/** `src/core` decides and touches nothing: no built-in modules and nothing of the host. */
export function pureCore(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isShipped(path) && path.startsWith("src/core/"))
    .flatMap((file) =>
      [...builtinsOf(file), ...hostNamesOf(file)].map(({ name, line }) => ({
        path: file.path,
        line,
        message: `core is pure: ${name} must come in as an argument, or stay outside`,
      })),
    );
}

function builtinsOf(file: SourceFile): { name: string; line: number }[] {
  return importsOf(file)
    .filter(({ specifier }) => isBuiltin(specifier))
    .map(({ specifier, line }) => ({ name: specifier, line }));
}

function hostNamesOf(file: SourceFile): { name: string; line: number }[] {
  return [...nodesOf(parse(file))]
    .filter((node) => ts.isIdentifier(node))
    .filter((node) => HOST_NAMES.has(node.text) && isValueName(node))
    .map((node) => ({ name: node.text, line: lineOf(node) }));
}
