/** Compares the events of a commit with what the commit changed. */
import type { Report } from "./invariants.ts";
import type { EventRow } from "./rows.ts";

/** What a step has to tell in the feed: kind and job. */
export type ExpectedEvent = readonly [kind: number, job: number | string];

/** The kind of an event that jobs were removed. */
export const DELETED = 7;

/** The feed tells of every change once, in the transaction that made it. */
export function checkEvents(
  expected: readonly ExpectedEvent[],
  rows: readonly EventRow[],
  lastBefore: number,
  report: Report,
): void {
  const written = rows.flatMap(({ kind, keys, ids }) => {
    const names: (number | string)[] = JSON.parse(keys ?? ids ?? "[]");
    return names.map((name) => `${kind}:${ids === null ? name : "gone"}`);
  });
  const wanted = expected.map(([kind, job]) => `${kind}:${kind === DELETED ? "gone" : job}`);
  const [left, right] = [written.toSorted().join(" "), wanted.toSorted().join(" ")];
  if (left !== right) report("I13", `the feed tells [${left}], what happened is [${right}]`);
  rows.forEach(({ position }, index) => {
    if (position !== lastBefore + index + 1) report("I13", `the feed has a gap at ${position}`);
  });
}
