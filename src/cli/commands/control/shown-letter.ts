/** The text of `millrace dlq show`. */
import type { DeadLetter, FailedRunView, ReviewView } from "../../../api/client.ts";
import { errorOf, properties, table, timeOf } from "../../terminal/output.ts";

export function shownLetter(letter: DeadLetter): string {
  const { history, reviews, error } = letter;
  const changes = reviews.flatMap((review) => review.changes);
  const parts = [
    sheetOf(letter),
    // Line by line, so that the stack keeps its shape.
    error.stack === undefined ? "" : properties(error.stack.split("\n").map((line) => ["", line])),
    history.length === 0 ? "" : table(["RUN", "ENDED", "OUTCOME", "CLASS", "ERROR"], runs(history)),
    reviews.length === 0 ? "" : table(["REVIEWED", "BY", "ACT", "TO", "NOTES"], acts(reviews)),
    changes.length === 0
      ? ""
      : table(
          ["CHANGED", "BEFORE", "AFTER"],
          changes.map(({ path, before, after }) => [path, valueOf(before), valueOf(after)]),
        ),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function sheetOf(letter: DeadLetter): string {
  return properties([
    ["id", letter.id],
    ["type", letter.type],
    ["status", letter.status],
    ["cause", letter.cause],
    ["assigned to", letter.assignedTo],
    ["tenant", letter.tenant],
    ["category", letter.category],
    ["correlation", letter.correlationId],
    ["idempotency key", letter.idempotencyKey],
    ["dedup key", letter.dedupKey],
    ["concurrency key", letter.concurrencyKey],
    ["attempts", String(letter.attempts)],
    ["created", timeOf(letter.originalCreatedAt)],
    ["died", timeOf(letter.diedAt)],
    ["reviewed by", letter.reviewedBy],
    ["reviewed", timeOf(letter.reviewedAt)],
    ["notes", letter.notes],
    ["successor", letter.successorId],
    ["payload", JSON.stringify(letter.payload)],
    ["error", `${letter.error.name}: ${letter.error.message}`],
    ["error class", letter.error.class],
  ]);
}

function runs(history: readonly FailedRunView[]): string[][] {
  return history.map(({ number, finishedAt, outcome, error }) => {
    return [String(number), timeOf(finishedAt) ?? "", outcome, error.class, errorOf(error)];
  });
}

function acts(reviews: readonly ReviewView[]): string[][] {
  return reviews.map(({ at, by, act, to, notes }) => {
    return [timeOf(at) ?? "", by, act, to ?? "", notes ?? ""];
  });
}

function valueOf(value: unknown): string {
  return value === undefined ? "-" : JSON.stringify(value);
}
