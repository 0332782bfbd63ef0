/** Checks of the notes of runs: phases, units, progress and logs. */
import type { ExpectedEvent } from "./feed-events.ts";
import type { Report, Step } from "./invariants.ts";
import { PHASES, isPipeline, restarts } from "../fleet/pipelines.ts";
import type { AttemptRow, HeldRow, JobRow, PhaseRow, UnitRow } from "./rows.ts";
import { finalState, type Snapshot } from "./snapshot.ts";

const PROGRESS = 8;
const PHASE_COMPLETED = 9;
const UNIT = 11;
const PLANNED_UNIT = 0;
const RUNNING_UNIT = 1;
const COMPLETED_UNIT = 2;
const FAILED_UNIT = 3;
const WITH_ERRORS = 5;
const LOG_LINES_MAX = 1_000;
const LOG_CHARS_MAX = 65_536;

/** A job whose notes were touched, before and after. */
interface Noted {
  readonly step: Step;
  readonly job: JobRow;
  /** The open run, which may add notes. */
  readonly run: HeldRow | null;
  readonly report: Report;
}

/** Answers the events that the feed must have. */
export function checkNotes(step: Step, report: Report): readonly ExpectedEvent[] {
  const expected: ExpectedEvent[] = [];
  for (const key of step.changed) {
    const job = step.after.jobs.get(key);
    if (job === undefined) continue;
    const run = step.before.held.get(key)?.find(({ start }) => start !== null) ?? null;
    const noted = { step, job, run, report };
    expected.push(...checkPhases(noted));
    checkUnits(noted);
    if (hasEndedUnits(noted)) expected.push([UNIT, key]);
    checkLog(noted);
    if (step.progressed.has(key) && checkProgress(noted)) expected.push([PROGRESS, key]);
  }
  return expected;
}

/**
 * A result that is stored stays, unless an attempt clears the checkpoints; only the open run adds
 * one.
 */
function checkPhases(noted: Noted): readonly ExpectedEvent[] {
  const { step, job, report } = noted;
  const [old, now] = [step.before.phases.get(job.key) ?? [], step.after.phases.get(job.key) ?? []];
  if (old === now) return [];
  const isKept = (row: PhaseRow): boolean => now.some((each) => isSamePhase(each, row));
  for (const row of old) if (!isKept(row)) checkCleared(noted, `phase ${row.name}`, row.n);
  const fresh = now.filter((row) => !old.some((each) => isSamePhase(each, row)));
  for (const { name, n } of fresh) {
    checkSpeaker(noted, `phase ${name}`, n);
    const undone = undoneUnit(step.after, job.key, n, name);
    if (undone !== undefined) {
      report("I25", `phase ${name} of job ${job.key} has ended without unit ${undone.unit}`);
    }
    const first = PHASES.slice(
      0,
      PHASES.findIndex((phase) => phase === name),
    );
    if (!first.every((phase) => now.some((row) => row.name === phase))) {
      report("I25", `phase ${name} of job ${job.key} has ended before those in front of it`);
    }
  }
  return fresh.filter(({ n }) => n > 0).map(() => [PHASE_COMPLETED, job.key] as const);
}

/** A unit that a run has planned or begun, and not ended. */
function undoneUnit(
  { units }: Snapshot,
  key: number,
  n: number,
  phase?: string,
): UnitRow | undefined {
  return units.get(key)?.find((unit) => {
    const isOpen = unit.state === PLANNED_UNIT || unit.state === RUNNING_UNIT;
    return isOpen && unit.n === n && (phase === undefined || unit.phase === phase);
  });
}

function isSamePhase(left: PhaseRow, right: PhaseRow): boolean {
  return left.name === right.name && left.n === right.n && left.result === right.result;
}

