/** What runs say about themselves: progress, phases, units, locks, log lines and children. */
import type { JobId } from "../../../src/core/job.ts";
import type { JobKey } from "../../../src/store/types/jobs-and-runs.ts";
import {
  LOG_CHARS_MAX,
  LOG_LINES_MAX,
  type Checkpoints,
  type CompletedPhase,
  type JobProgress,
  type LogRecord,
  type NoteAnswer,
  type NoteBody,
  type RunNote,
  type UnitCount,
  type UnitEnd,
  type UnitHolder,
  type UnitMove,
  type UnitRecord,
} from "../../../src/store/types/notes.ts";
import { enqueueChildren } from "./enqueue.ts";
import { releaseSlots } from "./ends.ts";
import {
  atMost,
  copyOf,
  endOf,
  heldRun,
  inOrder,
  jobNamed,
  tell,
  type ModelJob,
  type World,
} from "./world.ts";

const PERCENT_MAX = 100;

/** All of them or, if a part is refused, one half and then the other. */
export function record(world: World, notes: readonly RunNote[]): NoteAnswer[] {
  const before = copyOf(world);
  const answers = notes.map((note) => recordOne(world, note));
  const refused = answers.find((answer) => answer !== "recorded" && answer !== "stale");
  if (refused === undefined) return answers;
  Object.assign(world, before);
  if (notes.length === 1) return [refused];
  const middle = Math.ceil(notes.length / 2);
  return [...record(world, notes.slice(0, middle)), ...record(world, notes.slice(middle))];
}

function recordOne(world: World, note: RunNote): NoteAnswer {
  const run = heldRun(world, note);
  if (run === undefined) return "stale";
  if (isRefused(note)) return "refused";
  keepNote(world, run.job, note);
  return enqueueChildren(world, note.children ?? []) ?? "recorded";
}

/** Whether a note has a value that no store takes. */
export function isRefused({ progress }: NoteBody): boolean {
  return progress !== undefined && progress.percent > PERCENT_MAX;
}

/** Keeps what a note says, but for its children. */
export function keepNote(
  world: World,
  job: ModelJob,
  { clearCheckpoints, progress, units = [], completed, releases = [], logs = [] }: NoteBody,
): void {
  const { notes } = job;
  const n = (endOf(job)?.n ?? 0) + 1;
  const at = world.clock.now();
  if (clearCheckpoints === true) Object.assign(notes, { progress: null, phases: [], units: [] });
  if (progress !== undefined) {
    const { phase, percent, overall, data } = progress;
    notes.progress = { progress, n, at };
    tell(world, "job:progress", job, JSON.stringify({ phase, percent, overall, data }));
  }
  // Of two changes of one unit in a note, the last counts.
  const isSame = (left: UnitMove, right: UnitMove): boolean =>
    left.phase === right.phase && left.unit === right.unit;
  const fresh = units.filter((move) => {
    const { to } = units.findLast((each) => isSame(each, move)) ?? move;
    const known = notes.units.find(({ phase, unit }) => phase === move.phase && unit === move.unit);
    const hasEnded = to.state === "completed" || to.state === "failed";
    return !(hasEnded && known?.n === n && known.state === to.state);
  });
  for (const move of fresh) moveUnit(job, move, { n, at });
  const ended = endedUnits(fresh);
  if (ended.length > 0) tell(world, "job:unit", job, JSON.stringify({ units: ended }));
  if (completed !== undefined && !notes.phases.some(({ name }) => name === completed.name)) {
    notes.phases.push({ ...completed, n, at });
    tell(world, "job:phase:completed", job, JSON.stringify({ phase: completed.name }));
  }
  releaseSlots(world, (slot) => {
    return slot.job === job && releases.includes(slot.name) && slot.name !== keyOf(job);
  });
  const last = notes.logs.at(-1);
  const lastTurn = last?.n === n ? last.turn : 0;
  for (const entry of logs.filter(({ turn }) => turn > lastTurn)) {
    notes.logs.push({ ...entry, line: (notes.logs.at(-1)?.line ?? 0) + 1, n });
  }
  while (isTooLong(notes.logs)) notes.logs.shift();
}

function keyOf({ asked }: ModelJob): string | null {
  return asked.concurrencyKey;
}

/** The units of a note that have ended. Of two changes of one unit the last counts. */
function endedUnits(moves: readonly UnitMove[]): object[] {
  const isSame = (left: UnitMove, right: UnitMove): boolean =>
    left.phase === right.phase && left.unit === right.unit;
  const first = moves.filter(
    (move, index) => moves.findIndex((each) => isSame(each, move)) === index,
  );
  return first.flatMap((move) => {
    const { phase, unit, to } = moves.findLast((each) => isSame(each, move)) ?? move;
    if (to.state === "planned" || to.state === "running") return [];
    const fault = to.state === "failed" ? to.fault : null;
    return [{ phase, unit, state: to.state, fault }];
  });
}

