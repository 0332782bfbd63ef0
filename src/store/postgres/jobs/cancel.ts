/**
 * cancel: a waiting job ends at once; for a running job, its worker gets a cancel request. However
 * the run ends, a job with a cancel request never waits for another run.
 */
import { isFinal, type JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { CancelAnswer } from "../../types/records.ts";
import { lockRunning } from "../runs/lock-running.ts";
import { endUnstarted, takeWaiting } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

export async function cancel(
  session: Session,
  id: JobId,
  by: string | null,
  reason: string | null,
): Promise<CancelAnswer> {
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction((transaction) =>
      cancelWithin(transaction, id, { by, reason }),
    );
    // After a lost answer, a cancelled job counts as cancelled by the first try.
    const isOwn = isRepeat && answer.status === "final" && answer.state === "cancelled";
    return isOwn ? { status: "cancelled" } : answer;
  });
}

/** The same within another transaction. */
export async function cancelWithin(
  transaction: StoreTransaction,
  id: JobId,
  { by, reason }: { readonly by: string | null; readonly reason: string | null },
): Promise<CancelAnswer> {
  const job = await transaction.get("state_of", { id: uuidOf(id) });
  if (job === undefined) return { status: "unknown" };
  const state = stateCodec.word(job.state);
  if (isFinal(state)) return { status: "final", state };

  const waiting = (await takeWaiting(transaction, [job.key])).get(job.key);
  if (waiting !== undefined) {
    await endUnstarted(transaction, [{ ...waiting, reason }]);
    return { status: "cancelled" };
  }

  const held = await lockRunning(transaction, id, job.key);
  if (held.isOver) return { status: "final", state: held.state };
  await transaction.run("insert_cancel_request", { key: job.key, by, reason });
  return { status: "requested" };
}
