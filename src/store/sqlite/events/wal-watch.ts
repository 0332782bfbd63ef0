/**
 * Watches the write-ahead log of a database file for commits of other processes.
 *
 * Only a hint: the operating system reports the write, and the commit becomes visible a moment
 * later, after the sync to disk. So the process that has committed also touches the log, which sets
 * its time and changes nothing in it. Where a file cannot be watched, as on some network file
 * systems, no hint comes. The watch does not keep the process alive.
 */
import { utimesSync, watch, type FSWatcher } from "node:fs";
import type { Clock } from "../../../core/clock.ts";

/** After a failure, such as a log that does not exist, the watch is opened again so much later. */
const RETRY_MS = 1_000;

export class WalWatch {
  readonly #file: string;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #onWrite: () => void;
  #watcher: FSWatcher | null = null;
  #retryAt = -Infinity;
  #touchAgainAt = -Infinity;

  constructor(file: string, clock: Pick<Clock, "now" | "monotonic">, onWrite: () => void) {
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

  /** Tells the watches of other processes that a commit is visible. */
  touch(): void {
    if (this.#clock.monotonic() < this.#touchAgainAt) return;
    const seconds = this.#clock.now() / 1_000;
    try {
      utimesSync(this.#file, seconds, seconds);
    } catch {
      // Only the owner of a file may set its time. The write to the log was a hint as well.
      this.#touchAgainAt = this.#clock.monotonic() + RETRY_MS;
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
