/** Payload rules at every entrance of new jobs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  createPayload,
  defineJob,
  JOB_CATEGORIES,
  openMillrace,
  practice,
  schedule,
  typed,
  validatePayload,
} from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

type Fields = Record<string, string | number>;

const ID = "550e8400-e29b-41d4-a716-446655440000";
const scan = defineJob({
  type: "document_scan",
  category: "documents",
  payload: typed<Fields>(),
}).run((payload) => payload);
const other = defineJob({ type: "other", payload: typed<Fields>() });
const BROKEN = { code: "PAYLOAD_RULE_BROKEN", status: 422 };

describe("mill.payloadRules", () => {
  test("sets, lists and removes rules, which count at once (003-07)", async () => {
    await using kit = await openTest();
    const { payloadRules } = kit.mill;
    const by = { actor: "ada", reason: "an audit" };
    await kit.mill.enqueue(scan, {});
    await payloadRules.set({ category: "documents" }, { required: { document_id: "integer" } }, by);
    await payloadRules.set({ type: "other" }, { hardBytes: 10 });
    await payloadRules.set({ installation: true }, { forbidden: ["body"] });

    await expect(kit.mill.enqueue(scan, {})).rejects.toMatchObject(BROKEN);
    await expect(kit.mill.enqueue(scan, { document_id: 1, body: "x" })).rejects.toMatchObject({
      ...BROKEN,
      details: { issues: [{ path: "payload.body", rule: "forbidden" }] },
    });
    await expect(kit.mill.enqueue(other, { text: "too long" })).rejects.toMatchObject(BROKEN);
    expect((await kit.mill.enqueue(other, { n: 1 })).created).toBe(true);
    expect(await payloadRules.list()).toMatchObject([
      { scope: "category", name: "documents", setBy: "ada", reason: "an audit" },
      { scope: "installation", name: "all", rule: { forbidden: ["body"] }, setBy: null },
      { scope: "type", name: "other", rule: { hardBytes: 10 } },
    ]);

    expect(await payloadRules.remove({ category: "documents" }, by)).toBe(true);
    expect(await payloadRules.remove({ category: "documents" })).toBe(false);
    expect((await kit.mill.enqueue(scan, {})).created).toBe(true);
  });

  test("counts within five seconds if another process has set it", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(scan, {});
    const target = { scope: "type", name: "document_scan" } as const;
    await kit.store.setPayloadRule(target, { hardBytes: 1 }, { by: null, reason: null });

    await kit.mill.enqueue(scan, {});
    await kit.advance(5_000);
    await expect(kit.mill.enqueue(scan, {})).rejects.toMatchObject(BROKEN);
  });

  test.each([
    [{ type: "" }, { hardBytes: 1 }],
    [{ lane: "fast" }, { hardBytes: 1 }],
    [{ type: "a", category: "b" }, { hardBytes: 1 }],
    [{ installation: false }, { hardBytes: 1 }],
    [{ type: "a" }, {}],
    [{ type: "a" }, { hardBytes: 0 }],
    [{ type: "a" }, { required: { "a..b": "any" } }],
    [{ type: "a" }, { required: { a: "number" } }],
    [{ type: "a" }, { required: [] }],
    [{ type: "a" }, { forbidden: [""] }],
    [{ type: "a" }, { forbidden: "body" }],
    [{ type: "a" }, { sensitive: { passwords: "ignore" } }],
    [{ type: "a" }, { sensitive: { mails: "warn" } }],
    [{ type: "a" }, { forbidden: Array.from({ length: 101 }, (_, n) => `f${n}`) }],
  ])("refuses %j with %j", async (target, rule) => {
    await using kit = await openTest();
    const [unchecked, uncheckedRule]: [any, any] = [target, rule];

    await expect(kit.mill.payloadRules.set(unchecked, uncheckedRule)).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    expect(await kit.mill.payloadRules.list()).toEqual([]);
  });

  test("is read by the mill of a tenant, which may not change it", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    await kit.mill.payloadRules.set({ installation: true }, { hardBytes: 5 }, { actor: "ada" });

    await expect(acme.enqueue(scan, { document_id: 1 })).rejects.toMatchObject(BROKEN);
    expect(await acme.payloadRules.list()).toMatchObject([{ setBy: null, reason: null }]);
    const refused = { code: "FORBIDDEN_TENANT" };
    const all = { installation: true } as const;
    await expect(acme.payloadRules.set(all, { hardBytes: 9 })).rejects.toMatchObject(refused);
    await expect(acme.payloadRules.remove(all)).rejects.toMatchObject(refused);
  });
});

describe("every entrance", () => {
  test("refuses one of many, a child and the job of a schedule (003-07)", async () => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent", maxAttempts: 1 }).run((_, ctx) =>
      ctx.enqueue(scan, { document_id: 1 }),
    );
    const nightly = schedule("nightly", { cron: "0 3 * * *" }, scan, { document_id: 1 });
    await kit.mill.schedules.create(schedule("hourly", { cron: "0 * * * *" }, scan, { n: 1 }));
    await kit.mill.payloadRules.set({ type: "document_scan" }, { hardBytes: 3 });

    const many = kit.mill.enqueueMany([other.of({}), scan.of({ document_id: 1 })]);
    await expect(many).rejects.toMatchObject(BROKEN);
    expect(await kit.mill.jobs.count()).toMatchObject({ count: 0 });

    const job = await kit.mill.enqueue(parent);
    await kit.drain([parent]);
    expect((await kit.mill.jobs.get(job.id)).error?.message).toContain("more than the 3");

    await expect(kit.mill.schedules.create(nightly)).rejects.toMatchObject(BROKEN);
    await expect(kit.mill.schedules.runNow("hourly")).rejects.toMatchObject(BROKEN);
    const worker = kit.mill.work({ jobs: [scan] });
    await worker.ready;
    await kit.advance("2h");
    const ticks = await kit.mill.schedules.history("hourly");
    expect(ticks.map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
    await worker.stop();
  });

  test("refuses a payload that contradicts its job", async () => {
    await using kit = await openTest();
    await kit.mill.payloadRules.set({ installation: true }, { softBytes: 5_000 });
    const acme = kit.mill.forTenant("12");

    await expect(acme.enqueue(scan, { tenant_id: 13 })).rejects.toMatchObject({
      code: "PAYLOAD_MISMATCH",
      details: { issues: [{ path: "payload.tenant_id", rule: "mismatch" }] },
    });
    const options = { tenant: "12", correlationId: ID, idempotencyKey: "k1" };
    const payload = { tenant_id: 12, correlation_id: ID, idempotency_key: "k1" };
    expect((await kit.mill.enqueue(scan, payload, options)).created).toBe(true);
    const twisted = { ...payload, idempotency_key: "k2" };
    await expect(kit.mill.enqueue(scan, twisted, options)).rejects.toMatchObject({
      code: "PAYLOAD_MISMATCH",
    });
  });

  test("stores a redacted payload with a tag, and no trace of the value", async () => {
    await using kit = await openTest();
    const sensitive = { passwords: "redact", tokens: "warn" } as const;
    await kit.mill.payloadRules.set({ installation: true }, { sensitive });

    const payload = { password: "hunter2", api_token: "tk-18f3a9c2" };
    const { id } = await kit.mill.enqueue(scan, payload);
    await kit.mill.enqueue(scan, { api_token: "tk-18f3a9c2" });
    await kit.advance(60_000);
    await kit.mill.enqueue(scan, { api_token: "tk-18f3a9c2" });

    expect(await kit.mill.jobs.get(id)).toMatchObject({
      payload: { password: "[redacted]", api_token: "tk-18f3a9c2" },
      tags: { redacted: "passwords" },
    });
    const warnings = kit.logged.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => fields["payloads"])).toEqual([1, 2]);
    expect(kit.logged).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ paths: ["password"] }) }),
    );
    expect(JSON.stringify(kit.logged)).not.toMatch(/hunter2|tk-18/);
  });
});

describe("a redacted payload with an idempotency key", () => {
  test("is compared as it was given", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const payload = { password: "hunter2" };
    const { id } = await mill.enqueue(scan, payload, { idempotencyKey: "k" });
    const sensitive = { passwords: "redact" } as const;
    await mill.payloadRules.set({ installation: true }, { sensitive });

    const again = await mill.enqueue(scan, payload, { idempotencyKey: "k" });
    expect(again).toMatchObject({ id, created: false });
    await mill.enqueue(scan, { password: "hunter3" }, { idempotencyKey: "k2" });
    const another = mill.enqueue(scan, { password: "hunter4" }, { idempotencyKey: "k2" });
    await expect(another).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  });
});

describe("the preset practice", () => {
  test("brings its rules along (003-03, 003-04, 003-07, 003-37, 003-38)", async () => {
    await using kit = await openTest({ preset: practice });
    const payload = createPayload({
      tenantId: 123,
      correlationId: ID,
      idempotencyKey: "scan_456",
      document_id: 456,
    });
    const options = { tenant: "123", correlationId: ID, idempotencyKey: "scan_456" };
    expect((await kit.mill.enqueue(scan, payload, options)).created).toBe(true);

    await expect(kit.mill.enqueue(scan, { password: "hunter2" })).rejects.toMatchObject({
      code: "PAYLOAD_RULE_BROKEN",
      details: {
        issues: [
          { path: "payload.tenant_id" },
          { path: "payload.correlation_id" },
          { path: "payload.idempotency_key" },
          { path: "payload.document_id" },
          { path: "options.tenant", rule: "strict" },
          { path: "options.correlationId", rule: "strict" },
          { path: "payload.password", rule: "sensitive:passwords" },
        ],
      },
    });
  });

  test("has the eight categories", () => {
    expect(JOB_CATEGORIES).toEqual([
      "ingestion",
      "sync",
      "recurrence",
      "orchestration",
      "documents",
      "notifications",
      "export",
      "maintenance",
    ]);
  });
});

describe("validatePayload and createPayload", () => {
  test("tell every fault, of the category and of further fields (003-05)", () => {
    const payload = { tenant_id: 1, correlation_id: ID, idempotency_key: "k", document_id: 5 };

    expect(validatePayload(payload, "documents")).toEqual({ valid: true, errors: [] });
    expect(validatePayload(payload, "export", { additionalRequired: ["firm_id"] })).toEqual({
      valid: false,
      errors: [{ path: "firm_id", rule: "required", message: "firm_id is missing" }],
    });
    expect(validatePayload({}, "sync").errors).toHaveLength(4);
    expect(validatePayload(payload, "mails").errors).toMatchObject([{ rule: "category" }]);
    expect(validatePayload({ at: new Date() }, "export", { rules: [] }).errors).toMatchObject([
      { path: "payload", rule: "json" },
    ]);
  });

  test("fill what is absent from the running job, and draw a correlation id (003-06)", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" }).run(() => createPayload({ idempotencyKey: "k" }));
    const job = await kit.mill.enqueue(child, undefined, { tenant: "7", correlationId: ID });
    await kit.drain([child]);

    expect(await kit.mill.result(job)).toEqual({
      tenant_id: "7",
      correlation_id: ID,
      idempotency_key: "k",
    });
    const drawn = createPayload({ tenantId: 1, idempotencyKey: "k", payloadVersion: "2", a: 1 });
    expect(drawn).toMatchObject({ tenant_id: 1, payload_version: "2", a: 1 });
    expect(drawn.correlation_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(() => createPayload({ idempotencyKey: "k" })).toThrow("tenantId is missing");
    expect(() => createPayload({ tenantId: 1, idempotencyKey: "" })).toThrow("idempotencyKey");
  });
});

describe("an enqueue in a caller's transaction", () => {
  test("is refused by a rule, and leaves the transaction as it was (003-07)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-rules-"));
    const file = join(folder, "app.db");
    const mill = await openMillrace(`sqlite:${file}`);
    const db = new DatabaseSync(file);
    await mill.payloadRules.set({ type: "other" }, { hardBytes: 10 });
    db.exec("BEGIN IMMEDIATE");

    const refused = mill.enqueue(other, { text: "too long" }, { tx: db });
    await expect(refused).rejects.toMatchObject(BROKEN);
    const kept = await mill.enqueue(other, { n: 1 }, { tx: db });
    db.exec("COMMIT");

    expect((await mill.jobs.get(kept.id)).payload).toEqual({ n: 1 });
    expect(await mill.jobs.count()).toMatchObject({ count: 1 });
    db.close();
    await mill.close();
    rmSync(folder, { recursive: true });
  });
});
