/**
 * Watches the write-ahead log of a database file for writes of other processes.
 *
 * Only a hint: the operating system reports the write, and the commit becomes visible a moment
 * later, after the sync to disk. Where a file cannot be watched, as on some network file systems,
 * no hint comes. The watch does not keep the process alive.
 */
import { watch, type FSWatcher } from "node:fs";
import type { Clock } from "../../../core/clock.ts";

/** After a failure, such as a log that does not exist, the watch is opened again so much later. */
const RETRY_MS = 1_000;

export class WalWatch {
  readonly #file: string;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #onWrite: () => void;
  #watcher: FSWatcher | null = null;
  #retryAt = -Infinity;

  constructor(file: string, clock: Pick<Clock, "monotonic">, onWrite: () => void) {
    this.#file = file;
    this.#clock = clock;
    this.#onWrite = onWrite;
  }

  /** Called at every poll: opens the watch unless it is open. */
  ensureOpen(): void {
    if (this.#watcher !== null || this.#clock.monotonic() < this.#retryAt) return;
    try {
      const watcher = watch(this.#file, { persistent: false }, (event) => {
        // The log was removed or replaced: the watch is about the old file.
        if (event === "rename") this.#failed();
        this.#onWrite();
      });
      watcher.on("error", () => this.#failed());
      this.#watcher = watcher;
    } catch {
      this.#failed();
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  /** The poll goes on without hints. */
  #failed(): void {
    this.close();
    this.#retryAt = this.#clock.monotonic() + RETRY_MS;
  }
}
