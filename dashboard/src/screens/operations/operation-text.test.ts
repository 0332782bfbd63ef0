import { expect, test } from "vitest";
import { endedOf, filterText, shapeOf, sharesOf, titleOf } from "./operation-text.ts";

test("an operation is named by what it does to what", () => {
  expect(titleOf({ action: "cancel", target: "jobs" })).toBe("Cancel jobs");
  expect(titleOf({ action: "discard", target: "deadLetters" })).toBe("Discard dead letters");
});

test("its filter reads as a query", () => {
  const filter = {
    states: ["queued", "scheduled"],
    type: "report email",
    tags: { area: "north" },
    createdFrom: Date.parse("2026-11-18T10:00:00Z"),
    runningMs: 1_800_000,
  } as const;
  expect(filterText({ filter, ids: null })).toBe(
    'state:queued state:scheduled type:"report email" tag.area:north ' +
      "created since 2026-11-18T10:00Z running>30 min",
  );
  expect(filterText({ filter: null, ids: 1_200 })).toBe("1,200 chosen");
});

test("its shares never exceed the whole, also when more items turned up than were expected", () => {
  const operation: any = { expected: 5, done: 6, failed: 2, skipped: { state: 1, held: 1 } };
  expect(endedOf(operation)).toBe(10);
  expect(sharesOf(operation)).toEqual({ done: 0.6, failed: 0.2, skipped: 0.2 });
  expect(sharesOf({ ...operation, expected: 0, done: 0, failed: 0, skipped: {} })).toEqual({
    done: 0,
    failed: 0,
    skipped: 0,
  });
});

test("a completed operation with failed items says so by its shape", () => {
  expect(shapeOf({ status: "completed", failed: 1 })).toBe("completed_with_errors");
  expect(shapeOf({ status: "completed", failed: 0 })).toBe("completed");
  expect(shapeOf({ status: "stopped", failed: 1 })).toBe("cancelled");
});
