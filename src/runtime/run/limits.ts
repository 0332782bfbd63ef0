/** Limits of runs that the heartbeat thread knows as well. */

/** How long a handler or a unit may ignore the aborted signal before the run ends without it. */
export const IGNORED_SIGNAL_MS_MAX = 5_000;

/** What a run keeps back of its time when it calls a function of the database. */
const KEPT_BACK_MS_MAX = 5_000;
const KEPT_BACK_PART = 0.1;

/** How long a function may take, so that the run can still say what has become of the call. */
export function callMs(leftMs: number): number {
  return Math.max(1, leftMs - Math.min(KEPT_BACK_MS_MAX, leftMs * KEPT_BACK_PART));
}
