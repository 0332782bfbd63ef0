/** Encodes notes as rows, and decodes the rows into records of the port. */
import { MillraceError } from "../../core/errors.ts";
import { listedFault } from "../../core/fault.ts";
import type { JobId, JsonText } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import type { PhaseEnd } from "../../core/phases.ts";
import { logLevelCodec, outcomeCodec, unitCodec } from "./codes.ts";
import { faultOf } from "./decode-jobs.ts";
import {
  LOG_LINES_MAX,
  MOVES_MAX,
  UNITS_MAX,
  type Checkpoints,
  type JobProgress,
  type LogEntry,
  type LogRecord,
  type NoteBody,
  type PhaseResult,
  type RunProgress,
  type UnitCount,
  type UnitEnd,
  type UnitHolder,
  type UnitMove,
  type UnitName,
  type UnitPlace,
  type UnitRecord,
} from "../types/notes.ts";
import type { PhaseDetail, ProgressDetail, UnitsDetail } from "../types/records.ts";

/** A row of the table `unit`. */
export interface UnitRow extends UnitPlace {
  readonly state: number;
  readonly result: JsonText | null;
  readonly error: JsonText | null;
}

/** Unit changes as rows. Of two changes of one unit the last counts; too many are refused. */
export function unitRows(moves: readonly UnitMove[]): readonly UnitRow[] {
  if (moves.length > MOVES_MAX) {
    throw new MillraceError(
      "STORE_REFUSED",
      `a note changes at most ${MOVES_MAX} units, not ${moves.length}`,
    );
  }
  return lastMoves(moves).map(({ phase, unit, turn = 0, to }) => ({
    phase,
    unit,
    turn,
    state: unitCodec.code[to.state],
    result: to.state === "completed" ? to.result : null,
    error: to.state === "failed" ? JSON.stringify(to.fault) : null,
  }));
}

/** The last change of each unit, with the position that an earlier change gave. */
function lastMoves(moves: readonly UnitMove[]): readonly UnitMove[] {
  const last = new Map<string, UnitMove>();
  for (const move of moves) {
    const name = unitName(move);
    last.set(name, { turn: last.get(name)?.turn ?? 0, ...move });
  }
  return [...last.values()];
}

/** The phase and the name of a unit as one text. */
export function unitName({ phase, unit }: Pick<UnitMove, "phase" | "unit">): string {
  return JSON.stringify([phase, unit]);
}

/**
 * The detail about the units of a note that have ended, without those that `known` names: their end
 * was stored before, by a note whose answer was lost. Null: no unit is left.
 */
export function unitsDetail(
  moves: readonly UnitMove[],
  known: ReadonlySet<string>,
): JsonText | null {
  const fresh = lastMoves(moves).filter((move) => !known.has(unitName(move)));
  const detail: UnitsDetail = { units: fresh.flatMap(endedUnit) };
  return detail.units.length === 0 ? null : JSON.stringify(detail);
}

function endedUnit({ phase, unit, to }: UnitMove): UnitsDetail["units"] {
  switch (to.state) {
    case "completed":
      return [{ phase, unit, state: to.state, fault: null }];
    case "failed":
      return [{ phase, unit, state: to.state, fault: listedFault(to.fault) }];
    case "planned":
    case "running":
      return [];
  }
}

/** The error for a unit beyond the maximum of a phase. */
export function tooManyUnits(phase: string): MillraceError {
  const where = phase === "" ? "a job without phases" : `the phase ${phase}`;
  return new MillraceError("STORE_REFUSED", `${where} has at most ${UNITS_MAX} units`);
}

/** The locks of one call without repeats, in the order in which all callers acquire them. */
export function lockNames(names: readonly string[]): readonly string[] {
  if (names.length > MOVES_MAX) {
    throw new MillraceError(
      "STORE_REFUSED",
      `a run acquires or releases at most ${MOVES_MAX} locks at once, not ${names.length}`,
    );
  }
  return [...new Set(names)].toSorted();
}

/** A row of the table `log`. `place` is the number of the line within its note. */
export interface NewLogRow {
  readonly place: number;
  readonly turn: number;
  readonly at: number;
  readonly level: number;
  readonly message: string;
  readonly fields: JsonText | null;
}

/** Lines as rows, without the lines that later lines of the same note would push out. */
export function logRows(lines: readonly LogEntry[]): readonly NewLogRow[] {
  const first = Math.max(0, lines.length - LOG_LINES_MAX);
  return lines.slice(first).map(({ turn, at, level, message, fields }, index) => ({
    place: first + index + 1,
    turn,
    at,
    level: logLevelCodec.code[level],
    message,
    fields,
  }));
}

