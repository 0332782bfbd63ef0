/** retryAsNew and requestReprocess: jobs that a person wants to run again. */
import type { JobId } from "../../../core/job.ts";
import { reprocessRequested, retriedAsNew } from "../../shared/audit/drafts.ts";
import { deadLetterCodec } from "../../shared/codes.ts";
import { NO_ACT, type Act, type ReprocessRequest } from "../../types/audit.ts";
import { LETTER_CHUNK_MAX } from "../../types/failures.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { writeAudits } from "../audit/write.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { isOpenLetter, LOCK_MS, lockLetters } from "./dead-letters.ts";
import { enqueueWithin } from "./enqueue.ts";
import { closeRepeated } from "./failures.ts";
import { internJobs } from "./job-rows.ts";

export async function retryAsNew(
  session: Session,
  successor: NewJob & { readonly retryOf: JobId },
  act: Act = NO_ACT,
): Promise<EnqueueAnswer> {
  const interned = await internJobs(session.names, [successor]);
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction(
      async (transaction) => {
        const id = successor.retryOf;
        // First, as reprocess does: two calls cannot deadlock.
        const letters = await lockLetters(transaction, [id]);
        const [made] = await enqueueWithin(transaction, interned, [successor]);
        if (made === undefined) throw new Error("the store gave no answer");
        if (made.status === "created") {
          const job = { id, tenant: successor.tenant };
          await closeRepeated(transaction, letters, [{ id, job: made.id }], act);
          await writeAudits(transaction, [retriedAsNew(job, act, made.id)]);
        }
        return made;
      },
      { lockMs: LOCK_MS },
    );
    // After a lost answer, a job with this id was created by the first try.
    const isOwn = isRepeat && answer.status === "existing" && answer.id === successor.id;
    return isOwn ? { status: "created", id: successor.id, state: "queued" } : answer;
  });
}

export async function requestReprocess(
  session: Session,
  given: readonly ReprocessRequest[],
  act: Act,
): Promise<number> {
  const requests = given.slice(0, LETTER_CHUNK_MAX);
  return repeating(session.dice, (isRepeat) =>
    session.transaction((transaction) => requestWithin(transaction, requests, act, isRepeat)),
  );
}

/** The same within another transaction. */
export async function requestWithin(
  transaction: StoreTransaction,
  requests: readonly ReprocessRequest[],
  act: Act,
  isRepeat = false,
): Promise<number> {
  if (requests.length === 0) return 0;
  const letters = await lockLetters(
    transaction,
    requests.map(({ id }) => id),
  );
  const drafts = requests.flatMap(({ id, changes }) => {
    const letter = letters.get(id);
    if (letter === undefined || !isOpenLetter(letter.status)) return [];
    const status = deadLetterCodec.word(letter.status);
    return [reprocessRequested({ id, tenant: letter.tenant }, act, { status, changes })];
  });
  await writeAudits(transaction, drafts, isRepeat);
  return drafts.length;
}
