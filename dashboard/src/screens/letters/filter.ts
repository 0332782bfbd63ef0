/** From a place in the page to the filter of the API. Pure. */
import type { DeadLetter, Operations } from "../../api/operations.gen.ts";

export type Query = Readonly<Record<string, string>>;
export type LetterFilter = Operations["listDeadLetters"]["query"];

const STATUSES = ["pending_review", "acknowledged", "reprocessed", "discarded"] as const;

/** Causes have no such fields, so that these filters need the list by time. */
const BY_TIME = ["category", "assigned_to", "correlation_id", "after"] as const;

export function isByCause(query: Query): boolean {
  if (query["by"] === "time" || BY_TIME.some((key) => query[key] !== undefined)) return false;
  return query["status"] !== "reprocessed" && query["status"] !== "discarded";
}

/** The filter of the API that a place in the page asks for. */
export function letterFilter(query: Query): LetterFilter {
  const status = STATUSES.find((each) => each === query["status"]);
  const texts = ["type", "tenant", "category", "assigned_to", "correlation_id", "cause", "after"];
  const filter = texts.flatMap((key) => (query[key] ? [[key, query[key]] as const] : []));
  return { ...Object.fromEntries(filter), ...(status === undefined ? {} : { status }) };
}

/** The order of the server. Letters of one moment follow their ids. */
export function newestFirst(
  one: Pick<DeadLetter, "id" | "diedAt">,
  other: Pick<DeadLetter, "id" | "diedAt">,
): number {
  return other.diedAt.localeCompare(one.diedAt) || other.id.localeCompare(one.id);
}
