/** What has happened to a job since one last looked. Pure: looking is done in `lookout.ts`. */
import { isFinal, type State } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import type { Json } from "../../core/payload.ts";
import type { AttemptView, JobView } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";
import type { PhaseView, ProgressView, UnitCounts, UnitView } from "../../api/progress.ts";
import { percentOf, shareOfJob, shareOfPhase } from "./completed-share.ts";
import type { NewLines } from "./log-lines.ts";

/** Named like the events of `mill.on`, as far as there is one. */
export type News =
  | { readonly event: "job:enqueued"; readonly state: State; readonly runAt: Date | null }
  | { readonly event: "job:started"; readonly attempt: number }
  | {
      readonly event: "job:phase:started" | "job:phase:failed" | "job:phase:cancelled";
      readonly phase: string;
    }
  | { readonly event: "job:phase:completed"; readonly phase: string; readonly units: UnitCounts }
  | {
      readonly event: "job:progress";
      readonly phase: string | null;
      readonly percent: number;
      readonly overall: number;
      readonly data: Json;
      readonly units: UnitCounts;
    }
  | {
      readonly event: "job:unit:failed";
      readonly phase: string | null;
      readonly unit: string;
      readonly error: Fault | null;
    }
  | ({ readonly event: "job:log" } & Omit<LogView, "at"> & { readonly loggedAt: Date })
  | { readonly event: "job:log:missed"; readonly lines: number }
  | {
      readonly event: "job:retrying";
      readonly attempt: number;
      readonly outcome: AttemptView["outcome"];
      readonly error: Fault | null;
      readonly runAt: Date | null;
    }
  | { readonly event: "job:completed"; readonly state: State; readonly result: Json }
  | { readonly event: "job:failed"; readonly error: Fault | null }
  | { readonly event: "job:cancelled"; readonly reason: string | null };

/** What was seen of a job at one moment. */
export interface Sight {
  readonly job: JobView;
  readonly attempts: readonly AttemptView[];
  readonly progress: ProgressView;
  /** Units that have failed; not all need be among them while the job is not over. */
  readonly failed: readonly UnitView[];
  /** What was logged since the last sight. */
  readonly log: NewLines;
}

/** How much of a job's story has been told. */
export interface Told {
  readonly isFirst: boolean;
  readonly runsStarted: number;
  readonly runsEnded: number;
  /** The run that the next two belong to. */
  readonly run: number;
  readonly phases: ReadonlyMap<string, PhaseView["state"]>;
  readonly step: Step;
  /** The failures of units, each with its moment: a later run may fail the same unit again. */
  readonly failures: ReadonlySet<string>;
}

/** How far a phase had come, in full tenths. */
interface Step {
  readonly phase: string | null;
  readonly percent: number;
}

export const NOTHING_TOLD: Told = {
  isFirst: true,
  runsStarted: 0,
  runsEnded: 0,
  run: 0,
  phases: new Map(),
  step: { phase: null, percent: 0 },
  failures: new Set(),
};

const STEP_PERCENT = 10;

export function newsOf(
  told: Told,
  sight: Sight,
): { readonly news: readonly News[]; readonly told: Told } {
  const { job, attempts, progress } = sight;
  const { news: ofRuns, runsStarted, ...rest } = newsOfRuns(told, sight);
  const run = attempts.length + (job.state === "running" ? 1 : 0);
  const known = run === told.run ? told : { phases: agedOf(told.phases), step: NOTHING_TOLD.step };
  const failures = newFailures(told.failures, sight.failed);
  const step = stepOf(known.step, progress);
  const news = [
    ...ofRuns,
    ...newsOfPhases(known.phases, progress, failures),
    ...logNews(rest.lines),
    ...(step === known.step ? [] : [progressNews(progress)]),
    ...(isFinal(job.state) ? [endOf(job)] : []),
  ];
  return {
    news,
    told: {
      isFirst: false,
      runsStarted,
      runsEnded: attempts.length,
      run,
      phases: new Map(progress.phases.map(({ name, state }) => [name, state])),
      step,
      failures:
        failures.length === 0
          ? told.failures
          : new Set([...told.failures, ...failures.map(markOf)]),
    },
  };
}

