/** `/api/jobs/admin/queue/`: the list with its filters, and the statistics. */
import { describe, expect, test } from "vitest";
import { queueStatistics } from "../src/queue-statistics.ts";
import { CORRELATION, FIRM, OTHER_FIRM, World } from "./world.ts";

const OWN = FIRM * 10 + 1;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe("GET /api/jobs/admin/queue/", () => {
  test("has the thirteen fields of a job by their own names (003-36)", async () => {
    await using world = await World.open();
    const { job_id: id } = await world.deadJob("email_fetch_conn_999_msg_1");

    const { status, body } = await world.get("/queue/");

    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["jobs", "total_count"]);
    expect(body.total_count).toBe(1);
    const [row] = body.jobs;
    const { job_id: jobId, max_attempts: most, result, created_at: created, ...thirteen } = row;
    expect(thirteen).toEqual({
      firm: 123,
      category: "ingestion",
      job_type: "email_ingestion_fetch",
      payload_version: "1.0",
      payload: {
        tenant_id: 123,
        correlation_id: CORRELATION,
        idempotency_key: "email_fetch_conn_999_msg_1",
        connection_id: 999,
        external_message_id: "msg_789",
      },
      idempotency_key: "email_fetch_conn_999_msg_1",
      correlation_id: CORRELATION,
      priority: 2,
      status: "failed",
      scheduled_at: new Date(world.kit.clock.now()).toISOString(),
      attempt_count: 1,
      error_class: "non_retryable",
      error_message: "there is no connection 999",
    });
    expect(jobId).toMatch(UUID);
    expect(jobId).toBe(id);
    expect([most, result, created]).toEqual([5, null, thirteen.scheduled_at]);
  });

  test("has the result of a completed job (003-14)", async () => {
    await using world = await World.open();
    const { job_id: id } = await world.fetchMessage("fetch_1");
    await world.drain();

    expect(await world.row(id)).toMatchObject({
      status: "completed",
      result: { fetched_count: 1 },
      error_class: null,
      error_message: null,
    });
  });

  test("cuts a long error message after 500 characters (003-15)", async () => {
    await using world = await World.open();
    const external = "m".repeat(2_000);
    const row = await world.fetchMessage("long_1", { external_message_id: external });
    await world.drain();

    const { error_message: message } = await world.row(row.job_id);
    expect(message).toHaveLength(500);
  });

  test("filters by status, category, type, correlation and time of creation (003-34)", async () => {
    await using world = await World.open();
    const { kit } = world;
    const dead = await world.deadJob("dead_1");
    await kit.advance("1h");
    const scan = await world.request("document_scan", "scan_1", { document_id: OWN });
    await kit.advance("1h");
    const later = { scheduled_at: new Date(kit.clock.now() + 60_000) };
    const pull = await world.request("calendar_sync_pull", "pull_1", { connection_id: 456 }, later);
    const between = new Date(kit.clock.now() - 30 * 60_000).toISOString();

    const found = async (query: string): Promise<unknown> => {
      const { body } = await world.get(`/queue/?${query}`);
      expect(body.total_count).toBe(body.jobs.length);
      return body.jobs.map((row: { job_id: string }) => row.job_id);
    };

    expect(await found("status=failed")).toEqual([dead.job_id]);
    expect(await found("status=pending")).toEqual([pull.job_id, scan.job_id]);
    expect(await found("category=documents")).toEqual([scan.job_id]);
    expect(await found("job_type=calendar_sync_pull")).toEqual([pull.job_id]);
    expect(await found(`correlation_id=${CORRELATION}`)).toEqual([dead.job_id]);
    expect(await found(`created_after=${between}`)).toEqual([pull.job_id]);
    expect(await found(`created_before=${between}&status=pending`)).toEqual([scan.job_id]);
  });

  test("has pages, and the link of the next one", async () => {
    await using world = await World.open();
    for (const key of ["a", "b", "c"]) await world.fetchMessage(key);

    const first = await world.get("/queue/?limit=2");
    const link = /<\/api\/jobs\/admin(.+)>; rel="next"/.exec(first.headers.get("link") ?? "");
    const second = await world.get(link?.[1] ?? "");

    expect(keysOf(first.body.jobs)).toEqual(["c", "b"]);
    expect(keysOf(second.body.jobs)).toEqual(["a"]);
    expect(first.body.total_count).toBe(3);
    expect(second.headers.get("link")).toBeNull();
  });

  test("has the jobs of the caller's firm alone", async () => {
    await using world = await World.open();
    await world.fetchMessage("ours");
    await world.fetchMessage("theirs", {}, { firm: OTHER_FIRM });

    expect(keysOf((await world.get("/queue/")).body.jobs)).toEqual(["ours"]);
    expect(keysOf((await world.get("/queue/", "eve")).body.jobs)).toEqual(["theirs"]);
  });

  test.each(["status=dead", "stauts=failed", "limit=0", "limit=x", "created_after=yesterday"])(
    "refuses the filter %s",
    async (query) => {
      await using world = await World.open();

      const { status, body } = await world.get(`/queue/?${query}`);

      expect(status).toBe(400);
      expect(body.detail).toMatch(/./);
    },
  );
});

