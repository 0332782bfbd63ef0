/** What both stores need to close the gate of a type whose jobs kill their processes. */

/** Who has closed the gate. */
export const CRASH_GATE_BY = "millrace";
