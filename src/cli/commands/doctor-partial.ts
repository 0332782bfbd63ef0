/** The checks of `millrace doctor` that have examined a part of their rows. */
import type { CutShort } from "../../store/doctor/bounds.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

/** Not a finding, but no proof either. */
export interface PartialCheck extends DoctorCheck {
  readonly cutShort: true;
  readonly table: string;
  /** The number of rows that were examined; of the table job, of keys. */
  readonly examined: number;
  readonly checks: readonly string[];
  /** The command that examines all rows. */
  readonly full: string;
}

export function partialChecks(cutShort: readonly CutShort[]): PartialCheck[] {
  return cutShort.map(({ table, examined, checks }) => ({
    name: "cut short",
    found:
      `${table} has more than ${examined} rows, and ${examined} were examined for: ` +
      checks.join(", "),
    fix: null,
    cutShort: true,
    table,
    examined,
    checks,
    full: "millrace doctor --deep examines all rows, and takes longer.",
  }));
}
