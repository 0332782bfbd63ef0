import { describe, expect, test } from "vitest";
import { timeOfChange } from "./change-time.ts";
import type { JobChange, JobSnapshot } from "./job-changes.ts";

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 17, 12, 0, second));
const UNITS = { total: 0, planned: 0, running: 0, completed: 0, failed: 0 };

describe("the time of a change", () => {
  test.each<[JobChange, Date | null]>([
    [{ event: "job:enqueued", state: "queued", runAt: null }, at(0)],
    [{ event: "job:started", attempt: 1 }, at(1)],
    [{ event: "job:retrying", attempt: 1, outcome: "failed", error: null, runAt: null }, at(2)],
    [{ event: "job:started", attempt: 2 }, at(3)],
    [{ event: "job:phase:started", phase: "fetch" }, at(4)],
    [{ event: "job:phase:completed", phase: "fetch", units: UNITS }, at(5)],
    [{ event: "job:unit:failed", phase: "render", unit: "7", error: null }, at(6)],
    [{ event: "job:phase:failed", phase: "render" }, at(2)],
    [{ event: "job:failed", error: null }, at(8)],
    [{ event: "job:progress", phase: "render", percent: 50, overall: 75, data: null }, at(7)],
    [{ event: "job:units", phase: "render", units: UNITS }, null],
    [{ event: "job:log:missed", lines: 3 }, null],
  ])("is when it happened: %j", (change, time) => {
    expect(timeOfChange(change, snapshot())).toEqual(time);
  });
});

/** The facts about a job that has failed in its second run. */
function snapshot(): JobSnapshot {
  const phases = [
    { name: "fetch", startedAt: at(4), finishedAt: at(5) },
    { name: "render", startedAt: at(5), finishedAt: null },
  ];
  const facts: any = {
    job: { createdAt: at(0), startedAt: at(3), finishedAt: at(8) },
    attempts: [{ startedAt: at(1), finishedAt: at(2) }],
    progress: { phases, at: at(7) },
    failed: [{ phase: "render", key: "7", at: at(6) }],
  };
  return facts;
}
