/** Words that the sentences of findings share. */
import type { Counted } from "./finding.ts";

/** The most names in one sentence. */
const NAMES_MAX = 3;

export function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  const shown = names.slice(0, NAMES_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

export function jobsText({ count, atLeast }: Counted): string {
  if (atLeast) return `at least ${count} jobs`;
  return count === 1 ? "1 job" : `${count} jobs`;
}

/** "3 jobs wait", with the end that their number asks for. */
export function jobsWait(jobs: Counted): string {
  return `${jobsText(jobs)} ${jobs.count === 1 && !jobs.atLeast ? "waits" : "wait"}`;
}

export function sumOf(counts: readonly Counted[]): Counted {
  return {
    count: counts.reduce((total, { count }) => total + count, 0),
    atLeast: counts.some(({ atLeast }) => atLeast),
  };
}

export function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