/** A unit that has completed stays so with its result, unless an attempt clears the checkpoints. */
function checkUnits(noted: Noted): void {
  const { step, job, report } = noted;
  const [old, now] = [step.before.units.get(job.key) ?? [], step.after.units.get(job.key) ?? []];
  if (old === now) return;
  for (const was of old) {
    const is = now.find((row) => isSameUnit(row, was));
    const isKept = is?.state === was.state && is.n === was.n && is.result === was.result;
    if (isKept) continue;
    const what = `unit ${was.phase}/${was.unit}`;
    if (is === undefined || was.state === COMPLETED_UNIT) checkCleared(noted, what, was.n);
    else if (was.state === FAILED_UNIT && is.n <= was.n) {
      report("I25", `${what} of job ${job.key} was moved after it had failed`);
    }
  }
  for (const is of now) {
    const was = old.find((row) => isSameUnit(row, is));
    if (was?.state === is.state && was.n === is.n && was.result === is.result) continue;
    checkSpeaker(noted, `unit ${is.phase}/${is.unit}`, is.n);
    const isTakenOver = is.n === 0;
    if (isTakenOver && is.state !== COMPLETED_UNIT) {
      report("I25", `unit ${is.unit} of job ${job.key} was taken over, and has not completed`);
    }
  }
}

/** Whether a note has ended units. A note that is repeated tells of them again. */
function hasEndedUnits({ step, job }: Noted): boolean {
  const [old, now] = [step.before.units.get(job.key) ?? [], step.after.units.get(job.key) ?? []];
  return now.some((is) => {
    const was = old.find((row) => isSameUnit(row, is));
    const isWritten = was?.state !== is.state || was.n !== is.n || was.at !== is.at;
    return is.n > 0 && isWritten && (is.state === COMPLETED_UNIT || is.state === FAILED_UNIT);
  });
}

function isSameUnit(left: UnitRow, right: UnitRow): boolean {
  return left.phase === right.phase && left.unit === right.unit;
}

/** Only the open run of a job adds notes; what a successor takes over has run number 0. */
function checkSpeaker({ step, job, run, report }: Noted, what: string, n: number): void {
  if (n === 0) {
    const isNew = !step.before.jobs.has(job.key) && job.retry_of !== "";
    if (!isNew) report("I25", `${what} of job ${job.key} was taken over from no job`);
    return;
  }
  if (run?.n !== n) report("I4", `${what} of job ${job.key} was told by run ${n}, which is over`);
}

/** Only a new attempt of a job that restarts clears checkpoints, and only older ones. */
function checkCleared({ step, job, run, report }: Noted, what: string, n: number): void {
  const { before, after } = step;
  const isOfType = restarts(after.names.get(job.type) ?? "");
  const isEarlier =
    run !== null && triesBefore(before, job.key, n) < triesBefore(before, job.key, run.n);
  if (!isOfType || !isEarlier) report("I25", `${what} of job ${job.key} was forgotten`);
}

/** Attempts that had been charged before a run; -1 for what was taken over. */
export function triesBefore({ attempts }: Snapshot, key: number, n: number): number {
  if (n === 0) return -1;
  return attempts.get(key)?.find((row) => row.n === n - 1)?.tries ?? 0;
}

/** Answers whether the feed must have a progress event. */
function checkProgress(noted: Noted): boolean {
  const { step, job, run, report } = noted;
  const [was, is] = [step.before.runs.get(job.key), step.after.runs.get(job.key)];
  if (is === undefined) {
    if (was !== undefined && step.after.jobs.has(job.key)) checkCleared(noted, "progress", 0);
    return false;
  }
  if (run?.n !== is.n) report("I4", `progress of job ${job.key} was told by run ${is.n}`);
  const phases: readonly string[] = JSON.parse(is.phases);
  const index = is.phase === null ? 0 : phases.indexOf(is.phase);
  const overall = (index * 100 + is.percent) / Math.max(1, phases.length);
  if (Math.abs(overall - is.overall) > 1) {
    report("I25", `job ${job.key} is at ${is.overall} %, not ${overall} %`);
  }
  const isBack = was?.n === is.n && phases.indexOf(was.phase ?? "") > index;
  if (isBack) report("I25", `job ${job.key} went back to phase ${is.phase}`);
  return true;
}

