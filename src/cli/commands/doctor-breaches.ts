/** Invariants that do not hold, as `millrace doctor` tells of them. */
import {
  OFFENDING_JOBS_MAX,
  INVARIANTS,
  type BrokenInvariant,
  type OffendingJob,
  type Fix,
  type QualifyTable,
} from "../../store/doctor/invariants.ts";
import type { Check } from "../file-findings.ts";

/** Jobs that are named; the others are counted. */
const NAMED_MAX = 5;

/** A finding about jobs, with what a program may want to read of it. */
export interface InvariantCheck extends Check {
  readonly invariant: string;
  readonly count: number;
  /** The first ids; of what has no job, the first keys. */
  readonly jobs: readonly string[];
}

/** How the statements of a fix are written for the database at hand. */
export interface FixForm {
  readonly table: QualifyTable;
  /** Says where to run a statement. */
  readonly run: (sql: string) => string;
}

export function invariantChecks(
  brokenInvariants: readonly BrokenInvariant[],
  isDeep: boolean,
  form: FixForm,
): readonly Check[] {
  if (brokenInvariants.length > 0)
    return brokenInvariants.map((brokenInvariant) => checkOf(brokenInvariant, form));
  const looked = INVARIANTS.filter((invariant) => isDeep || !invariant.isDeep).length;
  const rest = isDeep ? "" : `; ${INVARIANTS.length - looked} more with --deep, which takes longer`;
  return [{ name: "invariants", found: `${looked} hold${rest}`, fix: null }];
}

function checkOf({ invariant, offenders }: BrokenInvariant, form: FixForm): InvariantCheck {
  const { name, number, means } = invariant;
  const jobs = offenders.slice(0, NAMED_MAX).map(nameOf);
  const found =
    offenders.length === 0
      ? means
      : `${amountOf(offenders)}: ${means} (${listOf(jobs, offenders)})`;
  const fix = fixOf(invariant.fix, offenders, form);
  return { name, found, fix, invariant: number, count: offenders.length, jobs };
}

function nameOf({ id, key }: OffendingJob): string {
  return id ?? `key ${key}`;
}

function amountOf({ length }: readonly OffendingJob[]): string {
  if (length === 1) return "1 job";
  return `${length}${length === OFFENDING_JOBS_MAX ? " or more" : ""} jobs`;
}

function listOf(jobs: readonly string[], offenders: readonly OffendingJob[]): string {
  return `${jobs.join(", ")}${offenders.length > jobs.length ? ", …" : ""}`;
}

function fixOf(fix: Fix, offenders: readonly OffendingJob[], { table, run }: FixForm): string {
  switch (fix.kind) {
    case "sql":
      return run(fix.of(table));
    case "command":
      return offenders
        .slice(0, NAMED_MAX)
        .map((breaker) => fix.of(nameOf(breaker)))
        .join("; ");
    case "words":
      return fix.text;
  }
}
