import ts from "typescript-5.9";
import type { Finding, SourceFile } from "./rule.ts";
import { nodesOf, parse } from "./syntax.ts";

const PAGE = "ARCHITECTURE.md";
const CODE = "src/core/job.ts";

/** The drawn path of a job is the coded one: same states, same edges, same verbs. */
export function stateDiagram(files: readonly SourceFile[]): Finding[] {
  const code = files.find(({ path }) => path === CODE);
  const page = files.find(({ path }) => path === PAGE);
  if (code === undefined) return [];
  if (page === undefined) return [{ path: PAGE, line: 1, message: "missing: it draws the states" }];

  const lines = page.text.split("\n");
  const start = lines.findIndex((line) => line.trim() === "stateDiagram-v2");
  if (start === -1) return [{ path: PAGE, line: 1, message: "has no stateDiagram-v2" }];

  const coded = codedEdges(code);
  const drawn = drawnEdges(lines, start);
  const missing = coded.filter((edge) => drawn.every((each) => each.edge !== edge));
  const foreign = drawn.filter(({ edge }) => !coded.includes(edge));
  const twice = drawn.filter(
    ({ edge }, index) => drawn.findIndex((each) => each.edge === edge) < index,
  );
  return [
    ...missing.map((edge) => ({ path: PAGE, line: start + 1, message: `does not draw: ${edge}` })),
    ...foreign.map(({ edge, line }) => ({ path: PAGE, line, message: `not in ${CODE}: ${edge}` })),
    ...twice.map(({ edge, line }) => ({ path: PAGE, line, message: `drawn twice: ${edge}` })),
  ];
}

function drawnEdges(lines: readonly string[], start: number): { edge: string; line: number }[] {
  const end = lines.findIndex((line, index) => index > start && line.startsWith("```"));
  return lines
    .slice(start + 1, end)
    .map((text, index) => ({ edge: text.trim().replace(/\s+/g, " "), line: start + index + 2 }))
    .filter(({ edge }) => edge.includes("-->") && !edge.endsWith("--> [*]"));
}

/** Reads `TRANSITIONS` in the form in which the diagram writes it. */
function codedEdges(code: SourceFile): string[] {
  const table = [...nodesOf(parse(code))]
    .filter((node) => ts.isVariableDeclaration(node))
    .find((node) => node.name.getText() === "TRANSITIONS")?.initializer;
  if (table === undefined || !ts.isArrayLiteralExpression(table)) return [];

  return table.elements
    .filter((element) => ts.isObjectLiteralExpression(element))
    .map((row) => `${cell(row, "from") ?? "[*]"} --> ${cell(row, "to")} : ${cell(row, "verb")}`);
}

/** The text of one field; `null` for the literal `null`. */
function cell(row: ts.ObjectLiteralExpression, name: string): string | null {
  const field = row.properties
    .filter((property) => ts.isPropertyAssignment(property))
    .find((property) => property.name.getText() === name);
  return field !== undefined && ts.isStringLiteral(field.initializer)
    ? field.initializer.text
    : null;
}
