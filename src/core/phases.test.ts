import { describe, expect, test } from "vitest";
import { phaseStates, phaseTimes, type PhaseFacts, type PhaseState } from "./phases.ts";

const facts: PhaseFacts = {
  names: ["download", "process", "upload"],
  completed: new Set(["download"]),
  current: "process",
  state: "running",
  lastOutcome: null,
};

function states(changes: Partial<PhaseFacts>): readonly PhaseState[] {
  return phaseStates({ ...facts, ...changes }).map(({ state }) => state);
}

describe("the phases of a job", () => {
  test("are named in their order", () => {
    expect(phaseStates(facts).map(({ name }) => name)).toEqual(["download", "process", "upload"]);
  });

  test("are pending before it has begun", () => {
    const fresh = { completed: new Set<string>(), current: null };
    expect(states({ ...fresh, state: "queued" })).toEqual(["pending", "pending", "pending"]);
    expect(states({ ...fresh, state: "scheduled" })).toEqual(["pending", "pending", "pending"]);
  });

  test("show the one that runs", () => {
    expect(states({})).toEqual(["completed", "running", "pending"]);
  });

  test.each(["failed", "timed_out", "crashed"] as const)(
    "show the one that failed while the job waits for its retry: %s",
    (lastOutcome) => {
      const after = states({ state: "scheduled", lastOutcome });
      expect(after).toEqual(["completed", "failed", "pending"]);
    },
  );

  test.each(["interrupted", "snoozed"] as const)("are not charged with a run that was %s", (by) => {
    const after = states({ state: "queued", lastOutcome: by });
    expect(after).toEqual(["completed", "pending", "pending"]);
  });

  test("show where a job failed for good, by a worker or an operator", () => {
    const failed = states({ state: "failed", lastOutcome: "failed" });
    expect(failed).toEqual(["completed", "failed", "pending"]);
    expect(states({ state: "failed" })).toEqual(["completed", "failed", "pending"]);
  });

  test("that were not completed are cancelled with their job (001-29, 001-30)", () => {
    expect(states({ state: "cancelled" })).toEqual(["completed", "cancelled", "cancelled"]);
    const waiting = { completed: new Set<string>(), current: null };
    const cancelled = states({ ...waiting, state: "cancelled" });
    expect(cancelled).toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  test("are all completed when it has completed", () => {
    const completed = new Set(["download", "process", "upload"]);
    expect(states({ completed, state: "completed", lastOutcome: "succeeded" })).toEqual([
      "completed",
      "completed",
      "completed",
    ]);
  });

  test("that no longer ran when it completed stay pending", () => {
    const removed = states({ state: "completed", lastOutcome: "succeeded" });
    expect(removed).toEqual(["completed", "pending", "pending"]);
  });
});

describe("the times of phases", () => {
  const run = { n: 1, startedAt: 100, finishedAt: null };
  const completed = (n: number, at: number, runStartedAt: number) => ({ n, at, runStartedAt });

  test("begin where the phase before ended, or where the run started", () => {
    const times = phaseTimes(phaseStates(facts), {
      completed: new Map([["download", completed(1, 130, 100)]]),
      run,
      current: "process",
    });
    expect(times).toEqual([
      { startedAt: 100, finishedAt: 130 },
      { startedAt: 130, finishedAt: null },
      { startedAt: null, finishedAt: null },
    ]);
  });

  test("start with the run for its first phase", () => {
    const none = { completed: new Set<string>(), current: "download" };
    const times = phaseTimes(phaseStates({ ...facts, ...none }), {
      completed: new Map(),
      run,
      current: "download",
    });
    expect(times[0]).toEqual({ startedAt: 100, finishedAt: null });
  });

  test("are unknown for a phase that an interrupted run will repeat", () => {
    const times = phaseTimes(
      phaseStates({ ...facts, state: "queued", lastOutcome: "interrupted" }),
      { completed: new Map(), run: { ...run, finishedAt: 190 }, current: "process" },
    );
    expect(times[1]).toEqual({ startedAt: null, finishedAt: null });
  });

  test("do not include the time between two runs", () => {
    const times = phaseTimes(
      phaseStates({ ...facts, completed: new Set(["download", "process"]), current: "upload" }),
      {
        completed: new Map([
          ["download", completed(1, 130, 100)],
          ["process", completed(2, 250, 200)],
        ]),
        run: { n: 2, startedAt: 200, finishedAt: null },
        current: "upload",
      },
    );
    expect(times).toEqual([
      { startedAt: 100, finishedAt: 130 },
      { startedAt: 200, finishedAt: 250 },
      { startedAt: 250, finishedAt: null },
    ]);
  });

  test.each([
    ["failed", "failed"],
    ["cancelled", "cancelled"],
  ] as const)("end with the run for the phase that was %s", (state, lastOutcome) => {
    const times = phaseTimes(phaseStates({ ...facts, state, lastOutcome }), {
      completed: new Map([["download", completed(1, 130, 100)]]),
      run: { ...run, finishedAt: 190 },
      current: "process",
    });
    expect(times.slice(1)).toEqual([
      { startedAt: 130, finishedAt: 190 },
      { startedAt: null, finishedAt: null },
    ]);
  });

  test("are unknown for a phase that was taken over, or whose run is unknown", () => {
    const times = phaseTimes(phaseStates({ ...facts, current: null, state: "queued" }), {
      completed: new Map([["download", { n: 0, at: 50, runStartedAt: null }]]),
      run: null,
      current: null,
    });
    expect(times).toEqual([
      { startedAt: null, finishedAt: null },
      { startedAt: null, finishedAt: null },
      { startedAt: null, finishedAt: null },
    ]);
  });
});
