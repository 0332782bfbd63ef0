import { describe, expect, test } from "vitest";
import type { State } from "../../core/job.ts";
import type { AttemptView, JobView } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";
import type { PhaseView, ProgressView, UnitCounts, UnitView } from "../../api/progress.ts";
import { changesSince, NOTHING_REPORTED, type JobChange, type JobSnapshot } from "./job-changes.ts";

describe("the changes of a job", () => {
  test("begin with where it waits", () => {
    expect(reported(snapshot("queued"))).toEqual([
      { event: "job:enqueued", state: "queued", runAt: null },
    ]);
  });

  test("name each reason to wait once", () => {
    const words = { sentence: "No worker runs.", hint: "Start one." };
    const wait = { ...words, reason: "no_worker" } as const;
    const waiting = snapshot("queued", { wait });
    const paused = snapshot("queued", { wait: { ...wait, reason: "paused" } });

    expect(reported(waiting, waiting, paused).slice(1)).toEqual([
      { event: "job:waiting", ...wait },
      { event: "job:waiting", ...wait, reason: "paused" },
    ]);
  });

  test("are reported once", () => {
    expect(reported(snapshot("running"), snapshot("running"))).toEqual([
      { event: "job:started", attempt: 1 },
    ]);
  });

  test("do not leave out a run that began and ended between two looks", () => {
    const later = snapshot("running", { attempts: [attempt({ outcome: "failed" })] });

    expect(eventsOf(snapshot("queued"), later)).toEqual([
      "job:enqueued",
      "job:started",
      "job:retrying",
      "job:started",
    ]);
  });

  test("call no run started that a stop took out of a buffer", () => {
    const attempts = [attempt({ outcome: "interrupted", startedAt: null })];

    expect(eventsOf(snapshot("queued", { attempts }))).toEqual(["job:retrying"]);
  });

  test.each([
    ["completed", "job:completed"],
    ["completed_with_errors", "job:completed"],
    ["failed", "job:failed"],
    ["cancelled", "job:cancelled"],
  ] as const)("end with %s as %s, and not as a retry", (state, event) => {
    const end = snapshot(state, { attempts: [attempt({})] });

    expect(eventsOf(snapshot("running"), end)).toEqual(["job:started", event]);
  });
});

describe("the changes of phases", () => {
  test("say of each when it began and how it ended", () => {
    const first = snapshot("running", { progress: at("a", [phase("a", "running"), phase("b")]) });
    const then = snapshot("running", {
      progress: at("b", [phase("a", "completed"), phase("b", "running")]),
    });
    const end = snapshot("failed", {
      attempts: [attempt({ outcome: "failed" })],
      progress: at("b", [phase("a", "completed"), phase("b", "failed")]),
    });

    expect(phasesOf(first, then, then, end)).toEqual([
      "job:phase:started a",
      "job:phase:completed a",
      "job:phase:started b",
      "job:phase:failed b",
    ]);
  });

  test("leave out neither the start nor the end of one that was quicker than a look", () => {
    const end = snapshot("completed", {
      attempts: [attempt({})],
      progress: at("b", [phase("a", "completed"), phase("b", "completed")]),
    });

    expect(eventsOf(snapshot("queued"), end)).toEqual([
      "job:enqueued",
      "job:started",
      "job:phase:started",
      "job:phase:completed",
      "job:phase:started",
      "job:phase:completed",
      "job:completed",
    ]);
  });

  test("report of a later run only the phases that it runs", () => {
    const first = snapshot("running", {
      progress: at("b", [phase("a", "completed"), phase("b", "running")]),
    });
    const second = { ...first, attempts: [attempt({ outcome: "failed" })] };

    expect(phasesOf(first, second)).toEqual([
      "job:phase:started a",
      "job:phase:completed a",
      "job:phase:started b",
      "job:phase:started b",
    ]);
  });

  test("report all of them again when a later run begins anew", () => {
    const first = snapshot("running", {
      progress: at("b", [phase("a", "completed"), phase("b", "running")]),
    });
    const second = snapshot("running", {
      attempts: [attempt({ outcome: "failed" })],
      progress: at("a", [phase("a", "running"), phase("b")]),
    });

    expect(phasesOf(first, second).slice(3)).toEqual(["job:phase:started a"]);
  });

  test("name the one that a cancellation cut off, and not those that never began", () => {
    const first = snapshot("running", { progress: at("a", [phase("a", "running"), phase("b")]) });
    const end = snapshot("cancelled", {
      attempts: [attempt({})],
      progress: at("a", [phase("a", "cancelled"), phase("b", "cancelled")]),
    });

    expect(phasesOf(first, end)).toEqual(["job:phase:started a", "job:phase:cancelled a"]);
  });
});

