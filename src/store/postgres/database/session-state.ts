/**
 * Everything that an open store keeps between calls. Only the lost claims affect answers; the rest
 * saves work.
 */
import { DutyCycle } from "../../../lib/duty-cycle.ts";
import { systemClock } from "../../../lib/system.ts";
import { FairWalks } from "../../shared/control/fair-walks.ts";
import { OwnEvents } from "../../shared/events/own-events.ts";
import { ScanCursors } from "../../shared/scan-cursors.ts";
import type { SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import type { NoteAnswer, RunNote } from "../../types/notes.ts";
import type { Batcher } from "../batching/batcher.ts";
import { Enqueuer } from "../jobs/enqueue.ts";
import { QuotaBook } from "../jobs/quota-book.ts";
import type { LowWaterMarks } from "../../shared/claim-cursor.ts";
import { LostClaims } from "../runs/lost-claims.ts";
import { noteBatcher } from "../runs/record.ts";
import { settlementBatcher } from "../runs/settle.ts";
import type { Session } from "./session.ts";

/** A look for claimable jobs that takes longer is limited to 5 % of the time. */
const LOOK_MS_MAX = 20;
/** The same for a sweep of all locks. */
const LOCK_SWEEP_MS_MAX = 20;
/** The same for a rescan of expired rows. */
const RESCAN_MS_MAX = 250;

export interface SessionState {
  /** Overlapping calls of one verb share a statement. */
  readonly enqueuer: Enqueuer;
  /** What the process knows about quotas. */
  readonly quotas: QuotaBook;
  readonly settlements: Batcher<SettleItem, SettleAnswer>;
  readonly notes: Batcher<RunNote, NoteAnswer>;
  /** Where claims start scanning. Null before the first claim: only a worker needs wake-ups. */
  claimCursors: LowWaterMarks | null;
  /** Claims whose answer was lost. */
  readonly lostClaims: LostClaims;
  /** The limits of which the last claim could take no job. */
  fullLimits: readonly number[];
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
  /** Whether row level security can limit reads to a tenant. Null: not answered yet. */
  hasTenantReads: boolean | null;
  /** The identity of the store's database. Null before the first call with `{ tx }`. */
  home: string | null;
  /** Up to which job each fair lane was looked at. */
  readonly fairWalks: FairWalks;
  /** Events of this process, for readers of the feed. */
  readonly ownEvents: OwnEvents;
}

export function newState(session: Session): SessionState {
  return {
    enqueuer: new Enqueuer(session),
    quotas: new QuotaBook(session),
    settlements: settlementBatcher(session),
    notes: noteBatcher(session),
    claimCursors: null,
    lostClaims: new LostClaims(() => systemClock.monotonic()),
    fullLimits: [],
    dependencySweep: { job: 0, depends_on: 0 },
    readyLook: new DutyCycle(LOOK_MS_MAX),
    lockSweep: new DutyCycle(LOCK_SWEEP_MS_MAX),
    expired: { cursors: new ScanCursors(), rescan: new DutyCycle(RESCAN_MS_MAX) },
    idempotency: { reached: 0, rescan: new DutyCycle(RESCAN_MS_MAX) },
    hasTenantReads: null,
    home: null,
    fairWalks: new FairWalks(),
    ownEvents: new OwnEvents(),
  };
}
