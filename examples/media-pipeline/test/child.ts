/** Starts the child of these tests, and reads what it says. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ChildOrder } from "./queue.child.ts";

export interface Child extends AsyncDisposable {
  /** The next line that begins with this word. */
  line(word: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<unknown>;
}

export function startChild(order: ChildOrder): Child {
  const file = join(import.meta.dirname, "queue.child.ts");
  const args = ["--conditions=source", file, JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return {
    async line(word) {
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
        if (next.value.startsWith(word)) return next.value;
      }
      throw new Error(`the child ended without “${word}”`);
    },
    kill: (signal) => void child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
