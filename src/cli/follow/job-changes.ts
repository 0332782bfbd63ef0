/** The changes of a job between two polls. Pure; `poll-job.ts` reads the job. */
import { isFinal, type State } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import type { Json } from "../../core/payload.ts";
import type { AttemptView, Explanation, JobView } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";
import type { PhaseView, ProgressView, UnitCounts, UnitView } from "../../api/progress.ts";
import { currentPhase, currentShare, percentOf, shareOfJob } from "./completed-share.ts";
import type { NewLines } from "./log-lines.ts";

/** One change of a job. Changes that `mill.on` reports have the name of the event. */
export type JobChange =
  | { readonly event: "job:enqueued"; readonly state: State; readonly runAt: Date | null }
  | {
      readonly event: "job:waiting";
      readonly reason: string;
      readonly sentence: string;
      readonly hint: string;
    }
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
    }
  | { readonly event: "job:units"; readonly phase: string | null; readonly units: UnitCounts }
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

/** The data of a job at one poll. */
export interface JobSnapshot {
  readonly job: JobView;
  readonly attempts: readonly AttemptView[];
  readonly progress: ProgressView;
  /** The failed units. While the job is not final, the list may be incomplete. */
  readonly failed: readonly UnitView[];
  /** The lines that were logged since the last snapshot. */
  readonly log: NewLines;
  /** Why the job does not run, unless a worker is about to take it. */
  readonly wait: Pick<Explanation, "reason" | "sentence" | "hint"> | null;
}

/** The changes of a job that have been reported. */
export interface ReportedChanges {
  readonly isFirst: boolean;
  readonly runsStarted: number;
  readonly runsEnded: number;
  /** The reason of the last wait. */
  readonly waitReason: string | null;
  /** The run to which `phases` and `step` belong. */
  readonly run: number;
  readonly phases: ReadonlyMap<string, PhaseView["state"]>;
  readonly step: ProgressStep;
  /** The failures of units, each with its time, because a unit may fail again in a later run. */
  readonly failures: ReadonlySet<string>;
}

/** The progress of a phase, in full tenths. */
interface ProgressStep {
  readonly phase: string | null;
  readonly percent: number;
}

export const NOTHING_REPORTED: ReportedChanges = {
  isFirst: true,
  runsStarted: 0,
  runsEnded: 0,
  waitReason: null,
  run: 0,
  phases: new Map(),
  step: { phase: null, percent: 0 },
  failures: new Set(),
};

const STEP_PERCENT = 10;

export function changesSince(
  reported: ReportedChanges,
  snapshot: JobSnapshot,
): { readonly changes: readonly JobChange[]; readonly reported: ReportedChanges } {
  const { job, attempts, progress } = snapshot;
  const { changes: ofRuns, runsStarted, ...rest } = runChanges(reported, snapshot);
  const run = attempts.length + (job.state === "running" ? 1 : 0);
  const known =
    run === reported.run
      ? reported
      : { phases: phasesForNewRun(reported.phases), step: NOTHING_REPORTED.step };
  const failures = newFailures(reported.failures, snapshot.failed);
  const step = reachedStep(known.step, progress);
  const changes = [
    ...ofRuns,
    ...phaseChanges(known.phases, progress, failures),
    ...logChanges(rest.lines),
    ...(step === known.step ? [] : progressChanges(progress)),
    ...waitChanges(reported, snapshot),
    ...(isFinal(job.state) ? [finalChange(job)] : []),
  ];
  return {
    changes,
    reported: {
      isFirst: false,
      runsStarted,
      runsEnded: attempts.length,
      waitReason: snapshot.wait?.reason ?? null,
      run,
      phases: new Map(progress.phases.map(({ name, state }) => [name, state])),
      step,
      failures:
        failures.length === 0
          ? reported.failures
          : new Set([...reported.failures, ...failures.map(failureId)]),
    },
  };
}

/** A wait is reported once for each reason. */
function waitChanges({ waitReason }: ReportedChanges, { wait }: JobSnapshot): readonly JobChange[] {
  if (wait === null || wait.reason === waitReason) return [];
  const { reason, sentence, hint } = wait;
  return [{ event: "job:waiting", reason, sentence, hint }];
}

