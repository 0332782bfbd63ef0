/**
 * The requirements of docs/reference/requirements.md, and the tests whose titles carry their
 * numbers.
 */
import ts from "typescript-5.9";
import { isGenerated, isShipped, type SourceFile } from "../../../test/tidy/rule.ts";
import { lineOf, nodesOf, parse } from "../../../test/tidy/syntax.ts";

export interface Requirement {
  readonly number: string;
  readonly sentence: string;
  /** Why no test proves the sentence; null: tests prove it. */
  readonly notYet: string | null;
}

/** A test, or a group of tests, whose title carries numbers. */
export interface NumberedTest {
  readonly path: string;
  readonly line: number;
  /** As it is written, after the titles of the groups around it. */
  readonly title: string;
  readonly numbers: readonly string[];
}

export interface Repository {
  readonly requirements: readonly Requirement[];
  readonly tests: readonly NumberedTest[];
  /** Numbers in files of tests that stand in no title, as `path:line number`. */
  readonly strays: readonly string[];
}

const REQUIREMENTS_PATH = "docs/reference/requirements.md";
const NUMBER = /\b(?:00[0-4]|C)-\d{2}\b/g;
const ENTRY = /^- \*\*((?:00[0-4]|C)-\d{2})\*\* (.+?)(?: _Not yet: (.+)\._)?$/gm;
const STARTER = /^(?:test|it|describe)\b/;

export function requirementsAndTests(files: readonly SourceFile[]): Repository {
  const page = files.find(({ path }) => path === REQUIREMENTS_PATH);
  const tested = files.filter(
    ({ path, text }) =>
      /^(?:src|test|examples)\/.*\.ts$/.test(path) &&
      !isShipped(path) &&
      !isGenerated(path) &&
      numbersIn(text).length > 0,
  );
  const tests = tested.flatMap(testsIn);
  return {
    requirements: entriesOf(page?.text ?? ""),
    tests,
    strays: tested.flatMap((file) => straysIn(file, tests)),
  };
}

/** The tests of a requirement. */
export function testsOf({ tests }: Repository, number: string): readonly NumberedTest[] {
  return tests.filter(({ numbers }) => numbers.includes(number));
}

function entriesOf(page: string): Requirement[] {
  return [...page.matchAll(ENTRY)].map(([, number = "", sentence = "", notYet]) => ({
    number,
    sentence,
    notYet: notYet ?? null,
  }));
}

function testsIn(file: SourceFile): NumberedTest[] {
  return [...nodesOf(parse(file))].flatMap((node) => {
    const texts = titleTexts(node);
    const numbers = numbersIn(texts.join(" "));
    if (numbers.length === 0) return [];
    const title = [...groupsAround(node), texts[0]].join(" › ");
    return [{ path: file.path, line: lineOf(titleOf(node) ?? node), title, numbers }];
  });
}

/** The title of a test, then the texts of its table of cases, which its title may include. */
function titleTexts(node: ts.Node): string[] {
  const title = titleOf(node);
  if (title === null || !ts.isCallExpression(node)) return [];
  const cases = ts.isCallExpression(node.expression) ? node.expression.arguments : [];
  const texts = cases.flatMap((table) => [...nodesOf(table)].filter(ts.isStringLiteralLike));
  return [textOf(title), ...texts.map(({ text }) => text)];
}

/** The first argument of `test("…")`, `test.each(…)("…")`, `describe("…")` and the like. */
function titleOf(node: ts.Node): ts.Node | null {
  if (!ts.isCallExpression(node) || !STARTER.test(node.expression.getText())) return null;
  const [title] = node.arguments;
  const isText =
    title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title));
  return isText ? title : null;
}

function textOf(title: ts.Node): string {
  return ts.isStringLiteralLike(title) ? title.text : title.getText().slice(1, -1);
}

function groupsAround({ parent }: ts.Node): string[] {
  if (parent === undefined) return [];
  const title = titleOf(parent);
  return title === null ? groupsAround(parent) : [...groupsAround(parent), textOf(title)];
}

/** Numbers that no title of their file has: in a comment, for example. */
function straysIn({ path, text }: SourceFile, tests: readonly NumberedTest[]): string[] {
  const titled = new Set(
    tests.filter((test) => test.path === path).flatMap(({ numbers }) => numbers),
  );
  return text.split("\n").flatMap((content, index) =>
    numbersIn(content)
      .filter((number) => !titled.has(number))
      .map((number) => `${path}:${index + 1} ${number}`),
  );
}

function numbersIn(text: string): string[] {
  return [...new Set(text.match(NUMBER))];
}
