import { describe, expect, test } from "vitest";
import { phaseStates, type PhaseFacts, type PhaseState } from "./phases.ts";

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

  test("show where a job failed for good, whoever failed it", () => {
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
