/** The job that would run alone next: a probe of a closed type, or a job that crashed too often. */
import type { JobKey, LoneClaimRequest } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";
import { byUrgency, findMostUrgent, type ClaimScan } from "./claim-candidates.ts";

/** How many due jobs of a lane are searched for a probe. Jobs further back get there in time. */
const PROBE_DEPTH = 1_000;

/** A job to be run alone, and the streak of its type if the job is a probe. */
export interface LoneCandidate {
  readonly key: JobKey;
  readonly type: number;
  readonly tenant: number;
  readonly concurrency: string | null;
  readonly priority: number;
  readonly probe: { readonly type: number; readonly probe_ms: number } | null;
}

/** Null: no job waits to be run alone, or such a job has a lease already. */
export function findLone(
  session: Session,
  scan: ClaimScan,
  { cap }: Pick<LoneClaimRequest, "cap">,
): LoneCandidate | null {
  if (scan.crashNumbers.length === 0 && !scan.hasClosed) return null;
  if (session.sql.get("lone_lease", {}) !== undefined) return null;
  return findProbe(session, scan) ?? findAtCap(session, scan, cap);
}

function findAtCap(session: Session, scan: ClaimScan, cap: number): LoneCandidate | null {
  const atCap = scan.crashNumbers.filter((crashes) => crashes >= cap);
  const [job] = findMostUrgent(session, scan, atCap, 1);
  return job === undefined ? null : { ...job, probe: null };
}

function findProbe(session: Session, scan: ClaimScan): LoneCandidate | null {
  if (!scan.hasClosed) return null;
  const { now, types } = scan;
  const full = fullOf(scan);
  for (const probe of session.sql.all("due_probes", { now, types, full })) {
    const job = mostUrgentOfType(session, scan, probe.type);
    if (job !== undefined) return { ...job, type: probe.type, probe };
  }
  return null;
}

/** Jobs without a permit are passed: otherwise the first of them would stop all others. */
function fullOf({ limits }: ClaimScan): string {
  return limits?.full ?? "[]";
}

/** The most urgent job of a type that nothing but the gate of the type blocks. */
function mostUrgentOfType(
  { sql }: Session,
  scan: ClaimScan,
  type: number,
): Omit<LoneCandidate, "probe" | "type"> | undefined {
  const { lanes, onlyLanes, crashNumbers, tenants, now } = scan;
  const wanted = { type, tenants, full: fullOf(scan), now };
  const front = { ...wanted, depth: PROBE_DEPTH };
  const found = [
    sql.get("probe_in_blocked", { ...wanted, lanes: onlyLanes }),
    ...lanes.flatMap((lane) =>
      [0, ...crashNumbers].map((crashes) => sql.get("probe_in_ready", { ...front, lane, crashes })),
    ),
  ];
  return found.filter((job) => job !== undefined).toSorted(byUrgency)[0];
}
