/** Children that are refused: nothing is kept without them of what they came with. */
import { MillraceError } from "../../core/errors.ts";
import type { EnqueueAnswer, NewJob, StoreRefusal, RefusedChild } from "../types/jobs-and-runs.ts";

/** Throws if one of the children was refused; of several it tells the first, which is the cause. */
export function throwIfRefused(
  children: readonly NewJob[],
  answers: readonly EnqueueAnswer[],
): void {
  answers.forEach((answer, index) => {
    if (answer.status !== "refused") return;
    throw new ChildRefusedError({ ...answer, child: children[index]!.id });
  });
}

/** What the error says that undid a note, or the end of a run. */
export function refusalBy(error: unknown): StoreRefusal {
  return error instanceof ChildRefusedError ? error.answer : "refused";
}

/** To the database one more value that is not taken, so that the same part is undone. */
class ChildRefusedError extends MillraceError {
  readonly answer: RefusedChild;

  constructor(answer: RefusedChild) {
    super("STORE_REFUSED", `child ${answer.child} was refused: ${answer.code}`);
    this.answer = answer;
  }
}
