import { expect, test } from "vitest";
import { groupStatus, type GroupDecision } from "./group-status.ts";

const HOUR = 3_600_000;
const SEEN = { firstAt: 1_000, lastAt: 2_000 };
const acknowledged = (at: number): GroupDecision => ({ kind: "acknowledged", at, until: null });
const snoozed = (until: number): GroupDecision => ({ kind: "snoozed", at: 0, until });

test.each([
  [null, 3_000, "new"],
  [null, 1_000 + 24 * HOUR, "open"],
  [acknowledged(2_000), 3_000, "acknowledged"],
  [acknowledged(1_999), 3_000, "returned"],
  [snoozed(4_000), 3_999, "snoozed"],
  [snoozed(3_000), 3_000, "open"],
  [snoozed(1_999), 3_000, "returned"],
  [{ kind: "retried", at: 2_500, until: null }, 3_000, "open"],
  [{ kind: "retried", at: 1_500, until: null }, 3_000, "returned"],
] as const)("a group with the decision %j is at %d %s", (decision, now, status) => {
  expect(groupStatus(decision, SEEN, now)).toBe(status);
});
