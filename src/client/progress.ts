/** `mill.jobs.progress`, `units` and `holders`: the progress of a job and its units. */
import { MillraceError } from "../core/errors.ts";
import type { JobId } from "../core/job.ts";
import { phaseStates, phaseTimes } from "../core/phases.ts";
import { decode } from "../core/payload.ts";
import { shownPercent } from "../core/progress.ts";
import type {
  PhaseView,
  ProgressView,
  UnitCounts,
  UnitFilter,
  UnitHolderView,
  UnitView,
} from "../api/progress.ts";
import type {
  CompletedPhase,
  JobProgress,
  UnitCount,
  UnitPlace,
  UnitRecord,
  UnitRecordFilter,
} from "../store/types/notes.ts";
import type { JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { unitFilter } from "./filters.ts";
import { aText, insistOn } from "../jobs/check-text.ts";
import { dateOf } from "../jobs/views.ts";

const HOLDERS_MAX = 100;
const KEY_LENGTH_MAX = 500;
const aUnit = aText(KEY_LENGTH_MAX);

/** `names` are the phases of the definition, as far as this process knows it. */
export async function progressOf(
  store: JobStore,
  job: JobRecord,
  names: readonly string[],
): Promise<ProgressView> {
  const found = (await store.progress(job.id)) ?? NOTHING;
  const { progress, at, units } = found;
  return {
    state: job.state,
    percent: shownPercent(job.state, progress?.overall ?? null),
    phase: progress?.phase ?? null,
    phasePercent: shownPercent(job.state, progress?.percent ?? null),
    data: decode(progress?.data ?? null) ?? null,
    at: dateOf(at),
    phases: phaseViews(job, found, names),
    units: sumOf(units),
  };
}

/** For a job that was removed since it was read. */
const NOTHING: JobProgress = {
  progress: null,
  at: null,
  run: null,
  lastOutcome: null,
  phases: [],
  units: [],
};

/** The number of failed units of a job. */
export async function failedUnitsOf(store: JobStore, id: JobId): Promise<number> {
  const { units } = (await store.progress(id)) ?? NOTHING;
  return units.reduce((total, { failed }) => total + failed, 0);
}

/**
 * A page of units, phase by phase. `names` are the phases of the definition, as far as this process
 * knows it. The cursor of a page is the place of its last unit.
 */
export async function listUnits(
  store: JobStore,
  job: JobRecord,
  names: readonly string[],
  given: UnitFilter,
): Promise<{ units: readonly UnitView[]; next: string | null }> {
  const { filter, after, limit } = unitFilter(given);
  const place = after === undefined ? null : unitAt(after);
  const found: UnitRecord[] = [];
  if (place !== null && (filter.phase ?? place.phase) === place.phase) {
    const { phase } = place;
    found.push(...(await store.units(job.id, { ...filter, phase }, { after: place, limit })));
  }
  // The phases are known only when all units have been counted, so they are asked for last.
  if (found.length < limit) {
    for (const phase of await phasesAfter(place, store, job, names, filter)) {
      const page = { limit: limit - found.length };
      found.push(...(await store.units(job.id, { ...filter, phase }, page)));
      if (found.length >= limit) break;
    }
  }
  const last = found.length >= limit ? found.at(-1) : undefined;
  return { units: found.map(unitView), next: last === undefined ? null : cursorOf(last) };
}

/**
 * The phases after a place whose units a page may have, in the order in which they run. Phases that
 * the job no longer has come last.
 */
async function phasesAfter(
  place: UnitPlace | null,
  store: JobStore,
  job: JobRecord,
  names: readonly string[],
  { phase: wanted, state }: UnitRecordFilter,
): Promise<readonly string[]> {
  if (wanted !== undefined) return place?.phase === wanted ? [] : [wanted];
  const { progress, units } = (await store.progress(job.id)) ?? NOTHING;
  const order = comparePhases(progress?.phases ?? names);
  return units
    .filter((count) => state === undefined || count[state] > 0)
    .map(({ phase }) => phase)
    .filter((phase) => place === null || order(phase, place.phase) > 0)
    .toSorted(order);
}

function comparePhases(names: readonly string[]): (left: string, right: string) => number {
  const places = new Map(names.map((name, index) => [name, index]));
  const placeOf = (phase: string): number => places.get(phase) ?? names.length;
  return (left, right) =>
    placeOf(left) - placeOf(right) || Number(left > right) - Number(left < right);
}

export async function holdersOf(store: JobStore, unit: string): Promise<readonly UnitHolderView[]> {
  insistOn("jobs.holders", aUnit, unit, "the unit");
  const holders = await store.unitHolders(unit, HOLDERS_MAX);
  return holders.map(({ job, phase, at }) => ({
    id: job,
    phase: nameOf(phase),
    at: new Date(at),
  }));
}

function phaseViews(
  job: JobRecord,
  found: JobProgress,
  names: readonly string[],
): readonly PhaseView[] {
  const { progress, run, lastOutcome, phases, units } = found;
  const completed = new Map(phases.map((phase) => [phase.name, phase]));
  const current = progress?.phase ?? null;
  const states = phaseStates({
    names: progress?.phases ?? names,
    completed: new Set(completed.keys()),
    current,
    state: job.state,
    lastOutcome,
  });
  const times = phaseTimes(states, {
    completed: withStart(completed, job),
    run: runOf(run, job),
    current,
  });
  const percent = shownPercent(job.state, progress?.percent ?? null);
  return states.map(({ name, state }, index) => ({
    name,
    state,
    percent: state === "completed" ? 100 : name === current ? percent : 0,
    result: decode(completed.get(name)?.result ?? null) ?? null,
    startedAt: dateOf(times[index]?.startedAt ?? null),
    finishedAt: dateOf(times[index]?.finishedAt ?? null),
    units: sumOf(units.filter(({ phase }) => phase === name)),
  }));
}

/** The ledger knows when ended runs have started, and the job when its present run has. */
function withStart(
  phases: ReadonlyMap<string, CompletedPhase>,
  { startedAt }: JobRecord,
): ReadonlyMap<string, CompletedPhase> {
  const entries = [...phases].map(([name, phase]): [string, CompletedPhase] => [
    name,
    { ...phase, runStartedAt: phase.runStartedAt ?? startedAt },
  ]);
  return new Map(entries);
}

function runOf(run: JobProgress["run"], { startedAt }: JobRecord): JobProgress["run"] {
  return run === null ? null : { ...run, startedAt: run.startedAt ?? startedAt };
}

function sumOf(counts: readonly UnitCount[]): UnitCounts {
  const sum = { total: 0, planned: 0, running: 0, completed: 0, failed: 0 };
  for (const { planned, running, completed, failed } of counts) {
    sum.total += planned + running + completed + failed;
    sum.planned += planned;
    sum.running += running;
    sum.completed += completed;
    sum.failed += failed;
  }
  return sum;
}

function unitView({ unit, phase, state, result, fault, at }: UnitRecord): UnitView {
  return {
    key: unit,
    phase: nameOf(phase),
    state,
    result: decode(result) ?? null,
    error: fault,
    at: new Date(at),
  };
}

function nameOf(phase: string): string | null {
  return phase === "" ? null : phase;
}

function cursorOf({ phase, turn, unit }: UnitPlace): string {
  return Buffer.from(JSON.stringify([phase, turn, unit])).toString("base64url");
}

/** The last unit of the page before. */
function unitAt(cursor: string): UnitPlace {
  const place = placeIn(cursor);
  const [phase, turn, unit] = Array.isArray(place) ? place : [];
  const isPlace = typeof phase === "string" && Number.isInteger(turn) && typeof unit === "string";
  if (isPlace) return { phase, turn, unit };
  throw new MillraceError(
    "OPTION_INVALID",
    "jobs.units: after must be the next of an earlier page",
    {
      details: { option: "after" },
    },
  );
}

function placeIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return null;
  }
}
