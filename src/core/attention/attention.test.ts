import { describe, expect, test } from "vitest";
import { attentionOf, neededFacts, type FactReport } from "./attention.ts";
import type {
  BreakerFact,
  CauseFact,
  Facts,
  OperationFact,
  PauseFact,
  ScheduleFact,
  WaitingFact,
  WorkerFact,
} from "./facts.ts";
import type { AttentionFinding } from "./finding.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ERROR = { class: "retryable", name: "Error", message: "secret-7" } as const;

const QUIET: Facts = {
  breakers: [],
  causes: [],
  groups: [],
  workers: [],
  runs: [],
  schedules: [],
  pauses: [],
  intakes: [],
  letters: [],
  operations: [],
};

const REPORT: FactReport = {
  now: NOW,
  isOneTenant: false,
  unread: new Set(),
  partial: new Set(),
};

function findingsIn(
  facts: Partial<Facts>,
  report: Partial<FactReport> = {},
): readonly AttentionFinding[] {
  return attentionOf({ ...QUIET, ...facts }, { ...REPORT, ...report }).findings;
}

/** The only finding, which the test is about. */
function findingIn(facts: Partial<Facts>): AttentionFinding {
  const findings = findingsIn(facts);
  expect(findings).toHaveLength(1);
  return findings[0]!;
}

const counted = (count: number, atLeast = false) => ({ count, atLeast });

function worker(overrides: Partial<WorkerFact> = {}): WorkerFact {
  return {
    id: "w1",
    host: "mill-7",
    pid: 12,
    types: ["email"],
    lanes: ["general"],
    tenant: null,
    isAlive: true,
    isQuiet: false,
    heartbeatAgoMs: 500,
    running: 0,
    ...overrides,
  };
}

function group(overrides: Partial<WaitingFact> = {}): WaitingFact {
  return {
    type: "email",
    lane: "general",
    tenant: "acme",
    waiting: counted(1),
    oldestMs: 10 * MINUTE,
    ...overrides,
  };
}

describe("attention", () => {
  test("finds nothing where nothing is, and says what was checked", () => {
    const { findings, checked } = attentionOf(QUIET, REPORT);

    expect(findings).toEqual([]);
    expect(checked).toHaveLength(12);
    expect(checked.every(({ status, findings: found }) => status === "well" && found === 0)).toBe(
      true,
    );
    expect(checked.map(({ about }) => about)).toContain("error rates");
  });

  test("says which rules could not be checked, and finds what the others tell", () => {
    const facts = { ...QUIET, runs: [{ type: "email", runs: 20, errors: 20 }], groups: [group()] };
    const unread = new Set(["groups"] as const);

    const { findings, checked } = attentionOf(facts, { ...REPORT, unread });

    expect(findings.map(({ rule }) => rule)).toEqual(["error_rate"]);
    const statuses = Object.fromEntries(checked.map(({ rule, status }) => [rule, status]));
    expect(statuses).toMatchObject({
      no_worker: "unread",
      not_taken: "unread",
      waiting: "unread",
      worker_silent: "well",
      error_rate: "found",
    });
  });

  test("says which facts were not read completely", () => {
    const { checked } = attentionOf(QUIET, { ...REPORT, partial: new Set(["letters"] as const) });

    expect(checked.filter(({ isPartial }) => isPartial).map(({ rule }) => rule)).toEqual([
      "dead_letters",
    ]);
  });

  test("tells a tenant nothing about workers, services and runs", () => {
    const facts = { ...QUIET, runs: [{ type: "email", runs: 20, errors: 20 }], workers: null };

    const { findings, checked } = attentionOf(facts, { ...REPORT, isOneTenant: true });

    expect(findings).toEqual([]);
    expect(checked.map(({ rule }) => rule)).toEqual([
      "waiting",
      "failure_cause",
      "dead_letters",
      "schedule",
      "pause",
      "intake",
      "operation",
    ]);
    expect(neededFacts({ isOneTenant: true }).toSorted()).toEqual([
      "causes",
      "groups",
      "intakes",
      "letters",
      "operations",
      "pauses",
      "schedules",
    ]);
    expect(neededFacts({ isOneTenant: false })).toHaveLength(10);
  });

  test("tells broken ones first, then the oldest, and at most 20 of a rule", () => {
    const pause = { kind: "type", reason: "", by: null, isOfEngine: false } as const;
    const pauses = Array.from({ length: 25 }, (_, index) => {
      return { ...pause, name: `t${index}`, closedAt: NOW - (2 + index) * DAY };
    });
    const operations = [operation({ id: "o1" }), operation({ id: "o2", finishedAt: NOW - 5 })];
    const runs = [{ type: "email", runs: 20, errors: 20 }];
    const facts = { ...QUIET, pauses, operations, runs };

    const { findings, checked } = attentionOf(facts, REPORT);

    const names = findings.map(({ subject }) => subject.name);
    expect(names.slice(0, 5)).toEqual(["o1", "o2", "email", "t24", "t23"]);
    expect(findings).toHaveLength(23);
    expect(checked.find(({ rule }) => rule === "pause")?.findings).toBe(25);
  });

  test("names no text of an error in a sentence", () => {
    const findings = findingsIn({
      breakers: [breaker({ reason: ERROR.message })],
      causes: [cause()],
      operations: [operation({ error: ERROR })],
      pauses: [pauseOf({ reason: ERROR.message })],
      intakes: [{ kind: "type", name: "a", reason: ERROR.message, by: null, closedAt: 0 }],
    });

    expect(findings).toHaveLength(5);
    for (const { sentence, details } of findings) {
      expect(sentence).not.toContain(ERROR.message);
      expect(JSON.stringify(details)).toContain(ERROR.message);
    }
  });
});

