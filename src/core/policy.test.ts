import { describe, expect, test } from "vitest";
import { NonRetryableError, RateLimitedError, RetryableError, TransientError } from "./errors.ts";
import { classify } from "./policy.ts";
import type { ClassifyOptions } from "./policy.ts";

const nowMs = Date.UTC(2026, 10, 15, 12);
const options: ClassifyOptions = { defaultErrorClass: "retryable", nowMs };

describe("how an error counts", () => {
  test.each([
    [new TransientError("x"), "transient"],
    [new RetryableError("x"), "retryable"],
    [new NonRetryableError("x"), "non_retryable"],
    [new RateLimitedError("x"), "rate_limited"],
  ])("is what it says itself, before `classify` is asked (003-16) (%#)", (error, errorClass) => {
    const asked = { ...options, classify: () => "transient" as const };

    expect(classify(error, asked)).toEqual({
      type: "failed",
      fault: {
        class: errorClass,
        name: error.name,
        message: "x",
        stack: error.stack,
        cause: expect.any(String),
      },
    });
  });

  test("is understood from another copy of the library", () => {
    const foreign = Object.assign(new Error("x"), { "~class": "non_retryable" });

    expect(classify(foreign, options).fault.class).toBe("non_retryable");
  });

  test("is what the job's classify says of a foreign error", () => {
    const asked: ClassifyOptions = {
      ...options,
      classify: (error) => (error instanceof TypeError ? "non_retryable" : undefined),
    };

    expect(classify(new TypeError("x"), asked).fault.class).toBe("non_retryable");
    expect(classify(new RangeError("x"), asked).fault.class).toBe("retryable");
  });

  test.each(["retryable", "non_retryable"] as const)(
    "is %s by default where that is configured (C-08, 001-26)",
    (defaultErrorClass) => {
      expect(classify(new Error("x"), { ...options, defaultErrorClass }).fault.class).toBe(
        defaultErrorClass,
      );
    },
  );

  test("falls to the default when classify throws, and the error itself is kept", () => {
    const asked: ClassifyOptions = {
      ...options,
      classify: () => {
        throw new TypeError("error.code is undefined");
      },
    };

    expect(classify(new Error("disk full"), asked).fault).toMatchObject({
      class: "retryable",
      name: "Error",
      message: 'disk full (classify threw TypeError: "error.code is undefined")',
    });
  });

  test("falls to the default when classify answers nonsense, and says so", () => {
    const untyped = Object.assign({}, options, { classify: () => "fatal" });

    expect(classify(new Error("x"), untyped).fault).toMatchObject({
      class: "retryable",
      message: 'x (classify returned "fatal", which is not an error class)',
    });
  });

  test.each([null, undefined, "boom", 5, { "~class": "fatal" }])(
    "is the default for a thrown %j",
    (thrown) => {
      expect(classify(thrown, options).fault.class).toBe("retryable");
    },
  );
});

describe("the wait that a rate limit asks for", () => {
  test.each([
    [30_000, 30_000],
    ["30s", 30_000],
    [new Date(nowMs + 5_000), 5_000],
    ["2026-11-15T12:01:00Z", 60_000],
    ["2026-11-15T11:00:00Z", 0],
  ])("is a length: %j (C-10)", (retryAfter, ms) => {
    expect(classify(new RateLimitedError("429", { retryAfter }), options).retryAfterMs).toBe(ms);
  });

  test("is for one tenant if the error says so", () => {
    const error = new RateLimitedError("429", { retryAfter: "30s", scope: "tenant" });

    expect(classify(error, options)).toMatchObject({ retryAfterMs: 30_000, scope: "tenant" });
    expect("scope" in classify(new RateLimitedError("429", { retryAfter: 1 }), options)).toBe(
      false,
    );
  });

  test.each(["120", "soon", Number.NaN])("is left to the backoff when it is %j", (retryAfter) => {
    const outcome = classify(new RateLimitedError("429", { retryAfter }), options);

    expect("retryAfterMs" in outcome).toBe(false);
    expect(outcome.fault.class).toBe("rate_limited");
  });
});
