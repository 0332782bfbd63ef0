/** The pages that a user reads: README.md, and the Markdown files of docs/. */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../api/children.ts";

export interface Page {
  /** The path in the repository. */
  readonly path: string;
  readonly text: string;
}

export async function userPages(): Promise<readonly Page[]> {
  return readPages(["README.md", "docs/*.md"]);
}

/** Every page of the repository. */
export async function allPages(): Promise<readonly Page[]> {
  return readPages(["*.md", "docs/**/*.md", "examples/*/*.md"]);
}

async function readPages(patterns: readonly string[]): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for await (const path of glob([...patterns], { cwd: ROOT })) {
    pages.push({ path, text: await readFile(join(ROOT, path), "utf8") });
  }
  return pages.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
