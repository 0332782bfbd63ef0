/** Runs programs for the tests of the house. */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** A Node that is older than what we support, where the system has one. */
export const oldNode: string | null = findOldNode("/usr/bin/node");

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that has started. `said` resolves once its output matches. */
export class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";

  constructor(path: string, args: readonly string[], options: SpawnOptions = {}) {
    this.child = spawn(path, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.child.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.ended = once(this.child, "close").then(([code, signal]) => ({
      code,
      signal,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  /** The first match on standard output. Rejects when the program ends without having said it. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      const news = await Promise.race([this.ended, once(this.child.stdout!, "data")]);
      if ("code" in news && !pattern.test(this.#stdout)) {
        throw new Error(`it ended with ${news.code} and never said ${pattern}: ${news.stderr}`);
      }
    }
  }
}

/** Runs a program to its end. */
export function run(
  path: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<Ended> {
  return new Program(path, args, options).ended;
}

/** A folder of the test's own, gone when the test is over. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "millrace-house-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function findOldNode(path: string): string | null {
  if (!existsSync(path)) return null;
  const version = execFileSync(path, ["--version"], { encoding: "utf8" });
  return Number(/^v(\d+)/.exec(version)?.[1]) < 22 ? path : null;
}
