import { describe, expect, it } from "vitest";
import type { FailureGroup } from "../../api/operations.gen.ts";
import { snoozeEnd } from "./snooze.ts";
import { chosenGroups, errorTitle, typesOf } from "./status.ts";

function group(cause: string, status: FailureGroup["status"], types: string[]): FailureGroup {
  const at = "2026-11-18T12:00:00.000Z";
  return {
    cause,
    count: 1,
    atLeast: false,
    status,
    types,
    firstSeenAt: at,
    lastSeenAt: at,
    trend: [],
    sample: { jobId: "1", tenant: "default", error: null },
    decidedBy: null,
    decidedAt: null,
    until: null,
    notes: null,
  };
}

const GROUPS = [
  group("a", "new", ["email"]),
  group("b", "snoozed", ["sync", "email"]),
  group("c", "returned", ["sync"]),
  group("d", "acknowledged", ["sync"]),
];

function chosen(filter: object): string {
  return chosenGroups(GROUPS, filter)
    .map(({ cause }) => cause)
    .join("");
}

describe("chosenGroups", () => {
  it("shows all groups without a filter", () => {
    expect(chosen({})).toBe("abcd");
  });

  it("shows what waits for a decision", () => {
    expect(chosen({ status: "undecided" })).toBe("ac");
  });

  it("combines status and type", () => {
    expect(chosen({ status: "snoozed", type: "email" })).toBe("b");
    expect(chosen({ type: "sync" })).toBe("bcd");
  });
});

it("names every type once, in order", () => {
  expect(typesOf(GROUPS)).toEqual(["email", "sync"]);
});

it("writes an error without a message as its name", () => {
  expect(errorTitle({ class: "transient", name: "Abort", message: "" })).toBe("Abort");
  expect(errorTitle({ class: "transient", name: "A", message: "b" })).toBe("A: b");
});

it("ends a snooze after the chosen time", () => {
  expect(snoozeEnd("1d", Date.parse("2026-11-18T12:00:00Z"))).toBe("2026-11-19T12:00:00.000Z");
});
