/** The checkout that a program measures: this repository, or another one that `--tree` names. */
import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

/** The absolute path of the checkout, links resolved. Without a folder: this repository. */
export function treeAt(folder: string = REPOSITORY): string {
  const tree = resolve(folder);
  if (existsSync(join(tree, "src", "index.ts"))) return realpathSync(tree);
  console.error(`${tree} is no checkout of Millrace: it has no src/index.ts`);
  process.exit(2);
}
