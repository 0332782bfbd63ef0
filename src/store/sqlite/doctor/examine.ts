/**
 * examine: finds states that no verb creates. A file that was edited by hand, restored in parts or
 * damaged by its disk may hold jobs that never run, or that run twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import {
  EXAMINE_BOUNDS,
  extentOf,
  NO_BOUNDS,
  type CutShort,
  type ExamineBounds,
  type Extent,
} from "../../doctor/bounds.ts";
import type { BrokenInvariant } from "../../doctor/invariants.ts";
import type { JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import { brokenInvariants, miscounts } from "./invariants.ts";
import type { Session } from "../database/session.ts";

/** The maximum of findings per kind. Further findings appear after these are fixed. */
const FINDINGS_MAX = 20;
/** A larger file is read as a whole only when asked: the read delays WAL checkpoints. */
const CHECKED_BYTES_MAX = 32 * 1024 ** 2;

export interface ExamineOptions {
  /** Reads the whole file, and all rows. */
  readonly isDeep?: boolean;
  /** For tests: the size up to which a file is read as a whole. */
  readonly checkedBytes?: number;
  /** For tests: bounds for a larger file. */
  readonly bounds?: ExamineBounds;
}

export type WaitingPlace = "scheduled" | "ready" | "blocked";

export type FileFinding =
  | { readonly kind: "damaged"; readonly what: string }
  | { readonly kind: "lost_job"; readonly id: JobId }
  | {
      readonly kind: "ownerless_lease";
      readonly lease: number;
      readonly worker: WorkerId;
      /** A job that the lease still holds; null: none. */
      readonly id: JobId | null;
    }
  | { readonly kind: "place_without_job"; readonly place: WaitingPlace; readonly key: JobKey }
  | {
      readonly kind: "place_against_ledger";
      readonly place: WaitingPlace;
      readonly key: JobKey;
      readonly id: JobId;
      readonly fault: "over" | "held" | "twin" | "number";
      /** The number that the next run of the job must have. */
      readonly nextN: number;
    };

export interface FileExamination {
  /** False: the file is large and was not read as a whole, so only jobs were checked. */
  readonly isRead: boolean;
  /** Checks that examined a part of their rows. */
  readonly cutShort: readonly CutShort[];
  readonly findings: readonly FileFinding[];
  /** Violated invariants. In a large file, only the quick ones are checked. */
  readonly brokenInvariants: readonly BrokenInvariant[];
}

export function examine(
  database: DatabaseSync,
  session: Session,
  { isDeep = false, checkedBytes = CHECKED_BYTES_MAX, bounds = EXAMINE_BOUNDS }: ExamineOptions,
): FileExamination {
  const isRead = isDeep || bytesOf(database) <= checkedBytes;
  const damages = isRead ? damagesOf(database) : [];
  // The jobs of a damaged file prove nothing.
  if (damages.length > 0) return { isRead, cutShort: [], findings: damages, brokenInvariants: [] };
  const extent = extentIn(session, isRead ? NO_BOUNDS : bounds);
  const { cutShort } = extent;
  const findings = [
    ...lostJobs(session, extent),
    ...ownerlessLeases(session),
    ...placesWithoutJob(session, extent),
    ...placesAgainstLedger(session, extent),
  ];
  const broken = brokenInvariants(database, session, { isDeep: isRead, extent });
  const isSound = findings.length + broken.length === 0;
  // Another finding would explain a miscount.
  const miscounted = isRead && isSound ? miscounts(database, session) : [];
  return { isRead, cutShort, findings, brokenInvariants: [...broken, ...miscounted] };
}

function extentIn({ sql }: Session, bounds: ExamineBounds): Extent {
  const sizes = sql.get("examined_tables", { max: bounds.rows + 1 });
  if (sizes === undefined) throw new Error("the sizes of the tables are missing");
  return extentOf(sizes, bounds);
}

function bytesOf(database: DatabaseSync): number {
  const pages = database.prepare("PRAGMA page_count").get()?.["page_count"];
  const size = database.prepare("PRAGMA page_size").get()?.["page_size"];
  return Number(pages) * Number(size);
}

function damagesOf(database: DatabaseSync): FileFinding[] {
  return database
    .prepare(`PRAGMA quick_check(${FINDINGS_MAX})`)
    .all()
    .map((row) => String(row["quick_check"]))
    .filter((what) => what !== "ok")
    .map((what) => ({ kind: "damaged", what }));
}

function lostJobs({ sql }: Session, { lastKey }: Extent): FileFinding[] {
  return sql
    .all("lost_jobs", { last_key: lastKey, limit: FINDINGS_MAX })
    .map(({ id }) => ({ kind: "lost_job", id: idFromBytes(id) }));
}

function ownerlessLeases({ sql }: Session): FileFinding[] {
  return sql.all("ownerless_leases", { limit: FINDINGS_MAX }).map(({ number, worker, id }) => ({
    kind: "ownerless_lease",
    lease: number,
    worker: idFromBytes(worker),
    id: id === null ? null : idFromBytes(id),
  }));
}

function placesWithoutJob({ sql }: Session, { examined }: Extent): FileFinding[] {
  return sql
    .all("places_without_job", { examined, limit: FINDINGS_MAX })
    .map(({ place, key }) => ({ kind: "place_without_job", place, key }));
}

function placesAgainstLedger({ sql }: Session, { examined }: Extent): FileFinding[] {
  return sql.all("places_against_ledger", { examined, limit: FINDINGS_MAX }).map((row) => ({
    kind: "place_against_ledger",
    place: row.place,
    key: row.key,
    id: idFromBytes(row.id),
    fault: faultOf(row),
    nextN: row.next_n,
  }));
}

function faultOf(row: { is_over: 0 | 1; is_held: 0 | 1; is_twin: 0 | 1 }) {
  if (row.is_over === 1) return "over";
  if (row.is_held === 1) return "held";
  return row.is_twin === 1 ? "twin" : "number";
}
