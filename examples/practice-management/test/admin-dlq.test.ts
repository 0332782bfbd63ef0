/** `/api/jobs/admin/dlq/`: shapes, filters, reprocessing, discarding, statistics. */
import { describe, expect, test } from "vitest";
import { jobOfType } from "../src/jobs.ts";
import { PayloadValidator } from "../src/payload-validator.ts";
import { CORRELATION, FIRM, OTHER_FIRM, World } from "./world.ts";

const KEY = "email_fetch_conn_456_msg_789";
const RETRIED_KEY = /^email_fetch_conn_456_msg_789_retry_\d{10}\.\d{3}$/;

describe("GET /api/jobs/admin/dlq/", () => {
  test("has dlq_items with eleven fields, and total_count (003-24)", async () => {
    await using world = await World.open();
    const createdAt = new Date(world.kit.clock.now()).toISOString();
    const later = { scheduled_at: new Date(world.kit.clock.now() + 300_000) };
    const refs = { connection_id: 999 };
    await world.fetchMessage(KEY, refs, { correlation_id: CORRELATION, ...later });
    await world.kit.advance("5m");
    await world.drain();

    const { status, body } = await world.get("/dlq/");

    expect(status).toBe(200);
    expect(body).toEqual({
      dlq_items: [
        {
          dlq_id: 1,
          category: "ingestion",
          job_type: "email_ingestion_fetch",
          status: "pending_review",
          idempotency_key: KEY,
          correlation_id: CORRELATION,
          error_class: "non_retryable",
          error_message: "there is no connection 999",
          attempt_count: 1,
          original_created_at: createdAt,
          created_at: new Date(world.kit.clock.now()).toISOString(),
        },
      ],
      total_count: 1,
    });
  });

  test("filters by status, category, type, error class and correlation", async () => {
    await using world = await World.open();
    const other = { correlation_id: "7d444840-9dc0-11d1-b245-5ffdce74fad2" };
    await world.request("document_scan", "scan_1", { document_id: 9 }, other);
    await world.deadJob("dead_1");
    await world.fetchMessage("missing_1", { external_message_id: "none" }, other);
    await world.exhaust();
    await world.get("/dlq/");
    await world.post("/dlq/1/discard/", {});

    const found = async (query: string): Promise<unknown> => {
      const { body } = await world.get(`/dlq/?${query}`);
      expect(body.total_count).toBe(body.dlq_items.length);
      return body.dlq_items.map((item: { idempotency_key: string }) => item.idempotency_key);
    };

    expect(await found("")).toHaveLength(3);
    expect(await found("status=discarded")).toHaveLength(1);
    expect(await found("category=documents")).toEqual(["scan_1"]);
    expect(await found("job_type=document_scan")).toEqual(["scan_1"]);
    expect(await found("error_class=retryable")).toEqual(["missing_1"]);
    expect(await found(`correlation_id=${CORRELATION}`)).toEqual(["dead_1"]);
    expect((await world.get("/dlq/?status=failed")).status).toBe(400);
  });

  test("has pages, whose numbers stay", async () => {
    await using world = await World.open();
    for (const key of ["a", "b", "c"]) await world.deadJob(key);

    const first = await world.get("/dlq/?limit=2");
    const link = /<\/api\/jobs\/admin(.+)>; rel="next"/.exec(first.headers.get("link") ?? "");
    const second = await world.get(link?.[1] ?? "");
    const again = await world.get("/dlq/?limit=2");

    const keys = (body: any): string[] => body.dlq_items.map((item: any) => item.idempotency_key);
    expect([...keys(first.body), ...keys(second.body)]).toEqual(["c", "b", "a"]);
    expect(first.body.total_count).toBe(3);
    expect(again.body).toEqual(first.body);
  });
});

describe("GET /api/jobs/admin/dlq/{id}/", () => {
  test("has the full payload and the error of every attempt (003-23, 003-25)", async () => {
    await using world = await World.open();
    const refs = { external_message_id: "none" };
    const row = await world.fetchMessage(KEY, refs, { correlation_id: CORRELATION });
    await world.exhaust();
    await world.get("/dlq/");

    const { body } = await world.get("/dlq/1/");

    expect(body).toMatchObject({
      dlq_id: 1,
      payload: row.payload,
      attempt_count: 5,
      original_created_at: row.created_at,
      correlation_id: CORRELATION,
      reviewed_by: null,
      notes: null,
      new_job_id: null,
    });
    expect(body.attempts).toHaveLength(5);
    expect(body.attempts[0].error_message).toBe("message none is not there yet");
  });

  test.each(["/dlq/2/", "/dlq/0/", "/dlq/x/", "/dlq/1", "/dlq/1/retry/"])(
    "answers 404 for %s",
    async (path) => {
      await using world = await World.open();
      await world.deadJob();
      await world.get("/dlq/");

      expect((await world.get(path)).status).toBe(404);
    },
  );

  test("answers an item of another firm as one that does not exist", async () => {
    await using world = await World.open();
    await world.deadJob("theirs", OTHER_FIRM);
    const seen = await world.get("/dlq/", "eve");
    expect(seen.body.dlq_items[0].dlq_id).toBe(1);

    const foreign = await world.get("/dlq/1/");
    const unknown = await world.get("/dlq/2/");

    expect((await world.get("/dlq/")).body).toEqual({ dlq_items: [], total_count: 0 });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(foreign.body.detail.replace("1", "2")).toBe(unknown.body.detail);
    expect((await world.post("/dlq/1/discard/", {})).status).toBe(404);
    expect((await world.post("/dlq/1/reprocess/", {})).status).toBe(404);
  });
});

