/** What the store says to new jobs, as callers hear it. */
import { MillraceError } from "../core/errors.ts";
import type { Enqueued } from "../face/enqueue.ts";
import type { EnqueueAnswer } from "../store/store.ts";

type Refused = Extract<EnqueueAnswer, { status: "refused" }>;

/** The answer to one job; throws if it was refused. */
export function enqueuedOf(answer: EnqueueAnswer, type: string): Enqueued<unknown> {
  if (answer.status === "refused") {
    const { code, holder } = answer;
    throw new MillraceError(code, refusalOf(answer, type), { details: { holder } });
  }
  const { id, state } = answer;
  return { id, type, state, created: answer.status === "created" };
}

/** The answers to many jobs; throws if one was refused, and then says what became of each. */
export function allEnqueued(
  answers: readonly EnqueueAnswer[],
  types: readonly string[],
): readonly Enqueued<unknown>[] {
  const typeAt = (index: number): string => types[index] ?? "";
  const refused = answers.filter((answer) => answer.status === "refused");
  const [first] = refused;
  if (first === undefined) return answers.map((each, index) => enqueuedOf(each, typeAt(index)));
  const index = answers.indexOf(first);
  const message =
    `${refused.length} of ${answers.length} jobs were refused, and the others are enqueued; ` +
    `request ${index}: ${refusalOf(first, typeAt(index))}`;
  throw new MillraceError(first.code, message, {
    details: { index, holder: first.holder, answers: answers.map(rowOf) },
  });
}

function rowOf(answer: EnqueueAnswer, index: number): object {
  if (answer.status === "refused") {
    return { index, id: null, status: "refused", code: answer.code, holder: answer.holder };
  }
  return { index, id: answer.id, status: answer.status, code: null };
}

function refusalOf({ code, holder }: Refused, type: string): string {
  if (code === "AFTER_UNKNOWN") {
    return (
      `a job of type "${type}" is to run after ${holder}, and there is no such job; ` +
      "a child of ctx.enqueue exists only after its phase"
    );
  }
  if (code === "STORE_REFUSED") return `the database does not take this job of type "${type}"`;
  return `a job of type "${type}" with this key or id, and other content, is ${holder}`;
}

/** Says which of many requests an error is about; nothing has been written then. */
export function atRequest(index: number, error: unknown): unknown {
  if (!(error instanceof MillraceError)) return error;
  return new MillraceError(error.code, `request ${index}: ${error.message}`, {
    cause: error,
    details: { ...error.details, index },
  });
}
