/** The broken invariants in the output of `millrace doctor`. */
import {
  OFFENDING_JOBS_MAX,
  INVARIANTS,
  type BrokenInvariant,
  type OffendingJob,
  type Fix,
  type QualifyTable,
} from "../../store/doctor/invariants.ts";
import { repairOf } from "../../store/doctor/repairs.ts";
import type { UnfinishedCheck } from "../../store/doctor/unfinished.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

/** The number of jobs that a finding lists; the others are counted. */
const NAMED_MAX = 5;

/** A finding about jobs, with data for programs. */
export interface InvariantCheck extends DoctorCheck {
  readonly invariant: string;
  readonly count: number;
  /** The first ids, or the first keys of rows without a job. */
  readonly jobs: readonly string[];
}

/** How the SQL of a fix is written for the database. */
export interface FixForm {
  readonly table: QualifyTable;
  /** The instruction to run a statement. */
  readonly run: (sql: string) => string;
}

export function invariantChecks(
  brokenInvariants: readonly BrokenInvariant[],
  isDeep: boolean,
  form: FixForm,
  unfinished: readonly UnfinishedCheck[] = [],
): readonly DoctorCheck[] {
  if (brokenInvariants.length > 0) return brokenInvariants.map((broken) => checkOf(broken, form));
  const checked = INVARIANTS.filter((invariant) => isDeep || !invariant.isDeep);
  const cut = new Set(unfinished.map(({ check }) => check));
  const holding = checked.filter(({ name }) => !cut.has(name)).length;
  const rest = isDeep
    ? ""
    : `; ${INVARIANTS.length - checked.length} more with --deep, which takes longer`;
  return [{ name: "invariants", found: `${holding} hold${rest}`, fix: null }];
}

function checkOf({ invariant, offenders }: BrokenInvariant, form: FixForm): InvariantCheck {
  const { name, number, means, what = "job" } = invariant;
  const named = offenders.slice(0, NAMED_MAX);
  const jobs = named.filter((offender) => offender.name === undefined).map(nameOf);
  const found =
    offenders.length === 0
      ? means
      : `${amountOf(offenders, what)}: ${means} (${listOf(named.map(nameOf), offenders)})`;
  const fix = fixOf(invariant.fix, offenders, form);
  const repair = repairOf(invariant.fix, offenders, form.table);
  const check = { name, found, fix, invariant: number, count: offenders.length, jobs };
  return repair === null ? check : { ...check, repair };
}

function nameOf({ name, id, key }: OffendingJob): string {
  return name ?? id ?? `key ${key}`;
}

function amountOf({ length }: readonly OffendingJob[], what: string): string {
  if (length === 1) return `1 ${what}`;
  return `${length}${length === OFFENDING_JOBS_MAX ? " or more" : ""} ${what}s`;
}

function listOf(names: readonly string[], offenders: readonly OffendingJob[]): string {
  return `${names.join(", ")}${offenders.length > names.length ? ", …" : ""}`;
}

function fixOf(fix: Fix, offenders: readonly OffendingJob[], { table, run }: FixForm): string {
  switch (fix.kind) {
    case "sql":
      return run(fix.of(table));
    case "command":
      return offenders
        .slice(0, NAMED_MAX)
        .map((job) => fix.of(nameOf(job)))
        .join("; ");
    case "leases":
      return "millrace doctor --fix";
    case "words":
      return fix.text;
  }
}