describe("the changes of progress", () => {
  test("come in steps of ten percent", () => {
    const percents = [0, 4, 9, 10, 11, 19, 35, 36, 99, 100];
    const looks = percents.map((percent) =>
      snapshot("running", { progress: at("a", [{ ...phase("a", "running"), percent }]) }),
    );

    expect(percentsOf(...looks)).toEqual([10, 35, 99, 100]);
  });

  test("count anew for every phase, and for every run", () => {
    const inA = at("a", [{ ...phase("a", "running"), percent: 50 }, phase("b")]);
    const inB = at("b", [phase("a", "completed"), { ...phase("b", "running"), percent: 20 }]);
    const again = { attempts: [attempt({ outcome: "failed" })] };

    expect(
      percentsOf(
        snapshot("running", { progress: inA }),
        snapshot("running", { progress: inB }),
        snapshot("running", { progress: inB, ...again }),
      ),
    ).toEqual([50, 20, 20]);
  });

  test("have the percent of the phase and of the job, and say how many units have ended", () => {
    const units = counts({ total: 8, completed: 2, failed: 1, running: 5 });
    const current = { ...phase("a", "running"), percent: 37, units };
    const progress = { ...at("a", [current, phase("b")]), percent: 19, units };

    expect(reported(snapshot("running", { progress })).slice(-2)).toEqual([
      { event: "job:progress", phase: "a", percent: 37, overall: 19, data: null },
      { event: "job:units", phase: "a", units },
    ]);
  });

  test("come without a count where there are no units", () => {
    const progress = { ...at("a", [{ ...phase("a", "running"), percent: 37 }]), percent: 37 };

    const events = reported(snapshot("running", { progress })).map(({ event }) => event);

    expect(events).toContain("job:progress");
    expect(events).not.toContain("job:units");
  });

  test("come from a job without phases as well", () => {
    const progress = { ...at(null, []), percent: 40, phasePercent: 40 };

    expect(percentsOf(snapshot("running", { progress }))).toEqual([40]);
  });
});

describe("the changes of units", () => {
  test("name each failure once, and again when a later run fails the same", () => {
    const first = snapshot("running", { failed: [unit("x", 1)] });
    const more = snapshot("running", { failed: [unit("w", 2), unit("x", 1)] });
    const later = snapshot("running", {
      attempts: [attempt({ outcome: "failed" })],
      failed: [unit("w", 2), unit("x", 3)],
    });

    const failures = reported(first, more, more, later).filter(isFailure);
    expect(failures.map((changes) => changes.unit)).toEqual(["x", "w", "x"]);
    expect(failures[0]).toMatchObject({ phase: "a", error: { message: "no x" } });
  });

  test("come between the start and the end of their phase", () => {
    const end = snapshot("completed_with_errors", {
      attempts: [attempt({})],
      progress: at("b", [phase("a", "completed"), phase("b", "completed")]),
      failed: [unit("x", 1)],
    });

    expect(eventsOf(end).slice(1, 5)).toEqual([
      "job:phase:started",
      "job:unit:failed",
      "job:phase:completed",
      "job:phase:started",
    ]);
  });

  test("come from a job without phases as well", () => {
    const failed = [{ ...unit("x", 1), phase: null }];

    expect(eventsOf(snapshot("running", { failed }))).toEqual(["job:started", "job:unit:failed"]);
  });
});

