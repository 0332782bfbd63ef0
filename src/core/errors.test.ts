import { describe, expect, test } from "vitest";
import {
  CATALOGUE,
  MillraceError,
  NonRetryableError,
  RateLimitedError,
  RetryableError,
  TransientError,
} from "./errors.ts";

describe("the catalogue", () => {
  test.each(Object.entries(CATALOGUE))("gives %s an error status and a next step", (_, row) => {
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    expect(row.hint).toMatch(/^[A-Z].*[^.]\.$/);
  });
});

describe("a MillraceError", () => {
  test("takes status and hint from its code", () => {
    const error = new MillraceError("STORE_FULL", "There is no room left.");

    expect(error.code).toBe("STORE_FULL");
    expect(error.status).toBe(507);
    expect(error.hint).toBe(CATALOGUE.STORE_FULL.hint);
  });

  test("takes another hint if one is given", () => {
    const error = new MillraceError("STORE_FULL", "full", { hint: "Remove old backups." });

    expect(error.hint).toBe("Remove old backups.");
  });

  test("keeps cause and details", () => {
    const cause = new Error("ENOSPC");
    const error = new MillraceError("STORE_FULL", "full", { cause, details: { path: "a.db" } });

    expect(error.cause).toBe(cause);
    expect(error.details).toEqual({ path: "a.db" });
  });

  test("has neither when none is given", () => {
    const error = new MillraceError("STORE_FULL", "full");

    expect("cause" in error).toBe(false);
    expect(error.details).toEqual({});
  });

  test("bears its name in the stack", () => {
    expect(new MillraceError("STORE_FULL", "full").stack).toMatch(/^MillraceError: full\n/);
  });
});

describe("an error that a handler throws", () => {
  const cause = new Error("socket hang up");

  test.each([
    [new TransientError("late", { cause }), "TransientError", "transient"],
    [new RetryableError("late", { cause }), "RetryableError", "retryable"],
    [new NonRetryableError("late", { cause }), "NonRetryableError", "non_retryable"],
    [new RateLimitedError("late", { cause }), "RateLimitedError", "rate_limited"],
  ])("keeps message and cause and says how it counts (%#)", (error, name, errorClass) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.message).toBe("late");
    expect(error.cause).toBe(cause);
    expect(error["~class"]).toBe(errorClass);
    expect(error.stack).toMatch(new RegExp(`^${name}: late\n`));
  });

  test.each([TransientError, RetryableError, NonRetryableError, RateLimitedError])(
    "needs no options (%#)",
    (Thrown) => {
      expect("cause" in new Thrown("late")).toBe(false);
    },
  );

  test("may name the service and the wait", () => {
    const limited = new RateLimitedError("429", { retryAfter: "30s", service: "bank" });

    expect(limited.retryAfter).toBe("30s");
    expect(limited.service).toBe("bank");
    expect(new TransientError("503", { service: "mail" }).service).toBe("mail");
  });

  test("can be subclassed in the usual way", () => {
    class AccountClosed extends NonRetryableError {
      constructor() {
        super("closed");
        this.name = "AccountClosed";
      }
    }

    expect(new AccountClosed().name).toBe("AccountClosed");
    expect(new AccountClosed()["~class"]).toBe("non_retryable");
  });
});
