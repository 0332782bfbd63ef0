/** Children that were to run after jobs that there are not: nothing is kept without them. */
import { MillraceError } from "../core/errors.ts";
import { AFTER_MAX, type EnqueueAnswer, type NewJob, type Refusal } from "./work.ts";

/** Throws if one of the children was refused because of those that it was to run after. */
export function insistOnParents(
  children: readonly NewJob[],
  answers: readonly EnqueueAnswer[],
): void {
  answers.forEach((answer, index) => {
    if (answer.status !== "refused") return;
    const { id, after } = children[index]!;
    if (answer.code === "AFTER_UNKNOWN") throw new Stranded(id, answer.holder);
    if (answer.code !== "STORE_REFUSED" || after.length <= AFTER_MAX) return;
    const message = `child ${id} names ${after.length} jobs to run after, and ${AFTER_MAX} at most`;
    throw new MillraceError("STORE_REFUSED", message);
  });
}

/** What the error says that undid a note, or the end of a run. */
export function refusalBy(error: unknown): Refusal {
  return error instanceof Stranded ? error.answer : "refused";
}

/** To the database one more value that is not taken, so that the same part is undone. */
class Stranded extends MillraceError {
  readonly answer: Refusal;

  constructor(child: string, missing: string) {
    super("STORE_REFUSED", `child ${child} is to run after ${missing}, which there is not`);
    this.answer = { status: "stranded", child, missing };
  }
}
