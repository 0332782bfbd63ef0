/** Child processes of the end-to-end tests: real ones, ended by their own id. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts one of the programs. */
export function startChild(
  file: string,
  args: readonly string[],
  options: { readonly prefix?: readonly string[] } = {},
): ChildProcess {
  const [command = process.execPath, ...rest] = [
    ...(options.prefix ?? []),
    process.execPath,
    join(import.meta.dirname, "programs", file),
    ...args,
  ];
  return spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] });
}

/** The lines a child prints, as they come. */
export function linesOf(child: ChildProcess): AsyncIterable<string> {
  if (child.stdout === null) throw new Error("the child has no output");
  return createInterface({ input: child.stdout });
}

/** Resolves with the exit code, or the signal that ended the child. */
export function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.exitCode ?? child.signalCode);
  }
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
}

/** A folder that lasts as long as its block. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "millrace-e2e-"));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
