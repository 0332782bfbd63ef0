/** Finds names of types that stand for more than one thing. */
import ts from "typescript-5.9";
import { isGenerated, isShipped, type SourceFile } from "../../../test/tidy/rule.ts";
import { parse } from "../../../test/tidy/syntax.ts";

/** A name that several files of `src` declare at their top level. */
export interface SharedName {
  readonly name: string;
  /** The files that declare it. */
  readonly files: readonly string[];
  /** The two dialects of the store declare it once each, and no other file does. */
  readonly isTwin: boolean;
}

interface Declaration {
  readonly name: string;
  readonly file: string;
  readonly isExported: boolean;
}

/** Which declarations count: all at the top level of a file, or the exported ones alone. */
export type Scope = "all" | "exported";

/**
 * The names of interfaces, type aliases, classes and enums that more than one file of `src`
 * declares. Tests and generated files are left aside.
 */
export function sharedNames(files: readonly SourceFile[], scope: Scope): SharedName[] {
  const declarations = files
    .filter(({ path }) => isShipped(path) && !isGenerated(path))
    .flatMap((file) => declaredIn(file))
    .filter(({ isExported }) => isExported || scope === "all");
  const groups = Object.entries(Object.groupBy(declarations, ({ name }) => name));
  return groups
    .map(([name, group = []]) => sharedName(name, group))
    .filter((shared) => shared.files.length > 1)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function declaredIn(file: SourceFile): Declaration[] {
  return parse(file).statements.flatMap((statement) => {
    if (!isTypeDeclaration(statement) || statement.name === undefined) return [];
    const isExported = statement.modifiers?.some(
      ({ kind }) => kind === ts.SyntaxKind.ExportKeyword,
    );
    return [{ name: statement.name.text, file: file.path, isExported: isExported ?? false }];
  });
}

type TypeDeclaration =
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.ClassDeclaration
  | ts.EnumDeclaration;

function isTypeDeclaration(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

function sharedName(name: string, group: readonly Declaration[]): SharedName {
  const files = [...new Set(group.map(({ file }) => file))];
  const isOf = (dialect: string): boolean =>
    files.some((file) => file.startsWith(`src/store/${dialect}/`));
  return { name, files, isTwin: files.length === 2 && isOf("sqlite") && isOf("postgres") };
}
