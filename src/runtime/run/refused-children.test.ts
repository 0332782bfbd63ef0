import { describe, expect, test } from "vitest";
import { newJob } from "../../../test/support/factories.ts";
import type { RefusedChild } from "../../store/types/jobs-and-runs.ts";
import { ChildNotEnqueuedError } from "./refused-children.ts";

describe("a refused child", () => {
  const idempotency = { key: "order 7", onConflict: "error" } as const;
  const child = newJob({ type: "zip", idempotency });
  const CODES: readonly (readonly [RefusedChild["code"], string, string])[] = [
    ["AFTER_UNKNOWN", "is to run after H, which does not exist", "name jobs that exist"],
    ["ID_CONFLICT", "has the id H, which another job with different content has", "use another id"],
    [
      "IDEMPOTENCY_CONFLICT",
      'has the idempotency key "order 7", which job H holds with another type or payload',
      "use a new key for a different job",
    ],
    [
      "IDEMPOTENCY_KEY_USED",
      'has the idempotency key "order 7", which job H has already used',
      'use a new key, or onConflict "return-existing"',
    ],
    [
      "STORE_REFUSED",
      "has a value that the database refuses",
      "correct the payload or the options of the child",
    ],
  ];

  test.each(CODES)("is told by its code %s, the reason and the fix", (code, reason, fix) => {
    const answer = { status: "refused", code, child: child.id, holder: "H" } as const;

    const error = new ChildNotEnqueuedError(answer, [newJob(), child]);

    expect(error).toMatchObject({
      code,
      name: code,
      "~class": "non_retryable",
      details: { type: "zip", child: child.id, holder: "H", key: "order 7" },
    });
    expect(error.message).toContain(
      `a child of type "zip" ${reason}, so nothing of the unit, phase or run that requested it ` +
        `was stored: ${fix}`,
    );
    expect(error.stack).toMatch(new RegExp(`^${code}: a child`));
  });

  test("names no holder where none is, and no key where it has none", () => {
    const bare = newJob({ type: "zip" });
    const answer: RefusedChild = {
      status: "refused",
      code: "STORE_REFUSED",
      child: bare.id,
      holder: bare.id,
    };

    expect(new ChildNotEnqueuedError(answer, [bare]).details).toEqual({
      type: "zip",
      child: bare.id,
    });
  });
});