describe("GET /api/jobs/admin/queue/statistics/", () => {
  test("counts by status, category, type and error class (003-01, 003-28, 003-33)", async () => {
    await using world = await World.open();
    const { kit } = world;
    const start = new Date(kit.clock.now()).toISOString();
    await world.deadJob("dead_1");
    await kit.advance("25h");
    const middle = new Date(kit.clock.now()).toISOString();
    await world.request("document_scan", "scan_1", { document_id: OWN });
    await world.drain();
    const later = { scheduled_at: new Date(kit.clock.now() + 60_000) };
    await world.request("document_classify", "classify_1", { document_id: OWN }, later);
    await world.fetchMessage("theirs", {}, { firm: OTHER_FIRM });

    const { body } = await world.get("/queue/statistics/");

    expect(body).toEqual({
      total_count: 3,
      by_status: { pending: 1, processing: 0, completed: 1, failed: 1, cancelled: 0 },
      by_category: { ingestion: 1, documents: 2 },
      by_job_type: { email_ingestion_fetch: 1, document_scan: 1, document_classify: 1 },
      by_error_class: { non_retryable: 1 },
      oldest_pending: middle,
      oldest: start,
      last_24_hours: 2,
      at_least: false,
    });
  });
});

describe("the statistics of more jobs than one call reads", () => {
  test("name the oldest job of all", async () => {
    await using world = await World.open();
    const { kit } = world;
    const later = { scheduled_at: new Date(kit.clock.now() + 10 * 86_400_000) };
    const times: string[] = [];
    for (const key of ["done", "first", "second", "third"]) {
      times.push(new Date(kit.clock.now()).toISOString());
      await world.request("document_scan", key, { document_id: OWN }, key === "done" ? {} : later);
      await world.drain();
      await kit.advance("25h");
    }
    const firm = kit.mill.forTenant(String(FIRM));

    const found = await queueStatistics(firm, kit.clock.now(), 1);

    expect(found).toMatchObject({ total_count: 1, at_least: true });
    expect(found).toMatchObject({ oldest: times[0], oldest_pending: times[1] });
  });
});

describe("the queue", () => {
  test("takes the lower number first, then what was due first; 2 is normal (003-10)", async () => {
    await using world = await World.open();
    const { kit } = world;
    const step = (key: string, options: object): Promise<{ priority: number }> =>
      world.request("orchestration_step_execute", key, { execution_id: 1, step: key }, options);
    const soon = { scheduled_at: new Date(kit.clock.now() + 60_000) };
    await step("low", { priority: 3 });
    await step("normal, due last", soon);
    const { priority } = await step("normal", {});
    await step("urgent", { priority: 0 });
    await step("high", { priority: 1 });
    const order: string[] = [];
    kit.mill.on("job:started", ({ id }) => order.push(id));
    await kit.advance("2m");
    await world.drain({ lanes: { general: 1 } });
    await kit.settled();

    const jobs = await Promise.all(order.map((id) => kit.mill.jobs.get(id)));
    const keys = jobs.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toEqual(["urgent", "high", "normal", "normal, due last", "low"]);
    expect(priority).toBe(2);
  });

  test("runs the jobs of one firm alone when a worker serves that firm (003-12)", async () => {
    await using world = await World.open();
    const ours = await world.fetchMessage("ours");
    const theirs = await world.fetchMessage("theirs", {}, { firm: OTHER_FIRM });
    await world.drain({ tenant: String(FIRM) });

    const states = [ours, theirs].map(({ job_id: id }) => world.kit.mill.jobs.get(id));
    expect((await Promise.all(states)).map(({ state }) => state)).toEqual(["completed", "queued"]);
  });
});

function keysOf(rows: readonly { idempotency_key: string }[]): string[] {
  return rows.map(({ idempotency_key: key }) => key);
}
