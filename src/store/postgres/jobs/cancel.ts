/**
 * cancel: a waiting job ends at once; for a running job, its worker gets a cancel request. However
 * the run ends, a job with a cancel request never waits for another run.
 */
import { writeAudits } from "../audit/write.ts";
import type { Act } from "../../types/audit.ts";
import { cancelled, type AuditDraft } from "../../shared/audit/drafts.ts";
import { isFinal, type JobId, type State } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { CancelAnswer } from "../../types/records.ts";
import { lockRunning } from "../runs/lock-running.ts";
import { endUnstarted, takeWaiting } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf, uuids } from "../database/values.ts";

export async function cancel(
  session: Session,
  id: JobId,
  by: string | null,
  reason: string | null,
): Promise<CancelAnswer> {
  const act = { by, reason };
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction((transaction) =>
      cancelWithin(transaction, id, act, async (tenant, before, isRequested) => {
        const draft = cancelled({ id, tenant }, act, { before, isRequested });
        await writeAudits(transaction, [draft]);
      }),
    );
    // After a lost answer, a cancelled job counts as cancelled by the first try.
    const isOwn = isRepeat && answer.status === "final" && answer.state === "cancelled";
    return isOwn ? { status: "cancelled" } : answer;
  });
}

/**
 * The same for many jobs within another transaction. Waiting jobs are cancelled together. All of it
 * is audited.
 */
export async function cancelManyWithin(
  transaction: StoreTransaction,
  ids: readonly JobId[],
  act: Act,
): Promise<ReadonlyMap<JobId, CancelAnswer>> {
  const answers = new Map<JobId, CancelAnswer>();
  const jobs = await transaction.all("states_of_jobs", { ids: uuids(ids) });
  const waiting = jobs.filter(({ state }) => state <= stateCodec.code.queued);
  const taken = await takeWaiting(
    transaction,
    waiting.map(({ key }) => key),
  );
  const { reason } = act;
  await endUnstarted(
    transaction,
    [...taken.values()].map((job) => ({ ...job, reason })),
  );
  const drafts: AuditDraft[] = [];
  for (const { id, key, state, tenant } of waiting) {
    if (!taken.has(key)) continue;
    answers.set(id, { status: "cancelled" });
    const before = stateCodec.word(state);
    drafts.push(cancelled({ id, tenant }, act, { before, isRequested: false }));
  }
  for (const id of ids.filter((each) => !answers.has(each))) {
    const answer = await cancelWithin(transaction, id, act, async (tenant, before, isRequested) => {
      drafts.push(cancelled({ id, tenant }, act, { before, isRequested }));
    });
    answers.set(id, answer);
  }
  await writeAudits(transaction, drafts);
  return answers;
}

/** The same for a schedule, which is no act of a person. `changed` is called if anything has. */
export async function cancelWithin(
  transaction: StoreTransaction,
  id: JobId,
  { by, reason }: Act,
  changed: (tenant: number, before: State, isRequested: boolean) => Promise<void> = async () => {},
): Promise<CancelAnswer> {
  const job = await transaction.get("state_of", { id: uuidOf(id) });
  if (job === undefined) return { status: "unknown" };
  const state = stateCodec.word(job.state);
  if (isFinal(state)) return { status: "final", state };

  const waiting = (await takeWaiting(transaction, [job.key])).get(job.key);
  if (waiting !== undefined) {
    await endUnstarted(transaction, [{ ...waiting, reason }]);
    await changed(job.tenant, state, false);
    return { status: "cancelled" };
  }

  const held = await lockRunning(transaction, id, job.key);
  if (held.isOver) return { status: "final", state: held.state };
  const asked = await transaction.run("insert_cancel_request", { key: job.key, by, reason });
  if (asked > 0) await changed(job.tenant, state, true);
  return { status: "requested" };
}
