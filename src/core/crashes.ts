/**
 * How jobs that have crashed before are kept apart, so that a job that kills its process ends and
 * no other job ends with it.
 *
 * Every crash counts for all runs that the process had begun. The more crashes a job has, the fewer
 * jobs of its kind run in one process, until it runs alone: then a crash has only one cause.
 */

/** The shares of a process's slots for jobs with one crash, and for jobs with more. */
const ONCE_SHARE = 1 / 2;
const OFTEN_SHARE = 1 / 8;

/** How many jobs with one crash, and with more, a process may run at the same time. */
export function crashedSlots(slots: number): { readonly once: number; readonly often: number } {
  return { once: share(slots, ONCE_SHARE), often: share(slots, OFTEN_SHARE) };
}

/** At least one: otherwise a job would never run again. */
function share(slots: number, part: number): number {
  return Math.max(1, Math.floor(slots * part));
}

/** Jobs of one type that may die alone without a success in between, until its gate is closed. */
export const LONE_DEATHS_MAX = 3;

/** The wait before the first probe of a type, and the longest wait between two probes. */
export const PROBE_MS_MIN = 60_000;
export const PROBE_MS_MAX = 3_600_000;

/** The wait after the next probe, if the last wait was `ms`. */
export function nextProbeMs(ms: number): number {
  return Math.min(Math.max(PROBE_MS_MIN, 2 * ms), PROBE_MS_MAX);
}

/** The reason of a gate that crashes have closed. */
export function crashGateReason(deaths: number): string {
  return (
    `${deaths} jobs of this type have killed their process, each while it ran alone; ` +
    "one job at a time is tried alone, and a success opens the gate"
  );
}

/** The name under which the engine pauses a type whose jobs kill their processes. */
export const CRASH_GATE_BY = "millrace";

/** Whether the engine has paused these jobs because of crashes: it tries one at a time alone. */
export function isCrashGate(kind: string, by: string | null): boolean {
  return kind === "type" && by === CRASH_GATE_BY;
}
