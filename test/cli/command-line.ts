/** Types command lines for the tests: in this process, or in one of their own. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { openMillrace } from "../../src/index.ts";
import type { JobView, Millrace } from "../../src/index.ts";
import { sqliteStore } from "../../src/store/sqlite/index.ts";
import { Program, root, temporaryFolder } from "./programs.ts";

export interface Typed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process. */
export async function type(...args: string[]): Promise<Typed> {
  let out = "";
  let err = "";
  const code = await runCommandLine(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}

/** A store in a folder of its own, opened beside the commands that are tried on it. */
export class TestStore implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly file: string = join(this.#folder.path, "jobs.db");
  readonly mill: Promise<Millrace> = openMillrace(sqliteStore({ path: this.file }));

  /** Runs a command on this store. */
  async type(...args: string[]): Promise<Typed> {
    await this.mill;
    return type(...args, "--db", `sqlite:${this.file}`);
  }

  /** The same, for commands that answer JSON and must succeed. */
  async json(...args: string[]): Promise<any> {
    const { code, out, err } = await this.type(...args, "-o", "json");
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.mill).close();
    this.#folder[Symbol.dispose]();
  }
}

/** A user's project: a folder where Millrace is installed, with copies of some fixtures. */
export class Project implements Disposable {
  readonly #folder = temporaryFolder();
  readonly path: string = this.#folder.path;
  /** The store that commands use here by default. */
  readonly file: string = join(this.path, "millrace.db");
  readonly db: string = `sqlite:${this.file}`;

  constructor(...fixtures: readonly string[]) {
    mkdirSync(join(this.path, "node_modules"));
    symlinkSync(root, join(this.path, "node_modules", "millrace"), "dir");
    for (const name of fixtures) {
      const source = join(root, "test", "cli", "fixtures", `${name}.txt`);
      copyFileSync(source, join(this.path, name));
    }
  }

  /** Starts a command in a process of its own, in this folder. */
  start(...args: readonly string[]): Program {
    return this.startWith({}, ...args);
  }

  /** The same, with more environment. */
  startWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): Program {
    const main = join(root, "src", "cli", "main.ts");
    return new Program(process.execPath, ["--conditions=source", main, ...args], {
      cwd: this.path,
      env: { ...process.env, ...env },
    });
  }

  /** Enqueues on the store of this folder, and answers the id. */
  async enqueue(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await type("enqueue", ...args, "--db", this.db);
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  async view(id: string): Promise<JobView> {
    const mill = await openMillrace(sqliteStore({ path: this.file }));
    try {
      return await mill.jobs.get(id);
    } finally {
      await mill.close();
    }
  }

  async untilRunning(id: string): Promise<void> {
    const isRunning = async (): Promise<boolean> => (await this.view(id)).state === "running";
    await vi.waitUntil(isRunning, { timeout: 20_000, interval: 100 });
  }

  /** Writes a file of the project. */
  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
