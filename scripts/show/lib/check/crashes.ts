/** Whether a job that bears a crash had a part in it. */
import type { StoredJob } from "../fleet/history.ts";
import type { LedgerLine } from "../fleet/ledger.ts";

/** Crashes that the store counted, by what the handlers' own ledger says of the same run. */
export interface Crashes {
  /** It had begun and not ended. */
  readonly cutOff: number;
  /** It had ended, and its worker died before that was recorded. */
  readonly unrecorded: number;
  /** It had not begun. */
  readonly unearned: number;
}

export function crashesOf(
  jobs: Iterable<readonly [id: string, StoredJob]>,
  ledger: readonly LedgerLine[],
): Crashes {
  const written = new Set(ledger.map(({ job, fence, what }) => `${job} ${fence} ${what}`));
  const crashed = [...jobs].flatMap(([id, job]) =>
    countedCrashes(job).map(({ fence }) => `${id} ${fence}`),
  );
  const begun = crashed.filter((run) => written.has(`${run} start`));
  const unrecorded = begun.filter((run) => written.has(`${run} end`)).length;
  return {
    cutOff: begun.length - unrecorded,
    unrecorded,
    unearned: crashed.length - begun.length,
  };
}

/** True when the store gave a job up because its workers died too often, and for nothing else. */
export function diedOfCrashes(job: StoredJob): boolean {
  return job.state === "failed" && countedCrashes(job).length >= CRASH_CAP;
}

/** Runs that raised the count of crashes. */
export function countedCrashes({ attempts }: StoredJob): StoredJob["attempts"] {
  return attempts.filter(({ crashes = 0 }, index) => crashes > (attempts[index - 1]?.crashes ?? 0));
}

/** The default of the library. */
export const CRASH_CAP = 3;
