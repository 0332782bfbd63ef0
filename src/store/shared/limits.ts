/** Bounds the limits that callers pass. */

/**
 * A whole number from 0 to `max`. SQLite would read a negative limit as no limit, and a fraction
 * would be an error.
 */
export function bounded(limit: number, max: number): number {
  return Math.min(Math.max(0, Math.trunc(limit) || 0), max);
}
