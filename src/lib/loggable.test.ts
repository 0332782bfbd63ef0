import { describe, expect, test } from "vitest";
import { loggable, errorText } from "./loggable.ts";

const circular: Record<string, unknown> = { name: "loop" };
circular["self"] = circular;

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("fields of a log line", () => {
  test.each([
    ["a bigint", 10n, "10"],
    ["an object that contains itself", circular, { name: "loop", self: "[circular]" }],
    ["a list with odd members", [1n, undefined, () => 1], ["1", undefined, "[function]"]],
    ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a Date without a moment", new Date(Number.NaN), null],
    ["what is a plain value", { a: [1, "x", null, true] }, { a: [1, "x", null, true] }],
  ])("keep %s", (_, value, told) => {
    expect(loggable({ value }, "line")).toEqual({ value: told });
  });

  test.each([
    ["a getter", Object.defineProperty({}, "x", { enumerable: true, get: thrower })],
    ["a toJSON method", { x: { toJSON: thrower } }],
    ["a revoked proxy", { x: revoked() }],
  ])("keep what can be read beside %s that throws", (_, value) => {
    expect(loggable({ value, beside: 1 }, "line")).toEqual({
      value: { x: "[unreadable]" },
      beside: 1,
    });
  });

  test("are told to be unreadable when they are no object that can be read at all", () => {
    expect(loggable(revoked(), "line")).toEqual({ fields: "[unreadable]" });
  });

  test("may name one object twice without being circular", () => {
    const same = { a: 1 };

    expect(loggable({ one: same, two: same }, "line")).toEqual({ one: same, two: same });
  });

  test("are bounded in depth, number and length", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 10_000; level += 1) deep = { deep };

    const text = JSON.stringify(
      loggable({ deep, many: Array.from({ length: 1e6 }, () => 0), long: "x".repeat(1e6) }, "line"),
    );

    expect(text.length).toBeLessThan(60_000);
    expect(text).not.toContain("bottom");
  });

  test("show an error by name, message and causes, in one line or with its stack", () => {
    const error = new TypeError("outer", { cause: new Error("inner", { cause: "why" }) });

    expect(loggable({ error }, "line")).toEqual({
      error: 'TypeError: outer; caused by Error: inner; caused by "why"',
    });
    expect(loggable({ error }, "stack")["error"]).toMatch(
      /^TypeError: outer\n +at [^]+\nCaused by: Error: inner\n +at [^]+\nCaused by: "why"$/,
    );
  });
});

describe("an error in a log line", () => {
  test("may be its own cause, or have a message that throws", () => {
    const own = new Error("own");
    own.cause = own;
    const odd = Object.defineProperty(new Error("x"), "message", { get: thrower });

    expect(errorText(own, "line")).toBe("Error: own");
    expect(errorText(odd, "line")).toBe("[unreadable]");
  });
});

function thrower(): never {
  throw new Error("not for you");
}
