/**
 * What one run has logged and the store has not heard of yet: told at most five times a second, and
 * while the store does not answer, not at all. What comes meanwhile waits here, and of it only as
 * much as the store would keep.
 */
import type { Clock } from "../../core/clock.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX, type LogEntry } from "../../store/types/notes.ts";

const PACE_MS = 200;

export class LogBuffer {
  readonly #clock: Clock;
  readonly #store: (lines: readonly LogEntry[]) => Promise<void>;
  #lines: LogEntry[] = [];
  #chars = 0;
  #isTelling = false;
  #isClosed = false;
  #stopTimer: (() => void) | null = null;

  constructor(clock: Clock, store: (lines: readonly LogEntry[]) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
  }

  add(line: LogEntry): void {
    this.#lines.push(line);
    this.#chars += charsIn(line);
    while (this.#lines.length > LOG_LINES_MAX || this.#chars > LOG_CHARS_MAX) this.#dropOldest();
    this.#tellLater();
  }

  /** What the store has not been told, newest last. */
  get untold(): readonly LogEntry[] {
    return this.#lines;
  }

  /** From now on nothing is told by itself. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
  }

  #tellLater(): void {
    if (this.#isTelling || this.#isClosed) return;
    this.#stopTimer ??= this.#clock.after(PACE_MS, () => void this.#tell());
  }

  async #tell(): Promise<void> {
    const lines = this.#lines;
    this.#stopTimer = null;
    this.#lines = [];
    this.#chars = 0;
    this.#isTelling = true;
    try {
      await this.#store(lines);
    } catch {
      // The run is over, or the database does not take a line: its end is not to fail for that.
    }
    this.#isTelling = false;
    if (this.#lines.length > 0) this.#tellLater();
  }

  #dropOldest(): void {
    const oldest = this.#lines.shift();
    if (oldest !== undefined) this.#chars -= charsIn(oldest);
  }
}

function charsIn({ message, fields }: LogEntry): number {
  return message.length + (fields?.length ?? 0);
}
