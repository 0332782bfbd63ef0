/** How fast a job goes on, and how long the rest will take, from what was seen of late. */

export interface Sample {
  /** Milliseconds of a clock that never jumps. */
  readonly at: number;
  /** How much of the job is done, 0 to 1. */
  readonly share: number;
  /** Units that have ended. */
  readonly ended: number;
}

export interface Pace {
  readonly unitsPerSecond: number | null;
  /** `null` when nothing tells: it stands still, or was not watched for long enough. */
  readonly leftMs: number | null;
}

export const NO_PACE: Pace = { unitsPerSecond: null, leftMs: null };

/** Older samples tell how fast it was, not how fast it is. */
const WINDOW_MS = 30_000;
/** What is seen in less says little. */
const SPAN_MS_MIN = 1_000;

/** The samples that count from now on. What falls back has begun anew, and so do they. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && (sample.share < last.share || sample.ended < last.ended)) {
    return [sample];
  }
  return [...samples.filter(({ at }) => at >= sample.at - WINDOW_MS), sample];
}

export function paceOf(samples: readonly Sample[]): Pace {
  const [first, last] = [samples.at(0), samples.at(-1)];
  if (first === undefined || last === undefined) return NO_PACE;
  const spanMs = last.at - first.at;
  if (spanMs < SPAN_MS_MIN) return NO_PACE;
  const sharePerMs = (last.share - first.share) / spanMs;
  return {
    unitsPerSecond: ((last.ended - first.ended) / spanMs) * 1000,
    leftMs: sharePerMs > 0 ? (1 - last.share) / sharePerMs : null,
  };
}
