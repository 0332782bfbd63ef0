/** Payload rules and quotas hold for edited payloads of dead letters as for new jobs. */
import { defineJob, NonRetryableError, practice, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "../support.ts";

type Fields = Record<string, string | number>;

const ID = "550e8400-e29b-41d4-a716-446655440000";
const scan = defineJob({ type: "scan", category: "documents", payload: typed<Fields>() }).run(
  () => {
    throw new NonRetryableError("unreadable");
  },
);

/** Reprocesses the letter of a failed job with another payload. */
async function failedJob(kit: RuntimeTest, payload: Fields, options = {}) {
  const { id } = await kit.mill.enqueue(scan, payload, options);
  await kit.drain([scan]);
  return {
    id,
    edit: (edited: Fields) => kit.mill.deadLetters.reprocess(id, { actor: "ada", payload: edited }),
  };
}

describe("the edited payload of a dead letter", () => {
  test.each([
    ["size", { hardBytes: 20 }, { text: "longer than the rule allows" }],
    ["forbidden", { forbidden: ["body"] }, { body: "x" }],
    ["required", { required: { document_id: "integer" } }, { n: 1 }],
    ["sensitive:passwords", { sensitive: { passwords: "reject" } }, { password: "hunter2" }],
    ["mismatch", { softBytes: 5_000 }, { tenant_id: 13 }],
  ] as const)("is refused by a rule about %s, and leaves the letter open", async (...row) => {
    const [part, rule, edited] = row;
    await using kit = await openTest();
    const { id, edit } = await failedJob(kit, { n: 0 });
    await kit.mill.payloadRules.set({ category: "documents" }, rule);

    await expect(edit(edited)).rejects.toMatchObject({
      code: part === "mismatch" ? "PAYLOAD_MISMATCH" : "PAYLOAD_RULE_BROKEN",
      details: { issues: [{ rule: part }] },
    });

    expect(await kit.mill.deadLetters.get(id)).toMatchObject({ status: "pending_review" });
    expect(await kit.mill.jobs.count()).toMatchObject({ count: 1 });
  });

  test("that is refused leaves the request in the audit without its values (003-35)", async () => {
    await using kit = await openTest();
    const { edit } = await failedJob(kit, { n: 0 });
    const sensitive = { tokens: "reject" } as const;
    await kit.mill.payloadRules.set({ installation: true }, { sensitive });

    await expect(edit({ note: "Bearer eyJhbGciOi.c2VjcmV0.dHJhY2U" })).rejects.toMatchObject({
      code: "PAYLOAD_RULE_BROKEN",
    });

    const entries = await kit.mill.audit.list();
    expect(entries.map(({ name }) => name)).toContain("job_dlq_reprocess_requested");
    expect(entries.map(({ name }) => name)).not.toContain("job_dlq_reprocess_success");
    expect(JSON.stringify([entries, kit.logged])).not.toContain("eyJ");
  });

  test("is redacted before the job, its letter and the audit have it", async () => {
    await using kit = await openTest();
    const { id, edit } = await failedJob(kit, { n: 0 });
    const sensitive = { tokens: "redact" } as const;
    await kit.mill.payloadRules.set({ type: "scan" }, { sensitive });

    const successor = await edit({ note: "Bearer eyJhbGciOi.c2VjcmV0.dHJhY2U" });

    const job = await kit.mill.jobs.get(successor.id);
    expect(job).toMatchObject({ payload: { note: "[redacted]" }, tags: { redacted: "tokens" } });
    const kept = [job, await kit.mill.deadLetters.get(id), await kit.mill.audit.list()];
    expect(JSON.stringify([kept, kit.logged])).not.toContain("eyJ");
  });

  test("may keep the keys of the first job, however often it is repeated", async () => {
    await using kit = await openTest({ preset: practice });
    const names = { tenant_id: 7, correlation_id: ID, idempotency_key: "k1" };
    const options = { tenant: "7", correlationId: ID, idempotencyKey: "k1" };
    const { edit } = await failedJob(kit, { ...names, document_id: 1 }, options);

    const second = await edit({ ...names, document_id: 2 });
    await kit.drain([scan]);
    const third = await kit.mill.deadLetters.reprocess(second.id, {
      actor: "ada",
      payload: { ...names, document_id: 3 },
    });

    expect(third.idempotencyKey).toMatch(/^k1_retry_.*_retry_/);
    await expect(edit({ ...names, idempotency_key: "k2" })).rejects.toMatchObject({
      code: "PAYLOAD_MISMATCH",
      details: { issues: [{ path: "payload.document_id" }, { path: "payload.idempotency_key" }] },
    });
  });

  test("must not name the older version that the first job had", async () => {
    await using kit = await openTest();
    const v2 = defineJob({
      type: "scan",
      payload: typed<Fields>(),
      payloadVersion: "2",
      upcast: { "1": (payload) => payload },
    }).run(() => {});
    const { id, edit } = await failedJob(kit, { payload_version: 1, pages: "7" });
    await kit.drain([v2]);
    await kit.mill.payloadRules.set({ type: "scan" }, { softBytes: 5_000 });

    // The functions for older versions would leave it alone, because it was written today.
    await expect(edit({ payload_version: 1, pages: "8" })).rejects.toMatchObject({
      code: "PAYLOAD_MISMATCH",
      details: { issues: [{ path: "payload.payload_version" }] },
    });
    const successor = await edit({ payload_version: 2, pages: 8 });

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ payloadVersion: "2" });
    expect(await kit.mill.deadLetters.get(id)).toMatchObject({ status: "reprocessed" });
  });

  test("counts for the quota of bytes, and not for other quotas", async () => {
    await using kit = await openTest();
    const { id, edit } = await failedJob(kit, { n: 0 }, { tenant: "acme" });
    const why = { actor: "ada", reason: "the plan" };
    await kit.mill.tenants.setQuota("*", { payloadBytes: 10 }, why);
    const acme = kit.mill.forTenant("acme").deadLetters;
    const payload = { text: "longer than ten bytes" };

    const refused = { code: "PAYLOAD_OVER_QUOTA", details: { tenant: "acme", limit: 10 } };
    await expect(edit(payload)).rejects.toMatchObject(refused);
    await expect(acme.reprocess(id, { actor: "a", payload })).rejects.toMatchObject(refused);

    await kit.mill.tenants.setQuota("acme", { waiting: 1, payloadBytes: 50 }, why);
    await kit.mill.enqueue(scan, {}, { tenant: "acme" });
    expect((await edit(payload)).created).toBe(true);
  });

  test("that is unchanged passes a newer rule", async () => {
    await using kit = await openTest();
    const { id } = await failedJob(kit, { n: 0 });
    await kit.mill.payloadRules.set({ type: "scan" }, { hardBytes: 1 });

    const successor = await kit.mill.deadLetters.reprocess(id, { actor: "ada" });

    expect((await kit.mill.jobs.get(successor.id)).payload).toEqual({ n: 0 });
  });
});
