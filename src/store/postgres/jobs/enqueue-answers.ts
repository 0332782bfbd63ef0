/** What an enqueue answers: created, known before, or refused. */
import type { JobId } from "../../../core/job.ts";
import { sameBody } from "../../shared/request-hash.ts";
import { stateCodec } from "../../shared/codes.ts";
import { noteKeyHolder } from "../../shared/key-holders.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import type { Filed } from "./job-rows.ts";
import type { BodyRow, QueryTuples } from "../database/queries.gen.ts";

/** The answer to a job with a value that the database does not take. */
export function refusal(job: NewJob): EnqueueAnswer {
  return { status: "refused", code: "STORE_REFUSED", holder: job.id };
}

/** What was created; a job whose id was taken is `existing` until its content is compared. */
export function answersOf(
  jobs: readonly Filed[],
  made: QueryTuples["insert_jobs"] | undefined,
): EnqueueAnswer[] {
  const [, scheduled, ids] = made ?? [0, null, []];
  const isLater = new Set(scheduled);
  const isNew = ids === null ? null : new Set(ids);
  // Answered twice, an id was new only the first time.
  return jobs.map(({ job: { id } }) =>
    isNew === null || isNew.delete(id)
      ? { status: "created", id, state: isLater.has(id) ? "scheduled" : "queued" }
      : { status: "existing", id, state: null, by: "id" },
  );
}

export function missingOf(answers: readonly EnqueueAnswer[]): JobId[] {
  return answers.flatMap((answer) => (answer.status === "existing" ? [answer.id] : []));
}

/** The same id again: a repeat after a lost answer, or two callers with one id. */
export function withRepeats(
  jobs: readonly Filed[],
  answers: readonly EnqueueAnswer[],
  known: readonly BodyRow[],
  isRepeat: boolean,
): EnqueueAnswer[] {
  const bodies = new Map(known.map((row) => [row.id, row]));
  return owned(
    answers.map((answer, index) => {
      if (answer.status !== "existing") return answer;
      return repeated(jobs[index]!, bodies.get(answer.id));
    }),
    isRepeat,
  );
}

/** The answer to a job whose id is known. */
export function repeated({ job, type, tenant }: Filed, body: BodyRow | undefined): EnqueueAnswer {
  const isSame =
    body !== undefined &&
    body.type === type &&
    body.tenant === tenant &&
    sameBody(body.payload, job.payload);
  if (!isSame) return { status: "refused", code: "ID_CONFLICT", holder: job.id };
  return { status: "existing", id: job.id, state: stateCodec.word(body.state), by: "id" };
}

/** Notes which of the jobs gave way, and to whom. */
export function noteKeyHolders(
  keyHolders: Map<JobId, JobId>,
  jobs: readonly Pick<Filed, "job">[],
  answers: readonly EnqueueAnswer[],
): void {
  answers.forEach((answer, index) => noteKeyHolder(keyHolders, jobs[index]!.job.id, answer));
}

/** When the answer to the first try was lost, what the second finds is taken for its work. */
export function owned(answers: readonly EnqueueAnswer[], isRepeat: boolean): EnqueueAnswer[] {
  if (!isRepeat) return [...answers];
  return answers.map((answer) => {
    if (answer.status !== "existing" || answer.by !== "id") return answer;
    const state = answer.state === "scheduled" ? "scheduled" : "queued";
    return { status: "created", id: answer.id, state };
  });
}
