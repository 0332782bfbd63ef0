/**
 * examine: finds states that no verb creates. A file that was edited by hand, restored in parts or
 * damaged by its disk may hold jobs that never run, or that run twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import type { BrokenInvariant } from "../../doctor/invariants.ts";
import type { JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import { brokenInvariants, miscounts } from "./invariants.ts";
import type { Session } from "../database/session.ts";

/** The maximum of findings per kind. Further findings appear after these are fixed. */
const FINDINGS_MAX = 20;
/** A larger file is not read as a whole: the read would delay WAL checkpoints for minutes. */
const CHECKED_BYTES_MAX = 2 * 1024 ** 3;

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
  /** False: the file is too large to be read as a whole, so only its jobs were checked. */
  readonly isRead: boolean;
  readonly findings: readonly FileFinding[];
  /** Violated invariants. In a file that is too large, only the quick ones are checked. */
  readonly brokenInvariants: readonly BrokenInvariant[];
}

export function examine(database: DatabaseSync, session: Session): FileExamination {
  const isRead = bytesOf(database) <= CHECKED_BYTES_MAX;
  const damages = isRead ? damagesOf(database) : [];
  // The jobs of a damaged file prove nothing.
  if (damages.length > 0) return { isRead, findings: damages, brokenInvariants: [] };
  const findings = [
    ...lostJobs(session),
    ...ownerlessLeases(session),
    ...placesWithoutJob(session),
    ...placesAgainstLedger(session),
  ];
  const broken = brokenInvariants(database, session, isRead);
  const isSound = findings.length + broken.length === 0;
  // Another finding would explain a miscount.
  const miscounted = isRead && isSound ? miscounts(database, session) : [];
  return { isRead, findings, brokenInvariants: [...broken, ...miscounted] };
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

function lostJobs({ sql }: Session): FileFinding[] {
  return sql
    .all("lost_jobs", { limit: FINDINGS_MAX })
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

function placesWithoutJob({ sql }: Session): FileFinding[] {
  return sql
    .all("places_without_job", { limit: FINDINGS_MAX })
    .map(({ place, key }) => ({ kind: "place_without_job", place, key }));
}

function placesAgainstLedger({ sql }: Session): FileFinding[] {
  return sql.all("places_against_ledger", { limit: FINDINGS_MAX }).map((row) => ({
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
