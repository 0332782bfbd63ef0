import type { Finding, SourceFile } from "./rule.ts";

/** A comment that is read by a program: see `scripts/sql/headers.ts`. */
const HEADER =
  /^-- (only|apart|name|row \w+|tuple \w+|returns|returns tuples|timeout|rights|include): /;
const LIKE_A_HEADER = /^-- [a-z]+: \S/;
const KEYWORDS = /\b(select|insert|update|delete|from|where)\b/gi;

/** SQL reads the same everywhere: no tabs, keywords in capitals, every query explained. */
export function sqlForm(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => path.startsWith("sql/") && path.endsWith(".sql"))
    .flatMap(({ path, text }) => {
      const lines = text.split("\n");
      const findings = [...tabs(lines), ...smallKeywords(text)];
      if (path.includes("/queries/")) findings.push(...unexplained(lines), ...unknown(lines));
      return findings.map((finding) => ({ path, ...finding }));
    });
}

type Place = Omit<Finding, "path">;

function tabs(lines: readonly string[]): Place[] {
  return lines.flatMap((line, index) =>
    line.includes("\t") ? [{ line: index + 1, message: "a tab: indent with four spaces" }] : [],
  );
}

function smallKeywords(text: string): Place[] {
  const blanked = blankOut(text);
  return [...blanked.matchAll(KEYWORDS)]
    .filter(([word]) => word !== word.toUpperCase())
    .map(({ 0: word, index }) => ({
      line: blanked.slice(0, index).split("\n").length,
      message: `${word}: write ${word.toUpperCase()}`,
    }));
}

/** Comments, strings and quoted names become spaces; every line stays where it was. */
function blankOut(text: string): string {
  return text.replace(/--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"[^"]*"/g, (part) =>
    part.replace(/[^\n]/g, " "),
  );
}

function unexplained(lines: readonly string[]): Place[] {
  return lines.flatMap((line, index) => {
    if (!line.startsWith("-- name:")) return [];
    const head = lines.slice(index + 1).filter((next) => !next.startsWith("-- only:"));
    const first = head[0] ?? "";
    if (/^-- \S/.test(first) && !HEADER.test(first)) return [];
    return [{ line: index + 1, message: "say in a comment below the name what the query does" }];
  });
}

/** A misspelt header would be taken for prose. */
function unknown(lines: readonly string[]): Place[] {
  return lines.flatMap((line, index) => {
    if (!LIKE_A_HEADER.test(line) || HEADER.test(line)) return [];
    return [{ line: index + 1, message: `no header of a query: ${line}` }];
  });
}
