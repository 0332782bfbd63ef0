/** Reads files for the rules: the repository itself, or the small tree of a fixture. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./rule.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Where the fixtures of the rules lie in a repository. */
const FIXTURES = join("test", "tidy", "fixtures");
const fixtures = join(root, FIXTURES);

/** The file of a fixture that says what its rule is to find. */
const FINDINGS = "findings.txt";

/** Made by tools. In a worktree of Git, `.git` is a file. */
const SKIPPED = new Set([".git", ".millrace", "coverage", "dist", "node_modules"]);
const TEXT_FILE = /\.(ts|js|mjs|cjs|json|jsonc|md|sql|css|html|yml|yaml|sh|txt)$|^\.?[a-z]+$/i;

/** Every text file of this repository, or of another checkout, fixtures left aside. */
export function readRepository(top: string = root): SourceFile[] {
  return readTree(top);
}

/**
 * The files of one rule's fixture as if they were a repository. They end in `.txt`, so that no tool
 * takes them for code, and write `§` for the slash of a machine's path, so that no search through
 * the repository stumbles over it. Filler is made here: a line `×70 step();` stands for 70 lines,
 * and a file `part-x21.ts` for 21 files.
 */
export function readFixture(name: string): SourceFile[] {
  return readTree(join(fixtures, name))
    .filter(({ path }) => path !== FINDINGS)
    .map(({ path, text }) => ({
      path: path.replace(/\.txt$/, ""),
      text: repeatLines(text.replaceAll("§", "/")),
    }))
    .flatMap(repeatFile);
}

function repeatLines(text: string): string {
  return text.replaceAll(/^( *)×(\d+) (.*)$/gm, (_, indent: string, times: string, line: string) =>
    Array.from({ length: Number(times) }, () => indent + line).join("\n"),
  );
}

function repeatFile({ path, text }: SourceFile): SourceFile[] {
  const times = /-x(\d+)(?=\.)/.exec(path)?.[1];
  if (times === undefined) return [{ path, text }];
  return Array.from({ length: Number(times) }, (_, index) => ({
    path: path.replace(`-x${times}.`, `-${index + 1}.`),
    text,
  }));
}

/** What the rule is expected to say about its fixture. */
export function readExpectedFindings(name: string): string[] {
  const text = readFileSync(join(fixtures, name, FINDINGS), "utf8");
  return text.replaceAll("§", "/").trimEnd().split("\n");
}

function readTree(top: string): SourceFile[] {
  const aside = join(top, FIXTURES);
  const paths: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (SKIPPED.has(entry.name) || path === aside) continue;
      if (entry.isDirectory()) visit(path);
      if (entry.isFile() && TEXT_FILE.test(entry.name)) paths.push(path);
    }
  };
  visit(top);
  return paths.toSorted().map((path) => ({
    path: relative(top, path).replaceAll(sep, "/"),
    text: readFileSync(path, "utf8"),
  }));
}