describe("POST /api/jobs/admin/dlq/{id}/reprocess/", () => {
  test("answers message, item, new job and new key (003-25, 003-26)", async () => {
    await using world = await World.open();
    await world.deadJob(KEY);
    await world.get("/dlq/");
    await world.kit.advance("1m");
    const notes = "Fixed validation issue in source data, safe to reprocess";

    const { status, body } = await world.post("/dlq/1/reprocess/", { notes });

    expect(status).toBe(200);
    expect(body).toEqual({
      message: "DLQ item reprocessed successfully",
      dlq_id: 1,
      new_job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      new_idempotency_key: expect.stringMatching(RETRIED_KEY),
    });
    const seconds = (world.kit.clock.now() / 1_000).toFixed(3);
    expect(body.new_idempotency_key).toBe(`${KEY}_retry_${seconds}`);
    const row = await world.row(body.new_job_id);
    expect(row).toMatchObject({
      idempotency_key: body.new_idempotency_key,
      correlation_id: CORRELATION,
      status: "pending",
      attempt_count: 0,
    });
    const { body: item } = await world.get("/dlq/1/");
    expect(item).toMatchObject({ status: "reprocessed", reviewed_by: "grace", notes });
    expect(item.new_job_id).toBe(body.new_job_id);
  });

  test("makes one job, however often it is asked", async () => {
    await using world = await World.open();
    await world.deadJob(KEY);
    await world.get("/dlq/");

    const answers = [1, 2, 3].map(() => world.post("/dlq/1/reprocess/", { notes: "again" }));
    const ids = (await Promise.all(answers)).map(({ body }) => body.new_job_id);

    expect(new Set(ids).size).toBe(1);
    expect((await world.get("/queue/")).body.total_count).toBe(2);
  });

  test("leaves the request without a success in the audit when it fails (003-35)", async () => {
    await using world = await World.open();
    const enqueue = (key: string, delay: number): Promise<unknown> => {
      const payload = PayloadValidator.create_payload({
        tenant_id: FIRM,
        correlation_id: CORRELATION,
        idempotency_key: key,
        document_id: 9,
      });
      const options = { correlationId: CORRELATION, idempotencyKey: key, delay };
      const firm = world.kit.mill.forTenant(String(FIRM));
      return firm.enqueue(jobOfType("document_scan")!, payload, { ...options, dedupKey: "doc_9" });
    };
    await enqueue("scan_1", 0);
    await world.drain();
    await world.get("/dlq/");
    await enqueue("scan_2", 3_600_000);

    const { status, body } = await world.post("/dlq/1/reprocess/", { notes: "again" });

    expect(status).toBe(409);
    expect(body.detail).toContain("doc_9");
    expect(await world.audited()).toEqual(["job_dlq_reprocess_requested"]);
    expect((await world.get("/dlq/1/")).body.status).toBe("pending_review");
  });

  test.each([
    ["a list", "[]", 400],
    ["no JSON", "notes", 400],
    ["another field", '{"payload":{}}', 400],
    ["notes that are no text", '{"notes":7}', 400],
    ["a huge body", JSON.stringify({ notes: "x".repeat(20_000) }), 413],
  ])("refuses %s", async (_what, text, expected) => {
    await using world = await World.open();
    await world.deadJob(KEY);
    await world.get("/dlq/");

    const { status } = await world.post("/dlq/1/reprocess/", text);

    expect(status).toBe(expected);
    expect((await world.get("/dlq/1/")).body.status).toBe("pending_review");
  });
});

describe("POST /api/jobs/admin/dlq/{id}/discard/", () => {
  test("closes the item without a new job, and is audited (003-25)", async () => {
    await using world = await World.open();
    await world.deadJob(KEY);
    await world.get("/dlq/");

    const { body } = await world.post("/dlq/1/discard/", { notes: "a test account" });

    expect(body).toEqual({ message: "DLQ item discarded", dlq_id: 1 });
    const { body: item } = await world.get("/dlq/1/");
    expect(item).toMatchObject({ status: "discarded", notes: "a test account" });
    expect((await world.get("/queue/")).body.total_count).toBe(1);
    expect(await world.audited()).toEqual(["job_dlq_discarded"]);
    expect((await world.post("/dlq/1/reprocess/", {})).status).toBe(409);
  });
});

describe("GET /api/jobs/admin/dlq/statistics/", () => {
  test("counts by status, category, type and error class (003-25, 003-33)", async () => {
    await using world = await World.open();
    const start = new Date(world.kit.clock.now()).toISOString();
    await world.deadJob("dead_1");
    await world.get("/dlq/");
    await world.post("/dlq/1/discard/", {});
    await world.kit.advance("25h");
    const middle = new Date(world.kit.clock.now()).toISOString();
    await world.request("document_scan", "scan_1", { document_id: 9 });
    await world.deadJob("theirs", OTHER_FIRM);
    await world.drain();

    const { body } = await world.get("/dlq/statistics/");

    expect(body).toEqual({
      total_count: 2,
      by_status: { pending_review: 1, acknowledged: 0, reprocessed: 0, discarded: 1 },
      by_category: { ingestion: 1, documents: 1 },
      by_job_type: { email_ingestion_fetch: 1, document_scan: 1 },
      by_error_class: { non_retryable: 2 },
      oldest_pending: middle,
      oldest: start,
      last_24_hours: 1,
      at_least: false,
    });
  });
});
