/**
 * Histograms of durations in milliseconds. Up to 15 ms each millisecond has a bucket of its own.
 * From there on each octave, from a power of two to the next, has eight buckets of equal width. A
 * quantile is the middle of its bucket, so it differs from the exact value by at most a sixteenth
 * of that value (6.25 %). A duration above 24.8 days counts as 24.8 days.
 *
 * The bounds never change: stored rows keep the numbers of their buckets.
 */

/** Buckets with their counts, `[bucket, count, bucket, count, …]`, in the order of buckets. */
export type Histogram = readonly number[];

/** The greatest duration that a bucket tells apart: 24.8 days. */
export const DURATION_MS_MAX: number = 2 ** 31 - 1;

/** The number of the last bucket. */
export const BUCKET_MAX: number = bucketOf(DURATION_MS_MAX);

export const EMPTY_HISTOGRAM: Histogram = [];

/** The bucket of a duration. */
export function bucketOf(ms: number): number {
  const whole = wholeMs(ms);
  if (whole < 16) return whole;
  const octave = 31 - Math.clz32(whole);
  return (octave - 3) * 8 + (whole >> (octave - 3));
}

/** Whole milliseconds between 0 and the maximum. A clock may have been set back. */
export function wholeMs(ms: number): number {
  return Math.trunc(Math.min(Math.max(ms, 0), DURATION_MS_MAX));
}

/** The duration that stands for all durations of a bucket: its middle. */
export function middleOf(bucket: number): number {
  if (bucket < 16) return bucket;
  const octave = Math.trunc(bucket / 8) + 2;
  const width = 2 ** (octave - 3);
  return (8 + (bucket % 8)) * width + Math.trunc((width - 1) / 2);
}

export function histogramOf(durationsMs: readonly number[]): Histogram {
  const counts = new Map<number, number>();
  for (const ms of durationsMs) {
    const bucket = bucketOf(ms);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return [...counts].toSorted(([one], [other]) => one - other).flat();
}

/** Both together. */
export function mergeHistograms(one: Histogram, other: Histogram): Histogram {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const merged: number[] = [];
  let left = 0;
  let right = 0;
  while (left < one.length || right < other.length) {
    const [first = Infinity, second = Infinity] = [one[left], other[right]];
    let count = 0;
    if (first <= second) {
      count += one[left + 1]!;
      left += 2;
    }
    if (second <= first) {
      count += other[right + 1]!;
      right += 2;
    }
    merged.push(Math.min(first, second), count);
  }
  return merged;
}

/** How many durations were counted. */
export function countOf(histogram: Histogram): number {
  let count = 0;
  for (let at = 1; at < histogram.length; at += 2) count += histogram[at]!;
  return count;
}

/**
 * The duration that a share of all durations does not exceed, by nearest rank: `quantile(h, 0.95)`
 * is the p95. Null for an empty histogram.
 */
export function quantile(histogram: Histogram, share: number): number | null {
  const rank = Math.max(1, Math.ceil(share * countOf(histogram)));
  let seen = 0;
  for (let at = 0; at < histogram.length; at += 2) {
    seen += histogram[at + 1]!;
    if (seen >= rank) return middleOf(histogram[at]!);
  }
  return null;
}

export function encodeHistogram(histogram: Histogram): string {
  return JSON.stringify(histogram);
}

/** A text that is no histogram, such as that of a row edited by hand, is empty. */
export function decodeHistogram(text: string): Histogram {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return EMPTY_HISTOGRAM;
  }
  return isHistogram(value) ? value : EMPTY_HISTOGRAM;
}

function isHistogram(value: unknown): value is number[] {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  return value.every((number, at) => {
    if (!Number.isSafeInteger(number)) return false;
    if (at % 2 === 1) return number > 0;
    return number >= 0 && number <= BUCKET_MAX && (at === 0 || number > value[at - 2]);
  });
}
