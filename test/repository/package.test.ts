/** Looks at the files that `npm pack` would put into the package. Needs a build. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/command.ts";

const run = promisify(execFile);

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourceRoot?: string;
  readonly sourcesContent?: readonly (string | null)[];
}

describe("the package", () => {
  test("contains the source of every file that a source map names", async () => {
    const files = await packedFiles();
    const maps = files.filter((path) => path.endsWith(".map"));

    const missing: string[] = [];
    for (const path of maps) {
      const map: SourceMap = JSON.parse(await readFile(join(root, path), "utf8"));
      for (const [index, source] of map.sources.entries()) {
        const file = posix.join(posix.dirname(path), map.sourceRoot ?? "", source);
        const content = map.sourcesContent?.[index] ?? null;
        if (content === null && !files.includes(file)) missing.push(`${path}: ${source}`);
      }
    }

    expect(maps).toContain("dist/index.js.map");
    expect(missing).toEqual([]);
  });
});

async function packedFiles(): Promise<readonly string[]> {
  // Without scripts: `prepack` would build the package below the tests that use the build.
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await run("npm", args, { cwd: root });
  const [pack]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(stdout);
  return pack?.files.map(({ path }) => path) ?? [];
}
