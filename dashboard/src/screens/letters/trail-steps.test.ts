import { describe, expect, it } from "vitest";
import type { AuditEntry, DeadLetter } from "../../api/operations.gen.ts";
import { trailSteps } from "./trail-steps.ts";

const LETTER: DeadLetter = {
  id: "1",
  jobId: "1",
  status: "reprocessed",
  error: null,
  cause: "a",
  type: "email",
  tenant: "default",
  attempts: 1,
  diedAt: "2026-11-18T12:00:01.000Z",
  reviewedBy: null,
  reviewedAt: null,
  notes: null,
  assignedTo: null,
  reviews: [
    review("2026-11-18T12:01:00.000Z", "assigned", "jonas"),
    {
      ...review("2026-11-18T12:02:00.000Z", "reprocessed", null),
      changes: [{ path: "/currency", before: "dkk", after: "DKK" }],
    },
  ],
  category: null,
  correlationId: null,
  idempotencyKey: null,
  dedupKey: null,
  concurrencyKey: null,
  originalCreatedAt: "2026-11-18T12:00:00.000Z",
  history: [
    { number: 1, outcome: "timed_out", finishedAt: "2026-11-18T12:00:01.000Z", error: null },
  ],
  successorId: "2",
};

function review(
  at: string,
  act: DeadLetter["reviews"][number]["act"],
  to: string | null,
): DeadLetter["reviews"][number] {
  return { at, by: "ines", act, notes: null, to, changes: [] };
}

function entry(at: string, name: string): AuditEntry {
  const subject = { kind: "job", name: "1" };
  return { id: 1, at, tenant: null, name, actor: "ada", reason: null, subject };
}

describe("trailSteps", () => {
  it("tells what happened, newest first", () => {
    expect(trailSteps(LETTER, []).map(({ by, text }) => `${by} ${text}`)).toEqual([
      "ines reprocessed it with 1 changed place",
      "ines assigned it to jonas",
      "null attempt 1 ended: timed out",
      "null job enqueued",
    ]);
  });

  it("adds what the audit knows beside the reviews", () => {
    const audit = [
      entry("2026-11-18T12:00:00.500Z", "job_prioritised"),
      entry("2026-11-18T12:01:00.000Z", "job_dlq_assigned"),
    ];
    const texts = trailSteps(LETTER, audit).map(({ text }) => text);
    expect(texts).toHaveLength(5);
    expect(texts[3]).toBe("job prioritised");
  });

  it("keeps the changes of the payload", () => {
    expect(trailSteps(LETTER, [])[0]?.changes).toHaveLength(1);
  });
});