/** True for a note with nothing but progress and log lines, which a power failure may lose. */
export function isOnlyProgress(note: NoteBody): boolean {
  const { clearCheckpoints, units, completed, releases, children } = note;
  const isEmpty = (list: readonly unknown[] = []): boolean => list.length === 0;
  const changesCheckpoints = clearCheckpoints === true || completed !== undefined;
  return !changesCheckpoints && isEmpty(units) && isEmpty(releases) && isEmpty(children);
}

export function progressDetail({ phase, percent, overall, data }: RunProgress): JsonText {
  const detail: ProgressDetail = { phase, percent, overall, data };
  return JSON.stringify(detail);
}

export function phaseDetail({ name }: PhaseResult): JsonText {
  const detail: PhaseDetail = { phase: name };
  return JSON.stringify(detail);
}

/** The last run that reported progress. If no run has, only the last outcome is set. */
export interface StoredProgress {
  readonly phase: string | null;
  readonly phases: JsonText | null;
  readonly percent: number | null;
  readonly overall: number | null;
  readonly data: JsonText | null;
  readonly at: number | null;
  readonly n: number | null;
  readonly run_started_at: number | null;
  readonly run_finished_at: number | null;
  readonly last_outcome: number | null;
}

/** A row of the table `phase`, with the start of its run. */
export interface StoredPhase extends PhaseResult {
  readonly n: number;
  readonly at: number;
  readonly run_started_at: number | null;
}

export function jobProgress(
  row: StoredProgress,
  phases: readonly StoredPhase[],
  units: readonly UnitCount[],
): JobProgress {
  const { at, n, run_started_at: startedAt, run_finished_at: finishedAt } = row;
  return {
    progress: runProgress(row),
    at,
    run: n === null ? null : { n, startedAt, finishedAt },
    lastOutcome: row.last_outcome === null ? null : outcomeCodec.word(row.last_outcome),
    phases: phases.map((phase) => ({ ...phaseResult(phase), ...phaseEnd(phase) })),
    units,
  };
}

function phaseEnd({ n, at, run_started_at: runStartedAt }: StoredPhase): PhaseEnd {
  return { n, at, runStartedAt };
}

/** A plain object: rows of the driver of SQLite have no prototype. */
function phaseResult({ name, result }: PhaseResult): PhaseResult {
  return { name, result };
}

function runProgress({ phase, phases, percent, overall, data }: StoredProgress) {
  if (phases === null || percent === null || overall === null) return null;
  const names: readonly string[] = JSON.parse(phases);
  return { phase, phases: names, percent, overall, data };
}

export interface StoredUnit extends UnitRow {
  readonly n: number;
  readonly at: number;
}

export function unitRecord(row: StoredUnit): UnitRecord {
  const { phase, unit, turn, state, result, error, n, at } = row;
  return { phase, unit, turn, state: unitCodec.word(state), result, fault: faultOf(error), n, at };
}

/** What is computed over the rows of phases and units. */
export interface StoredCheckpoints {
  /** The number of failed units by phase, as JSON. */
  readonly failed: string | null;
  readonly tries: number | null;
}

export function decodeCheckpoints(
  { failed, tries }: StoredCheckpoints,
  phases: readonly PhaseResult[],
  units: readonly Omit<UnitRow, "turn">[],
): Checkpoints {
  const ended = units.map(({ phase, unit, result, error }) => ({
    phase,
    unit,
    end: unitEnd(result, faultOf(error)),
  }));
  return {
    phases: phases.map(phaseResult),
    units: ended,
    failedUnits: JSON.parse(failed ?? "{}"),
    tries,
  };
}

function unitEnd(result: JsonText | null, fault: Fault | null): UnitEnd {
  return fault === null ? { state: "completed", result } : { state: "failed", fault };
}

export interface StoredLog extends Omit<NewLogRow, "place" | "turn"> {
  readonly line: number;
  readonly n: number;
}

export function logRecord({ line, n, at, level, message, fields }: StoredLog): LogRecord {
  return { line, n, at, level: logLevelCodec.word(level), message, fields };
}

export interface StoredHolder extends UnitName {
  readonly id: JobId;
  readonly at: number;
}

export function unitHolder({ id, phase, unit, at }: StoredHolder): UnitHolder {
  return { job: id, phase, unit, at };
}
