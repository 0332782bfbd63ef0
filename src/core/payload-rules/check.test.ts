import { describe, expect, test } from "vitest";
import type { Json } from "../payload.ts";
import { checkPayload, redacted, softWarning, type JobIdentity } from "./check.ts";
import { addedUp, type PayloadRule } from "./rule.ts";

const ID = "550e8400-e29b-41d4-a716-446655440000";
const JOB: JobIdentity = {
  tenant: "12",
  correlationId: ID,
  idempotencyKey: "k1",
  payloadVersion: null,
  isScheduled: false,
  repeats: null,
};

function check(payload: Json | undefined, rule: PayloadRule, job: JobIdentity | null = null) {
  const bytes = payload === undefined ? 0 : JSON.stringify(payload).length;
  return checkPayload(payload, bytes, addedUp([rule])!, job);
}

function brief({ errors }: ReturnType<typeof check>): readonly string[] {
  return errors.map(({ path, rule }) => `${path} ${rule}`);
}

describe("required fields", () => {
  const rule = {
    required: { tenant_id: "integer", "a.id": "uuid", name: "string", "list.0": "any" },
  } as const;

  test("are found at their paths, with their kinds (003-03)", () => {
    const payload = { tenant_id: 1, a: { id: ID }, name: "x", list: [false] };

    expect(check(payload, rule).errors).toEqual([]);
  });

  test("are all told when they are missing or of another kind", () => {
    const payload = { tenant_id: "1", a: { id: "x" }, name: 5, list: [] };

    expect(check(payload, rule).errors).toEqual([
      { path: "tenant_id", rule: "required", message: "tenant_id must be a whole number" },
      { path: "a.id", rule: "required", message: "a.id must be a UUID" },
      { path: "name", rule: "required", message: "name must be a text" },
      { path: "list.0", rule: "required", message: "list.0 is missing" },
    ]);
    expect(brief(check(undefined, rule))).toHaveLength(4);
    expect(brief(check({ tenant_id: null, a: 5, name: "", list: ["x"] }, rule))).toHaveLength(3);
  });

  test("are no properties that every object has", () => {
    expect(
      brief(check({}, { required: Object.fromEntries([["constructor", "any"]]) })),
    ).toHaveLength(1);
  });
});

describe("fields that the job has as well", () => {
  test("may repeat it: a number for the tenant, other letters of a UUID, another zero", () => {
    const payload = {
      tenant_id: 12,
      correlation_id: ID.toUpperCase(),
      idempotency_key: "k1",
      payload_version: "1.0",
    };

    expect(check(payload, {}, JOB).errors).toEqual([]);
    expect(check({ payload_version: 2 }, {}, { ...JOB, payloadVersion: "2" }).errors).toEqual([]);
  });

  test("must not contradict it, whatever they are", () => {
    const payload = {
      tenant_id: 13,
      correlation_id: "other",
      idempotency_key: { k1: 1 },
      payload_version: "2",
    };

    expect(brief(check(payload, {}, JOB))).toEqual([
      "tenant_id mismatch",
      "correlation_id mismatch",
      "idempotency_key mismatch",
      "payload_version mismatch",
    ]);
    const bare = { ...JOB, correlationId: null, idempotencyKey: null };
    expect(check({ idempotency_key: "k1", correlation_id: ID }, {}, bare).errors).toMatchObject([
      { message: expect.stringContaining("has no correlationId") },
      { message: expect.stringContaining("has no idempotencyKey") },
    ]);
  });

  test("of a schedule are compared by tenant and version alone", () => {
    const job = { ...JOB, correlationId: null, idempotencyKey: null, isScheduled: true };
    const payload = { tenant_id: 13, correlation_id: ID, idempotency_key: "any" };
    const rule = {
      required: { correlation_id: "uuid", idempotency_key: "any", a: "any" },
    } as const;

    expect(brief(check(payload, {}, job))).toEqual(["tenant_id mismatch"]);
    expect(brief(check({}, rule, job))).toEqual(["a required"]);
  });
});

