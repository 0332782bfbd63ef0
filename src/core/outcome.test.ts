import { describe, expect, test } from "vitest";
import { isSuccess, type Settlement } from "./outcome.ts";
import { STATES, type State } from "./job.ts";

const ENDED = { outcome: "succeeded", tries: 1, crashes: 0 } as const;
const FAULT = { class: "retryable", name: "Error", message: "no" } as const;

describe("a settlement", () => {
  test.each(STATES.filter((state) => state !== "running"))(
    "to %s is a success only if the job is completed",
    (state) => {
      const isOne = state === "completed" || state === "completed_with_errors";
      expect(isSuccess(settlementTo(state))).toBe(isOne);
    },
  );
});

function settlementTo(to: Exclude<State, "running">): Settlement {
  switch (to) {
    case "completed":
    case "completed_with_errors":
      return { ...ENDED, to, result: null, failedUnits: 0, fault: null };
    case "failed":
      return { ...ENDED, to, fault: FAULT };
    case "cancelled":
      return { ...ENDED, to, reason: null };
    case "scheduled":
    case "queued":
      return { ...ENDED, to, delayMs: 0, fault: null };
  }
}
