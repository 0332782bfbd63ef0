/** How far the samples of `scripts/show/interleavings.ts` go. */
import { sized } from "../../scripts/lib/campaign-size.ts";

/** Keeps so many in `npm test`, spread over all of them; a campaign keeps all. */
export function sampled<T>(all: readonly T[], smoke: number): readonly T[] {
  const wanted = sized({ smoke, short: all.length, full: all.length });
  const step = all.length / Math.min(wanted, all.length);
  return all.filter((_, index) => Math.floor(index % step) === 0).slice(0, wanted);
}

/** Two interruptions let each verb go in between any two statements of the other. */
export const SHORT = { interruptions: 2, most: 12 } as const;
export const TEST_MS_MAX = 120_000;
