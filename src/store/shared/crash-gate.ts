/** What both stores need to close the gate of a type whose jobs kill their processes. */

/** Who has closed the gate. */
export const CRASH_GATE_BY = "millrace";

/** How many of the newest successes are searched for one of the type. */
export const SUCCESSES_SEARCHED_MAX = 10_000;
