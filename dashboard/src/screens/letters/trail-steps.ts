/** What happened to a letter, newest first, from its reviews, its attempts and the audit. Pure. */
import type { AuditEntry, DeadLetter } from "../../api/operations.gen.ts";

export interface TrailStep {
  readonly at: string;
  /** Who did it; null: a worker or the application. */
  readonly by: string | null;
  readonly text: string;
  readonly isBad: boolean;
  /** Places of the payload that were changed. */
  readonly changes: readonly {
    readonly path: string;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
}

type Review = DeadLetter["reviews"][number];

export function trailSteps(letter: DeadLetter, audit: readonly AuditEntry[]): readonly TrailStep[] {
  const steps = [
    ...letter.reviews.map(reviewStep),
    // Entries about the letter itself repeat its reviews.
    ...audit.filter(({ name }) => !name.startsWith("job_dlq_")).map(auditStep),
    ...letter.history.map(({ number, outcome, finishedAt }) =>
      step(finishedAt, null, `attempt ${number} ended: ${outcome.replaceAll("_", " ")}`, true),
    ),
    ...(letter.originalCreatedAt === null
      ? []
      : [step(letter.originalCreatedAt, null, "job enqueued", false)]),
  ];
  // At equal times the later kind of step stands first.
  return steps
    .map((each, index) => ({ each, index }))
    .toSorted((one, other) => other.each.at.localeCompare(one.each.at) || one.index - other.index)
    .map(({ each }) => each);
}

function reviewStep({ at, by, act, to, changes }: Review): TrailStep {
  return { ...step(at, by, reviewText(act, to, changes.length), false), changes };
}

function reviewText(act: Review["act"], to: string | null, changes: number): string {
  if (act === "noted") return "wrote a note";
  if (act === "assigned") return to === null ? "took the assignment back" : `assigned it to ${to}`;
  if (act === "reprocessed" && changes > 0) {
    return `reprocessed it with ${changes} changed ${changes === 1 ? "place" : "places"}`;
  }
  return `${act} it`;
}

function auditStep({ at, actor, name }: AuditEntry): TrailStep {
  return step(at, actor, name.replaceAll("_", " "), false);
}

function step(at: string, by: string | null, text: string, isBad: boolean): TrailStep {
  return { at, by, text, isBad, changes: [] };
}
