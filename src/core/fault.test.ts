import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TransientError } from "./errors.ts";
import { faultOf, listedFault } from "./fault.ts";
import { utf8Bytes } from "./text.ts";

const BYTES_MAX = 65_536;

function bytesOf(fault: object): number {
  return Object.values(fault).reduce((sum: number, text) => sum + utf8Bytes(String(text)), 0);
}

/** An error that has nothing to say but this. */
function bare(properties: object): Error {
  const error = new Error("");
  delete error.stack;
  return Object.assign(error, properties);
}

describe("the fault of an error", () => {
  test("keeps class, name, message and stack", () => {
    const error = new TypeError("no such column");

    expect(faultOf(error, "transient")).toEqual({
      class: "transient",
      name: "TypeError",
      message: "no such column",
      stack: error.stack,
      cause: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test("keeps the service that the error names", () => {
    expect(faultOf(new TransientError("503", { service: "mail" }), "transient").service).toBe(
      "mail",
    );
    expect("service" in faultOf(new TransientError("503"), "transient")).toBe(false);
  });

  test.each([
    ["boom", "boom"],
    [null, "null was thrown"],
    [undefined, "undefined was thrown"],
    [42, "42 was thrown"],
    [() => 1, "a function was thrown"],
    [{ code: 5 }, '{"code":5}'],
    [{}, "thrown without a message"],
    [{ self: 10n }, "thrown without a message"],
    [{ toJSON: () => undefined }, "thrown without a message"],
    [{ name: "Denied", message: "not you" }, "not you"],
  ])("tells what else may be thrown (%#)", (thrown, message) => {
    const fault = faultOf(thrown, "retryable");

    expect(fault.message).toBe(message);
    expect("stack" in fault).toBe(false);
  });

  test("names what has no name of its own Error", () => {
    expect(faultOf("boom", "retryable").name).toBe("Error");
    expect(faultOf({ name: "Denied" }, "retryable").name).toBe("Denied");
    expect(faultOf({ name: 5 }, "retryable").name).toBe("Error");
  });

  test("tells its causes, nearest first", () => {
    const root = bare({ name: "SocketError", message: "ECONNREFUSED" });
    const middle = new Error("no connection", { cause: root });
    const error = new Error("not saved", { cause: middle });

    expect(faultOf(error, "retryable").stack).toBe(
      `${error.stack}\nCaused by: ${middle.stack}\nCaused by: SocketError: ECONNREFUSED`,
    );
  });

  test("tells the parts of an AggregateError, and borrows the message it lacks", () => {
    const error = new AggregateError([bare({ message: "::1 refused" }), "127.0.0.1 refused"]);

    const fault = faultOf(error, "retryable");

    expect(fault.message).toBe("::1 refused");
    expect(fault.stack).toMatch(
      /Caused by: Error: ::1 refused\nCaused by: Error: 127.0.0.1 refused$/,
    );
  });

  test("tells of causes that loop or never end only so often", () => {
    const loop = bare({ message: "loop" });
    loop.cause = loop;
    const endless = (n: number): object => ({
      message: `level ${n}`,
      get cause() {
        return endless(n + 1);
      },
    });

    expect("stack" in faultOf(loop, "retryable")).toBe(false);
    expect(faultOf(endless(0), "retryable").stack?.match(/Caused by/g)).toHaveLength(8);
  });

  test("survives getters that throw, and proxies that are gone", () => {
    const trap = {
      name: "Trap",
      get message(): string {
        throw new Error("no");
      },
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();

    expect(faultOf(trap, "retryable")).toMatchObject({
      name: "Trap",
      message: "thrown without a message",
    });
    expect(faultOf(proxy, "retryable").message).toBe("thrown without a message");
    expect(faultOf({ message: "m", errors: proxy }, "retryable").message).toBe("m");
  });

  test("puts a remark behind the message, also behind a long one", () => {
    const { message } = faultOf("x".repeat(10_000), "retryable", " (seen twice)");

    expect(faultOf("boom", "retryable", " (seen twice)").message).toBe("boom (seen twice)");
    expect(message).toHaveLength(8_000);
    expect(message).toMatch(/^x+… \(seen twice\)$/);
  });

  test("is bounded, well-formed and free of U+0000 for every thrown value", () => {
    const wild = fc
      .constantFrom("a", "\n", "\0", "€", "😀", "\ud800")
      .chain((unit) => fc.integer({ min: 0, max: 40_000 }).map((count) => unit.repeat(count)));
    fc.assert(
      fc.property(wild, wild, wild, wild, (name, message, stack, service) => {
        const fault = faultOf({ name, message, stack, service }, "retryable");
        const texts = Object.values(fault);

        expect(fault.name.length).toBeLessThanOrEqual(200);
        expect(fault.message.length).toBeLessThanOrEqual(8_000);
        expect((fault.stack ?? "").length).toBeLessThanOrEqual(32_000);
        const { class: errorClass, cause = "" } = fault;
        expect(bytesOf(fault)).toBeLessThanOrEqual(BYTES_MAX + errorClass.length + cause.length);
        expect(texts.every((text) => text.isWellFormed() && !text.includes("\0"))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe("a fault in a list", () => {
  test.each([
    ["not saved\n  at line 5", "not saved\n  at line 5"],
    ["", ""],
    ["x".repeat(501), "x".repeat(500)],
    [`${"x".repeat(499)}😀`, "x".repeat(499)],
  ])("has at most 500 characters of the message (%#)", (message, listed) => {
    const fault = { class: "retryable", name: "Error", service: "bank" } as const;

    expect(listedFault({ ...fault, message, stack: "at line 5" })).toEqual({
      ...fault,
      message: listed,
    });
  });
});
