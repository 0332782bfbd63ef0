/**
 * Builds `dist/`: JavaScript and declarations from `src/`, and the dashboard's page beside them.
 * A build with errors writes nothing, so what was built before goes on working.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bin, root, runQuietly } from "./lib/command.ts";

const dist = join(root, "dist");

/** Answers the compiler's complaints; there are none when `ok` is true. */
export async function build(): Promise<{ ok: boolean; complaints: string }> {
  const args = ["-p", "tsconfig.build.json", "--noEmitOnError", "--listEmittedFiles"];
  const { code, output } = await runQuietly(bin("tsc"), args);
  if (code !== 0) return { ok: false, complaints: output };

  const page = await runQuietly(bin("vite"), ["build", "--config", "dashboard/vite.config.ts"]);
  if (page.code !== 0) return { ok: false, complaints: page.output };
  removeAllBut(new Set(emittedFiles(output)));
  return { ok: true, complaints: "" };
}

function emittedFiles(output: string): string[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith("TSFILE: "))
    .map((line) => line.slice("TSFILE: ".length).trim());
}

/**
 * What an earlier build wrote from a source that is gone must not be shipped. Vite empties the
 * folder of the page by itself.
 */
function removeAllBut(kept: ReadonlySet<string>): void {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOfPage = path.startsWith(join(dist, "dashboard"));
    if (entry.isFile() && !isOfPage && !kept.has(path)) rmSync(path);
  }
}

if (import.meta.main) {
  const { ok, complaints } = await build();
  process.stdout.write(complaints);
  process.exitCode = ok ? 0 : 1;
}
