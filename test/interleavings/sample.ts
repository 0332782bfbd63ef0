/** How far the short forms of `scripts/show/interleavings.ts` go. */

/** Two interruptions let each verb go in between any two statements of the other. */
export const SHORT = { interruptions: 2, most: 12 } as const;
export const TEST_MS_MAX = 120_000;
