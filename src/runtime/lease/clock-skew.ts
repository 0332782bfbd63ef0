/**
 * How far the clock of this process is from the store's.
 *
 * What is due and what has expired is decided by the store's clock alone, so a wrong one does not
 * make jobs run early or late. But due times that are made here as instants, and the times in logs,
 * are wrong by as much. So it is measured with each heartbeat, and told.
 */
import type { Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { Renewal, WorkerId } from "../../store/types/jobs-and-runs.ts";

const SKEW_MS_MAX = 1_000;
const HINT = "Synchronize the clocks of this host and of the database's, such as by NTP.";

/** Positive: this process is ahead of the store. The true value is within `errorMs` of it. */
export interface Skew {
  readonly offsetMs: number;
  readonly errorMs: number;
}

export interface Beat {
  readonly renewal: Renewal;
  /** Null where the store did not say what time it is. */
  readonly skew: Skew | null;
}

/** Renews a lease. The store's clock is taken to have been read in the middle of the round trip. */
export async function beatOnce(
  store: Pick<JobStore, "renew">,
  clock: Clock,
  { worker, leaseMs }: { readonly worker: WorkerId; readonly leaseMs: number },
): Promise<Beat> {
  const [sentAt, began] = [clock.now(), clock.monotonic()];
  const renewal = await store.renew(worker, leaseMs);
  const errorMs = (clock.monotonic() - began) / 2;
  if (renewal.status === "lost") return { renewal, skew: null };
  return { renewal, skew: { offsetMs: sentAt + errorMs - renewal.now, errorMs } };
}

export class SkewWatch {
  readonly #logger: Logger;
  /** What was last told. */
  #toldMs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Warns when the clocks are apart for certain, and again when that has changed by much. */
  hear({ offsetMs, errorMs }: Skew): void {
    const isApart = Math.abs(offsetMs) - errorMs > SKEW_MS_MAX;
    const changeMs = Math.abs(offsetMs - this.#toldMs) - errorMs;
    if (isApart && changeMs > SKEW_MS_MAX + Math.abs(this.#toldMs) / 2) {
      this.#toldMs = offsetMs;
      const side = offsetMs > 0 ? "ahead of" : "behind";
      const apart = formatDuration(Math.round(Math.abs(offsetMs)));
      this.#logger.warn(
        `the clock of this process is ${apart} ${side} the store's: jobs run on time by the ` +
          "store's, but instants that are made here are wrong",
        { code: "CLOCK_SKEWED", offset_ms: Math.round(offsetMs), hint: HINT },
      );
    }
    const isTogether = Math.abs(offsetMs) + errorMs < SKEW_MS_MAX / 2;
    if (this.#toldMs === 0 || !isTogether) return;
    this.#toldMs = 0;
    this.#logger.info("the clock of this process agrees with the store's again", {
      offset_ms: Math.round(offsetMs),
    });
  }
}
