/**
 * Builds `dist/`: JavaScript and declarations from `src/`, and the dashboard's page beside them.
 * A build with errors writes nothing, so what was built before goes on working.
 */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bin, root, runQuietly } from "./lib/command.ts";

const dist = join(root, "dist");

/** The parts of `dashboard/` that a browser asks for. */
const PAGE_FILES = ["index.html", "style.css", "page.js"];

/** Answers the compiler's complaints; there are none when `ok` is true. */
export async function build(): Promise<{ ok: boolean; complaints: string }> {
  const args = ["-p", "tsconfig.build.json", "--noEmitOnError", "--listEmittedFiles"];
  const { code, output } = await runQuietly(bin("tsc"), args);
  if (code !== 0) return { ok: false, complaints: output };

  const kept = new Set(emittedFiles(output));
  for (const file of PAGE_FILES) {
    const target = join(dist, "dashboard", file);
    cpSync(join(root, "dashboard", file), target);
    kept.add(target);
  }
  removeAllBut(kept);
  return { ok: true, complaints: "" };
}

function emittedFiles(output: string): string[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith("TSFILE: "))
    .map((line) => line.slice("TSFILE: ".length).trim());
}

/** What an earlier build wrote from a source that is gone must not be shipped. */
function removeAllBut(kept: ReadonlySet<string>): void {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

if (import.meta.main) {
  const { ok, complaints } = await build();
  process.stdout.write(complaints);
  process.exitCode = ok ? 0 : 1;
}
