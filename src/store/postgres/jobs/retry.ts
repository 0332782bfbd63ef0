/** retryAsNew and requestReprocess: jobs that a person wants to run again. */
import type { JobId } from "../../../core/job.ts";
import { reprocessRequested, retriedAsNew } from "../../shared/audit/drafts.ts";
import { deadLetterCodec } from "../../shared/codes.ts";
import { NO_ACT, type Act, type ReprocessRequest } from "../../types/audit.ts";
import { LETTER_CHUNK_MAX } from "../../types/failures.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { writeAudits } from "../audit/write.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { isOpenLetter, LOCK_MS, lockLetters } from "./dead-letters.ts";
import { enqueueWithin } from "./enqueue.ts";
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
        const [made] = await enqueueWithin(transaction, interned, [successor]);
        if (made === undefined) throw new Error("the store gave no answer");
        if (made.status === "created") {
          const job = { id: successor.retryOf, tenant: successor.tenant };
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
  const ids = requests.map(({ id }) => id);
  return repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const letters = await lockLetters(transaction, ids);
      const drafts = requests.flatMap(({ id, changes }) => {
        const letter = letters.get(id);
        if (letter === undefined || !isOpenLetter(letter.status)) return [];
        const status = deadLetterCodec.word(letter.status);
        return [reprocessRequested({ id, tenant: letter.tenant }, act, { status, changes })];
      });
      await writeAudits(transaction, drafts, isRepeat);
      return drafts.length;
    }),
  );
}
