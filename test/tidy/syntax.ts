/**
 * Reads TypeScript for the rules. TypeScript 7 has no compiler API, so the older one, which checks
 * the public types for users who still have it, also serves as the parser.
 */
import ts from "typescript-5.9";
import type { SourceFile } from "./rule.ts";

const parsed = new WeakMap<SourceFile, ts.SourceFile>();

export function parse(file: SourceFile): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;

  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  parsed.set(file, tree);
  return tree;
}

/** Every node below `root`, in the order of the text. */
export function* nodesOf(root: ts.Node): Generator<ts.Node> {
  yield root;
  for (const child of childrenOf(root)) yield* nodesOf(child);
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

/** The line on which a node begins, comments before it left aside. */
export function lineOf(node: ts.Node): number {
  const tree = node.getSourceFile();
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

export interface ImportOf {
  readonly specifier: string;
  readonly line: number;
  readonly isTypeOnly: boolean;
  /** The names taken, as the other module calls them. Empty for a whole module. */
  readonly names: readonly string[];
}

/** All ways in which a file names another: import, re-export, `import()`, also as a type. */
export function importsOf(file: SourceFile): ImportOf[] {
  const found: ImportOf[] = [];
  for (const node of nodesOf(parse(file))) {
    const specifier = specifierOf(node);
    if (specifier === null || !ts.isStringLiteralLike(specifier)) continue;
    found.push({
      specifier: specifier.text,
      line: lineOf(node),
      isTypeOnly: isTypeOnly(node),
      names: namesOf(node),
    });
  }
  return found;
}

function specifierOf(node: ts.Node): ts.Node | null {
  if (ts.isImportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.moduleSpecifier ?? null;
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : null;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return node.arguments[0] ?? null;
  }
  return null;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly || everyName(node.exportClause);
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false;
  const { isTypeOnly: whole, name, namedBindings } = node.importClause;
  return whole || (name === undefined && everyName(namedBindings));
}

/** `import { type A, type B }` is a type import as well. */
function everyName(clause: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (clause === undefined || !(ts.isNamedImports(clause) || ts.isNamedExports(clause)))
    return false;
  const names: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] = clause.elements;
  return names.length > 0 && names.every((name) => name.isTypeOnly);
}

function namesOf(node: ts.Node): string[] {
  if (!ts.isImportDeclaration(node)) return [];
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text);
}

/** `a.b.c` as text, for a chain of plain names; `null` for anything else. */
export function chainOf(node: ts.Node): string | null {
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isPropertyAccessExpression(node)) return null;
  const left = chainOf(node.expression);
  return left === null ? null : `${left}.${node.name.text}`;
}

/** True where a name stands for a value, and not as the name of a property or in a type. */
export function isValueName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !ts.isTypeNode(parent) && !isDeclaredBy(node, parent);
}

function isDeclaredBy(node: ts.Identifier, parent: ts.Node): boolean {
  if (ts.isImportSpecifier(parent)) return true;
  const isMember = ts.isClassElement(parent) || ts.isTypeElement(parent);
  const isLocal = ts.isParameter(parent) || ts.isBindingElement(parent);
  return (isMember || isLocal) && parent.name === node;
}
