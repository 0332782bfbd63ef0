/** Writes the notes of open runs, from `record` or together with a settlement. */
import {
  tooManyUnits,
  lockNames,
  phaseDetail,
  progressDetail,
  unitName,
  unitRows,
  unitsDetail,
} from "../../shared/decode-notes.ts";
import { UNITS_MAX, type NoteBody } from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { appendLogs } from "../inspect/logs.ts";
import type { StoreTransaction } from "../database/session.ts";

/** Estimated bytes of a note without its texts, and of each unit, lock and log line. */
const NOTE_BYTES = 200;
const ROW_BYTES = 150;

/** Units by job. */
type KnownUnits = ReadonlyMap<JobKey, ReadonlySet<string>>;
const NO_UNITS: ReadonlySet<string> = new Set();

/** A note of an open run whose lease is locked. */
type OpenNote = Omit<NoteBody, "children"> & { readonly key: JobKey; readonly n: number };

export function notesBytes(note: NoteBody): number {
  const { progress, units = [], completed, releases = [], logs = [], children = [] } = note;
  const moves = units.reduce((sum, { to }) => {
    const result = to.state === "completed" ? (to.result?.length ?? 0) : 0;
    const stack = to.state === "failed" ? (to.fault.stack?.length ?? 0) : 0;
    return sum + ROW_BYTES + result + stack;
  }, 0);
  const payloads = children.reduce((sum, { payload }) => {
    return sum + NOTE_BYTES + (payload?.length ?? 0);
  }, 0);
  const lines = logs.reduce((sum, { message, fields }) => {
    return sum + ROW_BYTES + message.length + (fields?.length ?? 0);
  }, 0);
  const results = (progress?.data?.length ?? 0) + (completed?.result?.length ?? 0);
  return NOTE_BYTES + moves + payloads + lines + releases.length * ROW_BYTES + results;
}

/** Writes notes; those of one run in order. `relaxed`: the commit need not wait for the disk. */
export async function writeNotes(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
  { relaxed }: { readonly relaxed: boolean },
): Promise<void> {
  for (const round of roundsOf(notes)) {
    await deleteNotes(transaction, round);
    await putProgress(transaction, round, relaxed);
    const known = await moveUnits(transaction, round);
    await releaseLocks(transaction, round);
    await appendLogs(transaction, round, relaxed);
    const fresh = await completePhases(transaction, round);
    for (const note of round) addEvents(transaction, note, { fresh, known });
  }
}

/**
 * Splits notes into as few rounds as possible. No two notes of a round write the same row, so that
 * each note is accepted or refused for its own content.
 */
function roundsOf(notes: readonly OpenNote[]): readonly (readonly OpenNote[])[] {
  const rounds: OpenNote[][] = [];
  const written = new Map<JobKey, { readonly round: number; readonly subjects: Set<string> }>();
  for (const note of notes) {
    const subjects = subjectsOf(note);
    const last = written.get(note.key) ?? { round: 0, subjects: new Set() };
    const conflicts =
      note.clearCheckpoints === true || subjects.some((subject) => last.subjects.has(subject));
    const next =
      conflicts && written.has(note.key)
        ? { round: last.round + 1, subjects: new Set<string>() }
        : last;
    for (const subject of subjects) next.subjects.add(subject);
    written.set(note.key, next);
    const notesOfRound = rounds[next.round];
    if (notesOfRound === undefined) rounds[next.round] = [note];
    else notesOfRound.push(note);
  }
  return rounds;
}

/** The rows that a note writes, within its job. */
function subjectsOf({ progress, units = [], completed, logs = [] }: OpenNote): string[] {
  const subjects = units.map(({ phase, unit }) => `unit ${JSON.stringify([phase, unit])}`);
  if (progress !== undefined) subjects.push("progress");
  if (logs.length > 0) subjects.push("log");
  if (completed !== undefined) subjects.push(`phase ${completed.name}`);
  return subjects;
}

async function deleteNotes(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
): Promise<void> {
  const runs = notes
    .filter(({ clearCheckpoints }) => clearCheckpoints === true)
    .map(({ key, n }) => ({ key, n }));
  if (runs.length > 0) await transaction.run("forget_notes", { runs: JSON.stringify(runs) });
}

async function putProgress(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
  relaxed: boolean,
): Promise<void> {
  const rows = notes.flatMap(({ key, n, progress }) =>
    progress === undefined ? [] : [{ ...progress, key, n }],
  );
  if (rows.length === 0) return;
  await transaction.run("put_progress", { told: JSON.stringify(rows), relaxed });
}

/** Returns the units whose end was stored before, by job. */
async function moveUnits(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
): Promise<KnownUnits> {
  const moves = notes.flatMap(({ key, n, units = [] }) =>
    unitRows(units).map((row) => ({ key, n, ...row })),
  );
  const known = new Map<JobKey, Set<string>>();
  if (moves.length === 0) return known;
  const grown: { readonly key: JobKey; readonly phase: string }[] = [];
  for (const { key, phase, unit } of await transaction.all("put_units", {
    moves: JSON.stringify(moves),
  })) {
    if (unit === null) grown.push({ key, phase });
    else known.set(key, (known.get(key) ?? new Set()).add(unitName({ phase, unit })));
  }
  await insistOnRoom(transaction, grown);
  return known;
}

async function insistOnRoom(
  transaction: StoreTransaction,
  grown: readonly { readonly key: JobKey; readonly phase: string }[],
): Promise<void> {
  if (grown.length === 0) return;
  const phases = JSON.stringify(grown);
  const [crowded] = await transaction.all("crowded_phases", { phases, max: UNITS_MAX });
  if (crowded !== undefined) throw tooManyUnits(crowded.phase);
}

/** Releases locks of units. */
async function releaseLocks(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
): Promise<void> {
  const released = notes.flatMap(({ key, n, releases = [] }) =>
    lockNames(releases).map((name) => ({ key, n, name })),
  );
  if (released.length === 0) return;
  const row = await transaction.get("release_locks", { names: JSON.stringify(released) });
  if ((row?.count ?? 0) > 0) transaction.outbox.wakeForReturned();
}

/** Answers the phases that were not completed before, as keys. */
async function completePhases(
  transaction: StoreTransaction,
  notes: readonly OpenNote[],
): Promise<ReadonlySet<string>> {
  const phases = notes.flatMap(({ key, n, completed }) =>
    completed === undefined ? [] : [{ ...completed, key, n }],
  );
  if (phases.length === 0) return new Set();
  const rows = await transaction.all("insert_phases", { phases: JSON.stringify(phases) });
  return new Set(rows.map(({ key, name }) => phaseKey(key, name)));
}

function phaseKey(key: JobKey, name: string): string {
  return `${key} ${name}`;
}

function addEvents(
  { outbox }: StoreTransaction,
  note: OpenNote,
  { fresh, known }: { readonly fresh: ReadonlySet<string>; readonly known: KnownUnits },
): void {
  const { key, progress, units = [], completed } = note;
  if (progress !== undefined) {
    outbox.add({ kind: "job:progress", jobs: [key], details: [progressDetail(progress)] });
  }
  const ended = unitsDetail(units, known.get(key) ?? NO_UNITS);
  if (ended !== null) outbox.add({ kind: "job:unit", jobs: [key], details: [ended] });
  if (completed === undefined || !fresh.has(phaseKey(key, completed.name))) return;
  outbox.add({ kind: "job:phase:completed", jobs: [key], details: [phaseDetail(completed)] });
}
