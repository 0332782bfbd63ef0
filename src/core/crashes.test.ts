import { describe, expect, test } from "vitest";
import {
  CRASH_GATE_BY,
  isCrashGate,
  crashedSlots,
  crashGateReason,
  nextProbeMs,
  PROBE_MS_MAX,
  PROBE_MS_MIN,
} from "./crashes.ts";

describe("crashedSlots", () => {
  test.each([
    { slots: 1, once: 1, often: 1 },
    { slots: 2, once: 1, often: 1 },
    { slots: 5, once: 2, often: 1 },
    { slots: 15, once: 7, often: 1 },
    { slots: 16, once: 8, often: 2 },
    { slots: 100, once: 50, often: 12 },
  ])("gives of $slots slots a half and an eighth, and at least one", ({ slots, once, often }) => {
    expect(crashedSlots(slots)).toEqual({ once, often });
  });
});

describe("nextProbeMs", () => {
  test("doubles the wait, from a minute to an hour", () => {
    const waits = [nextProbeMs(0)];
    while (waits.length < 8) waits.push(nextProbeMs(waits.at(-1) ?? 0));

    expect(waits.map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect([PROBE_MS_MIN, PROBE_MS_MAX]).toEqual([waits[0], waits.at(-1)]);
  });
});

describe("crashGateReason", () => {
  test("names the number of jobs, and how the gate opens", () => {
    expect(crashGateReason(3)).toBe(
      "3 jobs of this type have killed their process, each while it ran alone; " +
        "one job at a time is tried alone, and a success opens the gate",
    );
  });
});

describe("isCrashGate", () => {
  test.each([
    ["type", CRASH_GATE_BY, true],
    ["type", "ada", false],
    ["type", null, false],
    ["lane", CRASH_GATE_BY, false],
  ])("tells the pause of a %s by %s from others", (kind, by, expected) => {
    expect(isCrashGate(kind, by)).toBe(expected);
  });
});
