/**
 * Buffers the log lines of one run. Lines are sent at most five times a second, in one request at a
 * time. The buffer keeps at most as many lines as the store would; the oldest are dropped.
 */
import type { Clock } from "../../core/clock.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX, type LogEntry } from "../../store/types/notes.ts";

const INTERVAL_MS = 200;

export class LogBuffer {
  readonly #clock: Clock;
  readonly #store: (lines: readonly LogEntry[]) => Promise<void>;
  #lines: LogEntry[] = [];
  #chars = 0;
  #turn = 0;
  #isSending = false;
  #isClosed = false;
  #stopTimer: (() => void) | null = null;

  constructor(clock: Clock, store: (lines: readonly LogEntry[]) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
  }

  add(line: Omit<LogEntry, "turn">): void {
    this.#turn += 1;
    this.#lines.push({ turn: this.#turn, ...line });
    this.#chars += charsIn(line);
    while (this.#lines.length > LOG_LINES_MAX || this.#chars > LOG_CHARS_MAX) this.#dropOldest();
    this.#sendLater();
  }

  /** Lines that were not sent, newest last. */
  get unsent(): readonly LogEntry[] {
    return this.#lines;
  }

  /** From now on no line is sent. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
  }

  #sendLater(): void {
    if (this.#isSending || this.#isClosed) return;
    this.#stopTimer ??= this.#clock.after(INTERVAL_MS, () => void this.#send());
  }

  async #send(): Promise<void> {
    const lines = this.#lines;
    this.#stopTimer = null;
    this.#lines = [];
    this.#chars = 0;
    this.#isSending = true;
    try {
      await this.#store(lines);
    } catch {
      // The run is over, or the database refused a line. A log line must not fail the run.
    }
    this.#isSending = false;
    if (this.#lines.length > 0) this.#sendLater();
  }

  #dropOldest(): void {
    const oldest = this.#lines.shift();
    if (oldest !== undefined) this.#chars -= charsIn(oldest);
  }
}

function charsIn({ message, fields }: Pick<LogEntry, "message" | "fields">): number {
  return message.length + (fields?.length ?? 0);
}