/** The newest lines within the bounds are kept; only the open run adds lines. */
function checkLog({ step, job, run, report }: Noted): void {
  const [was, is] = [step.before.logs.get(job.key), step.after.logs.get(job.key)];
  if (was === is) return;
  if (is === undefined || (was !== undefined && is.last < was.last)) {
    report("I26", `the log of job ${job.key} has lost its last lines`);
    return;
  }
  const { lines, first, last, chars, different, n } = is;
  const isWithin = lines <= LOG_LINES_MAX && (chars <= LOG_CHARS_MAX || lines === 1);
  if (!isWithin) report("I26", `the log of job ${job.key} has ${lines} lines, ${chars} characters`);
  if (lines !== last - first + 1) report("I26", `the log of job ${job.key} has a gap`);
  if (different < lines) report("I26", `the log of job ${job.key} has a line twice`);
  if (last > (was?.last ?? 0) && run?.n !== n) {
    report("I4", `a line of job ${job.key} was told by run ${n}, which is over`);
  }
}

/** The result of a success agrees with the notes of its run. */
export function checkSuccess(now: Snapshot, job: JobRow, row: AttemptRow, report: Report): void {
  const { key } = job;
  const units = now.units.get(key) ?? [];
  const failed = units.filter(({ state }) => state === FAILED_UNIT);
  const undone = undoneUnit(now, key, row.n);
  if (undone !== undefined) report("I25", `job ${key} has ended well without unit ${undone.unit}`);
  if (!isPipeline(now.names.get(job.type) ?? "")) {
    const isOwn = row.result === JSON.stringify(`done ${row.fence}`);
    if (!isOwn) report("I17", `job ${key} has another result than its handler gave`);
    const isWrong =
      row.state === WITH_ERRORS ? failed.length === 0 : failed.some(({ n }) => n === row.n);
    if (isWrong)
      report("I25", `job ${key} ended as ${row.state} with ${failed.length} failed units`);
    return;
  }
  const phases = now.phases.get(key) ?? [];
  const missing = PHASES.find((name) => !phases.some((phase) => phase.name === name));
  if (missing !== undefined) report("I25", `job ${key} has ended well without phase ${missing}`);
  const last = phases.find(({ name }) => name === PHASES.at(-1));
  if (last?.result !== row.result) report("I17", `job ${key} has not the result of its last phase`);
  if ((row.state === WITH_ERRORS) !== failed.length > 0) {
    report("I25", `job ${key} ended as ${row.state} with ${failed.length} failed units`);
  }
}

/**
 * A successor with the same payload takes over the checkpoints of the job that it repeats: phases
 * up to the first with failed units, and units of all phases.
 */
export function checkTakenOver(step: Step, job: JobRow, report: Report): void {
  const { before, after, wanted: asked } = step;
  const source = before.jobs.get(before.keys.get(job.retry_of ?? "") ?? 0);
  const phases = after.phases.get(job.key) ?? [];
  const units = after.units.get(job.key) ?? [];
  const isIgnoring = asked.get(job.id)?.ignoreCheckpoints === true;
  if (isIgnoring || source === undefined || source.payload !== job.payload) {
    if (phases.length + units.length > 0) report("I25", `job ${job.key} took over what is not its`);
    return;
  }
  if (finalState(before, source.key) === null || !before.runs.has(source.key)) return;
  const old = before.units.get(source.key) ?? [];
  const firstFailed = PHASES.findIndex((name) => {
    return old.some(({ phase, state }) => phase === name && state === FAILED_UNIT);
  });
  const end = firstFailed === -1 ? PHASES.length : firstFailed;
  const keeps = new Set<string>(PHASES.slice(0, end));
  const wanted = [
    ...(before.phases.get(source.key) ?? []).filter(({ name }) => keeps.has(name)),
    ...old.filter(({ state }) => state === COMPLETED_UNIT),
  ];
  const [left, right] = [textOf(wanted), textOf([...phases, ...units])];
  if (left !== right) report("I25", `job ${job.key} took over [${right}], not [${left}]`);
}

function textOf(rows: readonly (PhaseRow | UnitRow)[]): string {
  const names = rows.map((row) => {
    const name = "unit" in row ? `${row.phase}/${row.unit}` : row.name;
    return `${name}=${row.result}`;
  });
  return names.toSorted().join(" ");
}
