/** What each type of job does, once. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { JOB_CATEGORIES } from "millrace";
import { describe, expect, test } from "vitest";
import { JOB_TYPES } from "../src/categories.ts";
import { rowsOf } from "../src/database.ts";
import { JOBS } from "../src/jobs.ts";
import { CONNECTION } from "../src/sample-firm.ts";
import { FIRM, World } from "./world.ts";

const OWN = FIRM * 10 + 1;

describe("the eight categories", () => {
  test("have the specified job types, and each type has a handler (003-01, 003-02)", () => {
    const types = Object.fromEntries(
      Object.entries(JOB_TYPES).map(([category, each]) => [category, Object.keys(each)]),
    );

    expect(types).toEqual({
      ingestion: ["email_ingestion_fetch", "email_ingestion_parse"],
      sync: ["calendar_sync_pull", "calendar_sync_push"],
      recurrence: ["recurrence_period_generate", "recurrence_work_create"],
      orchestration: ["orchestration_step_execute"],
      documents: ["document_scan", "document_classify"],
      notifications: ["notification_email_send", "notification_inapp_create"],
      export: ["firm_export", "firm_purge"],
      maintenance: ["session_expire", "data_archival"],
    });
    expect(Object.keys(types)).toEqual(JOB_CATEGORIES);
    expect(JOBS.map(({ type }) => type)).toEqual(Object.values(types).flat());
  });

  test("are those of the stored jobs (003-02)", async () => {
    await using world = await World.open();
    const row = await world.request("document_scan", "scan_1", { document_id: OWN });

    expect(row).toMatchObject({ category: "documents", job_type: "document_scan" });
  });
});

describe("a job of type", () => {
  test("email_ingestion_fetch stores the message, and a second job maps it", async () => {
    await using world = await World.open();
    const row = await world.fetchMessage("fetch_1");
    await world.drain();

    expect(await world.row(row.job_id)).toMatchObject({ result: { fetched_count: 1 } });
    const emails = rowsOf(world.practice.db, "SELECT subject, client FROM email");
    expect(emails).toEqual([{ subject: "My papers", client: "Ada" }]);
    const { body } = await world.get("/queue/?job_type=email_ingestion_parse");
    expect(body.jobs).toMatchObject([
      { correlation_id: row.correlation_id, idempotency_key: "fetch_1_parse", status: "completed" },
    ]);
  });

  test.each([
    ["calendar_sync_pull", { connection_id: CONNECTION }, { pulled: 1 }],
    ["calendar_sync_push", { connection_id: CONNECTION, appointment_id: "hearing" }, {}],
    ["recurrence_period_generate", { recurrence_id: OWN }, { periods: expect.any(Array) }],
    ["recurrence_work_create", { recurrence_id: OWN, period: "2026-01" }, {}],
    ["orchestration_step_execute", { execution_id: 1, step: "welcome" }, { step: "welcome" }],
    ["document_scan", { document_id: OWN }, { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    ["document_classify", { document_id: OWN }, { label: "invoice" }],
    ["notification_email_send", { notification_id: OWN }, { sent: "notification-1231.eml" }],
    ["notification_inapp_create", { notification_id: OWN }, { shown: OWN }],
    ["firm_export", { export_id: 5 }, { file: "export-5.json" }],
    ["firm_purge", { purge_id: 5 }, { purged: 9 }],
    ["session_expire", { before: "2026-01-01T00:00:00Z" }, { expired: 1 }],
    ["data_archival", { before: "2020-01-01T00:00:00Z" }, { archived: 1 }],
  ])("%s completes with a result", async (type, refs, result) => {
    await using world = await World.open();
    const { job_id: id } = await world.request(type, "key_1", refs);
    await world.drain();

    expect(await world.row(id)).toMatchObject({ status: "completed", result });
  });

  test("firm_purge leaves the other firm alone", async () => {
    await using world = await World.open();
    await world.request("firm_purge", "purge_1", { purge_id: 1 });
    await world.drain();

    const clients = rowsOf(world.practice.db, "SELECT firm_id FROM client");
    expect(clients).toEqual([{ firm_id: 124 }]);
    expect(existsSync(join(world.practice.folder, "123"))).toBe(false);
    expect(existsSync(join(world.practice.folder, "124"))).toBe(true);
  });

  test("calendar_sync_push keeps what stands in the calendar", async () => {
    await using world = await World.open();
    const refs = { connection_id: CONNECTION, appointment_id: "hearing" };
    await world.request("calendar_sync_push", "push_1", refs);
    await world.drain();

    const file = join(world.practice.folder, "123", "connections", "456", "calendar.json");
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")))).toEqual(["lunch", "hearing"]);
  });
});

test("a worker that dies after the work repeats the run and not the work", async () => {
  await using world = await World.open();
  const refs = { recurrence_id: OWN, period: "2026-01" };
  const { job_id: id } = await world.request("recurrence_work_create", "work_1", refs);

  world.kit.crashAt("settle");
  await world.drain();
  await world.kit.advance("1m");
  await world.drain();

  expect(await world.kit.mill.jobs.attempts(id)).toHaveLength(2);
  expect(await world.row(id)).toMatchObject({ result: { title: "Payroll 2026-01" } });
  expect(rowsOf(world.practice.db, "SELECT title FROM task")).toHaveLength(1);
});
