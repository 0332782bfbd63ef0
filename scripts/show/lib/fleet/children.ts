/** The processes of a campaign: real ones, ended by their own id, gone with the campaign. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Preset } from "millrace";

/** What a worker process is told. */
export interface WorkerSettings {
  readonly url: string;
  readonly ledger: string;
  readonly work: WorkSettings;
}

/** The options of `mill.work` that campaigns choose. Absent: the default. */
export interface WorkSettings {
  readonly lanes?: Readonly<Record<string, number>>;
  readonly lease?: number;
  readonly poll?: number;
  readonly grace?: number;
  readonly batch?: number;
  readonly preset?: Preset;
}

export interface Child {
  readonly pid: number;
  /** Resolves once it works; also when it ends before that. */
  readonly ready: Promise<unknown>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  readonly program: URL;
  /** Handed over as JSON. */
  readonly settings: object;
  /** The file that takes what it has to say. */
  readonly log: string;
  /** For Node itself. */
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const alive = new Set<ChildProcess>();

/** Starts a process that says something once it is ready. */
export function startChild(options: ChildOptions): Child {
  const { program, settings, log, nodeOptions = [], env = {} } = options;
  const words = openSync(log, "a");
  const child = spawn(
    process.execPath,
    ["--conditions=source", ...nodeOptions, fileURLToPath(program), JSON.stringify(settings)],
    { stdio: ["pipe", "pipe", words], env: { ...process.env, ...env } },
  );
  closeSync(words);
  if (child.pid === undefined || child.stdout === null) throw new Error("no process was started");
  alive.add(child);
  const ended = once(child, "exit").then(([code, signal]: (number | NodeJS.Signals)[]) => {
    alive.delete(child);
    return code ?? signal ?? 0;
  });
  const said = once(child.stdout, "data");
  return {
    pid: child.pid,
    ready: Promise.race([said, ended]),
    ended,
    kill: (signal) => void child.kill(signal),
  };
}

/** Ends what is left, at once. */
export function killChildren(): void {
  for (const child of alive) child.kill("SIGKILL");
}
