import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

describe("the quickstart of the README", () => {
  test("runs as it stands and prints what it says", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const code = /```ts\n(import \{ defineJob, openMillrace[\s\S]*?)```/.exec(readme)?.[1] ?? "";
    expect(code.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(11);
    // Inside the repository, so that the package finds itself by its own name.
    const folder = await mkdtemp(join(ROOT, ".millrace-readme-"));
    try {
      await writeFile(join(folder, "greet.ts"), code);

      const { stdout } = await run(process.execPath, ["--conditions=source", "greet.ts"], {
        cwd: folder,
      });

      expect(stdout.trim()).toBe("Hello Ada");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
