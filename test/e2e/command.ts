/** The real command line in a process of its own, of which a test reads what it says so far. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

export class Command {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out = "";
  err = "";

  constructor(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, ["--conditions=source", MAIN, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => (this.out += chunk.toString()));
    this.child.stderr?.on("data", (chunk: Buffer) => (this.err += chunk.toString()));
    this.ended = once(this.child, "close").then(([code]) => code);
  }

  /** Resolves once it has said so, to either side; rejects when it ends without. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.err) ?? pattern.exec(this.out);
      if (match !== null) return match;
      const news = [this.child.stdout!, this.child.stderr!].map((side) => once(side, "data"));
      const isOver = await Promise.race([
        ...news.map((each) => each.then(() => false)),
        this.#over(),
      ]);
      if (isOver && !pattern.test(this.err + this.out)) {
        throw new Error(`it ended and never said ${pattern}: ${this.err}${this.out}`);
      }
    }
  }

  async #over(): Promise<true> {
    await this.ended;
    return true;
  }
}
