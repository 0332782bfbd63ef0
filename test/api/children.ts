/** Child processes and throw-away folders of the tests that look at the package from outside. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT: string = resolve(import.meta.dirname, "../..");

export const COMPILERS = {
  "TypeScript 7": join(ROOT, "node_modules/typescript/lib/tsc.js"),
  "TypeScript 5.9": join(ROOT, "node_modules/typescript-5.9/lib/tsc.js"),
} as const;

export interface Ending {
  readonly status: number;
  readonly output: string;
}

/** Runs Node to its end and keeps all it said. */
export function runNode(args: readonly string[], cwd: string = ROOT): Promise<Ending> {
  return new Promise((settle) => {
    execFile(process.execPath, args, { cwd, timeout: 100_000 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      settle({ status, output: stdout + stderr });
    });
  });
}

/**
 * A folder inside the repository, where files may import the package by its own name. Not below
 * `node_modules`: there Node neither strips types nor lets a package name itself.
 */
export async function folderInside(name: string): Promise<string> {
  const home = join(ROOT, ".millrace");
  await mkdir(home, { recursive: true });
  return mkdtemp(join(home, `${name}-`));
}

/** A folder where the package is known only if it is installed there. */
export function folderOutside(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `millrace-${name}-`));
}
