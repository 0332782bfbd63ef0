/** Limits of what one call may ask for. */

/**
 * A limit that every database takes for what it is: a negative one would mean none at all to
 * SQLite, and a fraction would be an error.
 */
export function bounded(limit: number, max: number): number {
  return Math.min(Math.max(0, Math.trunc(limit) || 0), max);
}
