/** setPriority and reschedule: an operator changes when waiting jobs start. */
import { isFinal, type JobId, type State } from "../../../core/job.ts";
import {
  prioritised,
  rescheduled,
  type ActedJob,
  type AuditDraft,
} from "../../shared/audit/drafts.ts";
import { stateCodec } from "../../shared/codes.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { DueTime, JobKey } from "../../types/jobs-and-runs.ts";
import type { PlaceAnswer } from "../../types/operations.ts";
import { writeAudits } from "../audit/write.ts";
import { Outdated } from "../database/errors.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuids } from "../database/values.ts";
import { putWaiting, takeWaiting } from "../queue/places.ts";

export async function setPriority(
  session: Session,
  id: JobId,
  priority: number,
  act: Act = NO_ACT,
): Promise<PlaceAnswer> {
  return one(session, id, (transaction, ids) => prioritiseWithin(transaction, ids, priority, act));
}

export async function reschedule(
  session: Session,
  id: JobId,
  due: DueTime,
  act: Act = NO_ACT,
): Promise<PlaceAnswer> {
  return one(session, id, (transaction, ids) => rescheduleWithin(transaction, ids, due, act));
}

type Answers = ReadonlyMap<JobId, PlaceAnswer>;

async function one(
  session: Session,
  id: JobId,
  change: (transaction: StoreTransaction, ids: readonly JobId[]) => Promise<Answers>,
): Promise<PlaceAnswer> {
  const answers = await repeating(session.dice, () =>
    session.transaction((transaction) => change(transaction, [id])),
  );
  return answers.get(id) ?? { status: "unknown" };
}

/** Gives waiting jobs another priority, within another transaction. */
export async function prioritiseWithin(
  transaction: StoreTransaction,
  ids: readonly JobId[],
  priority: number,
  act: Act,
): Promise<Answers> {
  const draft = (job: ActedJob): AuditDraft => prioritised(job, act, priority);
  return ofWaiting(transaction, { ids, draft }, async (keys) => {
    const rows = await transaction.all("set_priorities", { keys: list(keys), priority });
    // Claims may have passed the new places.
    transaction.outbox.wakeForReturned();
    return new Map(rows.map(({ key }) => [key, null]));
  });
}

/** Makes waiting jobs due at another time, within another transaction. */
export async function rescheduleWithin(
  transaction: StoreTransaction,
  ids: readonly JobId[],
  due: DueTime,
  act: Act,
): Promise<Answers> {
  const draft = (job: ActedJob): AuditDraft => rescheduled(job, act, due);
  const time =
    "at" in due
      ? { due_at: Math.round(Math.max(0, due.at)) }
      : { delay_ms: Math.round(due.delayMs) };
  return ofWaiting(transaction, { ids, draft }, async (keys) => {
    const taken = [...(await takeWaiting(transaction, keys)).values()];
    transaction.outbox.wakeForReturned();
    return putWaiting(
      transaction,
      taken.map((job) => ({ ...job, ...time })),
    );
  });
}

const NONE: ReadonlyMap<JobKey, null> = new Map();

/** `change` answers the new state of each job that it has changed; null: the state stays. */
async function ofWaiting(
  transaction: StoreTransaction,
  { ids, draft }: { readonly ids: readonly JobId[]; readonly draft: (job: ActedJob) => AuditDraft },
  change: (keys: readonly JobKey[]) => Promise<ReadonlyMap<JobKey, "scheduled" | "queued" | null>>,
): Promise<Answers> {
  const jobs = await transaction.all("states_of_jobs", { ids: uuids(ids) });
  const waiting = jobs.filter(({ state }) => state <= stateCodec.code.queued);
  const changed = waiting.length === 0 ? NONE : await change(waiting.map(({ key }) => key));
  const answerOf = (key: JobKey, before: State): PlaceAnswer => {
    if (isFinal(before)) return { status: "final", state: before };
    if (before === "running") return { status: "running" };
    // A worker has claimed the job at the same time, or a promotion has moved it.
    if (!changed.has(key)) throw new Outdated("the job was moved at the same time");
    return { status: "done", state: changed.get(key) ?? before };
  };
  const answers = jobs.map(
    ({ id, key, state }) => [id, answerOf(key, stateCodec.word(state))] as const,
  );
  await writeAudits(transaction, waiting.map(draft));
  return new Map(answers);
}
