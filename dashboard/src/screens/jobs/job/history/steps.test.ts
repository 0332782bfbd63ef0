import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../../api/operations.gen.ts";
import { historySteps, type JobEvent } from "./steps.ts";

const AT = "2026-11-18T14:03:22.120Z";
const LATER = "2026-11-18T14:03:22.121Z";
const LAST = "2026-11-19T00:00:00.000Z";

function event(id: string, name: string, at = AT, data = {}): JobEvent {
  return { id, at, event: name, data };
}

function act(id: number, name: string, at = AT, fields: Partial<AuditEntry> = {}): AuditEntry {
  const subject = { kind: "job", name: "01M7" };
  return { id, at, tenant: "acme", name, actor: "ada", reason: null, subject, ...fields };
}

describe("historySteps", () => {
  test("puts events and acts in order of time, under the names that are stored", () => {
    const steps = historySteps(
      [event("1", "job:enqueued"), event("9", "job:started"), event("12", "job:failed", LATER)],
      [act(5, "job_dlq_noted", LAST), act(2, "job_cancel_requested", LATER)],
    );

    expect(steps.map(({ kind, name }) => [kind, name])).toEqual([
      ["event", "job:enqueued"],
      ["event", "job:started"],
      ["act", "job_cancel_requested"],
      ["event", "job:failed"],
      ["act", "job_dlq_noted"],
    ]);
  });

  test("has the enqueue first, then acts by their id, then what they caused", () => {
    const steps = historySteps(
      [event("1", "job:enqueued"), event("2", "job:started"), event("3", "job:cancelled")],
      [act(8, "job_cancel_requested"), act(7, "job_prioritised")],
    );

    expect(steps.map(({ name }) => name)).toEqual([
      "job:enqueued",
      "job_prioritised",
      "job_cancel_requested",
      "job:started",
      "job:cancelled",
    ]);
  });

  test("says who acted and why", () => {
    const reason = "paid twice";
    const [one, two] = historySteps(
      [],
      [act(1, "job_hurried", AT, { reason }), act(2, "job_failed", AT, { actor: null })],
    );

    expect(one?.text).toBe("by ada: paid twice");
    expect(two?.text).toBe("by the application, without a reason");
  });

  test("says the facts of an event without the id of the job", () => {
    const [step] = historySteps(
      [event("1", "job:progress", AT, { id: "01M7", phase: "render", percent: 40 })],
      [],
    );

    expect(step?.text).toBe("phase render, percent 40");
  });
});
