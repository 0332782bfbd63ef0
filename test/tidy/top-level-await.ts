import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { lineOf, nodesOf, parse } from "./syntax.ts";

/** A module that awaits while it loads cannot be reached by `require()`. */
export function topLevelAwait(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isShipped(path))
    .flatMap((file) =>
      [...nodesOf(parse(file))]
        .filter((node) => isAwait(node) && !isInsideFunction(node))
        .map((node) => ({
          path: file.path,
          line: lineOf(node),
          message:
            "await at the top level keeps the module from require(): move it into a function",
        })),
    );
}

function isAwait(node: ts.Node): boolean {
  if (ts.isForOfStatement(node)) return node.awaitModifier !== undefined;
  if (ts.isVariableDeclarationList(node)) {
    return /^await\s+using\b/.test(node.getText());
  }
  return ts.isAwaitExpression(node);
}

function isInsideFunction(node: ts.Node): boolean {
  return ts.findAncestor(node, (each) => ts.isFunctionLike(each)) !== undefined;
}
