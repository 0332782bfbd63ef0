/**
 * Everything that an open store remembers between its calls. No answer depends on any of it but the
 * lost claims: the rest saves work.
 */
import type { LostClaim } from "../../shared/lost-claim.ts";
import { ScanCursors } from "../../shared/scan-cursors.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { LockRow } from "./queries.gen.ts";

export interface SessionState {
  /** Claims whose commit was answered with an error, and may have been made all the same. */
  readonly lostClaims: Set<LostClaim>;
  /** The last lock that a sweep has looked at. */
  lockSweep: LockRow;
  /** The last dependency that a sweep has looked at. */
  dependencySweep: { readonly job: JobKey; readonly depends_on: JobKey };
  /** Where the searches for expired jobs go on. */
  readonly expiredCursors: ScanCursors;
}

/** Sweeps start before everything. */
export const FIRST_LOCK: LockRow = { tenant: 0, name: "" };
export const FIRST_DEPENDENCY: SessionState["dependencySweep"] = { job: 0, depends_on: 0 };

export function newState(): SessionState {
  return {
    lostClaims: new Set(),
    lockSweep: FIRST_LOCK,
    dependencySweep: FIRST_DEPENDENCY,
    expiredCursors: new ScanCursors(),
  };
}
