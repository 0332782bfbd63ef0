/** Limits that both stores share, and a bound for the limits that callers pass. */

/**
 * A whole number from 0 to `max`. SQLite would read a negative limit as no limit, and a fraction
 * would be an error.
 */
export function bounded(limit: number, max: number): number {
  return Math.min(Math.max(0, Math.trunc(limit) || 0), max);
}

/** Jobs from a successor back to the first job that it repeats, in the search for their code. */
export const CHAIN_MAX = 1_000;

/** How long a person, producer or worker token is listed after its end. */
export const ENDED_TOKEN_MS: number = 30 * 24 * 60 * 60 * 1_000;

/** The most deploys in one answer. */
export const DEPLOYS_MAX = 1_000;
