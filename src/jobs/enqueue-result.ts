/** Turns the store's answers to new jobs into results and errors of `enqueue`. */
import { MillraceError } from "../core/errors.ts";
import type { Enqueued } from "../api/enqueue.ts";
import type { QuotaRefusal } from "../store/types/quotas.ts";
import type {
  IntakeRecord,
  EnqueueAnswer,
  NewJob,
  RefusedJob,
} from "../store/types/jobs-and-runs.ts";

/** The result for one job; throws if the job was refused. */
export function enqueuedOf(answer: EnqueueAnswer, job: NewJob): Enqueued<unknown> {
  if (answer.status === "refused") {
    throw new MillraceError(answer.code, messageOf(answer, job), { details: detailsOf(answer) });
  }
  const { id, state } = answer;
  return { id, type: job.type, state, created: answer.status === "created" };
}

/** The results for many jobs; throws if one was refused, with the answers in the details. */
export function allEnqueued(
  answers: readonly EnqueueAnswer[],
  jobs: readonly NewJob[],
): readonly Enqueued<unknown>[] {
  const refused = answers.filter((answer) => answer.status === "refused");
  const [first] = refused;
  if (first === undefined) return answers.map((each, at) => enqueuedOf(each, jobs[at]!));
  const index = answers.indexOf(first);
  const message =
    `${refused.length} of ${answers.length} jobs were refused, the others are enqueued; ` +
    `request ${index}: ${messageOf(first, jobs[index]!)}`;
  throw new MillraceError(first.code, message, {
    details: { index, ...detailsOf(first), answers: answers.map(answerDetails) },
  });
}

function answerDetails(answer: EnqueueAnswer, index: number): object {
  if (answer.status === "refused") {
    return { index, id: null, status: "refused", code: answer.code, ...detailsOf(answer) };
  }
  return { index, id: answer.id, status: answer.status, code: null };
}

/** What the error of a refused job names: a closed intake, a quota, or another job. */
function detailsOf({ holder, intake, quota }: RefusedJob): Readonly<Record<string, unknown>> {
  if (quota !== undefined) return { ...quota };
  if (intake === undefined) return { holder };
  const { kind, name, reason, by } = intake;
  return { kind, name, reason, by };
}

function messageOf(answer: RefusedJob, job: NewJob): string {
  const message = refusalOf(answer, job, "job");
  if (answer.code !== "AFTER_UNKNOWN") return message;
  return `${message}; a child of ctx.enqueue exists only after its phase`;
}

/** Why a job, or a child of one, was refused. */
export function refusalOf(
  { code, holder, intake, quota }: RefusedJob,
  { type, idempotency }: Pick<NewJob, "type" | "idempotency">,
  noun: "job" | "child",
): string {
  const subject = `a ${noun} of type "${type}"`;
  const keyed = `${subject} has the idempotency key ${JSON.stringify(idempotency?.key)}`;
  switch (code) {
    case "AFTER_UNKNOWN":
      return `${subject} is to run after ${holder}, which does not exist`;
    case "ID_CONFLICT":
      return `${subject} has the id ${holder}, which another job with different content has`;
    case "IDEMPOTENCY_CONFLICT":
      return `${keyed}, which job ${holder} holds with another type or payload`;
    case "IDEMPOTENCY_KEY_USED":
      return `${keyed}, which job ${holder} has already used`;
    case "INTAKE_CLOSED":
      return `${subject} is refused: ${closedBy(intake)}`;
    case "QUOTA_EXCEEDED":
    case "PAYLOAD_OVER_QUOTA":
      return `${subject} is refused: ${overQuota(quota)}`;
    case "STORE_REFUSED":
      return `${subject} has a value that the database refuses`;
  }
}

function overQuota(refusal: QuotaRefusal | undefined): string {
  if (refusal === undefined) return "its tenant is over its quota";
  const { tenant, quota, limit, used, retryAfterMs } = refusal;
  const whose = `the tenant ${JSON.stringify(tenant)}`;
  switch (quota) {
    case "payloadBytes":
      return `the payload has ${used} bytes, and ${whose} may have ${limit} in a job`;
    case "waiting":
      return `${whose} has ${used} waiting jobs and may have ${limit}; try when some have started`;
    case "rate":
      return `${whose} has used up its rate of ${limit}; try in ${retryAfterMs ?? 0} ms`;
  }
}

function closedBy(intake: IntakeRecord | undefined): string {
  if (intake === undefined) return "its intake is closed";
  const { kind, name, reason, by } = intake;
  const what = kind === "installation" ? "all jobs" : `the ${kind} ${JSON.stringify(name)}`;
  return `the intake of ${what} is closed${by === null ? "" : ` by ${by}`}: ${reason}`;
}

/** Adds the index of the request to an error. No job has been enqueued then. */
export function atRequest(index: number, error: unknown): unknown {
  if (!(error instanceof MillraceError)) return error;
  return new MillraceError(error.code, `request ${index}: ${error.message}`, {
    cause: error,
    details: { ...error.details, index },
    hint: error.hint,
  });
}
