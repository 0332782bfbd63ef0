import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "..", "src", "main.ts");

test("the tour shows failure, repair and operators' queries, and ends by itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-docs-tour-"));
  try {
    const args = ["--conditions=source", MAIN, folder];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);

    expect(stderr).toBe("");
    expect(stdout).toMatch(/waiting jobs by kind +build_processing: 12/);
    expect(stdout).toMatch(/pipelines build 4 +completed_with_errors; v2\.1\.0: EISDIR/);
    expect(stdout).toMatch(/active work +handbook build \d+ in editions/);
    expect(stdout).toMatch(/completed in the last hour +atelier: 5, observatory: 8/);
    expect(stdout).toMatch(/jobs +with errors in the last hour: 1, slower than 10 min: 0/);
    const pages = [...stdout.matchAll(/^open +(file:.*)$/gm)].map(({ 1: url = "" }) => url);
    expect(pages).toHaveLength(3);
    expect(pages.map((url) => existsSync(fileURLToPath(url)))).toEqual([true, true, true]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
