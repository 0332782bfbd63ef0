/**
 * examine: looks for what no verb brings about. A file that was edited by hand, restored from
 * pieces or damaged by its disk may hold jobs that nobody runs, or that run twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import type { BrokenInvariant } from "../../doctor/invariants.ts";
import type { JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import { brokenInvariants, miscounts } from "./invariants.ts";
import type { Session } from "../database/session.ts";

/** Findings of one kind; what is found beyond that is found after these are mended. */
const FINDINGS_MAX = 20;
/** A larger file is not read as a whole: that would hold up the cleaning of its log for minutes. */
const CHECKED_BYTES_MAX = 2 * 1024 ** 3;

export type WaitingPlace = "scheduled" | "ready" | "blocked";

export type FileFinding =
  | { readonly kind: "damaged"; readonly what: string }
  | { readonly kind: "lost_job"; readonly id: JobId }
  | {
      readonly kind: "ownerless_lease";
      readonly lease: number;
      readonly worker: WorkerId;
      /** A job that it still holds; `null` when it holds none. */
      readonly id: JobId | null;
    }
  | { readonly kind: "place_without_job"; readonly place: WaitingPlace; readonly key: JobKey }
  | {
      readonly kind: "place_against_ledger";
      readonly place: WaitingPlace;
      readonly key: JobKey;
      readonly id: JobId;
      readonly fault: "over" | "held" | "twin" | "number";
      /** The number that its next run must have. */
      readonly nextN: number;
    };

export interface FileExamination {
  /** False: the file is too large to be read as a whole, and only its jobs were looked at. */
  readonly isRead: boolean;
  readonly findings: readonly FileFinding[];
  /** Invariants that do not hold. Of a file that is too large, the quick ones are looked at. */
  readonly brokenInvariants: readonly BrokenInvariant[];
}

export function examine(database: DatabaseSync, session: Session): FileExamination {
  const isRead = bytesOf(database) <= CHECKED_BYTES_MAX;
  const damages = isRead ? damagesOf(database) : [];
  // What a damaged file says about its jobs is worth nothing.
  if (damages.length > 0) return { isRead, findings: damages, brokenInvariants: [] };
  const findings = [
    ...lostJobs(session),
    ...ownerlessLeases(session),
    ...placesWithoutJob(session),
    ...placesAgainstLedger(session),
  ];
  const broken = brokenInvariants(database, session, isRead);
  const isSound = findings.length + broken.length === 0;
  // What else is wrong would explain a miscount.
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
