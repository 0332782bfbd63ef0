/**
 * Sends wake-ups to listeners after commits.
 *
 * A commit of this process wakes listeners at once. Commits of other processes are detected by
 * `PRAGMA data_version`, a number that SQLite keeps in shared memory. Reading it costs
 * microseconds, so it is polled every {@link POLL_MS}, but only while there are listeners. Wake-ups
 * are best effort: a listener that must not miss a change polls as well.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import type { WakeUp } from "../../store.ts";

const POLL_MS = 25;

export class Notifier {
  readonly #clock: Clock;
  readonly #dataVersion: StatementSync;
  readonly #listeners = new Set<(wakeUp: WakeUp) => void>();
  #seen: unknown;
  #stopPolling: (() => void) | null = null;

  constructor(database: DatabaseSync, clock: Clock) {
    this.#clock = clock;
    this.#dataVersion = database.prepare("PRAGMA data_version");
  }

  watch(listener: (wakeUp: WakeUp) => void): () => void {
    // Wrapped, so that a function that was added twice can be removed once.
    const entry = (wakeUp: WakeUp): void => listener(wakeUp);
    this.#listeners.add(entry);
    if (this.#stopPolling === null) {
      this.#seen = this.#version();
      this.#pollLater();
    }
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /**
   * Calls every listener. Errors of a listener are ignored, so that they affect neither the answers
   * of the commit nor the other listeners.
   */
  wake(wakeUp: WakeUp): void {
    for (const listener of this.#listeners) {
      try {
        listener(wakeUp);
      } catch {
        continue;
      }
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#stopPolling?.();
    this.#stopPolling = null;
  }

  #pollLater(): void {
    this.#stopPolling = this.#clock.after(POLL_MS, () => {
      const version = this.#version();
      const changed = version !== this.#seen;
      this.#seen = version;
      this.#pollLater();
      // What the other process has changed is unknown.
      if (changed) this.wake("work");
    });
  }

  /**
   * Changes only when another connection has committed. A failed read counts as a change.
   */
  #version(): unknown {
    try {
      return this.#dataVersion.get()?.["data_version"];
    } catch {
      return null;
    }
  }
}
