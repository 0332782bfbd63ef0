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

/** Made by tools, or full of mistakes on purpose. */
const SKIPPED_FOLDERS = new Set([".git", ".millrace", "coverage", "dist", "node_modules"]);
const TEXT_FILE = /\.(ts|js|mjs|cjs|json|jsonc|md|sql|css|html|yml|yaml|sh|txt)$|^\.?[a-z]+$/i;

/** Every text file of this repository, or of another checkout, fixtures left aside. */
export function readRepository(top: string = root): SourceFile[] {
  return readTree(top);
}

/**
 * The files of one rule's fixture as if they were a repository. They end in `.txt`, so that no tool
 * takes them for code, and write `§` for the slash of a machine's path, so that no search through
 * the repository stumbles over it.
 */
export function readFixture(name: string): SourceFile[] {
  return readTree(join(fixtures, name))
    .filter(({ path }) => path !== FINDINGS)
    .map(({ path, text }) => ({
      path: path.replace(/\.txt$/, ""),
      text: text.replaceAll("§", "/"),
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
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && path !== aside) visit(path);
      if (entry.isFile() && TEXT_FILE.test(entry.name)) paths.push(path);
    }
  };
  visit(top);
  return paths.toSorted().map((path) => ({
    path: relative(top, path).replaceAll(sep, "/"),
    text: readFileSync(path, "utf8"),
  }));
}
