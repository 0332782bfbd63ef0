/**
 * Measures the skew between the clock of this process and the clock of the store.
 *
 * The store's clock alone decides what is due and what has expired, so a skew does not make jobs
 * run early or late. But due times computed in this process, and the times in its logs, are wrong
 * by the skew. Every heartbeat measures it, and a large skew is logged.
 */
import type { Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { Renewal, WorkerId, WorkerVitals } from "../../store/types/jobs-and-runs.ts";
import type { BeatTimes } from "./beat-times.ts";
import type { AnsweredRenewal } from "./steadiness.ts";

const SKEW_MS_MAX = 1_000;
const HINT = "Synchronize the clocks of this host and of the database host, for example by NTP.";

/** Positive: this process is ahead of the store. The true offset is within `errorMs` of it. */
export interface Skew {
  readonly offsetMs: number;
  readonly errorMs: number;
}

export interface Beat extends AnsweredRenewal {
  readonly renewal: Renewal;
  /** Null if the lease is lost: the store did not answer its time. */
  readonly skew: Skew | null;
}

export interface BeatParts {
  readonly worker: WorkerId;
  readonly leaseMs: number;
  readonly times: BeatTimes;
  /** Null: this beat tells none. */
  readonly vitals: WorkerVitals | null;
}

/** Renews a lease. Assumes that the store read its clock in the middle of the round trip. */
export async function beatOnce(
  store: Pick<JobStore, "renew">,
  clock: Clock,
  { worker, leaseMs, times, vitals }: BeatParts,
): Promise<Beat> {
  const [calledAt, sentAt] = [clock.now(), clock.monotonic()];
  times.sending(sentAt);
  const renewal = await store.renew(worker, leaseMs, vitals);
  const answeredAt = clock.monotonic();
  if (renewal.status === "lost") return { renewal, skew: null, sentAt, answeredAt };
  times.renewed({ sentAt, answeredAt });
  const errorMs = (answeredAt - sentAt) / 2;
  const skew = { offsetMs: calledAt + errorMs - renewal.now, errorMs };
  return { renewal, skew, sentAt, answeredAt };
}

export class SkewWatch {
  readonly #logger: Logger;
  /** The offset of the last warning; 0: no warning is in force. */
  #warnedMs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Warns when the skew is certain, and again when it has changed by much. */
  check({ offsetMs, errorMs }: Skew): void {
    const isApart = Math.abs(offsetMs) - errorMs > SKEW_MS_MAX;
    const changeMs = Math.abs(offsetMs - this.#warnedMs) - errorMs;
    if (isApart && changeMs > SKEW_MS_MAX + Math.abs(this.#warnedMs) / 2) {
      this.#warnedMs = offsetMs;
      const side = offsetMs > 0 ? "ahead of" : "behind";
      const apart = formatDuration(Math.round(Math.abs(offsetMs)));
      this.#logger.warn(
        `the clock of this process is ${apart} ${side} the store's clock: due times that this ` +
          "process computes are wrong",
        { code: "CLOCK_SKEWED", offset_ms: Math.round(offsetMs), hint: HINT },
      );
    }
    const isTogether = Math.abs(offsetMs) + errorMs < SKEW_MS_MAX / 2;
    if (this.#warnedMs === 0 || !isTogether) return;
    this.#warnedMs = 0;
    this.#logger.info("the clock of this process agrees with the store's clock again", {
      offset_ms: Math.round(offsetMs),
    });
  }
}
