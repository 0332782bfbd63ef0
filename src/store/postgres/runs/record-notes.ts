/** How notes about open runs are kept, whether they come by themselves or with an end. */
import {
  crowdedError,
  lockNames,
  phaseDetail,
  progressDetail,
  unitRows,
} from "../../shared/decode-notes.ts";
import { UNITS_MAX, type NoteBody } from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { appendLogs } from "../inspect/logs.ts";
import type { SessionTransaction } from "../database/session.ts";

/** What a note weighs besides its texts, and each of its moves. */
const NOTE_BYTES = 200;
const MOVE_BYTES = 150;

/** A note about a run that is open and whose lease is locked. */
type OpenNote = Omit<NoteBody, "children"> & { readonly key: JobKey; readonly n: number };

export function notesBytes(note: NoteBody): number {
  const { progress, units = [], completed, releases = [], logs = [], children = [] } = note;
  const moves = units.reduce((sum, { to }) => {
    const result = to.state === "completed" ? (to.result?.length ?? 0) : 0;
    const stack = to.state === "failed" ? (to.fault.stack?.length ?? 0) : 0;
    return sum + MOVE_BYTES + result + stack;
  }, 0);
  const payloads = children.reduce((sum, { payload }) => {
    return sum + NOTE_BYTES + (payload?.length ?? 0);
  }, 0);
  const lines = logs.reduce((sum, { message, fields }) => {
    return sum + MOVE_BYTES + message.length + (fields?.length ?? 0);
  }, 0);
  const results = (progress?.data?.length ?? 0) + (completed?.result?.length ?? 0);
  return NOTE_BYTES + moves + payloads + lines + releases.length * MOVE_BYTES + results;
}

/**
 * Keeps notes, those about one run in their order. `relaxed`: the commit need not wait for the
 * disk.
 */
export async function keepNotes(
  transaction: SessionTransaction,
  notes: readonly OpenNote[],
  { relaxed }: { readonly relaxed: boolean },
): Promise<void> {
  for (const wave of wavesOf(notes)) {
    await forget(transaction, wave);
    await putProgress(transaction, wave, relaxed);
    await moveUnits(transaction, wave);
    await releaseLocks(transaction, wave);
    await appendLogs(transaction, wave, relaxed);
    const fresh = await completePhases(transaction, wave);
    for (const note of wave) tell(transaction, note, fresh);
  }
}

/**
 * Notes in as few waves as go together: what two of one wave say never meets, so that each is
 * taken, or refused, for what it says itself.
 */
function wavesOf(notes: readonly OpenNote[]): readonly (readonly OpenNote[])[] {
  const waves: OpenNote[][] = [];
  const steps = new Map<JobKey, { readonly turn: number; readonly said: Set<string> }>();
  for (const note of notes) {
    const subjects = subjectsOf(note);
    const last = steps.get(note.key) ?? { turn: 0, said: new Set() };
    const meets = note.afresh === true || subjects.some((subject) => last.said.has(subject));
    const next =
      meets && steps.has(note.key) ? { turn: last.turn + 1, said: new Set<string>() } : last;
    for (const subject of subjects) next.said.add(subject);
    steps.set(note.key, next);
    const wave = waves[next.turn];
    if (wave === undefined) waves[next.turn] = [note];
    else wave.push(note);
  }
  return waves;
}

/** What a note speaks of. */
function subjectsOf({ progress, units = [], completed, logs = [] }: OpenNote): string[] {
  const subjects = units.map(({ phase, unit }) => `unit ${JSON.stringify([phase, unit])}`);
  if (progress !== undefined) subjects.push("progress");
  if (logs.length > 0) subjects.push("log");
  if (completed !== undefined) subjects.push(`phase ${completed.name}`);
  return subjects;
}

async function forget(transaction: SessionTransaction, notes: readonly OpenNote[]): Promise<void> {
  const runs = notes.filter(({ afresh }) => afresh === true).map(({ key, n }) => ({ key, n }));
  if (runs.length > 0) await transaction.run("forget_notes", { runs: JSON.stringify(runs) });
}

async function putProgress(
  transaction: SessionTransaction,
  notes: readonly OpenNote[],
  relaxed: boolean,
): Promise<void> {
  const told = notes.flatMap(({ key, n, progress }) =>
    progress === undefined ? [] : [{ ...progress, key, n }],
  );
  if (told.length === 0) return;
  await transaction.run("put_progress", { told: JSON.stringify(told), relaxed });
}

async function moveUnits(
  transaction: SessionTransaction,
  notes: readonly OpenNote[],
): Promise<void> {
  const moves = notes.flatMap(({ key, n, units = [] }) =>
    unitRows(units).map((row) => ({ key, n, ...row })),
  );
  if (moves.length === 0) return;
  const grown = await transaction.all("put_units", { moves: JSON.stringify(moves) });
  if (grown.length === 0) return;
  const phases = JSON.stringify(grown);
  const [crowded] = await transaction.all("crowded_phases", { phases, max: UNITS_MAX });
  if (crowded !== undefined) throw crowdedError(crowded.phase);
}

/** Runs give up exclusive names of their units. */
async function releaseLocks(
  transaction: SessionTransaction,
  notes: readonly OpenNote[],
): Promise<void> {
  const given = notes.flatMap(({ key, n, releases = [] }) =>
    lockNames(releases).map((name) => ({ key, n, name })),
  );
  if (given.length === 0) return;
  const row = await transaction.get("release_locks", { names: JSON.stringify(given) });
  if ((row?.count ?? 0) > 0) transaction.outbox.wake();
}

/** Answers the marks of those that are new. */
async function completePhases(
  transaction: SessionTransaction,
  notes: readonly OpenNote[],
): Promise<ReadonlySet<string>> {
  const phases = notes.flatMap(({ key, n, completed }) =>
    completed === undefined ? [] : [{ ...completed, key, n }],
  );
  if (phases.length === 0) return new Set();
  const rows = await transaction.all("insert_phases", { phases: JSON.stringify(phases) });
  return new Set(rows.map(({ key, name }) => markOf(key, name)));
}

function markOf(key: JobKey, name: string): string {
  return `${key} ${name}`;
}

function tell({ outbox }: SessionTransaction, note: OpenNote, fresh: ReadonlySet<string>): void {
  const { key, progress, completed } = note;
  if (progress !== undefined) {
    outbox.tell({ kind: "job:progress", jobs: [key], details: [progressDetail(progress)] });
  }
  if (completed === undefined || !fresh.has(markOf(key, completed.name))) return;
  outbox.tell({ kind: "job:phase:completed", jobs: [key], details: [phaseDetail(completed)] });
}
