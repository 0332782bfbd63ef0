/**
 * The worker of `millrace dev`, which restarts when a file of its jobs changes.
 *
 * The new process loads its jobs first, so that a mistake in them leaves the old process running.
 * Then the old process stops, which charges no attempt, and the new process starts. The two never
 * hold the same port or file at once. If no process runs, the next change starts one.
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import type { AnyContract } from "../../api/definition.ts";
import { WorkerProcess } from "./worker-process.ts";

/** The wait after a change, because an editor writes a file in several steps. */
const SETTLE_MS = 100;
const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;
/** The maximum number of watched folders; changes in other folders are ignored. */
const FOLDERS_MAX = 1_000;

export interface RestartingParts {
  /** The arguments of Node that start a worker process. */
  readonly command: readonly string[];
  readonly clock: Pick<Clock, "after">;
  readonly stopMsMax: number;
  readonly say: (line: string) => void;
}

export class RestartingWorker {
  readonly #parts: RestartingParts;
  readonly #files = new Set<string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #present: WorkerProcess | null = null;
  #next: WorkerProcess | null = null;
  #contracts: readonly AnyContract[] = [];
  /** True after a failed start: the next change of any source file restarts the worker. */
  #isBroken = false;
  #isStopping = false;
  #callOff = (): void => {};
  /** The last restart; restarts run one after the other. */
  #restart: Promise<unknown> = Promise.resolve();

  constructor(parts: RestartingParts) {
    this.#parts = parts;
  }

  /** The contracts of the jobs that run now, or ran last. */
  get contracts(): readonly AnyContract[] {
    return this.#contracts;
  }

  /** Returns `null`, or the exit of the first process if it did not start to run. */
  async start(): Promise<number | NodeJS.Signals | null> {
    const first = this.#make();
    if (await this.#takeOver(first)) return null;
    await this.stop();
    return first.ended;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#callOff();
    for (const watcher of this.#watchers.values()) watcher.close();
    await Promise.all([this.#next?.stop(), this.#present?.stop()]);
    await this.#restart;
  }

  #make(): WorkerProcess {
    const { command, clock, stopMsMax } = this.#parts;
    const readsFile = (path: string): void => this.#watch(path);
    this.#next = new WorkerProcess({ command, clock, stopMsMax, readsFile });
    return this.#next;
  }

  #watch(path: string): void {
    this.#files.add(path);
    const folder = dirname(path);
    const isKnown = this.#watchers.has(folder) || this.#watchers.size >= FOLDERS_MAX;
    if (isKnown || this.#isStopping) return;
    // The folder is watched and not the file, because many editors replace the file.
    const watcher = watch(folder, (_, name) => {
      if (name === null || this.#counts(join(folder, name))) this.#changed();
    });
    watcher.on("error", () => {
      watcher.close();
      this.#watchers.delete(folder);
    });
    this.#watchers.set(folder, watcher);
  }

  #counts(path: string): boolean {
    return this.#files.has(path) || (this.#isBroken && SOURCE.test(path));
  }

  #changed(): void {
    if (this.#isStopping) return;
    this.#callOff();
    this.#callOff = this.#parts.clock.after(SETTLE_MS, () => {
      // A process that is still loading is out of date.
      void this.#next?.stop();
      this.#restart = this.#restart.then(() => this.#renew());
    });
  }

  async #renew(): Promise<void> {
    if (this.#isStopping) return;
    if ((await this.#takeOver(this.#make())) || this.#isStopping) return;
    const state = this.#present === null ? "No worker runs" : "The worker runs the old jobs";
    this.#parts.say(`${state} until the next change of a file.`);
  }

  /** Replaces the present process. Resolves with true when the new process runs. */
  async #takeOver(worker: WorkerProcess): Promise<boolean> {
    const isLoaded = await worker.loaded;
    if (isLoaded) await this.#present?.stop();
    this.#next = null;
    this.#isBroken = !isLoaded;
    if (!isLoaded) return false;
    this.#present = worker;
    this.#contracts = worker.contracts;
    worker.start();
    const types = await worker.running;
    this.#isBroken = types === null;
    if (types === null) {
      this.#present = null;
      return false;
    }
    this.#parts.say(`The worker runs ${types.join(", ")}.`);
    void worker.ended.then((how) => this.#processEnded(worker, how));
    return true;
  }

  #processEnded(worker: WorkerProcess, how: number | NodeJS.Signals): void {
    if (this.#present !== worker) return;
    this.#present = null;
    this.#isBroken = true;
    // A worker that was asked to stop, also by Ctrl-C, exits with 0.
    if (how === 0 || this.#isStopping) return;
    this.#parts.say(`The worker has ended (${how}); the next change of a file restarts it.`);
  }
}
