/** One generation of the worker of `millrace dev`: a process with the jobs as they were then. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Clock } from "../../core/clock.ts";
import type { AnyContract } from "../../api/definition.ts";
import { START, type DevWord } from "./dev-link.ts";
import { contractFrom } from "./plain-contract.ts";

export interface GenerationParts {
  readonly command: readonly string[];
  readonly clock: Pick<Clock, "after">;
  /** How long it may take to stop before it is ended by force. */
  readonly stopMsMax: number;
  /** A file that its jobs are made of. */
  readonly readsFile: (path: string) => void;
}

export class WorkerProcess {
  /** False when it ended before its jobs were loaded; it has said why. */
  readonly loaded: Promise<boolean>;
  /** The types it runs; `null` when it ended before it ran. */
  readonly running: Promise<readonly string[] | null>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #parts: GenerationParts;
  readonly #child: ChildProcess;
  #contracts: readonly AnyContract[] = [];

  constructor(parts: GenerationParts) {
    this.#parts = parts;
    const { promise: loaded, resolve: isLoaded } = Promise.withResolvers<boolean>();
    const { promise: running, resolve: runs } = Promise.withResolvers<readonly string[] | null>();
    this.loaded = loaded;
    this.running = running;
    this.#child = spawn(process.execPath, parts.command, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (word: DevWord) => {
      if (word.type === "file") parts.readsFile(word.path);
      if (word.type === "loaded") {
        this.#contracts = word.contracts.map(contractFrom);
        isLoaded(true);
      }
      if (word.type === "running") runs(word.types);
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

  /** What its file declares; nothing before it is loaded. */
  get contracts(): readonly AnyContract[] {
    return this.#contracts;
  }

  /** Lets it run jobs. */
  start(): void {
    if (this.#child.connected) this.#child.send(START);
  }

  /** Asks it to stop as SIGTERM would, also when a signal has reached it already. */
  async stop(): Promise<void> {
    const { clock, stopMsMax } = this.#parts;
    const callOff = clock.after(stopMsMax, () => void this.#child.kill("SIGKILL"));
    if (this.#child.connected) this.#child.disconnect();
    await this.ended;
    callOff();
  }
}
