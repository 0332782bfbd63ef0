/** The answers of enqueue: created, existing or refused. */
import type { JobId } from "../../../core/job.ts";
import { sameBody } from "../../shared/request-hash.ts";
import { stateCodec } from "../../shared/codes.ts";
import { noteKeyHolder } from "../../shared/key-holders.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import type { InternedJob } from "./job-rows.ts";
import type { BodyRow, QueryTuples } from "../database/queries.gen.ts";

/** The answer to a job with an invalid value. */
export function refusal(job: NewJob): EnqueueAnswer {
  return { status: "refused", code: "STORE_REFUSED", holder: job.id };
}

/** A job whose id exists is answered `existing` until its content is compared. */
export function insertAnswers(
  jobs: readonly InternedJob[],
  made: QueryTuples["insert_jobs"] | undefined,
): EnqueueAnswer[] {
  const [, scheduled, ids] = made ?? [0, null, []];
  const isLater = new Set(scheduled);
  const isNew = ids === null ? null : new Set(ids);
  // Of two jobs with the same id only the first is new.
  return jobs.map(({ job: { id } }) =>
    isNew === null || isNew.delete(id)
      ? { status: "created", id, state: isLater.has(id) ? "scheduled" : "queued" }
      : { status: "existing", id, state: null, by: "id" },
  );
}

export function existingIds(answers: readonly EnqueueAnswer[]): JobId[] {
  return answers.flatMap((answer) => (answer.status === "existing" ? [answer.id] : []));
}

/** Compares jobs whose id exists: repeats after a lost answer, or two callers with one id. */
export function withRepeats(
  jobs: readonly InternedJob[],
  answers: readonly EnqueueAnswer[],
  known: readonly BodyRow[],
  isRepeat: boolean,
): EnqueueAnswer[] {
  const bodies = new Map(known.map((row) => [row.id, row]));
  return ownAsCreated(
    answers.map((answer, index) => {
      if (answer.status !== "existing") return answer;
      return repeatAnswer(jobs[index]!, bodies.get(answer.id));
    }),
    isRepeat,
  );
}

/** The answer to a job whose id exists. */
export function repeatAnswer(
  { job, type, tenant }: InternedJob,
  body: BodyRow | undefined,
): EnqueueAnswer {
  const isSame =
    body !== undefined &&
    body.type === type &&
    body.tenant === tenant &&
    sameBody(body.payload, job.payload);
  if (!isSame) return { status: "refused", code: "ID_CONFLICT", holder: job.id };
  return { status: "existing", id: job.id, state: stateCodec.word(body.state), by: "id" };
}

/** Records the key holder of each rejected duplicate. */
export function noteKeyHolders(
  keyHolders: Map<JobId, JobId>,
  jobs: readonly Pick<InternedJob, "job">[],
  answers: readonly EnqueueAnswer[],
): void {
  answers.forEach((answer, index) => noteKeyHolder(keyHolders, jobs[index]!.job.id, answer));
}

/** After a lost answer, a job that the retry finds was created by the first try. */
export function ownAsCreated(
  answers: readonly EnqueueAnswer[],
  isRepeat: boolean,
): EnqueueAnswer[] {
  if (!isRepeat) return [...answers];
  return answers.map((answer) => {
    if (answer.status !== "existing" || answer.by !== "id") return answer;
    const state = answer.state === "scheduled" ? "scheduled" : "queued";
    return { status: "created", id: answer.id, state };
  });
}
