import { describe, expect, test } from "vitest";
import type { CopyEvent } from "../copy/copy.ts";
import { COPIED_TABLES } from "../store/shared/copy/tables.ts";
import { type CopySource } from "../store/shared/copy/ends.ts";
import { progressLines } from "./copy-progress.ts";

/** The lines for these events, on a source with one row in each table. */
function linesOf(...events: readonly CopyEvent[]): readonly string[] {
  const lines: string[] = [];
  const source: Pick<CopySource, "count" | "place"> = { count: () => 1, place: "jobs.db" };
  let now = 0;
  const clock = { monotonic: () => (now += 1_000) };
  const report = progressLines(source, clock, (line) => lines.push(line));
  for (const event of events) report(event);
  return lines;
}

const TOTAL = COPIED_TABLES.length;

describe("the progress of a copy", () => {
  test("has no more rows than all, while producers add rows", () => {
    const lines = linesOf(
      { kind: "started", rows: 0 },
      { kind: "copied", table: "job", rows: TOTAL - 1 },
      { kind: "copied", table: "attempt", rows: 10 },
    );

    expect(lines).toEqual([
      expect.stringContaining(`${TOTAL - 1} of ${TOTAL} rows`),
      expect.stringContaining(`100 %: ${TOTAL + 9} of ${TOTAL + 9} rows`),
    ]);
  });

  test("has no more rows than all when a copy continues after rows were added", () => {
    expect(linesOf({ kind: "started", rows: TOTAL + 2 })).toEqual([
      `Continuing: ${TOTAL + 2} of ${TOTAL + 2} rows are copied.`,
    ]);
  });
});
