/** record: stores notes of runs, fenced by the lease like settlements. */
import {
  tooManyUnits,
  phaseDetail,
  progressDetail,
  unitName,
  unitRows,
  unitsDetail,
} from "../../shared/decode-notes.ts";
import {
  UNITS_MAX,
  type NoteAnswer,
  type NoteBody,
  type PhaseResult,
  type RunNote,
  type RunProgress,
  type UnitMove,
} from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { findLease, findRun, type OpenLease } from "./lease-proof.ts";
import { appendLog } from "../inspect/logs.ts";
import { bisect } from "../batching/fallback.ts";
import type { Session } from "../database/session.ts";
import { releaseLocks } from "./locks.ts";

/** Stores notes in their order. A note that the database refuses affects no other note. */
export function record(session: Session, notes: readonly RunNote[]): readonly NoteAnswer[] {
  const work = (part: readonly RunNote[]): NoteAnswer[] => recordAll(session, part);
  return bisect(session, notes, work, (_, error) => refusalBy(error));
}

function recordAll(session: Session, notes: readonly RunNote[]): NoteAnswer[] {
  const leases = new Map<string, OpenLease | null>();
  return notes.map((note) => {
    const run = findRun(findLease(session, leases, note.lease), note);
    if (run === null) return "stale";
    keepNote(session, run, note);
    enqueueChildren(session, note.children ?? []);
    return "recorded";
  });
}

interface RunRef {
  readonly key: JobKey;
  readonly n: number;
}

/** Stores a note about an open run, without its children. */
export function keepNote(session: Session, run: RunRef, note: Omit<NoteBody, "children">): void {
  const { clearCheckpoints, progress, units, completed, releases, logs } = note;
  if (clearCheckpoints === true) deleteCheckpoints(session, run);
  if (progress !== undefined) putProgress(session, run, progress);
  if (units !== undefined) {
    const known = moveUnits(session, run, units);
    tellUnits(session, run, units, known);
  }
  if (completed !== undefined) completePhase(session, run, completed);
  if (releases !== undefined) releaseLocks(session, run, releases);
  if (logs !== undefined) appendLog(session, run, logs);
}

function deleteCheckpoints({ sql }: Session, { key }: RunRef): void {
  sql.run("forget_run", { key });
  sql.run("forget_phases", { key });
  sql.run("forget_units", { key });
}

function putProgress(session: Session, run: RunRef, progress: RunProgress): void {
  const { sql, clock, outbox, state } = session;
  const { key, n } = run;
  const { phase, percent, overall, data } = progress;
  const phases = JSON.stringify(progress.phases);
  sql.run("put_progress", { key, n, phase, phases, percent, overall, data, at: clock.now() });
  outbox.add({ kind: "job:progress", jobs: [key], details: [progressDetail(progress)] });
  state.ownEvents.forget(key);
}

/** Returns the units whose end was stored before. */
function moveUnits(
  { sql, clock }: Session,
  { key, n }: RunRef,
  moves: readonly UnitMove[],
): ReadonlySet<string> {
  const at = clock.now();
  const grown = new Set<string>();
  const known = new Set<string>();
  for (const unit of unitRows(moves)) {
    const row = { key, n, at, ...unit };
    if (sql.run("move_unit", row).changes > 0) continue;
    if (sql.run("insert_unit", row).changes > 0) grown.add(unit.phase);
    else known.add(unitName(unit));
  }
  for (const phase of grown) {
    const { count = 0 } = sql.get("count_units", { key, phase, max: UNITS_MAX + 1 }) ?? {};
    if (count > UNITS_MAX) throw tooManyUnits(phase);
  }
  return known;
}

/** One event for all units that have ended with this note. */
function tellUnits(
  { outbox }: Session,
  { key }: RunRef,
  moves: readonly UnitMove[],
  known: ReadonlySet<string>,
): void {
  const detail = unitsDetail(moves, known);
  if (detail !== null) outbox.add({ kind: "job:unit", jobs: [key], details: [detail] });
}

function completePhase({ sql, clock, outbox }: Session, run: RunRef, phase: PhaseResult): void {
  const { key, n } = run;
  const { name, result } = phase;
  const { changes } = sql.run("insert_phase", { key, n, name, result, at: clock.now() });
  if (changes === 0) return;
  outbox.add({ kind: "job:phase:completed", jobs: [key], details: [phaseDetail(phase)] });
}
