/**
 * The checkpoints of a job as one run knows them: the stored results of phases and units of earlier
 * runs, and those of this run.
 */
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass, JsonText } from "../../core/job.ts";
import { shown } from "../../core/text.ts";
import {
  UNITS_MAX,
  type Checkpoints,
  type PhaseResult,
  type UnitEnd,
} from "../../store/types/notes.ts";

export class RunCheckpoints {
  readonly #phases = new Map<string, PhaseResult>();
  /** Units by phase, without those of completed phases. Null: the unit has not ended. */
  readonly #units = new Map<string, Map<string, UnitEnd | null>>();
  /** Unit names by phase that this run has used. A name stands for one unit. */
  readonly #used = new Map<string, Set<string>>();
  /** Failed units of completed phases. */
  #failedUnits = new Map<string, number>();

  /** Adds the checkpoints of earlier runs. */
  load({ phases, units, failedUnits }: Checkpoints): void {
    for (const phase of phases) this.#phases.set(phase.name, phase);
    for (const { phase, unit, end } of units) this.#unitsOf(phase).set(unit, brief(end));
    this.#failedUnits = new Map(Object.entries(failedUnits));
  }

  /** The phase of this name, if it is completed. */
  phase(name: string): PhaseResult | undefined {
    return this.#phases.get(name);
  }

  /** The stored result of a completed unit. */
  completed(phase: string, unit: string): { readonly result: JsonText | null } | undefined {
    const end = this.#units.get(phase)?.get(unit);
    return end?.state === "completed" ? end : undefined;
  }

  /** The end of a unit; null: the unit has not ended. */
  endOf(phase: string, unit: string): UnitEnd | null {
    return this.#units.get(phase)?.get(unit) ?? null;
  }

  /**
   * Reserves the names of units, and returns the position of the first. Throws if this run has used
   * a name before: the second unit would get the result of the first.
   */
  reserve(phase: string, units: readonly string[]): number {
    const used = this.#used.get(phase) ?? new Set();
    const turn = used.size + 1;
    const twice = units.find((unit) => used.has(unit));
    if (twice !== undefined) throw duplicate(twice, "was used before in this phase or run");
    for (const unit of units) used.add(unit);
    this.#used.set(phase, used);
    return turn;
  }

  /** Adds units that this run will run. Throws if the phase gets too many. */
  begin(phase: string, units: readonly string[]): void {
    const known = this.#unitsOf(phase);
    const more = units.filter((unit) => !known.has(unit)).length;
    if (known.size + more > UNITS_MAX) throw tooManyUnits();
    for (const unit of units) known.set(unit, null);
  }

  end(phase: string, unit: string, end: UnitEnd): void {
    this.#unitsOf(phase).set(unit, brief(end));
  }

  /** A phase is completed. Of its units, only the number of failed ones is kept. */
  complete(phase: PhaseResult): void {
    this.#failedUnits.set(phase.name, this.#failedIn(phase.name));
    this.#units.delete(phase.name);
    this.#used.delete(phase.name);
    this.#phases.set(phase.name, phase);
  }

  /** Failed units: of completed phases all, of other phases those that this run has used. */
  failedUnits(phases: readonly string[]): number {
    let count = 0;
    for (const phase of phases) count += this.#failedUnits.get(phase) ?? this.#failedIn(phase);
    return count;
  }

  #failedIn(phase: string): number {
    let count = 0;
    for (const unit of this.#used.get(phase) ?? []) {
      if (this.endOf(phase, unit)?.state === "failed") count += 1;
    }
    return count;
  }

  #unitsOf(phase: string): Map<string, UnitEnd | null> {
    const known = this.#units.get(phase);
    if (known !== undefined) return known;
    const units = new Map<string, UnitEnd | null>();
    this.#units.set(phase, units);
    return units;
  }
}

/** A retry would fail the same way. */
class UnitsRefused extends MillraceError {
  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}

export function duplicate(unit: string, problem: string): MillraceError {
  return new UnitsRefused("UNIT_DUPLICATE", `the unit ${shown(unit)} ${problem}`, {
    details: { unit },
  });
}

export function tooManyUnits(): MillraceError {
  const message = `a phase has at most ${UNITS_MAX} units; use child jobs for more`;
  return new UnitsRefused("UNITS_TOO_MANY", message, { details: { max: UNITS_MAX } });
}

/** Without the stack, to save memory. The store has the stack. */
function brief(end: UnitEnd): UnitEnd {
  if (end.state === "completed") return end;
  const { stack: _, ...fault } = end.fault;
  return { state: "failed", fault };
}
