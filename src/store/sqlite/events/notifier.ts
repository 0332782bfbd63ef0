/**
 * Sends wake-ups to listeners after commits.
 *
 * A commit of this process wakes listeners at once. Commits of other processes are detected by
 * `PRAGMA data_version`, a number that SQLite keeps in shared memory. Reading it costs
 * microseconds, so it is polled every {@link POLL_MS}, but only while there are listeners. A watch
 * on the write-ahead log makes these checks come sooner: the process that commits touches the log
 * when its commit is visible. After any change of the log, which may be one of this process, the
 * number is read at once and a few times more, because a write to the log becomes visible only
 * after its sync, and a touch may fail. Wake-ups are best effort: a listener that must not miss a
 * change polls as well.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import type { WakeUp } from "../../store.ts";
import { WalWatch } from "./wal-watch.ts";

const POLL_MS = 25;
/** The pauses before the checks that follow a change of the log. */
const CHECK_PAUSES_MS = [1, 2, 4, 8];

export class Notifier {
  readonly #clock: Clock;
  readonly #dataVersion: StatementSync;
  readonly #listeners = new Set<(wakeUp: WakeUp) => void>();
  readonly #walWatch: WalWatch | null;
  #seen: unknown;
  #stopPolling: (() => void) | null = null;
  #stopChecking: (() => void) | null = null;
  #stopWaking: (() => void) | null = null;

  /** `wal` is the file of the write-ahead log; null: it is not watched. */
  constructor(database: DatabaseSync, clock: Clock, wal: string | null) {
    this.#clock = clock;
    this.#dataVersion = database.prepare("PRAGMA data_version");
    this.#walWatch = wal === null ? null : new WalWatch(wal, clock, () => this.#onChange());
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

  /** After a commit of this process: wakes its listeners, and those of other processes. */
  committed(wakeUp: WakeUp): void {
    // No worker waits for events alone, such as the start of a job.
    if (wakeUp !== "events") this.#walWatch?.touch();
    this.wake(wakeUp);
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

  /** Wakes the workers of this process later. Further calls are ignored until then. */
  wakeIn(ms: number): void {
    if (this.#listeners.size === 0) return;
    this.#stopWaking ??= this.#clock.after(ms, () => {
      this.#stopWaking = null;
      this.wake("ready");
    });
  }

  close(): void {
    this.#listeners.clear();
    this.#stopWaking?.();
    this.#stopWaking = null;
    this.#stopPolling?.();
    this.#stopPolling = null;
    this.#stopChecking?.();
    this.#stopChecking = null;
    this.#walWatch?.close();
  }

  #pollLater(): void {
    this.#walWatch?.ensureOpen();
    this.#stopPolling = this.#clock.after(POLL_MS, () => {
      this.#pollLater();
      this.#check();
    });
  }

  /** Checks at once, also during the checks that follow an earlier change, which begin anew. */
  #onChange(): void {
    if (this.#stopPolling === null) return;
    this.#stopChecking?.();
    this.#stopChecking = null;
    if (!this.#check()) this.#checkLater(0);
  }

  #checkLater(round: number): void {
    const pauseMs = CHECK_PAUSES_MS[round];
    if (pauseMs === undefined) return;
    this.#stopChecking = this.#clock.after(pauseMs, () => {
      this.#stopChecking = null;
      if (!this.#check()) this.#checkLater(round + 1);
    });
  }

  /** Wakes the listeners if another connection has committed. */
  #check(): boolean {
    const version = this.#version();
    if (version === this.#seen) return false;
    this.#seen = version;
    // What the other process has changed is unknown.
    this.wake("work");
    return true;
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
