import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { chainOf, lineOf, nodesOf, parse } from "./syntax.ts";

/** Only the command line talks to a terminal; everything else has a logger or says nothing. */
export function quietLibrary(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isShipped(path) && !path.startsWith("src/cli/"))
    .flatMap((file) =>
      [...nodesOf(parse(file))]
        .filter((node) => ts.isPropertyAccessExpression(node))
        .filter((node) => chainOf(node.expression) === "console")
        .map((node) => ({
          path: file.path,
          line: lineOf(node),
          message: `${chainOf(node)} outside src/cli: use the logger, or say nothing`,
        })),
    );
}
