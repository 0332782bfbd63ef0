import { describe, expect, test } from "vitest";
import { ticksOf, waterfallOf, type WaterfallFacts } from "./waterfall-layout.ts";

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const UNITS = { total: 0, planned: 0, running: 0, completed: 0, failed: 0 };

function attempt(number: number, outcome: string, from: number, to: number, charged = number): any {
  return { number, attempts: charged, outcome, startedAt: at(from), finishedAt: at(to) };
}

function phase(name: string, state: string, from: number | null, to: number | null): any {
  const startedAt = from === null ? null : at(from);
  return { name, state, startedAt, finishedAt: to === null ? null : at(to), units: UNITS };
}

function facts(changes: Partial<Omit<WaterfallFacts, "job">> & { job?: object }): WaterfallFacts {
  const job: any = {
    state: "completed",
    createdAt: at(0),
    scheduledAt: at(0),
    runAt: null,
    startedAt: null,
    finishedAt: null,
    attempts: 0,
    ...changes.job,
  };
  return { attempts: [], phases: [], isHeld: false, now: 100_000, ...changes, job };
}

describe("a waterfall", () => {
  test("shows waiting and running of each attempt, and the failed end", () => {
    const { rows, now } = waterfallOf(
      facts({
        job: { finishedAt: at(100) },
        attempts: [attempt(1, "failed", 10, 40), attempt(2, "succeeded", 60, 100)],
      }),
    );
    expect(now).toBeNull();
    expect(rows.map(({ label, note, state, text }) => [label, note, state, text])).toEqual([
      ["Attempt 1", "failed", "failed", "waited 10 s, ran 30 s"],
      ["Attempt 2", "succeeded", "completed", "waited 20 s, ran 40 s"],
    ]);
    expect(rows[0]?.bars.map(({ tone }) => tone)).toEqual(["wait", "run", "failed"]);
    expect(rows[0]?.bars.at(-1)?.to).toBeCloseTo(0.4);
    expect(rows[1]?.bars).toEqual([
      { from: 0.4, to: 0.6, tone: "wait" },
      { from: 0.6, to: 1, tone: "run" },
    ]);
  });

  test("puts phases under the attempts in which they were under way", () => {
    const { rows } = waterfallOf(
      facts({
        job: { finishedAt: at(100) },
        attempts: [attempt(1, "interrupted", 0, 50, 0), attempt(2, "succeeded", 50, 100, 1)],
        phases: [
          phase("one", "completed", 0, 20),
          phase("two", "completed", 20, 80),
          phase("three", "completed", 80, 100),
        ],
      }),
    );
    expect(rows.map(({ kind, label }) => (kind === "attempt" ? label : `- ${label}`))).toEqual([
      "Attempt 1",
      "- one",
      "- two",
      "Attempt 2",
      "- two",
      "- three",
    ]);
    expect(rows[0]).toMatchObject({ note: "interrupted, not charged", state: "cancelled" });
    expect(rows[2]).toMatchObject({ state: "cancelled", text: "30 s" });
    expect(rows[2]?.bars.at(-1)?.tone).toBe("interrupted");
    expect(rows[4]).toMatchObject({
      state: "completed",
      bars: [{ from: 0.5, to: 0.8, tone: "run" }],
    });
  });

  test("draws a held job dashed until now, and phases that wait", () => {
    const { rows } = waterfallOf(
      facts({
        job: { state: "queued", attempts: 1 },
        attempts: [attempt(1, "failed", 0, 50)],
        phases: [phase("one", "failed", 0, 50), phase("two", "pending", null, null)],
        isHeld: true,
      }),
    );
    expect(rows.at(-2)).toMatchObject({
      label: "Next attempt",
      state: "held",
      text: "held 50 s, until now",
      bars: [{ from: 0.5, to: 1, tone: "held" }],
    });
    expect(rows.at(-1)).toMatchObject({ label: "two", text: "not started", bars: [] });
  });

  test("follows a run until now", () => {
    const { rows, now } = waterfallOf(facts({ job: { state: "running", startedAt: at(20) } }));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ state: "running", text: "waited 20 s, runs 1 min 20 s" });
    expect(now).toBeNull();
  });

  test("reaches to the planned time of a scheduled job, with a line for now", () => {
    const planned = facts({ job: { state: "scheduled", runAt: at(200), scheduledAt: at(200) } });
    const { rows, now } = waterfallOf(planned);
    expect(now).toBe(0.5);
    expect(rows[0]).toMatchObject({ state: "scheduled", text: "planned 3 min 20 s" });
  });

  test("begins when a job was due, and says that it never ran", () => {
    const job = { state: "cancelled", scheduledAt: at(50), finishedAt: at(60) };
    const { from, rows } = waterfallOf(facts({ job }));
    expect(from).toBe(50_000);
    expect(rows[0]).toMatchObject({ note: "cancelled before it ran", text: "waited 10 s" });
  });

  test("survives clocks that differ", () => {
    const { rows } = waterfallOf(
      facts({
        job: { state: "running", startedAt: at(-5) },
        attempts: [],
        now: -10_000,
      }),
    );
    for (const { bars } of rows) {
      for (const { from, to } of bars) expect(from).toBeLessThanOrEqual(to);
    }
  });
});

test.each([
  [600_000, ["0", "2 min", "4 min", "6 min", "8 min", "10 min"]],
  [2_750, ["0", "500 ms", "1 s", "1.5 s", "2 s", "2.5 s"]],
  [1, ["0", "1 ms"]],
])("the axis of %i ms has round lengths", (length, texts) => {
  expect(ticksOf(length).map(({ text }) => text)).toEqual(texts);
});
