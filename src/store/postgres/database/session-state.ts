/**
 * Everything that an open store keeps between calls. Only the lost claims affect answers; the rest
 * saves work.
 */
import type { DutyCycle } from "../../../lib/duty-cycle.ts";
import type { ScanCursors } from "../../shared/scan-cursors.ts";
import type { SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import type { NoteAnswer, RunNote } from "../../types/notes.ts";
import type { Batcher } from "../batching/batcher.ts";
import type { Enqueuer } from "../jobs/enqueue.ts";
import type { LowWaterMarks } from "../../shared/claim-cursor.ts";
import type { LostClaims } from "../runs/lost-claims.ts";

export interface SessionState {
  /** Overlapping calls of one verb share a statement. */
  readonly enqueuer: Enqueuer;
  readonly settlements: Batcher<SettleItem, SettleAnswer>;
  readonly notes: Batcher<RunNote, NoteAnswer>;
  /** Where claims start scanning. Null before the first claim: only a worker needs wake-ups. */
  claimCursors: LowWaterMarks | null;
  /** Claims whose answer was lost. */
  readonly lostClaims: LostClaims;
  /** Where the next sweep of dependencies starts. */
  readonly dependencySweep: { job: number; depends_on: number };
  /** Limits looks for claimable jobs, which dead rows make slow. */
  readonly readyLook: DutyCycle;
  /** Limits sweeps for the locks of ended runs. */
  readonly lockSweep: DutyCycle;
  /** Where searches for expired jobs resume, and the limit of rescans from the beginning. */
  readonly expired: { readonly cursors: ScanCursors; readonly rescan: DutyCycle };
  /** The instant up to which expired idempotency keys are deleted, and the limit of rescans. */
  readonly idempotency: { reached: number; readonly rescan: DutyCycle };
  /** The identity of the store's database. Null before the first call with `{ tx }`. */
  home: string | null;
}
