/** `millrace doctor --fix`: applies the fixes of findings, as far as a program can. */
import { applyRepair, type Repair, type RepairableStore } from "../../store/doctor/repairs.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

/** A pass fixes at most 20 jobs of each kind. A fix may reveal another finding. */
const PASSES_MAX = 1_000;
/** Passes in a row in which every fix fails. */
const FAILED_PASSES_MAX = 5;

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

export interface AppliedFixes {
  readonly fixes: readonly AppliedFix[];
  /** The maximum of passes was reached: another call may fix more. */
  readonly isCutShort: boolean;
}

/** Applies fixes until no further finding has one. A fix that failed is tried again. */
export async function applyFixes(
  installation: Installation,
  passesMax: number = PASSES_MAX,
): Promise<AppliedFixes> {
  const applied = new Map<string, AppliedFix>();
  let failedPasses = 0;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const repairs = nextRepairs(await installation.check(), applied);
    if (repairs.length === 0) return { fixes: [...applied.values()], isCutShort: false };
    let hasFixed = false;
    for (const { finding, repair } of repairs) {
      const fix = await apply(installation.store, finding, repair);
      applied.set(nameOf(finding), fix);
      hasFixed ||= fix.fixed;
    }
    failedPasses = hasFixed ? 0 : failedPasses + 1;
    if (failedPasses === FAILED_PASSES_MAX) break;
  }
  return { fixes: [...applied.values()], isCutShort: failedPasses < FAILED_PASSES_MAX };
}

/**
 * The repairs of one pass. A check finds only some of the misplaced jobs, but the fix of an
 * invariant changes the rows of all jobs, and judges them by their places: places are fixed first.
 */
function nextRepairs(
  checks: readonly DoctorCheck[],
  applied: ReadonlyMap<string, AppliedFix>,
): readonly { readonly finding: DoctorCheck; readonly repair: Repair }[] {
  const repairs = checks.flatMap((finding) => {
    const isFixed = applied.get(nameOf(finding))?.fixed === true;
    return finding.repair === undefined || isFixed ? [] : [{ finding, repair: finding.repair }];
  });
  const ofPlaces = repairs.filter(({ finding }) => !("invariant" in finding));
  return ofPlaces.length > 0 ? ofPlaces : repairs;
}

/** The same finding after its fix is not fixed again; a finding of other jobs is another one. */
function nameOf({ name, found, repair }: DoctorCheck): string {
  return `${name} ${found} ${JSON.stringify(repair)}`;
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
