/** The payload tests that the firms' specification asks for. */
import { JOB_CATEGORIES } from "millrace";
import { describe, expect, test } from "vitest";
import { PRESET } from "../src/categories.ts";
import { createJob, ValidationError } from "../src/job-queue.ts";
import { jobOfType } from "../src/jobs.ts";
import { PayloadValidator } from "../src/payload-validator.ts";
import { CORRELATION, FIRM, World } from "./world.ts";

const PAYLOAD = PayloadValidator.create_payload({
  tenant_id: FIRM,
  correlation_id: CORRELATION,
  idempotency_key: "email_fetch_conn_456_msg_789",
  connection_id: 456,
  external_message_id: "msg_789",
});

const CONTRACT = "This agreement is made by the parties named below. ".repeat(20);

describe("PayloadValidator.create_payload", () => {
  test("makes the payload of the specification, which is valid (003-06)", () => {
    expect(PAYLOAD).toEqual({
      tenant_id: 123,
      correlation_id: "550e8400-e29b-41d4-a716-446655440000",
      idempotency_key: "email_fetch_conn_456_msg_789",
      connection_id: 456,
      external_message_id: "msg_789",
    });
    const answer = PayloadValidator.validate_payload({ payload: PAYLOAD, category: "ingestion" });
    expect(answer).toEqual([true, []]);
  });
});

describe("PayloadValidator.validate_payload", () => {
  test.each(["tenant_id", "correlation_id", "idempotency_key"])(
    "demands %s (003-03, 003-05, 003-31)",
    (field) => {
      const payload = { ...PAYLOAD, [field]: undefined };

      const answer = validated(payload);

      expect(answer).toEqual([false, [`${field} is missing`]]);
    },
  );

  test("demands an integer, a UUID and a text (003-03, 003-31)", () => {
    const payload = { ...PAYLOAD, tenant_id: "123", correlation_id: "x", idempotency_key: 7 };

    const [isValid, errors] = validated(payload);

    expect(isValid).toBe(false);
    expect(errors).toEqual([
      "tenant_id must be a whole number",
      "correlation_id must be a UUID",
      "idempotency_key must be a text",
    ]);
  });

  test.each([
    ["a password", { password: "hunter2" }],
    ["a token", { api_token: "tk-18f3a9c2" }],
    ["the body of an e-mail", { email_body: "Dear Ada, here are my papers. Yours, Bob" }],
    ["the content of a document", { document_content: CONTRACT }],
    ["a secret below", { connection: { credentials: [{ name: "password", value: "hunter2" }] } }],
  ])("finds %s, and does not repeat it (003-04, 003-31)", (_what, part) => {
    const [isValid, errors] = validated({ ...PAYLOAD, ...part });

    expect(isValid).toBe(false);
    expect(errors).toHaveLength(1);
    expect(errors.join()).not.toMatch(/hunter2|tk-18|Dear|parties/);
  });

  test("demands the references of the category (003-07, 003-31)", () => {
    const { connection_id: _connection, ...bare } = PAYLOAD;
    const validate = (category: string): readonly [boolean, readonly string[]] =>
      PayloadValidator.validate_payload({ payload: bare, category });

    expect(validate("ingestion")).toEqual([false, ["connection_id is missing"]]);
    expect(validate("sync")).toEqual([false, ["connection_id is missing"]]);
    expect(validate("documents")).toEqual([false, ["document_id is missing"]]);
    expect(validate("export")).toEqual([true, []]);
    expect(validate("mails")[0]).toBe(false);
  });

  test("demands what the caller adds (003-05)", () => {
    const answer = PayloadValidator.validate_payload({
      payload: { ...PAYLOAD, connection_id: undefined },
      category: "export",
      additional_required: ["connection_id", "firm_id"],
    });

    expect(answer).toEqual([false, ["connection_id is missing", "firm_id is missing"]]);
  });

  test("takes 10 KB and more, and refuses what is far too large (003-04, 003-31)", () => {
    const refs = (count: number): object => ({ ids: Array.from({ length: count }, () => 12_345) });

    expect(validated({ ...PAYLOAD, ...refs(5_000) })[0]).toBe(true);
    const [isValid, errors] = validated({ ...PAYLOAD, ...refs(20_000) });
    expect(isValid).toBe(false);
    expect(errors.join()).toContain("102400");
  });

  function validated(payload: unknown): readonly [boolean, readonly string[]] {
    return PayloadValidator.validate_payload({ payload, category: "ingestion" });
  }
});

describe("a job", () => {
  test("is not made when its payload breaks a rule, and the error has all faults", async () => {
    await using world = await World.open();
    const payload: any = { tenant_id: FIRM, password: "hunter2" };
    const firm = world.kit.mill.forTenant(String(FIRM));

    const made = createJob(firm, {
      category: "ingestion",
      job_type: "email_ingestion_fetch",
      payload,
      idempotency_key: "k",
      correlation_id: CORRELATION,
    });

    await expect(made).rejects.toThrow(ValidationError);
    await expect(made).rejects.toThrow(/^Invalid payload: correlation_id is missing; idemp/);
    expect(await firm.jobs.count()).toEqual({ count: 0, atLeast: false });
  });

  test("is refused by enqueue as well, without the validator (003-07)", async () => {
    await using world = await World.open();
    const job = jobOfType("email_ingestion_fetch")!;
    const { external_message_id: _message, ...rest } = PAYLOAD;
    const payload = { ...rest, password: "hunter2" };
    const enqueued = world.kit.mill.enqueue(job, payload, {
      tenant: "123",
      correlationId: CORRELATION,
      idempotencyKey: payload.idempotency_key,
    });

    await expect(enqueued).rejects.toMatchObject({
      code: "PAYLOAD_RULE_BROKEN",
      details: {
        issues: [
          { path: "payload.external_message_id", rule: "required" },
          { path: "payload.password", rule: "sensitive:passwords" },
        ],
      },
    });
  });

  test("needs a type of its category", async () => {
    await using world = await World.open();
    const firm = world.kit.mill.forTenant(String(FIRM));
    const job = { payload: PAYLOAD, idempotency_key: "k", correlation_id: CORRELATION };

    const made = createJob(firm, { ...job, category: "sync", job_type: "email_ingestion_fetch" });

    await expect(made).rejects.toThrow("sync has no job type email_ingestion_fetch");
  });
});

test("the rules of the preset know the eight categories and no other", () => {
  for (const category of Object.keys(PRESET.payloadRules.categories ?? {})) {
    expect(JOB_CATEGORIES).toContain(category);
  }
});