/** Starts and ends of runs, each end after what was logged in its run. */
function newsOfRuns(
  told: Told,
  { job, attempts, log }: Sight,
): {
  readonly news: readonly News[];
  readonly runsStarted: number;
  readonly lines: readonly LogView[];
} {
  const news: News[] = [];
  let { runsStarted } = told;
  let { lines } = log;
  const start = (run: number): void => {
    if (run <= runsStarted) return;
    news.push({ event: "job:started", attempt: run });
    runsStarted = run;
  };
  if (told.isFirst && attempts.length === 0 && isWaiting(job.state)) {
    news.push({ event: "job:enqueued", state: job.state, runAt: job.runAt });
  }
  if (log.missed > 0) news.push({ event: "job:log:missed", lines: log.missed });
  for (const [index, attempt] of attempts.entries()) {
    if (index < told.runsEnded) continue;
    if (attempt.startedAt !== null) start(index + 1);
    const isLast = isFinal(job.state) && index === attempts.length - 1;
    if (isLast) continue;
    news.push(...logNews(lines.filter((line) => line.attempt <= attempt.number)));
    lines = lines.filter((line) => line.attempt > attempt.number);
    news.push(retrying(index + 1, attempt));
  }
  if (job.state === "running" && job.startedAt !== null) start(attempts.length + 1);
  return { news, runsStarted, lines };
}

function isWaiting(state: State): boolean {
  return state === "scheduled" || state === "queued";
}

function retrying(run: number, { outcome, error, nextRunAt }: AttemptView): News {
  return { event: "job:retrying", attempt: run, outcome, error, runAt: nextRunAt };
}

function logNews(lines: readonly LogView[]): readonly News[] {
  return lines.map(({ at, ...line }) => ({ event: "job:log", ...line, loggedAt: at }));
}

/** For a new run: what had not ended well begins once more. */
function agedOf(phases: Told["phases"]): Told["phases"] {
  return new Map([...phases].filter(([, state]) => state === "completed"));
}

/** Failures of units come between the start of their phase and its end. */
function newsOfPhases(
  before: Told["phases"],
  { phases }: ProgressView,
  failures: readonly UnitView[],
): readonly News[] {
  const names = new Set<string | null>(phases.map(({ name }) => name));
  const elsewhere = failures.filter((unit) => !names.has(unit.phase));
  return [
    ...elsewhere.map(failureNews),
    ...phases.flatMap((phase) => {
      const inside = failures.filter((unit) => unit.phase === phase.name);
      const { start, end } = turnsOf(before.get(phase.name) ?? "pending", phase);
      return [...start, ...inside.map(failureNews), ...end];
    }),
  ];
}

/** A phase that nobody saw running was quick: it has begun all the same. */
function turnsOf(
  was: PhaseView["state"],
  { name: phase, state, units }: PhaseView,
): { readonly start: readonly News[]; readonly end: readonly News[] } {
  if (state === was || state === "pending") return { start: [], end: [] };
  const start: News[] = was === "running" ? [] : [{ event: "job:phase:started", phase }];
  switch (state) {
    case "running":
      return { start, end: [] };
    case "completed":
      return { start, end: [{ event: "job:phase:completed", phase, units }] };
    case "failed":
      return { start, end: [{ event: "job:phase:failed", phase }] };
    case "cancelled":
      // Those that had not begun go with the job, without a word of their own.
      return { start: [], end: was === "running" ? [{ event: "job:phase:cancelled", phase }] : [] };
  }
}

function newFailures(told: Told["failures"], failed: readonly UnitView[]): readonly UnitView[] {
  return failed.filter((unit) => !told.has(markOf(unit)));
}

function markOf({ phase, key, at }: UnitView): string {
  return JSON.stringify([phase, key, at.getTime()]);
}

function failureNews({ phase, key, error }: UnitView): News {
  return { event: "job:unit:failed", phase, unit: key, error };
}

/** The step that is reached now; the very same if there is nothing to tell. */
function stepOf(before: Step, progress: ProgressView): Step {
  if (progress.state !== "running") return before;
  const { phase } = progress;
  const percent = Math.floor(percentOf(currentShare(progress)) / STEP_PERCENT) * STEP_PERCENT;
  const reached = phase === before.phase ? before.percent : 0;
  return percent > reached ? { phase, percent } : before;
}

function progressNews(progress: ProgressView): News {
  const { phase, data } = progress;
  const units = currentPhase(progress)?.units ?? progress.units;
  const percent = percentOf(currentShare(progress));
  const overall = percentOf(shareOfJob(progress));
  return { event: "job:progress", phase, percent, overall, data, units };
}

/** Of the phase that goes on, or of a job without phases. */
function currentShare(progress: ProgressView): number {
  const phase = currentPhase(progress);
  return phase === undefined ? shareOfJob(progress) : shareOfPhase(phase, progress);
}

function currentPhase({ phase, phases }: ProgressView): PhaseView | undefined {
  return phases.find(({ name }) => name === phase);
}

function endOf({ state, result, error, cancelReason }: JobView): News {
  if (state === "failed") return { event: "job:failed", error };
  if (state === "cancelled") return { event: "job:cancelled", reason: cancelReason };
  return { event: "job:completed", state, result };
}
