/** Finds leases by number and secret, and their open runs. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { openRuns, type HeldRun } from "./lease.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

export interface OpenLease {
  readonly row: LeaseRow;
  /** Runs of the lease without a ledger row. */
  readonly open: Map<JobKey, HeldRun>;
}

/** A run that has started. */
type BegunRun = HeldRun & { readonly startedAt: number };

/** The lease with this number and secret, or null. `known` caches the leases of one call. */
export function findLease(
  session: Session,
  known: Map<string, OpenLease | null>,
  { number, secret }: Lease,
): OpenLease | null {
  const proof = `${number}.${secret}`;
  const found = known.get(proof);
  if (found !== undefined) return found;
  const row = session.sql.get("find_lease", { number, secret });
  const runs = row === undefined ? [] : openRuns(session, row);
  const lease =
    row === undefined ? null : { row, open: new Map(runs.map((run) => [run.key, run])) };
  known.set(proof, lease);
  return lease;
}

/** The run of a job, if the lease holds it and it has started and not ended. */
export function findRun(
  lease: OpenLease | null,
  { key, n }: { readonly key: JobKey; readonly n: number },
): BegunRun | null {
  const held = lease?.open.get(key);
  return held?.n === n && hasBegun(held) ? held : null;
}

function hasBegun(run: HeldRun): run is BegunRun {
  return run.startedAt !== null;
}
