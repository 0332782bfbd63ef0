/**
 * Everything that an open store remembers between calls. Lost claims affect answers; the other
 * fields only save work.
 */
import type { Clock } from "../../../core/clock.ts";
import { WaitingBook } from "../../../core/control/quotas.ts";
import { LowWaterMarks } from "../../shared/claim-cursor.ts";
import type { LostClaim } from "../../shared/lost-claim.ts";
import { FairWalks } from "../../shared/control/fair-walks.ts";
import { OwnEvents } from "../../shared/events/own-events.ts";
import { ScanCursors } from "../../shared/scan-cursors.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { LockRow } from "./queries.gen.ts";

export interface SessionState {
  /** Claims whose commit reported an error, although the commit may have succeeded. */
  readonly lostClaims: Set<LostClaim>;
  /** The last lock that the sweep has checked. */
  lockSweep: LockRow;
  /** The last dependency that the sweep has checked. */
  dependencySweep: { readonly job: JobKey; readonly depends_on: JobKey };
  /** Where the scans for expired jobs continue. */
  readonly expiredCursors: ScanCursors;
  /** Where claims start to scan. */
  readonly claimCursors: LowWaterMarks;
  /** The waiting jobs of tenants with a quota. */
  readonly waiting: WaitingBook;
  /** The `data_version` of the last claim. */
  claimedVersion: number | undefined;
  /** Up to which job each fair lane was looked at. */
  readonly fairWalks: FairWalks;
  /** Events of this process, for readers of the feed. */
  readonly ownEvents: OwnEvents;
}

/** Sort before all rows: sweeps start here. */
export const FIRST_LOCK: LockRow = { tenant: 0, name: "" };
export const FIRST_DEPENDENCY: SessionState["dependencySweep"] = { job: 0, depends_on: 0 };

/** `wakeIn` is to wake the workers of this process after so many milliseconds. */
export function newState(
  clock: Pick<Clock, "monotonic">,
  wakeIn: (ms: number) => void,
): SessionState {
  return {
    lostClaims: new Set(),
    lockSweep: FIRST_LOCK,
    dependencySweep: FIRST_DEPENDENCY,
    expiredCursors: new ScanCursors(),
    claimCursors: new LowWaterMarks(() => clock.monotonic(), wakeIn),
    waiting: new WaitingBook(),
    claimedVersion: undefined,
    fairWalks: new FairWalks(),
    ownEvents: new OwnEvents(),
  };
}