describe("jobs that wait", () => {
  test.each([
    ["fast", 2 * MINUTE, 0],
    ["fast", 2 * MINUTE + 1, 1],
    ["general", 5 * MINUTE, 0],
    ["general", 5 * MINUTE + 1, 1],
  ])("in the lane %s for %i ms are %i finding(s)", (lane, oldestMs, count) => {
    const groups = [group({ lane, oldestMs }), group({ lane, type: "sms", oldestMs: null })];
    const workers = [worker({ types: ["email", "sms"] })];

    const found = findingsIn({ groups, workers });

    expect(found).toHaveLength(count);
  });

  test("are counted by lane, with the time since which the oldest is due", () => {
    const groups = [
      group({ oldestMs: 6 * MINUTE, waiting: counted(3) }),
      group({ tenant: "umbra", oldestMs: 10 * MINUTE, waiting: counted(4, true) }),
    ];

    expect(findingIn({ groups, workers: [worker()] })).toEqual({
      rule: "waiting",
      level: "broken",
      subject: { kind: "lane", name: "general" },
      sentence:
        "The oldest waiting job of the lane general has been due for 10 min, and 5 min are " +
        "expected; at least 7 jobs wait there.",
      details: {
        lane: "general",
        ageMs: 10 * MINUTE,
        targetMs: 5 * MINUTE,
        waiting: counted(7, true),
      },
      since: new Date(NOW - 10 * MINUTE),
      screen: "lanes",
      action: { operation: null, command: "millrace lanes" },
    });
  });

  test("count for their lane also if the workers are not known", () => {
    const found = findingsIn({ groups: [group()], workers: null });

    expect(found.map(({ rule }) => rule)).toEqual(["waiting"]);
  });

  test.each([
    [{ type: "emial" }, "type", "No worker takes the type emial: 1 job waits. Did you mean email?"],
    [{ type: "archive" }, "type", "No worker takes the type archive: 1 job waits."],
    [{ lane: "slow" }, "lane", "No worker takes the type email of the lane slow: 1 job waits."],
    [
      { tenant: "beta" },
      "tenant",
      "No worker takes the type email of the tenant beta: 1 job waits.",
    ],
  ])("for a worker that takes %j", (overrides, missing, sentence) => {
    const workers = [worker({ lanes: ["fast", "other"], tenant: "acme" })];
    const groups = [group({ lane: "fast", ...overrides })];

    const found = findingIn({ groups, workers });

    expect(found).toMatchObject({ rule: "not_taken", level: "broken", sentence });
    expect(found.details).toMatchObject({ missing });
  });

  test("for a worker that takes their type are one finding for all tenants", () => {
    const groups = [group({ type: "sms" }), group({ type: "sms", tenant: "b", oldestMs: null })];

    const found = findingIn({ groups, workers: [worker()] });

    expect(found.details).toMatchObject({ type: "sms", waiting: counted(2) });
  });

  test("for a worker during a deploy are no finding", () => {
    const groups = [group({ type: "sms", oldestMs: MINUTE - 1 })];

    expect(findingsIn({ groups, workers: [worker()] })).toEqual([]);
    expect(findingsIn({ groups, workers: [] })).toEqual([]);
  });

  test.each([
    [[], "1 job waits, and no worker is running.", 0],
    [[worker({ isQuiet: true })], "1 job waits, and every worker is quiet.", 1],
  ])("without a worker are one finding", (workers, sentence, quiet) => {
    const found = findingIn({ groups: [group()], workers });

    expect(found).toMatchObject({ rule: "no_worker", level: "broken", sentence });
    expect(found.details).toEqual({ waiting: counted(1), quiet });
    expect(found.since).toEqual(new Date(NOW - 10 * MINUTE));
  });
});

