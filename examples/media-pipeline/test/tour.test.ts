import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

test("the tour shows a success, a retry, a failure and a cancel", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "media-pipeline-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const main = join(import.meta.dirname, "..", "src", "main.ts");

  const run = promisify(execFile);
  const options = { cwd, env: { ...process.env, PORT: "0" } };
  const { stdout, stderr } = await run(process.execPath, ["--conditions=source", main], options);

  expect(stderr).toBe("");
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/).join(": "))).toEqual(
    expect.arrayContaining([
      "440.wav: job:progress download 50 → overall 17 %",
      "440.wav: job:progress process 25 → overall 42 %",
      "440.wav: job:progress upload 80 → overall 93 %",
      "440.wav: job:completed",
      "550.wav: job:retrying",
      "550.wav: job:completed",
      expect.stringMatching(/^missing.wav: job:failed .* was answered with 404$/),
      "660.wav: job:cancelled",
    ]),
  );
});
