/** Limits failed logins, so that a mistyped or guessed token costs its caller time. */
import type { Clock } from "../../core/clock.ts";
import { RequestRefusal } from "../problem.ts";

const WINDOW_MS = 60_000;
const FAILURES_MAX = 10;

export class LoginThrottle {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The times of failed logins within the window. */
  #failures: readonly number[] = [];

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Throws while too many logins have failed. */
  insistOpen(): void {
    const now = this.#clock.monotonic();
    this.#failures = this.#failures.filter((at) => now - at < WINDOW_MS);
    const [oldest] = this.#failures;
    if (oldest === undefined || this.#failures.length < FAILURES_MAX) return;
    const seconds = Math.ceil((oldest + WINDOW_MS - now) / 1_000);
    throw new RequestRefusal("TOO_MANY_LOGINS", "Too many logins have failed.", [], {
      "retry-after": String(seconds),
    });
  }

  failed(): void {
    this.#failures = [...this.#failures, this.#clock.monotonic()].slice(-FAILURES_MAX);
  }
}
