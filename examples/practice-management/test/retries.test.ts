/** Error classes, waits, and the ways into the DLQ. */
import { describe, expect, test } from "vitest";
import { addMessage, closeMailbox } from "../src/sample-firm.ts";
import { FIRM, World } from "./world.ts";

describe("a job that fails", () => {
  test("goes to the DLQ at once when the error is non_retryable (003-18, 003-31)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");

    const { body } = await world.get("/dlq/");

    expect(body.dlq_items).toMatchObject([
      { idempotency_key: "dead_1", error_class: "non_retryable", attempt_count: 1 },
    ]);
    expect((await world.get("/queue/?status=failed")).body.total_count).toBe(1);
  });

  test("goes to the DLQ after its fifth attempt, and not before (003-20, 003-31)", async () => {
    await using world = await World.open();
    await world.fetchMessage("missing_1", { external_message_id: "none" });
    const items = async (): Promise<unknown> => (await world.get("/dlq/")).body.total_count;

    const counts = [];
    for (const wait of ["2s", "4s", "8s", "16s", "32s"] as const) {
      await world.drain();
      counts.push(await items());
      await world.kit.advance(wait);
    }

    expect(counts).toEqual([0, 0, 0, 0, 1]);
    const { body } = await world.get("/dlq/");
    expect(body.dlq_items).toMatchObject([{ error_class: "retryable", attempt_count: 5 }]);
  });

  test.each([
    ["transient", [2, 4, 8, 16]],
    ["retryable", [2, 4, 8, 16]],
    ["rate_limited", [60, 120, 240, 480]],
  ] as const)("waits as its class demands: %s (003-17, 003-19)", async (errorClass, seconds) => {
    await using world = await World.open();
    if (errorClass === "transient") closeMailbox(world.practice, FIRM, "offline");
    if (errorClass === "rate_limited") closeMailbox(world.practice, FIRM, "busy");
    const { job_id: id } = await world.fetchMessage("k", { external_message_id: "none" });
    await world.exhaust();

    const attempts = await world.kit.mill.jobs.attempts(id);
    expect(attempts.map(({ error }) => error?.class)).toEqual(attempts.map(() => errorClass));
    const waits = attempts.map(({ nextRunAt, finishedAt }) =>
      nextRunAt === null ? null : (nextRunAt.getTime() - finishedAt.getTime()) / 1_000,
    );
    expect(waits).toEqual([...seconds, null]);
  });

  test("completes when a later attempt finds what was missing", async () => {
    await using world = await World.open();
    const { job_id: id } = await world.fetchMessage("k", { external_message_id: "late" });
    await world.drain();
    addMessage(world.practice, FIRM, "late");
    await world.kit.advance("2s");
    await world.drain();

    expect(await world.row(id)).toMatchObject({ status: "completed", attempt_count: 2 });
    expect((await world.get("/dlq/")).body.total_count).toBe(0);
  });

  test("is not retried when the file of a document does not exist", async () => {
    await using world = await World.open();
    const update = world.practice.db.prepare("UPDATE document SET file = 'gone.txt'");
    update.run();
    await world.request("document_scan", "scan_1", { document_id: FIRM * 10 + 1 });
    await world.drain();

    const { body } = await world.get("/dlq/");
    expect(body.dlq_items).toMatchObject([{ error_class: "non_retryable", attempt_count: 1 }]);
  });
});

describe("reprocessing", () => {
  test("creates a new job, and leaves the old one failed (003-31)", async () => {
    await using world = await World.open();
    const old = await world.deadJob("dead_1");
    await world.get("/dlq/");
    addMessage(world.practice, FIRM, "msg_789", 999);

    const { body } = await world.post("/dlq/1/reprocess/", { notes: "the connection is back" });
    await world.drain();

    expect(body.new_job_id).not.toBe(old.job_id);
    expect(await world.row(body.new_job_id)).toMatchObject({ status: "completed" });
    expect(await world.row(old.job_id)).toMatchObject({ status: "failed" });
  });

  test("has an audit trail: who, when, why, and the new job (003-27, 003-31)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");
    await world.get("/dlq/");
    await world.kit.advance("1m");

    await world.post("/dlq/1/reprocess/", { notes: "safe to retry" });

    const entries = await world.kit.mill.audit.list({ tenant: String(FIRM), actor: "grace" });
    const at = new Date(world.kit.clock.now());
    expect(entries.toReversed()).toMatchObject([
      { name: "job_dlq_reprocess_requested", actor: "grace", reason: "safe to retry", at },
      { name: "job_dlq_reprocess_success", after: { successor: expect.any(String) }, at },
    ]);
  });
});
