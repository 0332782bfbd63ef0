/** How long files and functions are. Shared by the rules and by the table of sizes. */
import ts from "typescript-5.9";
import type { SourceFile } from "./rule.ts";
import { lineOf, nodesOf, parse } from "./syntax.ts";

export interface FunctionSize {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

export function linesOf(file: SourceFile): number {
  return file.text.replace(/\n$/, "").split("\n").length;
}

/** Every function with a body, nested ones too; an outer one counts the lines of its inner ones. */
export function functionsOf(file: SourceFile): FunctionSize[] {
  const tree = parse(file);
  const sizes: FunctionSize[] = [];
  for (const node of nodesOf(tree)) {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) continue;
    const line = lineOf(node);
    const lastLine = tree.getLineAndCharacterOfPosition(node.end).line + 1;
    sizes.push({ name: nameOf(node), line, lines: lastLine - line + 1 });
  }
  return sizes;
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText();
  }
  return "an unnamed function";
}
