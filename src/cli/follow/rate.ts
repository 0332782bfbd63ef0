/** Computes the rate of a job and the remaining time of its phase from the latest samples. */

export interface RateSample {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** The current phase; `null` without phases. */
  readonly phase: string | null;
  /** The completed share of this phase, or of a job without phases, 0 to 1. */
  readonly share: number;
  /** The number of units that have ended. */
  readonly ended: number;
}

export interface Rate {
  readonly unitsPerSecond: number | null;
  /** `null` when the share has not grown several times, or the samples span too little time. */
  readonly leftMs: number | null;
}

export const UNKNOWN_RATE: Rate = { unitsPerSecond: null, leftMs: null };

/** Older samples are dropped, so that the rate is the current one. */
const WINDOW_MS = 30_000;
/** A shorter span gives no reliable rate. */
const SPAN_MS_MIN = 1_000;
/** One jump of the share says nothing about the next. */
const GROWTHS_MIN = 2;

/** Adds a sample. A new phase, or a share that falls (a restart), drops the earlier samples. */
export function withSample(
  samples: readonly RateSample[],
  sample: RateSample,
): readonly RateSample[] {
  const last = samples.at(-1);
  if (last !== undefined && !continues(last, sample)) return [sample];
  return [...samples.filter(({ at }) => at >= sample.at - WINDOW_MS), sample];
}

function continues(last: RateSample, { phase, share, ended }: RateSample): boolean {
  return phase === last.phase && share >= last.share && ended >= last.ended;
}

export function rateOf(samples: readonly RateSample[]): Rate {
  const [first, last] = [samples.at(0), samples.at(-1)];
  if (first === undefined || last === undefined) return UNKNOWN_RATE;
  const spanMs = last.at - first.at;
  if (spanMs < SPAN_MS_MIN) return UNKNOWN_RATE;
  const sharePerMs = (last.share - first.share) / spanMs;
  const growths = new Set(samples.map(({ share }) => share)).size - 1;
  return {
    unitsPerSecond: ((last.ended - first.ended) / spanMs) * 1000,
    leftMs: growths >= GROWTHS_MIN ? (1 - last.share) / sharePerMs : null,
  };
}
