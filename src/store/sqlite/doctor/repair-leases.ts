/** Removes from leases the runs that contradict the table job or the ledger. */
import { isFinal } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { keepRuns, openAmong, runsOf, type HeldRun } from "../runs/lease.ts";
import { dropMissing, splitMissing } from "../runs/missing-jobs.ts";

export function repairLeases(session: Session): void {
  for (const lease of session.sql.all("all_leases", {})) repairLease(session, lease);
}

function repairLease(session: Session, lease: LeaseRow): void {
  const { present, missing } = splitMissing(session, runsOf(lease));
  dropMissing(session, missing);
  const open = openAmong(session, present);
  const sound = open.filter((run) => isSound(session, run));
  if (sound.length < open.length || open.length < listed(lease)) keepRuns(session, lease, sound);
}

/** How many runs the lease names, also runs that cannot be read. */
function listed({ keys }: LeaseRow): number {
  try {
    return JSON.parse(keys).length;
  } catch {
    return Infinity;
  }
}

function isSound({ sql }: Session, { key, n }: HeldRun): boolean {
  const row = sql.get("job_by_key", { key });
  const [[, last] = [key, 0]] = sql.tuples("last_runs", { keys: JSON.stringify([key]) });
  return row !== undefined && !isFinal(stateCodec.word(row.state)) && n === last + 1;
}
