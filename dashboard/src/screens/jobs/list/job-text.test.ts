import { describe, expect, test } from "vitest";
import { attemptNow, errorLine, heldLine, runMs, titleOf, valueAt, waitMs } from "./job-text.ts";

describe("the title of a job", () => {
  test.each([
    [{ id: 7, title: "Statement run\n2026" }, "Statement run 2026"],
    [{ to: "ada@example.com", body: "x" }, "ada@example.com"],
    [{ picture: "cover", width: 320 }, "picture cover, width 320"],
    [["a", 1], "a, 1"],
    ["plain", "plain"],
    [42, "42"],
    [{ account: 2 ** 53, n: 1 }, "account ≈ 9007199254740992, n 1"],
    [null, ""],
    [{}, ""],
    [{ nested: { a: 1 } }, ""],
    [{ title: "  " }, ""],
  ])("of %j is %j", (payload, title) => {
    expect(titleOf(payload)).toBe(title);
  });

  test("is cut", () => {
    expect(titleOf("x".repeat(500))).toHaveLength(121);
  });
});

test("the line of an error has its name and first line", () => {
  const error = { class: "retryable", message: "a\nb" } as const;
  expect(errorLine({ ...error, name: "TypeError" })).toBe("TypeError: a");
  expect(errorLine({ ...error, name: "Error" })).toBe("a");
  expect(errorLine(null)).toBe("");
});

test.each([
  [{ kind: "lane", name: "bulk" }, "Held: lane bulk is paused"],
  [{ kind: "installation", name: "all" }, "Held: the whole installation is paused"],
  [{ kind: "service", name: "bank" }, "Held: service bank is paused, or its breaker is open"],
  [
    { kind: "limit", of: { kind: "tenant", name: "acme" } },
    "Held: the limit of tenant acme is used up",
  ],
  [{ kind: "key", name: "ledger" }, "Held: another job has the key ledger"],
  [{ kind: "after" }, "Held: it runs after jobs that have not ended"],
] as const)("what holds a job back is said: %j", (heldBy, line) => {
  expect(heldLine(heldBy)).toBe(line);
});

test("a path leads to a value, and never to what an object inherits", () => {
  const payload = { user: { id: 42, tags: ["a"] }, big: 2 ** 53 };
  expect(valueAt(payload, "user.id")).toBe("42");
  expect(valueAt(payload, "user.tags.0")).toBe("a");
  expect(valueAt(payload, "user.tags")).toBe('["a"]');
  expect(valueAt(payload, "user.nothing")).toBeNull();
  expect(valueAt(payload, "toString")).toBeNull();
  expect(valueAt(payload, "big")).toBe("≈ 9007199254740992");
  expect(valueAt({ all: [payload.big] }, "all")).toBe("[≈ 9007199254740992]");
});

describe("the times of a job", () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const job = { attempts: 0, scheduledAt: at(10), runAt: null, startedAt: null, finishedAt: null };

  test("of a waiting job count from when it is due", () => {
    expect(waitMs({ ...job, state: "queued" }, 15_000)).toBe(5_000);
    expect(waitMs({ ...job, state: "queued" }, 5_000)).toBe(0);
    expect(waitMs({ ...job, state: "scheduled" }, 15_000)).toBeNull();
    expect(runMs({ ...job, state: "queued" }, 15_000)).toBeNull();
  });

  test("of a run count from its start", () => {
    const started = { ...job, startedAt: at(12) };
    expect(waitMs({ ...started, state: "running" }, 20_000)).toBe(2_000);
    expect(runMs({ ...started, state: "running" }, 20_000)).toBe(8_000);
    expect(runMs({ ...started, state: "completed", finishedAt: at(13) }, 20_000)).toBe(1_000);
    expect(runMs({ ...started, state: "scheduled", attempts: 1 }, 20_000)).toBeNull();
  });

  test("of an attempt that runs has its own number", () => {
    expect(attemptNow({ state: "running", attempts: 1 })).toBe(2);
    expect(attemptNow({ state: "failed", attempts: 5 })).toBe(5);
  });
});
