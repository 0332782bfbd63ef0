import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { lineOf, parse } from "./syntax.ts";

interface Declared {
  readonly path: string;
  readonly line: number;
  readonly name: string;
}

/** Each dialect may call its own the same. */
const TWINS = ["src/store/postgres/", "src/store/sqlite/"];

/** An exported type has a name of its own. */
export function uniqueTypes(files: readonly SourceFile[]): Finding[] {
  const declared = files.filter(({ path }) => isShipped(path)).flatMap(exportedTypes);
  return [...Map.groupBy(declared, ({ name }) => name).values()]
    .filter((group) => !areTwins(group))
    .flatMap(([first, ...others]) =>
      others.map(({ path, line, name }) => ({
        path,
        line,
        message: `${name} is also declared in ${first?.path}: import it, or name it differently`,
      })),
    );
}

function exportedTypes(file: SourceFile): Declared[] {
  return parse(file)
    .statements.filter(isTypeDeclaration)
    .filter((node) => ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export)
    .map((node) => ({ path: file.path, line: lineOf(node), name: node.name?.text ?? "default" }));
}

function isTypeDeclaration(
  node: ts.Node,
): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)
  );
}

function areTwins(group: readonly Declared[]): boolean {
  const dialects = group.map(({ path }) => TWINS.find((folder) => path.startsWith(folder)));
  return !dialects.includes(undefined) && new Set(dialects).size === group.length;
}
