/** Compares the output that a page shows with the output that its block printed. */

/** Ids, instants, dates and durations differ from run to run. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>"],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z\b/g, "<time>"],
  [/\b\d{4}-\d{2}-\d{2}\b/g, "<date>"],
  [/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?/g, "<duration>"],
  [/ +/g, " "],
];

/** What the shell says about processes that a block ended. */
const SHELL_NOTICE = /^\S+: line \d+: +\d+ (?:Killed|Terminated)\b/;

/**
 * True if `printed` is what a page shows. A line `…` stands for any lines, a `…` within a line for
 * any text.
 */
export function isShown(shown: string, printed: string): boolean {
  const pattern = linesOf(shown).map((line) =>
    line === "…" ? "(?:[^\\n]*\\n)*?" : `${escaped(line).replaceAll("…", "[^\\n]*?")}\\n`,
  );
  const text = linesOf(printed).map((line) => `${line}\n`);
  return new RegExp(`^${pattern.join("")}$`).test(text.join(""));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The lines that the comments behind `console.log(…)` promise. */
export function promisedLines(code: string): readonly string[] {
  return [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text = ""]) => text);
}

/** True if the lines are printed in this order, with others between them or without. */
export function hasLines(lines: readonly string[], printed: string): boolean {
  const all = linesOf(printed);
  let from = 0;
  return linesOf(lines.join("\n")).every((line) => {
    const at = all.indexOf(line, from);
    from = at + 1;
    return at !== -1;
  });
}

function linesOf(text: string): readonly string[] {
  const plain = VARYING.reduce((line, [pattern, name]) => line.replaceAll(pattern, name), text);
  return plain
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !SHELL_NOTICE.test(line));
}