describe("the payload of a job that repeats another one", () => {
  const rule = {
    required: { correlation_id: "uuid", idempotency_key: "any", a: "any" },
    strict: true,
  } as const;

  test("may keep what the first payload said about its job, and may say nothing else", () => {
    const repeated = { idempotency_key: "k0", correlation_id: ID };
    const job = { ...JOB, repeats: { payload: repeated, payloadVersion: null } };

    expect(brief(check({ idempotency_key: "k0", correlation_id: ID, a: 1 }, rule, job))).toEqual(
      [],
    );
    expect(brief(check({ idempotency_key: "k1", tenant_id: 13 }, rule, job))).toEqual([
      "correlation_id required",
      "a required",
      "tenant_id mismatch",
    ]);
    expect(brief(check({ idempotency_key: "k2", correlation_id: ID, a: 1 }, rule, job))).toEqual([
      "idempotency_key mismatch",
    ]);
  });

  test("needs no fields of a request that the first payload was accepted without", () => {
    const first = { ...JOB, tenant: "default", correlationId: null, idempotencyKey: null };

    expect(
      brief(check({}, rule, { ...first, repeats: { payload: {}, payloadVersion: null } })),
    ).toEqual(["a required"]);
    expect(
      brief(
        check({ a: 1 }, rule, { ...first, repeats: { payload: undefined, payloadVersion: null } }),
      ),
    ).toEqual([]);
  });

  test("names the version of its first payload only as long as the job keeps that version", () => {
    const payload = { payload_version: "1", correlation_id: ID, idempotency_key: "k1", a: 1 };
    const repeats = { payload, payloadVersion: "1" };

    expect(brief(check(payload, rule, { ...JOB, payloadVersion: "1", repeats }))).toEqual([]);
    expect(brief(check(payload, rule, { ...JOB, payloadVersion: "3", repeats }))).toEqual([
      "payload_version mismatch",
    ]);
  });
});

describe("the strict profile", () => {
  const rule = { strict: true };

  test("demands a tenant and a UUID, and names what is missing (C-14, C-23)", () => {
    expect(check({}, rule, JOB).errors).toEqual([]);
    const bare = { ...JOB, tenant: "default", correlationId: null };
    expect(check({}, rule, bare).errors).toEqual([
      { path: "options.tenant", rule: "strict", message: "the tenant of the job is missing" },
      {
        path: "options.correlationId",
        rule: "strict",
        message: "the correlation id of the job is missing",
      },
    ]);
    expect(check({}, rule, { ...JOB, correlationId: "user-action-123" }).errors).toMatchObject([
      { path: "options.correlationId", message: expect.stringContaining("must be a UUID") },
    ]);
    expect(check({}, rule, { ...bare, isScheduled: true }).errors).toMatchObject([
      { path: "options.tenant" },
    ]);
    expect(check({}, rule, null).errors).toEqual([]);
  });
});

describe("the size of a payload", () => {
  const big = { text: "x ".repeat(6_000) };

  test("above the soft limit is a warning, above the hard limit an error (003-04)", () => {
    expect(check(big, {}).warnings).toMatchObject([{ path: "payload", rule: "size" }]);
    expect(check(big, { softBytes: 20_000 }).warnings).toEqual([]);
    expect(check({ a: 1 }, { softBytes: 3 }).warnings).toMatchObject([{ rule: "size" }]);
    expect(check({ a: 1 }, { softBytes: 3, hardBytes: 6 })).toMatchObject({
      errors: [{ path: "payload", rule: "size" }],
      warnings: [],
    });
    expect(softWarning(10_240)).toBeNull();
    expect(softWarning(10_241)).toMatchObject({ rule: "size" });
  });
});

describe("what a payload must not have", () => {
  const payload = { a: [{ Body: "x" }], password: "hunter2", api_token: "tk-18f3a9c2e7" };

  test("is refused, told or replaced by the action of its set, and never shown (003-07)", () => {
    const rule = {
      forbidden: ["body"],
      sensitive: { passwords: "redact", tokens: "warn" },
    } as const;
    const { errors, warnings, redactions } = check(payload, rule);

    expect(brief({ errors, warnings, redactions })).toEqual(["a[0].Body forbidden"]);
    expect(warnings).toMatchObject([{ path: "api_token", rule: "sensitive:tokens" }]);
    expect(redactions.map(({ path }) => path)).toEqual(["password"]);
    expect(redacted(payload, redactions)).toEqual({ ...payload, password: "[redacted]" });
    expect(payload.password).toBe("hunter2");
    expect(JSON.stringify({ errors, warnings, redactions })).not.toMatch(/hunter2|tk-18/);
    expect(brief(check(payload, { sensitive: { tokens: "reject" } }))).toEqual([
      "api_token sensitive:tokens",
    ]);
  });

  test("is replaced in lists, and as a whole if the payload is a text", () => {
    const rule = { sensitive: { passwords: "redact" } } as const;
    const nested = { users: [{ password: "hunter2" }, { raw: '{"password":"x1"}' }] };

    expect(redacted(nested, check(nested, rule).redactions)).toEqual({
      users: [{ password: "[redacted]" }, { raw: "[redacted]" }],
    });
    expect(redacted("x", [{ steps: [] }])).toBe("[redacted]");
  });

  test("earns a warning if the payload is too large to be searched whole", () => {
    const many = Array.from({ length: 20_001 }, () => 1);

    expect(check(many, { softBytes: 1_000_000, forbidden: ["x"] }).warnings).toMatchObject([
      { rule: "search" },
    ]);
  });
});
