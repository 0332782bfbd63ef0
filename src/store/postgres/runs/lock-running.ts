/** Locks the lease of a running job, so that an operator can cancel or end the run. */
import { isFinal, type FinalState, type JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import { Outdated } from "../database/errors.ts";
import { lockLeaseOfJob } from "./lease.ts";
import type { RunRow, StateRow } from "../database/queries.gen.ts";
import type { StoreTransaction } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

interface LeaseHolder {
  readonly worker: WorkerId;
  readonly runs: readonly RunRow[];
}

/** A running job whose run cannot end before this transaction does, or a final job. */
type LockedJob =
  | { readonly isOver: true; readonly state: FinalState }
  | {
      readonly isOver: false;
      readonly job: StateRow;
      /** Null: no lease names the job, which only happens in a damaged database. */
      readonly holder: LeaseHolder | null;
    };

/** Locks the lease of a job that waits in no place. */
export async function lockRunning(
  transaction: StoreTransaction,
  id: JobId,
  key: JobKey,
): Promise<LockedJob> {
  const holder = await lockLeaseOfJob(transaction, key);
  // Read again: the run may have ended while this transaction waited for the lock.
  const job = await transaction.get("state_of", { id: uuidOf(id) });
  if (job === undefined) throw new Outdated("the job was removed");
  const state = stateCodec.word(job.state);
  if (isFinal(state)) return { isOver: true, state };
  const number = holder?.runs[0]?.fence ?? null;
  if (state !== "running" || number !== job.lease) {
    throw new Outdated("the job was moved to another lease or place");
  }
  return { isOver: false, job, holder };
}
