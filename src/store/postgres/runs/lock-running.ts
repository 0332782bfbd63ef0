/** Who holds a running job, for people who step in: their hands are stopped until it is done. */
import { isFinal, type FinalState, type JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import { Outdated } from "../database/errors.ts";
import { ownLeaseOf } from "./lease.ts";
import type { StateRow } from "../database/rows-views.ts";
import type { SessionTransaction } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";
import type { RunRow } from "../database/rows-runs.ts";

interface Holder {
  readonly worker: WorkerId;
  readonly runs: readonly RunRow[];
}

/** A running job whose run cannot end before this transaction does, or one that has ended. */
type Held =
  | { readonly isOver: true; readonly state: FinalState }
  | {
      readonly isOver: false;
      readonly job: StateRow;
      /** Null when nobody has it: a lease is missing, which should not be. */
      readonly holder: Holder | null;
    };

/** Locks the lease of a job that lies in no place. */
export async function lockRunning(
  transaction: SessionTransaction,
  id: JobId,
  key: JobKey,
): Promise<Held> {
  const holder = await ownLeaseOf(transaction, key);
  // Read anew: the run may have ended while its lease was waited for.
  const job = await transaction.get("state_of", { id: uuidOf(id) });
  if (job === undefined) throw new Outdated("a job was removed");
  const state = stateCodec.word(job.state);
  if (isFinal(state)) return { isOver: true, state };
  const number = holder?.runs[0]?.fence ?? null;
  if (state !== "running" || number !== job.lease) {
    throw new Outdated("a job went from hand to hand");
  }
  return { isOver: false, job, holder };
}
