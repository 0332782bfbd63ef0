import { describe, expect, test } from "vitest";
import type { State } from "../core/job.ts";
import type { AttemptView, JobView } from "../face/client.ts";
import { newsOf, NOTHING_TOLD } from "./news.ts";

describe("the news of a job", () => {
  test("begin with where it waits", () => {
    const { news } = newsOf(NOTHING_TOLD, job("queued"), []);

    expect(news).toEqual([{ event: "job:enqueued", state: "queued", runAt: null }]);
  });

  test("are told once", () => {
    const first = newsOf(NOTHING_TOLD, job("running"), []);
    const second = newsOf(first.told, job("running"), []);

    expect(first.news).toEqual([{ event: "job:started", attempt: 1 }]);
    expect(second.news).toEqual([]);
  });

  test("do not leave out a run that began and ended between two looks", () => {
    const { told } = newsOf(NOTHING_TOLD, job("queued"), []);
    const { news } = newsOf(told, job("running"), [attempt({ outcome: "failed" })]);

    expect(news.map(({ event }) => event)).toEqual(["job:started", "job:retrying", "job:started"]);
  });

  test("call no run started that a stop took out of a buffer", () => {
    const { news } = newsOf(NOTHING_TOLD, job("queued"), [
      attempt({ outcome: "interrupted", startedAt: null }),
    ]);

    expect(news.map(({ event }) => event)).toEqual(["job:retrying"]);
  });

  test.each([
    ["completed", "job:completed"],
    ["completed_with_errors", "job:completed"],
    ["failed", "job:failed"],
    ["cancelled", "job:cancelled"],
  ] as const)("end with %s as %s, and not as a retry", (state, event) => {
    const { told } = newsOf(NOTHING_TOLD, job("running"), []);
    const { news } = newsOf(told, job(state), [attempt({})]);

    expect(news.map((each) => each.event)).toEqual([event]);
  });
});

const MOMENT = new Date(0);

function job(state: State): JobView {
  return {
    id: "01JCR5M4X2E8T9V6B3N7K0QWAZ",
    type: "email",
    state,
    tenant: "default",
    lane: "general",
    category: null,
    priority: 100,
    payload: null,
    result: null,
    error: null,
    progress: 0,
    phase: null,
    attempts: 0,
    maxAttempts: 5,
    correlationId: "01JCR5M4X2E8T9V6B3N7K0QWAZ",
    parentId: null,
    retryOf: null,
    idempotencyKey: null,
    dedupKey: null,
    tags: {},
    createdBy: null,
    createdAt: MOMENT,
    runAt: null,
    startedAt: state === "running" ? MOMENT : null,
    finishedAt: null,
    cancelReason: null,
  };
}

function attempt(facts: Partial<AttemptView>): AttemptView {
  return {
    attempts: 1,
    crashes: 0,
    number: 1,
    outcome: "succeeded",
    fence: 1,
    worker: null,
    startedAt: MOMENT,
    finishedAt: MOMENT,
    error: null,
    nextRunAt: null,
    ...facts,
  };
}
