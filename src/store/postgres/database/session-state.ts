/**
 * Everything that an open store remembers between its calls. No answer depends on any of it but the
 * lost claims: the rest saves work.
 */
import type { DutyCycle } from "../../../lib/duty-cycle.ts";
import type { ScanCursors } from "../../shared/scan-cursors.ts";
import type { SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import type { NoteAnswer, RunNote } from "../../types/notes.ts";
import type { Batcher } from "../batching/batcher.ts";
import type { Enqueuer } from "../jobs/enqueue.ts";
import type { LowWaterMarks } from "../runs/claim-cursor.ts";
import type { LostClaims } from "../runs/lost-claims.ts";

export interface SessionState {
  /** Overlapping calls of one verb share a statement. */
  readonly enqueuer: Enqueuer;
  readonly settlements: Batcher<SettleItem, SettleAnswer>;
  readonly notes: Batcher<RunNote, NoteAnswer>;
  /** Where claims start to scan. Null before the first claim: only a worker needs wake-ups. */
  claimCursors: LowWaterMarks | null;
  /** Claims whose answer was lost. */
  readonly lostClaims: LostClaims;
  /** The next dependency that a sweep looks at. */
  readonly dependencySweep: { job: number; depends_on: number };
  /** How often dead locks are looked for. */
  readonly lockSweep: DutyCycle;
  /** Where the searches for expired jobs go on, and how often they start from the beginning. */
  readonly expired: { readonly cursors: ScanCursors; readonly rescan: DutyCycle };
  /** The instant up to which expired idempotency keys are gone, and how often to look before it. */
  readonly idempotency: { reached: number; readonly rescan: DutyCycle };
  /** The database that the store is in, once `{ tx }` has asked for its name. */
  home: string | null;
}
