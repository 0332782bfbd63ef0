import ts from "typescript-5.9";
import { isTest } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { chainOf, lineOf, nodesOf, parse } from "./syntax.ts";

const STARTERS = /^(test|it|describe|suite)\b/;
const SILENT = new Set(["only", "skip", "todo", "skipIf", "runIf"]);

/** No test is left out unless it prints why: `context.skip("reason")` inside the test. */
export function honestTests(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isTest(path))
    .flatMap((file) =>
      [...nodesOf(parse(file))].flatMap((node) => {
        const message = complaintAbout(node);
        return message === null ? [] : [{ path: file.path, line: lineOf(node), message }];
      }),
    );
}

function complaintAbout(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) {
    if (!STARTERS.test(node.getText()) || !SILENT.has(node.name.text)) return null;
    return `.${node.name.text} leaves tests out in silence: call context.skip("reason") inside`;
  }
  if (!ts.isCallExpression(node)) return null;
  if (STARTERS.test(chainOf(node.expression) ?? "")) return complaintAboutOptions(node);

  const isSkip = /(^|\.)skip$/.test(chainOf(node.expression) ?? "");
  return isSkip && !hasReason(node) ? "skip() without a reason: give it one" : null;
}

/** `test("…", { skip: true }, …)` is the same in another dress. */
function complaintAboutOptions(call: ts.CallExpression): string | null {
  const names = call.arguments
    .filter((argument) => ts.isObjectLiteralExpression(argument))
    .flatMap((options) => options.properties)
    .map((property) => property.name?.getText() ?? "");
  const silent = names.find((name) => SILENT.has(name));
  return silent === undefined ? null : `{ ${silent} } leaves tests out in silence`;
}

/** `skip(reason)`, or `skip(condition, reason)`. */
function hasReason({ arguments: given }: ts.CallExpression): boolean {
  const [first, second] = given;
  if (second !== undefined) return true;
  return first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first));
}