test("a worker is silent when its heartbeats are missing", () => {
  const silent = worker({ id: "w2", isAlive: false, heartbeatAgoMs: 8_000, running: 3 });

  const found = findingIn({ workers: [worker(), silent] });

  expect(found).toMatchObject({
    rule: "worker_silent",
    subject: { kind: "worker", name: "w2" },
    sentence:
      "The worker w2 (process 12 on mill-7) has sent no heartbeat for 8 s; it holds 3 jobs.",
    since: new Date(NOW - 8_000),
  });
});

function breaker(overrides: Partial<BreakerFact> = {}): BreakerFact {
  return {
    service: "bank",
    state: "open",
    failures: 5,
    types: ["pay"],
    waiting: counted(1),
    openedAt: NOW - MINUTE,
    probeAt: NOW + MINUTE,
    reason: "down",
    by: null,
    ...overrides,
  };
}

describe("a breaker", () => {
  test.each([
    [
      {},
      "broken",
      "The breaker of the service bank is open, and the next probe is due at " +
        "2026-01-15T12:01:00.000Z; 1 job waits for it.",
    ],
    [
      { probeAt: null, by: "ada", waiting: counted(0) },
      "look",
      "The breaker of the service bank is open until it is reset; no job waits for it.",
    ],
    [
      { state: "half_open", waiting: counted(2, true) },
      "look",
      "The breaker of the service bank is half open: one job tries the service; " +
        "at least 2 jobs wait for it.",
    ],
  ] as const)("that is %j is a finding", (overrides, level, sentence) => {
    const found = findingIn({ breakers: [breaker(overrides)] });

    expect(found).toMatchObject({ rule: "breaker", level, sentence, since: expect.any(Date) });
  });

  test("that is closed is none", () => {
    expect(findingsIn({ breakers: [breaker({ state: "closed" })] })).toEqual([]);
  });
});

function cause(overrides: Partial<CauseFact> = {}): CauseFact {
  return {
    cause: "0123456789abcdef",
    status: "new",
    jobs: counted(3),
    types: ["a", "b", "c", "d", "e"],
    firstAt: NOW - 5_000,
    lastAt: NOW - 1_000,
    jobId: "j1",
    error: ERROR,
    ...overrides,
  };
}

