/**
 * What one run knows of its job's phases and units: what earlier runs have left, and what it has
 * added itself.
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
  /** By phase, those of phases that have not ended. Null: under way. */
  readonly #units = new Map<string, Map<string, UnitEnd | null>>();
  /** By phase, the names that this run has used: each stands for one piece of its work. */
  readonly #used = new Map<string, Set<string>>();
  /** Units that failed in phases that have ended. */
  #failedUnits = new Map<string, number>();

  /** Takes over what earlier runs have left. */
  take({ phases, units, failedUnits }: Checkpoints): void {
    for (const phase of phases) this.#phases.set(phase.name, phase);
    for (const { phase, unit, end } of units) this.#unitsOf(phase).set(unit, brief(end));
    this.#failedUnits = new Map(Object.entries(failedUnits));
  }

  /** The phase of this name, if it has ended well. */
  phase(name: string): PhaseResult | undefined {
    return this.#phases.get(name);
  }

  /** The stored result of a unit that has ended well. */
  completed(phase: string, unit: string): { readonly result: JsonText | null } | undefined {
    const end = this.#units.get(phase)?.get(unit);
    return end?.state === "completed" ? end : undefined;
  }

  /** How a unit has ended; null: it has not. */
  endOf(phase: string, unit: string): UnitEnd | null {
    return this.#units.get(phase)?.get(unit) ?? null;
  }

  /**
   * Names are taken for units of this run. One that it has taken before is refused: it would be
   * given the other's result.
   */
  use(phase: string, units: readonly string[]): void {
    const used = this.#used.get(phase) ?? new Set();
    const twice = units.find((unit) => used.has(unit));
    if (twice !== undefined) throw duplicate(twice, "has been used before in this phase or run");
    for (const unit of units) used.add(unit);
    this.#used.set(phase, used);
  }

  /** Units begin. Refuses more than a phase may have. */
  begin(phase: string, units: readonly string[]): void {
    const known = this.#unitsOf(phase);
    const more = units.filter((unit) => !known.has(unit)).length;
    if (known.size + more > UNITS_MAX) throw tooManyUnits();
    for (const unit of units) known.set(unit, null);
  }

  end(phase: string, unit: string, end: UnitEnd): void {
    this.#unitsOf(phase).set(unit, brief(end));
  }

  /** A phase has ended well. Of its units only the number of those that failed still counts. */
  complete(phase: PhaseResult): void {
    this.#failedUnits.set(phase.name, this.#failedIn(phase.name));
    this.#units.delete(phase.name);
    this.#used.delete(phase.name);
    this.#phases.set(phase.name, phase);
  }

  /** Of phases that have ended all that failed, of others those that this run has looked at. */
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

/** Trying again would end the same way. */
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
  const message = `a phase has at most ${UNITS_MAX} units; let children do the rest`;
  return new UnitsRefused("UNITS_TOO_MANY", message, { details: { max: UNITS_MAX } });
}

/** Without its stack, which is in the store: a hundred thousand of them would not fit here. */
function brief(end: UnitEnd): UnitEnd {
  if (end.state === "completed") return end;
  const { stack: _, ...fault } = end.fault;
  return { state: "failed", fault };
}
