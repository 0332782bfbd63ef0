/** `millrace doctor --fix`: applies the fixes of findings, as far as a program can. */
import { applyRepair, type Repair, type RepairableStore } from "../../store/doctor/repairs.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

/** A fix may reveal another finding: a job that has left a bad lease is a lost job. */
const PASSES_MAX = 5;

/** An opened installation that can be checked and repaired. */
export interface Installation {
  readonly store: RepairableStore & { close(): Promise<void> };
  check(): Promise<DoctorCheck[]>;
}

/** A finding whose fix was applied. */
export interface AppliedFix extends DoctorCheck {
  readonly fixed: boolean;
  /** Why the fix failed. */
  readonly error?: string;
}

/** Applies fixes until no further finding has one. A fix that failed is tried again. */
export async function applyFixes(installation: Installation): Promise<readonly AppliedFix[]> {
  const { store } = installation;
  const applied = new Map<string, AppliedFix>();
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const checks = await installation.check();
    const repairs = checks.flatMap((finding) => {
      const isFixed = applied.get(nameOf(finding))?.fixed === true;
      return finding.repair === undefined || isFixed ? [] : [{ finding, repair: finding.repair }];
    });
    if (repairs.length === 0) break;
    for (const { finding, repair } of repairs) {
      applied.set(nameOf(finding), await apply(store, finding, repair));
    }
  }
  return [...applied.values()];
}

function nameOf({ name, repair }: DoctorCheck): string {
  return `${name} ${JSON.stringify(repair)}`;
}

async function apply(
  store: RepairableStore,
  finding: DoctorCheck,
  repair: Repair,
): Promise<AppliedFix> {
  try {
    await applyRepair(store, repair);
    return { ...finding, fixed: true };
  } catch (error) {
    return { ...finding, fixed: false, error: String(error) };
  }
}