describe("failures", () => {
  test.each([
    ["new", NOW - 5_000, /^A new cause of failure, 0123456789abcdef: 3 jobs of a, b, c and 2 more/],
    ["returned", NOW - 1_000, /^The cause of failure 0123456789abcdef has returned: 3 jobs/],
  ] as const)("of a %s cause are a finding", (status, since, sentence) => {
    const found = findingIn({ causes: [cause({ status })] });

    expect(found).toMatchObject({ rule: "failure_cause", level: "look", since: new Date(since) });
    expect(found.sentence).toMatch(sentence);
  });

  test.each(["open", "acknowledged", "snoozed"] as const)(
    "of a cause that is %s are none",
    (status) => {
      expect(findingsIn({ causes: [cause({ status })] })).toEqual([]);
    },
  );

  test.each([
    [20, 4, 1],
    [20, 3, 0],
    [19, 19, 0],
    [100, 20, 1],
  ])("in %i runs with %i errors are %i finding(s)", (runs, errors, count) => {
    expect(findingsIn({ runs: [{ type: "email", runs, errors }] })).toHaveLength(count);
  });

  test("are told as a share", () => {
    const found = findingIn({ runs: [{ type: "email", runs: 40, errors: 10 }] });

    expect(found.sentence).toBe("25 % of 40 runs of the type email have failed within 15 min.");
    expect(found.details).toMatchObject({ errorRate: 0.25, withinMs: 900_000 });
  });

  test.each([
    [[{ type: "pay", old: 1, oldestAt: NOW - 2 * DAY }], /^1 dead letter waits for a review/],
    [
      [
        { type: "pay", old: 2, oldestAt: NOW - 2 * DAY },
        { type: "pay", old: 1, oldestAt: NOW - 3 * DAY },
        { type: "sms", old: 0, oldestAt: NOW - 9 },
      ],
      /^3 dead letters wait for a review for more than 1 d: jobs of pay\.$/,
    ],
  ])("without a review are one finding", (letters, sentence) => {
    const found = findingIn({ letters });

    expect(found).toMatchObject({ rule: "dead_letters", level: "look" });
    expect(found.sentence).toMatch(sentence);
    expect(found.since).toEqual(new Date(Math.min(...letters.map(({ oldestAt }) => oldestAt))));
  });

  test("that died today are none", () => {
    expect(findingsIn({ letters: [{ type: "pay", old: 0, oldestAt: NOW - 5 }] })).toEqual([]);
  });
});

function schedule(overrides: Partial<ScheduleFact> = {}): ScheduleFact {
  return {
    name: "nightly",
    type: "report",
    isPaused: false,
    isDeclared: true,
    nextSlot: NOW + DAY,
    lastTick: { outcome: "well", slot: NOW - DAY },
    lastJobId: "j1",
    hasFailed: false,
    ...overrides,
  };
}

describe("a schedule", () => {
  const late = { nextSlot: NOW - 2 * MINUTE - 1 };
  const slot = NOW - DAY;

  test.each([
    [late, "late", "broken"],
    [{ ...late, isDeclared: false }, "undeclared", "look"],
    [{ lastTick: { outcome: "missed", slot } }, "missed", "look"],
    [{ lastTick: { outcome: "intake_closed", slot } }, "intake_closed", "look"],
    [{ lastTick: { outcome: "refused", slot }, hasFailed: true }, "refused", "broken"],
    [{ lastTick: { outcome: "over_quota", slot } }, "over_quota", "broken"],
    [{ lastTick: { outcome: "missed", slot }, hasFailed: true }, "failed", "broken"],
    [{ lastTick: null, hasFailed: true }, "failed", "broken"],
  ] as const)("with %j is a finding: %s", (overrides, problem, level) => {
    const found = findingIn({ schedules: [schedule(overrides)] });

    expect(found).toMatchObject({ rule: "schedule", level, details: { problem } });
    expect(found.sentence).toContain("nightly");
    expect(found.details).toMatchObject({ jobId: problem === "failed" ? "j1" : null });
  });

  test.each([
    {},
    { nextSlot: NOW - 2 * MINUTE },
    { nextSlot: null },
    { lastTick: null },
    { ...late, isPaused: true },
  ])("with %j is none", (overrides) => {
    expect(findingsIn({ schedules: [schedule(overrides)] })).toEqual([]);
  });
});

