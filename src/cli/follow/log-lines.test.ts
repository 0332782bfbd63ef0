import { describe, expect, test } from "vitest";
import type { LogView } from "../../api/logs.ts";
import { LogReader, shownLog, shownMissed } from "./log-lines.ts";

describe("a reader of a log", () => {
  test("reads from the first line, page by page, and goes on where it stopped", async () => {
    const log = new Log();
    log.grow(2_500);
    const reader = new LogReader(log, "id");

    const first = await reader.next();
    const nothing = await reader.next();
    log.grow(1);
    const more = await reader.next();

    expect(first).toMatchObject({ missed: 0, lines: { length: 2_500 } });
    expect(nothing).toEqual({ missed: 0, lines: [] });
    expect(more.lines.map(({ line }) => line)).toEqual([2_501]);
  });

  test("stops at its maximum while the job writes on; the next call continues", async () => {
    const log = new Log();
    log.grow(12_500);
    const reader = new LogReader(log, "id");

    const first = await reader.next();
    const second = await reader.next();

    expect(first).toMatchObject({ missed: 0, lines: { length: 10_000 } });
    expect(second).toMatchObject({ missed: 0, lines: { length: 2_500 } });
  });

  test("says how many lines were gone before they were read", async () => {
    const log = new Log();
    log.grow(10);
    const reader = new LogReader(log, "id");
    await reader.next();
    log.grow(7);
    log.forget(14);

    const { missed, lines } = await reader.next();

    expect(missed).toBe(4);
    expect(lines.map(({ line }) => line)).toEqual([15, 16, 17]);
  });
});

describe("a line of a log", () => {
  test("shows level, message and fields", () => {
    const fields = { slug: "main", ms: 12, tags: ["a"] };

    expect(shownLog({ level: "info", message: "moved", fields })).toBe(
      'info moved slug=main ms=12 tags=["a"]',
    );
    expect(shownLog({ level: "warn", message: "slow", fields: null })).toBe("warn slow");
  });

  test("is counted when it is gone", () => {
    expect([1, 2].map(shownMissed)).toEqual(["1 log line was removed", "2 log lines were removed"]);
  });
});

/** A log that is kept in memory, read as `mill.jobs.logs` reads. */
class Log {
  #kept: LogView[] = [];
  #last = 0;

  grow(count: number): void {
    for (let n = 0; n < count; n += 1) {
      this.#last += 1;
      const message = `line ${this.#last}`;
      const at = new Date(0);
      this.#kept.push({ line: this.#last, attempt: 1, at, level: "info", message, fields: null });
    }
  }

  /** Up to and with this line. */
  forget(line: number): void {
    this.#kept = this.#kept.filter((each) => each.line > line);
  }

  async logs(_: string, { after = 0, limit = 50 }: { after?: number; limit?: number } = {}) {
    const lines = this.#kept.filter(({ line }) => line > after).slice(0, limit);
    return { lines, next: lines.length >= limit ? (lines.at(-1)?.line ?? null) : null };
  }
}
