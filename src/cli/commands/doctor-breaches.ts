/** Invariants that do not hold, as `millrace doctor` tells of them. */
import {
  BREAKERS_MAX,
  INVARIANTS,
  type Breach,
  type Breaker,
  type Cure,
  type TableName,
} from "../../store/doctor/invariants.ts";
import type { Check } from "../file-findings.ts";

/** Jobs that are named; the others are counted. */
const NAMED_MAX = 5;

/** A finding about jobs, with what a program may want to read of it. */
export interface BreachCheck extends Check {
  readonly invariant: string;
  readonly count: number;
  /** The first ids; of what has no job, the first keys. */
  readonly jobs: readonly string[];
}

/** How the statements of a cure are written for the database at hand. */
export interface CureForm {
  readonly table: TableName;
  /** Says where to run a statement. */
  readonly run: (sql: string) => string;
}

export function breachChecks(
  breaches: readonly Breach[],
  isDeep: boolean,
  form: CureForm,
): readonly Check[] {
  if (breaches.length > 0) return breaches.map((breach) => checkOf(breach, form));
  const looked = INVARIANTS.filter((invariant) => isDeep || !invariant.isDeep).length;
  const rest = isDeep ? "" : `; ${INVARIANTS.length - looked} more with --deep, which takes longer`;
  return [{ name: "invariants", found: `${looked} hold${rest}`, fix: null }];
}

function checkOf({ invariant, breakers }: Breach, form: CureForm): BreachCheck {
  const { name, number, means, cure } = invariant;
  const jobs = breakers.slice(0, NAMED_MAX).map(nameOf);
  const found =
    breakers.length === 0 ? means : `${amountOf(breakers)}: ${means} (${listOf(jobs, breakers)})`;
  const fix = fixOf(cure, breakers, form);
  return { name, found, fix, invariant: number, count: breakers.length, jobs };
}

function nameOf({ id, key }: Breaker): string {
  return id ?? `key ${key}`;
}

function amountOf({ length }: readonly Breaker[]): string {
  if (length === 1) return "1 job";
  return `${length}${length === BREAKERS_MAX ? " or more" : ""} jobs`;
}

function listOf(jobs: readonly string[], breakers: readonly Breaker[]): string {
  return `${jobs.join(", ")}${breakers.length > jobs.length ? ", …" : ""}`;
}

function fixOf(cure: Cure, breakers: readonly Breaker[], { table, run }: CureForm): string {
  switch (cure.kind) {
    case "sql":
      return run(cure.of(table));
    case "command":
      return breakers
        .slice(0, NAMED_MAX)
        .map((breaker) => cure.of(nameOf(breaker)))
        .join("; ");
    case "words":
      return cure.text;
  }
}
