/** When a run is slow, and how its units are told. Pure: the time is an argument. */
import type { LongRuns } from "../../api/operations.gen.ts";
import { durationText, numberText } from "../../lib/format.ts";
import type { TypeRow } from "./series.ts";

export type LongRun = LongRuns["runs"][number];
type Known = Pick<TypeRow, "type" | "lane" | "runs" | "run">;

/** What is slow for a type with too few ended runs to know better. */
const SLOW_MS = 600_000;
/** A shorter run is not slow, however fast its type is. */
const SLOW_MS_MIN = 10_000;
const RUNS_MIN = 20;

export interface SlowLimit {
  readonly ms: number;
  readonly text: string;
}

/** Twice the p95 of the ended runs of the type in its lane, or else ten minutes. */
export function slowLimit(
  { type, lane }: Pick<LongRun["job"], "type" | "lane">,
  known: readonly Known[],
): SlowLimit {
  const own = known.find((each) => each.type === type && each.lane === lane);
  const p95 = own !== undefined && own.runs >= RUNS_MIN ? own.run.p95 : null;
  if (p95 === null) return { ms: SLOW_MS, text: `longer than ${durationText(SLOW_MS)}` };
  const ms = Math.max(SLOW_MS_MIN, 2 * p95);
  return { ms, text: `longer than ${durationText(ms)}, by the p95 of its type` };
}

/** `12 of 40, 1 failed`; a job without units tells its percent, or a dash before there is any. */
export function unitsText(run: {
  readonly job: Pick<LongRun["job"], "progress">;
  readonly units: LongRun["units"];
}): string {
  const { job, units } = run;
  const { total, completed, failed } = units;
  if (total === 0) return job.progress === 0 ? "–" : `${Math.floor(job.progress)} %`;
  const ended = `${numberText(completed + failed)} of ${numberText(total)}`;
  return failed === 0 ? ended : `${ended}, ${numberText(failed)} failed`;
}
