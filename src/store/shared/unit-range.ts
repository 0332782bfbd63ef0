/** The range of units that a page reads, in the order of phase, position and name. */
import type { UnitPlace, UnitRecordFilter } from "../types/notes.ts";

/** Sorts after every phase, because a name has at most 200 characters. */
const LAST_PHASE = "\u{10ffff}".repeat(201);

export interface UnitRange {
  readonly after_phase: string;
  readonly after_turn: number;
  readonly after_unit: string;
  readonly last_phase: string;
}

/** A page of one phase begins at this phase, so that units of phases before it are not read. */
export function unitRange({ phase }: UnitRecordFilter, after: UnitPlace | undefined): UnitRange {
  const last_phase = phase ?? LAST_PHASE;
  // No unit has an empty name: the place sorts before all units of the phase.
  const start = { phase: phase ?? "", turn: 0, unit: "" };
  const from = after === undefined || isBefore(after.phase, start.phase) ? start : after;
  return { after_phase: from.phase, after_turn: from.turn, after_unit: from.unit, last_phase };
}

/** In the order of the databases, which compare bytes. */
function isBefore(one: string, other: string): boolean {
  return Buffer.from(one).compare(Buffer.from(other)) < 0;
}