describe("the changes of the log", () => {
  test("have every line with its own time, before the end", () => {
    const log = { missed: 0, lines: [line(1, 1), line(2, 1)] };
    const end = snapshot("completed", { attempts: [attempt({})], log });

    const changes = reported(end);
    expect(changes.map(({ event }) => event)).toEqual([
      "job:started",
      "job:log",
      "job:log",
      "job:completed",
    ]);
    expect(changes[1]).toMatchObject({ line: 1, message: "line 1", loggedAt: MOMENT });
  });

  test("put the lines of a run before its end", () => {
    const log = { missed: 0, lines: [line(1, 1), line(2, 2)] };

    const attempts = [attempt({ outcome: "failed" })];
    expect(eventsOf(snapshot("running", { attempts, log }))).toEqual([
      "job:started",
      "job:log",
      "job:retrying",
      "job:started",
      "job:log",
    ]);
  });

  test("say how many lines were not kept", () => {
    const log = { missed: 7, lines: [line(8, 1)] };

    expect(reported(snapshot("running", { log }))).toContainEqual({
      event: "job:log:missed",
      lines: 7,
    });
  });
});

/** All that is reported at these looks, one after the other. */
function reported(...snapshots: readonly JobSnapshot[]): readonly JobChange[] {
  let known = NOTHING_REPORTED;
  return snapshots.flatMap((each) => {
    const { changes, reported: next } = changesSince(known, each);
    known = next;
    return changes;
  });
}

function eventsOf(...snapshots: readonly JobSnapshot[]): string[] {
  return reported(...snapshots).map(({ event }) => event);
}

function phasesOf(...snapshots: readonly JobSnapshot[]): string[] {
  return reported(...snapshots).flatMap((changes) =>
    changes.event.startsWith("job:phase:") && "phase" in changes
      ? [`${changes.event} ${changes.phase}`]
      : [],
  );
}

function percentsOf(...snapshots: readonly JobSnapshot[]): number[] {
  return reported(...snapshots).flatMap((changes) =>
    changes.event === "job:progress" ? [changes.percent] : [],
  );
}

function isFailure(
  changes: JobChange,
): changes is Extract<JobChange, { event: "job:unit:failed" }> {
  return changes.event === "job:unit:failed";
}

const MOMENT = new Date(0);

function snapshot(state: State, facts: Partial<JobSnapshot> = {}): JobSnapshot {
  const { progress = at(null, []), ...rest } = facts;
  return {
    job: job(state),
    attempts: [],
    failed: [],
    log: { missed: 0, lines: [] },
    wait: null,
    ...rest,
    progress: { ...progress, state },
  };
}

function at(name: string | null, phases: readonly PhaseView[]): ProgressView {
  return {
    state: "running",
    percent: 0,
    phase: name,
    phasePercent: 0,
    data: null,
    at: null,
    phases,
    units: counts({}),
  };
}

function phase(name: string, state: PhaseView["state"] = "pending"): PhaseView {
  const percent = state === "completed" ? 100 : 0;
  const times = { startedAt: null, finishedAt: null };
  return { name, state, percent, result: null, ...times, units: counts({}) };
}

function counts(some: Partial<UnitCounts>): UnitCounts {
  return { total: 0, planned: 0, running: 0, completed: 0, failed: 0, ...some };
}

function unit(key: string, atMs: number): UnitView {
  const error = { class: "retryable", name: "Error", message: `no ${key}` } as const;
  return { key, phase: "a", state: "failed", result: null, error, at: new Date(atMs) };
}

function line(number: number, run: number): LogView {
  const message = `line ${number}`;
  return { line: number, attempt: run, at: MOMENT, level: "info", message, fields: null };
}

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
    payloadVersion: null,
    result: null,
    outcome: null,
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
    concurrencyKey: null,
    tags: {},
    createdBy: null,
    createdAt: MOMENT,
    scheduledAt: MOMENT,
    runAt: null,
    startedAt: state === "running" ? MOMENT : null,
    finishedAt: null,
    cancelReason: null,
    heldBy: null,
    stale: false,
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
