/** Refused children. A note or settlement is stored with all of its children or not at all. */
import { MillraceError } from "../../core/errors.ts";
import type { EnqueueAnswer, NewJob, StoreRefusal, RefusedChild } from "../types/jobs-and-runs.ts";

/** Throws if a child was refused. Of several the error names the first, which is the cause. */
export function throwIfRefused(
  children: readonly NewJob[],
  answers: readonly EnqueueAnswer[],
): void {
  answers.forEach((answer, index) => {
    if (answer.status !== "refused") return;
    throw new ChildRefusedError({ ...answer, child: children[index]!.id });
  });
}

/** The answer for a note or settlement that was rolled back by `error`. */
export function refusalBy(error: unknown): StoreRefusal {
  return error instanceof ChildRefusedError ? error.answer : "refused";
}

/** Counts as a value that the database refuses, so that the same part is rolled back. */
class ChildRefusedError extends MillraceError {
  readonly answer: RefusedChild;

  constructor(answer: RefusedChild) {
    super("STORE_REFUSED", `child ${answer.child} was refused: ${answer.code}`);
    this.answer = answer;
  }
}
