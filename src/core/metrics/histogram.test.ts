import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BUCKET_MAX,
  bucketOf,
  countOf,
  decodeHistogram,
  DURATION_MS_MAX,
  encodeHistogram,
  histogramOf,
  mergeHistograms,
  middleOf,
  quantile,
} from "./histogram.ts";

const duration = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 86_400_000 }),
  fc.integer({ min: 0, max: DURATION_MS_MAX }),
);
const durations = fc.array(duration, { maxLength: 60 });

/** By nearest rank, as the histogram does. */
function exactQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]!;
}

describe("bucketOf", () => {
  test("has a bucket for each millisecond up to 15", () => {
    const buckets = Array.from({ length: 16 }, (_, ms) => bucketOf(ms));

    expect(buckets).toEqual(Array.from({ length: 16 }, (_, ms) => ms));
  });

  test("has eight buckets for each octave, without gaps", () => {
    const buckets = Array.from({ length: 100_000 }, (_, ms) => bucketOf(ms));

    expect([...new Set(buckets)]).toEqual(
      Array.from({ length: bucketOf(99_999) + 1 }, (_, bucket) => bucket),
    );
    expect(bucketOf(64) - bucketOf(32)).toBe(8);
  });

  test("takes a negative duration as 0, and one above the maximum as the maximum", () => {
    expect(bucketOf(-5)).toBe(0);
    expect(bucketOf(1e15)).toBe(BUCKET_MAX);
  });
});

describe("middleOf", () => {
  test("differs from each duration of its bucket by a sixteenth at most", () => {
    fc.assert(
      fc.property(duration, (ms) => {
        expect(Math.abs(middleOf(bucketOf(ms)) - ms)).toBeLessThanOrEqual(ms / 16);
      }),
    );
  });
});

describe("quantile (004-11)", () => {
  test("differs from the exact quantile by a sixteenth at most", () => {
    fc.assert(
      fc.property(
        fc.array(duration, { minLength: 1, maxLength: 200 }),
        fc.constantFrom(0, 0.01, 0.5, 0.9, 0.95, 0.99, 1),
        (values, share) => {
          const exact = exactQuantile(values, share);
          const found = quantile(histogramOf(values), share);

          expect(Math.abs(found! - exact)).toBeLessThanOrEqual(exact / 16);
        },
      ),
    );
  });

  test("is null without durations", () => {
    expect(quantile([], 0.5)).toBeNull();
  });
});

describe("mergeHistograms", () => {
  test("equals the histogram of all durations", () => {
    fc.assert(
      fc.property(durations, durations, (one, other) => {
        const merged = mergeHistograms(histogramOf(one), histogramOf(other));

        expect(merged).toEqual(histogramOf([...one, ...other]));
        expect(countOf(merged)).toBe(one.length + other.length);
      }),
    );
  });

  test("does not depend on the order of merges", () => {
    fc.assert(
      fc.property(durations, durations, durations, (...lists) => {
        const [one, other, third] = lists.map(histogramOf);
        const left = mergeHistograms(mergeHistograms(one!, other!), third!);

        expect(mergeHistograms(one!, mergeHistograms(other!, third!))).toEqual(left);
        expect(mergeHistograms(third!, mergeHistograms(other!, one!))).toEqual(left);
      }),
    );
  });
});

describe("decodeHistogram", () => {
  test("reads what encodeHistogram writes", () => {
    fc.assert(
      fc.property(durations, (values) => {
        const histogram = histogramOf(values);

        expect(decodeHistogram(encodeHistogram(histogram))).toEqual(histogram);
      }),
    );
  });

  test.each([
    "",
    "{",
    "{}",
    "[1]",
    "[1,0]",
    "[1.5,1]",
    "[-1,1]",
    "[5,1,5,1]",
    "[9999,1]",
    '["1",1]',
  ])("reads %j, which is no histogram, as empty", (text) => {
    expect(decodeHistogram(text)).toEqual([]);
  });
});
