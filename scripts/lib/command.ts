/** Starting other programs from a script. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's own folder. Every command runs there. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** The path of a program that the installed packages brought along. */
export function bin(name: string): string {
  return join(root, "node_modules", ".bin", name);
}

export interface Ending {
  readonly code: number;
  readonly output: string;
}

/** Runs a program and keeps what it writes, both streams in the order they come. */
export function runQuietly(program: string, args: readonly string[]): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve({ code: 127, output: `${program}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * Runs a program whose words go straight to this terminal. Answers its exit code. When this process
 * is told to stop, the program is told as well, and the two end together.
 */
export function runLoudly(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit" });
    const stop = (signal: NodeJS.Signals): void => {
      child.once("close", () => process.exit(128 + constants.signals[signal]));
      child.kill(signal);
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve(code ?? 1);
    });
  });
}
