/** Notes as fast-check makes and shrinks them, and what becomes of them. */
import * as fc from "fast-check";
import type { LogEntry, NoteBody, UnitMove } from "../../src/store/types/notes.ts";
import { fault } from "../support/factories.ts";

const PHASES = ["fetch", "build", "publish"] as const;
export const UNITS = ["a", "b", "ü"] as const;
const RESULTS = [null, '{"sum": 12.50}', '"ü"'] as const;

export interface NoteWish {
  readonly clear: boolean;
  /** The number of the phase in progress, and how far it is. */
  readonly progress: { readonly phase: number | null; readonly percent: number } | null;
  readonly units: readonly UnitWish[];
  readonly completed: { readonly phase: number; readonly result: number } | null;
  readonly releases: readonly string[];
  readonly lines: number;
  /** The number of the first line within its run, from 0: sometimes that of an earlier note. */
  readonly firstLine: number;
}

interface UnitWish {
  readonly phase: number;
  readonly unit: number;
  /** The position in the phase; 0: none is given. */
  readonly turn: number;
  readonly to: "planned" | "running" | "completed" | "failed";
  readonly result: number;
}

const phase = fc.nat({ max: PHASES.length - 1 });
const result = fc.nat({ max: RESULTS.length - 1 });

/** Values that every store takes. */
export function noteWish(names: readonly string[]): fc.Arbitrary<NoteWish> {
  return fc.record({
    clear: fc.constantFrom(...Array<boolean>(9).fill(false), true),
    progress: fc.option(
      fc.record({ phase: fc.option(phase, { freq: 5 }), percent: fc.constantFrom(0, 12.5, 100) }),
    ),
    units: fc.array(
      fc.record({
        phase,
        unit: fc.nat({ max: UNITS.length - 1 }),
        turn: fc.nat({ max: 3 }),
        to: fc.constantFrom("planned", "running", "completed", "completed", "failed"),
        result,
      }),
      { maxLength: 3 },
    ),
    completed: fc.option(fc.record({ phase, result }), { freq: 2 }),
    releases: fc.subarray([...names]),
    lines: fc.constantFrom(0, 0, 1, 3),
    firstLine: fc.nat({ max: 5 }),
  });
}

/** Now and then one with a value that no store takes. */
export function badNoteWish(names: readonly string[]): fc.Arbitrary<NoteWish> {
  const bad = noteWish(names).map((wish) => ({ ...wish, progress: { phase: 0, percent: 101 } }));
  return fc.oneof({ weight: 12, arbitrary: noteWish(names) }, { weight: 1, arbitrary: bad });
}

/** The body of a note, without children. `at`: the clock of the worker. */
export function bodyOf(
  { clear, progress, units, completed, releases, lines, firstLine }: NoteWish,
  at: number,
): Omit<NoteBody, "children"> {
  return {
    ...(clear && { clearCheckpoints: true }),
    ...(progress !== null && { progress: progressOf(progress) }),
    ...(units.length > 0 && { units: units.map(moveOf) }),
    ...(completed !== null && {
      completed: { name: nameOf(completed.phase), result: RESULTS[completed.result] ?? null },
    }),
    ...(releases.length > 0 && { releases }),
    ...(lines > 0 && {
      logs: Array.from({ length: lines }, (_, index) => lineOf(firstLine + index, at)),
    }),
  };
}

function nameOf(index: number): string {
  return PHASES[index] ?? PHASES[0];
}

function progressOf({ phase: index, percent }: NonNullable<NoteWish["progress"]>) {
  const name = index === null ? null : nameOf(index);
  const phases = name === null ? [] : [...PHASES];
  return { phase: name, phases, percent, overall: percent / 2, data: '{"done": 1.0}' };
}

function moveOf({ phase: index, unit, turn, to, result: made }: UnitWish): UnitMove {
  const place = turn === 0 ? {} : { turn };
  const name = { phase: nameOf(index), unit: UNITS[unit] ?? UNITS[0], ...place };
  if (to === "planned" || to === "running") return { ...name, to: { state: to } };
  if (to === "failed") return { ...name, to: { state: to, fault: fault() } };
  return { ...name, to: { state: to, result: RESULTS[made] ?? null } };
}

function lineOf(index: number, at: number): LogEntry {
  const level = index === 0 ? "info" : "warn";
  return { turn: index + 1, at, level, message: `line ${index} ü`, fields: null };
}