function moveUnit(
  { notes }: ModelJob,
  { phase, unit, to, turn }: UnitMove,
  { n, at }: Pick<UnitRecord, "n" | "at">,
): void {
  const before = notes.units.find((each) => each.phase === phase && each.unit === unit);
  notes.units = notes.units.filter((each) => each.phase !== phase || each.unit !== unit);
  notes.units.push({
    phase,
    unit,
    turn: turn ?? before?.turn ?? 0,
    state: to.state,
    result: to.state === "completed" ? to.result : null,
    fault: to.state === "failed" ? to.fault : null,
    n,
    at,
  });
}

function isTooLong(lines: readonly LogRecord[]): boolean {
  const chars = lines.reduce(
    (sum, { message, fields }) => sum + message.length + (fields?.length ?? 0),
    0,
  );
  return lines.length > 1 && (lines.length > LOG_LINES_MAX || chars > LOG_CHARS_MAX);
}

/** By the order of completion. */
function phasesOf({ notes, ledger }: ModelJob): CompletedPhase[] {
  return notes.phases
    .toSorted((left, right) => {
      return left.at - right.at || left.n - right.n || (left.name < right.name ? -1 : 1);
    })
    .map(({ name, result, n, at }) => {
      const runStartedAt = ledger.find((row) => row.n === n)?.startedAt ?? null;
      return { name, result, n, at, runStartedAt };
    });
}

/** A unit runs only while its run does. */
function unitsOf({ notes, ledger }: ModelJob): UnitRecord[] {
  const name = ({ phase, turn, unit }: UnitRecord): string => JSON.stringify([phase, turn, unit]);
  const hasEnded = ({ n }: UnitRecord): boolean => ledger.some((row) => row.n === n);
  return notes.units
    .map((unit) =>
      unit.state === "running" && hasEnded(unit) ? { ...unit, state: "planned" as const } : unit,
    )
    .toSorted((left, right) => (name(left) < name(right) ? -1 : 1));
}

export function checkpoints({ jobs }: World, key: JobKey): Checkpoints {
  const job = jobs.get(key);
  if (job === undefined) return { phases: [], units: [], failedUnits: {}, tries: null };
  const { phases } = job.notes;
  const isDone = (phase: string): boolean => phases.some(({ name }) => name === phase);
  const units = unitsOf(job).flatMap(({ phase, unit, state, result, fault }) => {
    if (state === "planned" || state === "running" || isDone(phase)) return [];
    const end: UnitEnd =
      fault === null ? { state: "completed", result } : { state: "failed", fault };
    return [{ phase, unit, end }];
  });
  const failed = unitsOf(job).filter(({ phase, state }) => state === "failed" && isDone(phase));
  const counts = Object.entries(Object.groupBy(failed, ({ phase }) => phase));
  const failedUnits = Object.fromEntries(counts.map(([phase, all = []]) => [phase, all.length]));
  const results = phasesOf(job).map(({ name, result }) => ({ name, result }));
  return { phases: results, units, failedUnits, tries: triesOf(job) };
}

/** The charges before the newest run that left something. */
function triesOf({ notes, ledger }: ModelJob): number | null {
  const newest = Math.max(...[...notes.phases, ...notes.units].map(({ n }) => n));
  if (newest === -Infinity) return null;
  return newest === 0 ? -1 : (ledger.find(({ n }) => n === newest - 1)?.tries ?? 0);
}

export function progressOf(world: World, id: JobId): JobProgress | null {
  const job = jobNamed(world, id);
  if (job === undefined) return null;
  const { progress: told } = job.notes;
  const row = job.ledger.find(({ n }) => n === told?.n);
  const times = { startedAt: row?.startedAt ?? null, finishedAt: row?.finishedAt ?? null };
  return {
    progress: told?.progress ?? null,
    at: told?.at ?? null,
    run: told === null ? null : { n: told.n, ...times },
    lastOutcome: endOf(job)?.outcome ?? null,
    phases: phasesOf(job),
    units: unitCounts(job),
  };
}

function unitCounts(job: ModelJob): UnitCount[] {
  const counts = new Map<string, Record<UnitRecord["state"], number>>();
  for (const { phase, state } of unitsOf(job)) {
    const count = counts.get(phase) ?? { planned: 0, running: 0, completed: 0, failed: 0 };
    count[state] += 1;
    counts.set(phase, count);
  }
  return [...counts].map(([phase, count]) => ({ phase, ...count }));
}

export function unitPage(world: World, id: JobId, limit: number): UnitRecord[] {
  const job = jobNamed(world, id);
  return job === undefined ? [] : atMost(unitsOf(job), limit);
}

export function unitHolders({ jobs }: World, unit: string, limit: number): UnitHolder[] {
  const found = [...jobs.values()].flatMap((job) =>
    unitsOf(job)
      .filter((each) => each.unit === unit && each.state === "running")
      .map(({ phase, at }) => ({ job: job.asked.id, phase, unit, at, key: job.key })),
  );
  return atMost(
    inOrder(found, ({ at, key }) => [at, key]).map(({ key: _key, ...holder }) => holder),
    limit,
  );
}

export function logPage(world: World, id: JobId, limit: number): LogRecord[] {
  const lines = (jobNamed(world, id)?.notes.logs ?? []).map(({ turn: _turn, ...line }) => line);
  return limit <= 0 ? [] : lines.slice(-limit);
}
