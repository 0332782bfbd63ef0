/** One worker process of `millrace dev`, with the jobs as they were when it started. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Clock } from "../../core/clock.ts";
import type { AnyContract } from "../../api/definition.ts";
import { START, type DevMessage } from "./dev-link.ts";
import { contractFrom } from "./plain-contract.ts";

export interface WorkerProcessParts {
  readonly command: readonly string[];
  readonly clock: Pick<Clock, "after">;
  /** How long the process may take to stop before it is killed. */
  readonly stopMsMax: number;
  /** Called with every file that the jobs import. */
  readonly readsFile: (path: string) => void;
}

export class WorkerProcess {
  /** False when the process ended before its jobs were loaded; it has printed the reason. */
  readonly loaded: Promise<boolean>;
  /** The types of the jobs it runs; `null` when the process ended before it ran. */
  readonly running: Promise<readonly string[] | null>;
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #parts: WorkerProcessParts;
  readonly #child: ChildProcess;
  #contracts: readonly AnyContract[] = [];

  constructor(parts: WorkerProcessParts) {
    this.#parts = parts;
    const { promise: loaded, resolve: isLoaded } = Promise.withResolvers<boolean>();
    const { promise: running, resolve: runs } = Promise.withResolvers<readonly string[] | null>();
    this.loaded = loaded;
    this.running = running;
    this.#child = spawn(process.execPath, parts.command, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (message: DevMessage) => {
      if (message.type === "file") parts.readsFile(message.path);
      if (message.type === "loaded") {
        this.#contracts = message.contracts.map(contractFrom);
        isLoaded(true);
      }
      if (message.type === "running") runs(message.types);
    });
    this.ended = new Promise((resolve) => {
      const ended = (how: number | NodeJS.Signals): void => {
        isLoaded(false);
        runs(null);
        resolve(how);
      };
      this.#child.once("exit", (code, signal) => ended(code ?? signal ?? 1));
      this.#child.once("error", () => ended(1));
    });
  }

  /** The contracts of the job file; empty before the file is loaded. */
  get contracts(): readonly AnyContract[] {
    return this.#contracts;
  }

  /** Makes the process run jobs. */
  start(): void {
    if (this.#child.connected) this.#child.send(START);
  }

  /** Stops the process like SIGTERM, also when a signal has reached it already. */
  async stop(): Promise<void> {
    const { clock, stopMsMax } = this.#parts;
    const callOff = clock.after(stopMsMax, () => void this.#child.kill("SIGKILL"));
    if (this.#child.connected) this.#child.disconnect();
    await this.ended;
    callOff();
  }
}
