/** Computes the rate of a job and its remaining time from the latest samples. */

export interface RateSample {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** The completed share of the job, 0 to 1. */
  readonly share: number;
  /** The number of units that have ended. */
  readonly ended: number;
}

export interface Rate {
  readonly unitsPerSecond: number | null;
  /** `null` when the share does not grow, or the samples span too little time. */
  readonly leftMs: number | null;
}

export const UNKNOWN_RATE: Rate = { unitsPerSecond: null, leftMs: null };

/** Older samples are dropped, so that the rate is the current one. */
const WINDOW_MS = 30_000;
/** A shorter span gives no reliable rate. */
const SPAN_MS_MIN = 1_000;

/** Adds a sample. A share that falls means a restart, which drops the earlier samples. */
export function withSample(
  samples: readonly RateSample[],
  sample: RateSample,
): readonly RateSample[] {
  const last = samples.at(-1);
  if (last !== undefined && (sample.share < last.share || sample.ended < last.ended)) {
    return [sample];
  }
  return [...samples.filter(({ at }) => at >= sample.at - WINDOW_MS), sample];
}

export function rateOf(samples: readonly RateSample[]): Rate {
  const [first, last] = [samples.at(0), samples.at(-1)];
  if (first === undefined || last === undefined) return UNKNOWN_RATE;
  const spanMs = last.at - first.at;
  if (spanMs < SPAN_MS_MIN) return UNKNOWN_RATE;
  const sharePerMs = (last.share - first.share) / spanMs;
  return {
    unitsPerSecond: ((last.ended - first.ended) / spanMs) * 1000,
    leftMs: sharePerMs > 0 ? (1 - last.share) / sharePerMs : null,
  };
}
