/** Limits of runs that the heartbeat thread knows as well. */

/** How long a handler or a unit may ignore the aborted signal before the run ends without it. */
export const IGNORED_SIGNAL_MS_MAX = 5_000;
