import type { Finding, SourceFile } from "./rule.ts";

/** Folders of one machine, spelled here so that this file does not name them itself. */
const MACHINE_FOLDERS = ["work", "root", "tmp", "home/[\\w.-]+", "Users/[\\w.-]+"];
const MACHINE_PATH = new RegExp(`(?<![\\w.~$\\])}-])/(?:${MACHINE_FOLDERS.join("|")})/`, "g");

const REGISTRY_HOST = /\b(?:registry|npm|artifactory|nexus|verdaccio)\.[a-z0-9-]+\.[a-z]{2,}\b/g;
const LOCKED_ADDRESS = /"resolved": "https?:[^"]*"/g;

/** The repository speaks of the product, not of the machines on which it is made. */
export function privateWords(files: readonly SourceFile[]): Finding[] {
  return files.flatMap(({ path, text }) => {
    const patterns = [MACHINE_PATH, REGISTRY_HOST];
    if (path === "package-lock.json") patterns.push(LOCKED_ADDRESS);
    return patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ 0: word, index }) => ({
        path,
        line: text.slice(0, index).split("\n").length,
        message: `“${word}” belongs to one machine: take it out`,
      })),
    );
  });
}
