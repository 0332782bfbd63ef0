/**
 * Wake-ups: tells listeners that something has happened, and whether it may be work for them.
 *
 * A commit of this process says so at once. Commits of other processes on the same file are seen by
 * `PRAGMA data_version`, a number that SQLite keeps in shared memory: reading it costs
 * microseconds, so it is looked at every {@link POLL_MS}, but only while somebody listens. A
 * wake-up is a wake-up: it may come for nothing, and whoever needs certainty polls.
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
    // Wrapped, so that one function may listen twice and leave once.
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
   * Something changed: every listener hears of it. One that throws is left alone: it was a wake-up,
   * and a listener's own fault must cost neither a commit its answers nor a neighbour its wake-up.
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
      // Nobody knows what another process has done.
      if (changed) this.wake("work");
    });
  }

  /**
   * Changes only when another connection has committed. What cannot be read now counts as a change.
   */
  #version(): unknown {
    try {
      return this.#dataVersion.get()?.["data_version"];
    } catch {
      return null;
    }
  }
}
