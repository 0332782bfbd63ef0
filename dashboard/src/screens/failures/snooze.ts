/** How long a cause may rest. Pure: the time is an argument. */

const HOUR_MS = 3_600_000;

export const SNOOZES = [
  ["1h", "1 hour", HOUR_MS],
  ["8h", "8 hours", 8 * HOUR_MS],
  ["1d", "1 day", 24 * HOUR_MS],
  ["3d", "3 days", 72 * HOUR_MS],
  ["1w", "1 week", 168 * HOUR_MS],
  ["30d", "30 days", 720 * HOUR_MS],
] as const;

export type SnoozeId = (typeof SNOOZES)[number][0];

/** The end of a snooze as the API wants it. */
export function snoozeEnd(id: SnoozeId, now: number): string {
  const [, , ms] = SNOOZES.find(([each]) => each === id) ?? SNOOZES[0];
  return new Date(now + ms).toISOString();
}
