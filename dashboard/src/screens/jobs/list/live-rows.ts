/** How a list changes while a person looks at it: rows stay where they are. Pure. */
import type { Job } from "../../../api/operations.gen.ts";

export interface Merged {
  /** The rows that were shown, in their order, with what is new about them. */
  readonly rows: readonly Job[];
  /** Jobs above the first row. */
  readonly fresh: number;
  /** The answer did not reach the first row: there are more new jobs. */
  readonly hasMoreFresh: boolean;
  /** Rows that the answer should have had: they no longer match, or were pushed out of it. */
  readonly missing: readonly string[];
}

/** Newest first on both sides. */
export function mergeRows(shown: readonly Job[], answer: readonly Job[]): Merged {
  if (shown.length === 0) return { rows: answer, fresh: 0, hasMoreFresh: false, missing: [] };
  const known = new Set(shown.map(({ id }) => id));
  const byId = new Map(answer.map((job) => [job.id, job]));
  const firstKnown = answer.findIndex(({ id }) => known.has(id));
  // A job that matches again appears between the rows; it waits for the next load.
  const fresh = firstKnown === -1 ? freshBefore(shown, answer) : firstKnown;
  return {
    rows: shown.map((job) => byId.get(job.id) ?? job),
    fresh,
    hasMoreFresh: firstKnown === -1 && fresh === answer.length && fresh > 0,
    missing: shown.filter(({ id }) => !byId.has(id)).map(({ id }) => id),
  };
}

/** None of the rows is in the answer: what was created later than the first row is new. */
function freshBefore([first]: readonly Job[], answer: readonly Job[]): number {
  const at = first === undefined ? 0 : Date.parse(first.createdAt);
  return answer.filter(({ createdAt }) => Date.parse(createdAt) > at).length;
}