/** The starts and ends of runs. The log lines of a run come before its end. */
function runChanges(
  reported: ReportedChanges,
  { job, attempts, log }: JobSnapshot,
): {
  readonly changes: readonly JobChange[];
  readonly runsStarted: number;
  readonly lines: readonly LogView[];
} {
  const changes: JobChange[] = [];
  let { runsStarted } = reported;
  let { lines } = log;
  const start = (run: number): void => {
    if (run <= runsStarted) return;
    changes.push({ event: "job:started", attempt: run });
    runsStarted = run;
  };
  if (reported.isFirst && attempts.length === 0 && isWaiting(job.state)) {
    changes.push({ event: "job:enqueued", state: job.state, runAt: job.runAt });
  }
  if (log.missed > 0) changes.push({ event: "job:log:missed", lines: log.missed });
  for (const [index, attempt] of attempts.entries()) {
    if (index < reported.runsEnded) continue;
    if (attempt.startedAt !== null) start(index + 1);
    const isLast = isFinal(job.state) && index === attempts.length - 1;
    if (isLast) continue;
    changes.push(...logChanges(lines.filter((line) => line.attempt <= attempt.number)));
    lines = lines.filter((line) => line.attempt > attempt.number);
    changes.push(retryChange(index + 1, attempt));
  }
  if (job.state === "running" && job.startedAt !== null) start(attempts.length + 1);
  return { changes, runsStarted, lines };
}

function isWaiting(state: State): boolean {
  return state === "scheduled" || state === "queued";
}

function retryChange(run: number, { outcome, error, nextRunAt }: AttemptView): JobChange {
  return { event: "job:retrying", attempt: run, outcome, error, runAt: nextRunAt };
}

function logChanges(lines: readonly LogView[]): readonly JobChange[] {
  return lines.map(({ at, ...line }) => ({ event: "job:log", ...line, loggedAt: at }));
}

/** The phases at the start of a new run, which repeats all phases but the completed ones. */
function phasesForNewRun(phases: ReportedChanges["phases"]): ReportedChanges["phases"] {
  return new Map([...phases].filter(([, state]) => state === "completed"));
}

/** The changes of all phases. Failures of units come between the start and the end of a phase. */
function phaseChanges(
  before: ReportedChanges["phases"],
  { phases }: ProgressView,
  failures: readonly UnitView[],
): readonly JobChange[] {
  const names = new Set<string | null>(phases.map(({ name }) => name));
  const elsewhere = failures.filter((unit) => !names.has(unit.phase));
  return [
    ...elsewhere.map(unitFailure),
    ...phases.flatMap((phase) => {
      const inside = failures.filter((unit) => unit.phase === phase.name);
      const { start, end } = startAndEnd(before.get(phase.name) ?? "pending", phase);
      return [...start, ...inside.map(unitFailure), ...end];
    }),
  ];
}

/** The start and the end of a phase. A phase that no poll saw running has a start, too. */
function startAndEnd(
  was: PhaseView["state"],
  { name: phase, state, units }: PhaseView,
): { readonly start: readonly JobChange[]; readonly end: readonly JobChange[] } {
  if (state === was || state === "pending") return { start: [], end: [] };
  const start: JobChange[] = was === "running" ? [] : [{ event: "job:phase:started", phase }];
  switch (state) {
    case "running":
      return { start, end: [] };
    case "completed":
      return { start, end: [{ event: "job:phase:completed", phase, units }] };
    case "failed":
      return { start, end: [{ event: "job:phase:failed", phase }] };
    case "cancelled":
      // A phase that had not started is not reported.
      return { start: [], end: was === "running" ? [{ event: "job:phase:cancelled", phase }] : [] };
  }
}

function newFailures(
  reported: ReportedChanges["failures"],
  failed: readonly UnitView[],
): readonly UnitView[] {
  return failed.filter((unit) => !reported.has(failureId(unit)));
}

function failureId({ phase, key, at }: UnitView): string {
  return JSON.stringify([phase, key, at.getTime()]);
}

function unitFailure({ phase, key, error }: UnitView): JobChange {
  return { event: "job:unit:failed", phase, unit: key, error };
}

/** The step that the phase has reached; the same object if it has not changed. */
function reachedStep(before: ProgressStep, progress: ProgressView): ProgressStep {
  if (progress.state !== "running") return before;
  const { phase } = progress;
  const percent = Math.floor(percentOf(currentShare(progress)) / STEP_PERCENT) * STEP_PERCENT;
  const reached = phase === before.phase ? before.percent : 0;
  return percent > reached ? { phase, percent } : before;
}

/** Apart: the percent is as old as its report, and the units are counted when they are read. */
function progressChanges(progress: ProgressView): readonly JobChange[] {
  const { phase, data } = progress;
  const units = currentPhase(progress)?.units ?? progress.units;
  const percent = percentOf(currentShare(progress));
  const overall = percentOf(shareOfJob(progress));
  const counts: JobChange[] = units.total === 0 ? [] : [{ event: "job:units", phase, units }];
  return [{ event: "job:progress", phase, percent, overall, data }, ...counts];
}

function finalChange({ state, result, error, cancelReason }: JobView): JobChange {
  if (state === "failed") return { event: "job:failed", error };
  if (state === "cancelled") return { event: "job:cancelled", reason: cancelReason };
  return { event: "job:completed", state, result };
}
