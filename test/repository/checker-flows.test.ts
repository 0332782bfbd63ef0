/** The checker of campaigns finds what is planted: shared locks, wrong order, units, logs. */
import { describe, expect, test } from "vitest";
import { judgeFlows } from "../../scripts/show/lib/check/flows.ts";
import type { History, StoredAttempt, StoredJob } from "../../scripts/show/lib/fleet/history.ts";
import type { LedgerLine } from "../../scripts/show/lib/fleet/ledger.ts";

const DONE: StoredAttempt = { fence: 1, outcome: "succeeded", finishedAt: 20 };
const CRASHED: StoredAttempt = { fence: 1, outcome: "crashed", finishedAt: 15 };
const LOG_LINES_MAX = 1_000;

describe("the checker of locks", () => {
  const FIRST = line("start", { job: "a", fence: 1, at: 0, lock: "k" });
  const SECOND = line("start", { job: "b", fence: 2, at: 17, lock: "k" });
  const store = { a: stored("completed", [DONE]), b: stored("completed", []) };

  test("passes one run after the other", () => {
    const end = line("end", { job: "a", fence: 1, at: 16, lock: "k" });

    expect(kinds([FIRST, end, SECOND], store)).toEqual([]);
  });

  test("finds two runs under one key", () => {
    expect(kinds([FIRST, SECOND], store)).toEqual(["shared"]);
  });

  test("finds a unit under the key of a run, and passes a unit of another name", () => {
    const unit = line("start", { job: "b", fence: 2, at: 5, lock: "k", unit: "u" });

    expect(kinds([FIRST, unit], store)).toEqual(["shared"]);
    expect(kinds([FIRST, { ...unit, lock: "other" }], store)).toEqual([]);
  });

  test("passes a run after one that the store had ended", () => {
    expect(kinds([FIRST, SECOND], { ...store, a: stored("completed", [CRASHED]) })).toEqual([]);
  });

  test("passes the late start of a zombie", () => {
    const late = line("start", { job: "a", fence: 1, at: 16, lock: "k" });
    const jobs = { ...store, a: stored("completed", [CRASHED]) };

    expect(kinds([SECOND, late], jobs)).toEqual([]);
  });
});

describe("the checker of order", () => {
  const END = line("end", { job: "a", fence: 1, at: 19 });
  const START = line("start", { job: "b", fence: 2, at: 30 });
  const after = { ...stored("completed", []), asked: { after: ["a"] } };

  test("passes a job after the end of its dependency, and finds one before", () => {
    const store = { a: stored("completed", [DONE]), b: after };

    expect(kinds([END, START], store)).toEqual([]);
    expect(kinds([START, END], store)).toEqual(["disordered"]);
  });

  test("finds a job that ran although its dependency failed", () => {
    const store = { a: stored("failed", [{ ...DONE, outcome: "failed" }]), b: after };

    expect(kinds([START], store)).toEqual(["disordered"]);
    expect(kinds([], { ...store, b: { ...after, state: "cancelled" } })).toEqual([]);
  });

  test("finds a tolerant job that began before the failure", () => {
    const b = { ...after, asked: { after: ["a"], onFailed: "run" as const } };
    const failedAt = (at: number) =>
      stored("failed", [{ fence: 1, outcome: "failed", finishedAt: at }]);

    expect(kinds([START], { a: failedAt(20), b })).toEqual([]);
    expect(kinds([START], { a: failedAt(40), b })).toEqual(["disordered"]);
  });
});

describe("the checker of units", () => {
  const units = [{ key: "u", ms: 0, lock: "k" }];
  const job = (fence: number | null, state = "completed"): StoredJob => ({
    ...stored("completed", [DONE]),
    asked: { units },
    units: [{ key: "u", state, fence }],
  });
  const END = line("end", { job: "a", fence: 1, at: 10, unit: "u" });

  test("passes a unit with the result of a run", () => {
    expect(kinds([END], { a: job(1) })).toEqual([]);
  });

  test("finds a unit that ran again after its result was stored", () => {
    const again = line("start", { job: "a", fence: 2, at: 12, unit: "u" });

    expect(kinds([END, again], { a: job(1) })).toEqual(["repeated"]);
  });

  test("finds a result that no run made, a unit that is left, and one that is missing", () => {
    expect(kinds([], { a: job(1) })).toEqual(["repeated"]);
    expect(kinds([END], { a: job(null, "pending") })).toEqual(["repeated"]);
    expect(kinds([END], { a: { ...job(1), units: [] } })).toEqual(["repeated"]);
  });
});

describe("the checker of logs", () => {
  const job = (messages: readonly string[], lines = 2): StoredJob => ({
    ...stored("completed", [{ ...DONE, fence: 7 }]),
    asked: { lines },
    logs: messages.map((message, index) => ({ line: index + 1, message })),
  });

  test("passes the lines of a run that was cut off, and of the next one", () => {
    expect(kinds([], { a: job(["3 1", "7 1", "7 2"]) })).toEqual([]);
  });

  test.each([
    ["a line that is missing", ["7 2", "7 4"], 4],
    ["repeated lines", ["7 1", "7 2", "7 1", "7 2"], 2],
    ["lines in the wrong order", ["7 2", "7 1", "7 2"], 2],
    ["a line of an older run behind a younger one", ["7 1", "3 1", "7 2"], 2],
    ["a log without its last line", ["7 1"], 2],
  ])("finds %s", (_, messages, lines) => {
    expect(new Set(kinds([], { a: job(messages, lines) }))).toEqual(new Set(["garbled"]));
  });

  test("finds a log beyond its bound, and passes gaps in one that was cut", () => {
    const asked = LOG_LINES_MAX + 100;
    const from = (first: number): string[] =>
      Array.from({ length: asked + 1 - first }, (_, index) => `7 ${first + index}`);

    expect(kinds([], { a: job(from(1), asked) })).toEqual(["garbled"]);
    expect(kinds([], { a: job(["3 9", ...from(200)], asked) })).toEqual([]);
  });
});

function kinds(
  ledger: readonly LedgerLine[],
  jobs: Readonly<Record<string, StoredJob>>,
  more: Partial<History> = {},
): readonly string[] {
  const store = new Map(Object.entries(jobs));
  return judgeFlows({ acks: [], ledger, leaseMs: 1_000, store, ...more }).map(({ kind }) => kind);
}

function line(
  what: LedgerLine["what"],
  about: Pick<LedgerLine, "job" | "fence" | "at" | "lock" | "unit">,
): LedgerLine {
  return { pid: about.fence, attempt: 1, what, ...about };
}

function stored(state: StoredJob["state"], attempts: readonly StoredAttempt[]): StoredJob {
  return { state, charged: attempts.length, attempts };
}
