/** retryAsNew and requestReprocess: jobs that a person wants to run again. */
import type { JobId } from "../../../core/job.ts";
import { reprocessRequested, retriedAsNew } from "../../shared/audit/drafts.ts";
import { NO_ACT, type Act, type ReprocessRequest } from "../../types/audit.ts";
import { LETTER_CHUNK_MAX } from "../../types/failures.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { closeRepeated, deadLetter, isClosed } from "./dead-letters.ts";
import { enqueueWithin } from "./enqueue.ts";

export function retryAsNew(
  session: Session,
  successor: NewJob & { readonly retryOf: JobId },
  act: Act = NO_ACT,
): EnqueueAnswer {
  const answer = enqueueWithin(session, [successor])[0]!;
  if (answer.status === "created") {
    const job = { id: successor.retryOf, tenant: successor.tenant };
    closeRepeated(session, job.id, act, answer.id);
    writeAudits(session, [retriedAsNew(job, act, answer.id)]);
  }
  return answer;
}

export function requestReprocess(
  session: Session,
  requests: readonly ReprocessRequest[],
  act: Act,
): number {
  const drafts = requests.slice(0, LETTER_CHUNK_MAX).flatMap(({ id, changes }) => {
    const letter = deadLetter(session, id);
    if (letter === null || isClosed(letter)) return [];
    return [reprocessRequested(letter, act, { status: letter.status, changes })];
  });
  writeAudits(session, drafts);
  return drafts.length;
}
