/**
 * The worker of `millrace dev`, which begins anew when a file changes that its jobs are made of.
 *
 * The new generation loads its jobs first, so that a mistake in them leaves the old one running.
 * Then the old one stops, which costs no job an attempt, and the new one starts: the two never hold
 * the same port or file at once. If there is none to go on with, the next change brings one.
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import type { AnyContract } from "../../api/definition.ts";
import { WorkerProcess } from "./worker-process.ts";

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;
const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;
/** Folders that are watched; a change in others goes unseen. */
const FOLDERS_MAX = 1_000;

export interface RestartingParts {
  /** What starts a generation, without the path of Node. */
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
  /** True after a mistake: a file that was missing may be what changes. */
  #isBroken = false;
  #isStopping = false;
  #callOff = (): void => {};
  /** Restarts come one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: RestartingParts) {
    this.#parts = parts;
  }

  /** What the jobs are that run now, or ran last. */
  get contracts(): readonly AnyContract[] {
    return this.#contracts;
  }

  /** Answers `null`, or how the first generation ended if it did not come to run. */
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
    await this.#turn;
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
    // The folder and not the file: many editors put a new file in the place of the old one.
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
      // What is still being loaded is out of date.
      void this.#next?.stop();
      this.#turn = this.#turn.then(() => this.#renew());
    });
  }

  async #renew(): Promise<void> {
    if (this.#isStopping) return;
    if ((await this.#takeOver(this.#make())) || this.#isStopping) return;
    const left = this.#present === null ? "No worker runs" : "The worker goes on as it was";
    this.#parts.say(`${left} until the next change of a file.`);
  }

  /** Answers whether the new generation runs. */
  async #takeOver(young: WorkerProcess): Promise<boolean> {
    const isLoaded = await young.loaded;
    if (isLoaded) await this.#present?.stop();
    this.#next = null;
    this.#isBroken = !isLoaded;
    if (!isLoaded) return false;
    this.#present = young;
    this.#contracts = young.contracts;
    young.start();
    const types = await young.running;
    this.#isBroken = types === null;
    if (types === null) {
      this.#present = null;
      return false;
    }
    this.#parts.say(`The worker runs ${types.join(", ")}.`);
    void young.ended.then((how) => this.#heardEnd(young, how));
    return true;
  }

  #heardEnd(generation: WorkerProcess, how: number | NodeJS.Signals): void {
    if (this.#present !== generation) return;
    this.#present = null;
    this.#isBroken = true;
    // A worker that was asked to stop ends with 0, and so it does after Ctrl-C.
    if (how === 0 || this.#isStopping) return;
    this.#parts.say(`The worker has ended (${how}); it starts again at the next change of a file.`);
  }
}