function pauseOf(overrides: Partial<PauseFact> = {}): PauseFact {
  return {
    kind: "type",
    name: "email",
    reason: "a bug",
    by: "ada",
    closedAt: NOW - DAY - 1,
    isOfEngine: false,
    ...overrides,
  };
}

describe("a pause", () => {
  test.each([
    [{}, "types", "The type email has been paused for 1 d.", "millrace resume --type email"],
    [
      { kind: "lane", name: "a b" },
      "lanes",
      "The lane a b has been paused for 1 d.",
      "millrace resume --lane 'a b'",
    ],
    [
      { kind: "installation", name: "all" },
      "settings",
      "The whole installation has been paused for 1 d.",
      "millrace resume --all",
    ],
  ] as const)("that is %j is a finding after a day", (overrides, screen, sentence, command) => {
    const found = findingIn({ pauses: [pauseOf(overrides)] });

    expect(found).toMatchObject({ rule: "pause", level: "look", screen, sentence });
    expect(found.action).toEqual({ operation: "resume", command });
  });

  test("of today is none, unless the engine has made it", () => {
    const today = { closedAt: NOW - DAY };

    expect(findingsIn({ pauses: [pauseOf(today)] })).toEqual([]);
    expect(findingIn({ pauses: [pauseOf({ ...today, isOfEngine: true })] })).toMatchObject({
      level: "broken",
      sentence: "The engine has paused the type email, because its jobs end their process.",
    });
  });
});

test("a closed intake is a finding after a day", () => {
  const intake = { kind: "tenant", name: "acme", reason: "unpaid", by: "ada" } as const;
  const intakes = [
    { ...intake, closedAt: NOW - DAY - 1 },
    { ...intake, name: "beta", closedAt: NOW - DAY },
  ];

  expect(findingIn({ intakes })).toMatchObject({
    rule: "intake",
    level: "look",
    sentence: "The tenant acme has refused new jobs for 1 d.",
    action: { operation: "openIntake", command: "millrace intake open --tenant acme" },
  });
});

function operation(overrides: Partial<OperationFact> = {}): OperationFact {
  return {
    id: "o1",
    action: "retry",
    status: "failed",
    createdAt: NOW - 3 * MINUTE,
    finishedAt: NOW - MINUTE,
    error: { name: "Error", message: "gone" },
    isNext: false,
    ...overrides,
  };
}

describe("an operation", () => {
  const pending = { status: "pending", finishedAt: null, error: null, isNext: true } as const;

  test.each([
    [{}, "failed", "The operation o1 (retry) has failed.", NOW - MINUTE],
    [{ finishedAt: null }, "failed", "The operation o1 (retry) has failed.", NOW - 3 * MINUTE],
    [
      pending,
      "no_runner",
      "The operation o1 (retry) waits for a process that runs it.",
      NOW - 3 * MINUTE,
    ],
  ] as const)("with %j is a finding", (overrides, problem, sentence, since) => {
    const found = findingIn({ operations: [operation(overrides)] });

    expect(found).toMatchObject({ rule: "operation", level: "broken", sentence });
    expect(found).toMatchObject({ details: { problem }, since: new Date(since) });
  });

  test.each([
    { finishedAt: NOW - DAY },
    { ...pending, createdAt: NOW - MINUTE },
    { ...pending, isNext: false },
    { status: "running", finishedAt: null },
  ] as const)("with %j is none", (overrides) => {
    expect(findingsIn({ operations: [operation(overrides)] })).toEqual([]);
  });
});
