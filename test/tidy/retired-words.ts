import ts from "typescript-5.9";
import { isGenerated } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { lineOf, nodesOf, parse } from "./syntax.ts";

/** Words that were given up, and the word to use instead: the glossary of ARCHITECTURE.md. */
const RETIRED: Readonly<Record<string, string>> = {
  tiding: "event",
  tidings: "outbox",
  occupy: "acquireLocks",
  occupant: "holder",
  vacate: "release",
  errand: "dependency task",
  errands: "dependency tasks",
  "hand back": "returnPrefetched",
  outlived: "expired",
  crier: "notifySender",
  coalescer: "batcher",
  doubt: "lostClaim",
  doubts: "lostClaims",
  "gave way": "key holder",
  offspring: "children",
  roster: "unitQueue",
};
const RETIRED_WORD = new RegExp(`(?<![a-z])(?:${Object.keys(RETIRED).join("|")})(?![a-z])`, "g");
/**
 * Words that do not say which component acts, spelled here so that this file does not have them.
 * One of them is also the name of a Unix user.
 */
const VAGUE_WORD =
  /(?<!\bUnix user `)(?:no|some|any|every)body|who(?:ever)|(?<![a-z])mend(?:ed|s)\b/gi;

interface Named {
  readonly line: number;
  readonly name: string;
}

export function retiredWords(files: readonly SourceFile[]): Finding[] {
  return [...retiredNames(files), ...files.flatMap(vagueWords)];
}

/** Names in code and SQL use the words of the glossary; comments may use other words. */
function retiredNames(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => /^(src|sql)\//.test(path) && !isGenerated(path))
    .flatMap((file) => {
      const named = [{ line: 1, name: file.path }, ...namesIn(file)];
      return named.flatMap(({ line, name }) =>
        wordsOf(name).map((word) => ({
          path: file.path,
          line,
          message: `“${name}” has the retired word “${word}”: use ${RETIRED[word]}`,
        })),
      );
    });
}

/** In every file, in comments, strings and names alike. */
function vagueWords({ path, text }: SourceFile): Finding[] {
  return text.split("\n").flatMap((content, index) =>
    (content.match(VAGUE_WORD) ?? []).map((word) => ({
      path,
      line: index + 1,
      message: `“${word}” is vague: name the component that acts, and what it does`,
    })),
  );
}

/** `handBackJobs`, `hand_back` and `hand-back` all have the words “hand back”. */
function wordsOf(name: string): string[] {
  const spaced = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[^A-Za-z\d]+/g, " ")
    .toLowerCase();
  return spaced.match(RETIRED_WORD) ?? [];
}

function namesIn(file: SourceFile): Named[] {
  if (file.path.endsWith(".sql")) return namesInSql(file.text);
  if (!file.path.endsWith(".ts")) return [];
  return [...nodesOf(parse(file))]
    .filter((node) => ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
    .filter(isDeclared)
    .map((node) => ({ line: lineOf(node), name: node.text }));
}

/** Where a name is made: its uses would only repeat the finding. */
function isDeclared(node: ts.Identifier | ts.PrivateIdentifier): boolean {
  const { parent } = node;
  return "name" in parent && parent.name === node && !ts.isPropertyAccessExpression(parent);
}

/** Every word outside comments, and the names of queries, which stand in comments. */
function namesInSql(text: string): Named[] {
  return text.split("\n").flatMap((content, index) => {
    const title = /^-- name: (\w+)/.exec(content)?.[1];
    const names = title === undefined ? content.replace(/--.*$/, "").match(/\w+/g) : [title];
    return [...new Set(names)].map((name) => ({ line: index + 1, name }));
  });
}
