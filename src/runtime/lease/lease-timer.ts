/**
 * Measures the lease of a worker by the monotonic clock of its process.
 *
 * The lease lasts from the moment at which the last successful heartbeat was sent: the store can
 * only have written a later end. When this time has passed, another worker may run the jobs of this
 * worker, whether or not the store answers.
 */
import type { Clock } from "../../core/clock.ts";
import type { BeatTimes } from "./beat-times.ts";

/** Why no heartbeat has succeeded in time. */
export type ExpiryCause =
  | { readonly type: "failed"; readonly error: unknown }
  /** So long the worker waited for answers of the store. */
  | { readonly type: "silent"; readonly ms: number }
  /** The heartbeat, or the event loop, was so late. */
  | { readonly type: "blocked"; readonly ms: number };

export interface LeaseTimerParts {
  readonly clock: Clock;
  readonly times: BeatTimes;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly onExpired: (cause: ExpiryCause) => void;
  /** A heartbeat has succeeded again, so long after the expiry. */
  readonly onRenewed: (expiredMs: number) => void;
}

export class LeaseTimer {
  readonly #parts: LeaseTimerParts;
  #stopTimer = (): void => {};
  #expiredAt: number | null = null;
  /** The error of the last heartbeat; null if it succeeded, or has not been answered. */
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: LeaseTimerParts) {
    this.#parts = parts;
  }

  /** The lease was granted: watches it from now on. */
  start(): void {
    this.#arm();
  }

  stop(): void {
    this.#stopTimer();
    this.#stopTimer = () => {};
  }

  /** Whether the lease has not expired, and its expiry is over for the runs of the worker. */
  get holds(): boolean {
    return this.#expiredAt === null && this.#leftMs > 0;
  }

  /** A heartbeat has succeeded. One that was sent too long ago does not renew an expired lease. */
  renewed(): void {
    this.#failure = null;
    const { clock, onRenewed } = this.#parts;
    if (this.#expiredAt === null || this.#leftMs <= 0) return;
    const expiredMs = clock.monotonic() - this.#expiredAt;
    this.#expiredAt = null;
    this.#arm();
    onRenewed(expiredMs);
  }

  failed(error: unknown): void {
    this.#failure = { error };
  }

  get #leftMs(): number {
    const { clock, times, leaseMs } = this.#parts;
    return (times.renewedAt ?? -Infinity) + leaseMs - clock.monotonic();
  }

  /** The timer is not moved at every heartbeat: when it fires, the end of the lease is read. */
  #arm(): void {
    const leftMs = this.#leftMs;
    if (leftMs > 0) this.#wake(leftMs, () => this.#arm());
    else if (-leftMs > this.#parts.beatMs) this.#waitForBeat(-leftMs);
    else this.#expire(-leftMs);
  }

  /**
   * The timer fired late: the process was stopped, or its event loop was blocked. A heartbeat that
   * renews the lease is then on its way, and only chance decides whether it is answered before the
   * timer fires. Meanwhile the lease does not hold, so that no run starts.
   */
  #waitForBeat(lateMs: number): void {
    this.#wake(this.#parts.beatMs, () => {
      if (this.#leftMs > 0) this.#arm();
      else this.#expire(lateMs);
    });
  }

  #wake(ms: number, then: () => void): void {
    this.#stopTimer = this.#parts.clock.after(ms, then);
  }

  #expire(lateMs: number): void {
    this.#expiredAt = this.#parts.clock.monotonic();
    this.#parts.onExpired(this.#cause(lateMs));
  }

  /**
   * A heartbeat that was sent too late, or a timer that fired too late, means that this process did
   * not run. Otherwise the store has not answered the last heartbeat, or answered it late.
   */
  #cause(timerLateMs: number): ExpiryCause {
    if (this.#failure !== null) return { type: "failed", error: this.#failure.error };
    const { clock, times, beatMs } = this.#parts;
    const now = clock.monotonic();
    const renewedAt = times.renewedAt ?? now;
    const answeredAt = times.answeredAt ?? renewedAt;
    const sentAt = times.sentAt ?? renewedAt;
    const isUnanswered = sentAt > renewedAt;
    const silentMs = answeredAt - renewedAt + (isUnanswered ? now - sentAt : 0);
    const beatLateMs = (isUnanswered ? sentAt : now) - answeredAt - beatMs;
    const blockedMs = Math.max(beatLateMs, timerLateMs);
    return blockedMs > beatMs && blockedMs * 2 > silentMs
      ? { type: "blocked", ms: blockedMs }
      : { type: "silent", ms: silentMs };
  }
}
