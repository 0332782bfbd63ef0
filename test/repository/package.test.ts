/** Looks at the files that `npm pack` would put into the package. Needs a build. */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/command.ts";
import { packedFiles } from "../support/packed-files.ts";

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
