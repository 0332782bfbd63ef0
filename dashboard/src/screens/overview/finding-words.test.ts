import { describe, expect, test } from "vitest";
import { saidOf } from "./finding-words.ts";
import type { Finding } from "./findings.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

/** The parts that the page reads. */
const finding = (given: object): Finding => JSON.parse(JSON.stringify(given));

describe("a finding", () => {
  const breaker = { service: "bank", state: "open", waiting: { count: 11, atLeast: false } };

  test("of a breaker says when a job tries the service", () => {
    const probeAt = new Date(NOW + 38_000).toISOString();
    const open = finding({ rule: "breaker", details: { ...breaker, probeAt } });

    expect(saidOf(open, NOW)).toEqual({
      line: "Breaker bank is open",
      more: "11 jobs wait, and none loses an attempt. Next probe in 38 s.",
    });
    expect(saidOf(open, NOW + 60_000).more).toContain("A probe is due.");
  });

  test("of a breaker that a person has opened says who closes it", () => {
    const waiting = { count: 1, atLeast: false };
    const details = { ...breaker, waiting, probeAt: null };

    expect(saidOf(finding({ rule: "breaker", details }), NOW).more).toBe(
      "1 job waits, and none loses an attempt. It stays open until a person resets it.",
    );
  });

  test("of a cause shows the error", () => {
    const cause = finding({
      rule: "failure_cause",
      details: {
        status: "returned",
        jobs: { count: 10_000, atLeast: true },
        types: ["invoice", "email"],
        error: { name: "TypeError", message: "no vatId" },
      },
    });

    expect(saidOf(cause, NOW)).toEqual({
      line: "Cause came back: TypeError: no vatId",
      more: "10,000+ jobs of invoice, email failed with it.",
    });
  });

  test("of another rule says what the API says", () => {
    expect(saidOf(finding({ rule: "waiting", sentence: "3 jobs wait." }), NOW)).toEqual({
      line: "3 jobs wait.",
      more: null,
    });
  });
});
