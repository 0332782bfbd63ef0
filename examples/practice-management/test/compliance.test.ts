/** The compliance matrix of the firms, row by row. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { PAYLOAD_VERSION } from "../src/categories.ts";
import { createJob } from "../src/job-queue.ts";
import { jobOfType } from "../src/jobs.ts";
import { PayloadValidator, type FirmPayload } from "../src/payload-validator.ts";
import { addMessage, closeMailbox, openMailbox } from "../src/sample-firm.ts";
import { CORRELATION, FIRM, World } from "./world.ts";

const STEP = "orchestration_step_execute";
const OPTIONS = { tenant: String(FIRM), correlationId: CORRELATION, idempotencyKey: "step_1" };
const PAYLOAD = PayloadValidator.create_payload({
  tenant_id: FIRM,
  correlation_id: CORRELATION,
  idempotency_key: "step_1",
  execution_id: 1,
  step: "welcome",
});

describe("the compliance matrix (003-32)", () => {
  test("1: payloads are minimal, without sensitive content (003-37)", async () => {
    await using world = await World.open();
    const { mill } = world.kit;
    const secrets = [
      { password: "hunter2" },
      { access_token: "tk-18f3a9c2" },
      { email_body: "Dear Ada, here are my papers. Yours, Bob" },
      { document_content: "This agreement is made by the parties named below. ".repeat(20) },
    ];

    for (const secret of secrets) {
      const enqueued = mill.enqueue(jobOfType(STEP)!, { ...PAYLOAD, ...secret }, OPTIONS);
      await expect(enqueued).rejects.toMatchObject({ code: "PAYLOAD_RULE_BROKEN" });
    }
    expect((await mill.jobs.count()).count).toBe(0);
    expect((await mill.enqueue(jobOfType(STEP)!, PAYLOAD, OPTIONS)).created).toBe(true);
  });

  test("2: tenant_id, correlation_id and idempotency_key are required (003-38)", async () => {
    await using world = await World.open();
    const { mill } = world.kit;

    for (const field of ["tenant_id", "correlation_id", "idempotency_key"]) {
      const { [field]: _left, ...rest }: Record<string, any> = PAYLOAD;
      const payload: any = rest;
      await expect(mill.enqueue(jobOfType(STEP)!, payload, OPTIONS)).rejects.toMatchObject({
        details: { issues: [{ path: `payload.${field}`, rule: "required" }] },
      });
    }
    expect((await mill.jobs.count()).count).toBe(0);
  });

  test("3: payloads have a version, which job and payload agree on (003-39)", async () => {
    await using world = await World.open();
    const firm = world.kit.mill.forTenant(String(FIRM));
    const job = {
      category: "orchestration",
      job_type: STEP,
      idempotency_key: "step_1",
      correlation_id: CORRELATION,
    } as const;
    const versioned = (version: string): FirmPayload => ({ ...PAYLOAD, payload_version: version });

    const other = createJob(firm, { ...job, payload: versioned("2.0") });
    await expect(other).rejects.toMatchObject({ code: "PAYLOAD_MISMATCH" });
    const row = await createJob(firm, { ...job, payload: versioned("1.0") });

    expect(row.payload_version).toBe("1.0");
    expect(row.payload).toMatchObject({ payload_version: "1.0" });
  });

  test("4: one worker at a time processes a job (003-40)", async () => {
    await using world = await World.open();
    const { mill, settled } = world.kit;
    const step = new HeldStep();
    const { id } = await mill.enqueue(step.job, PAYLOAD, OPTIONS);
    for (const _ of [1, 2, 3]) mill.work({ jobs: [step.job], lanes: { general: 2 } });
    await settled();
    const running = { ...step.seen, state: (await mill.jobs.get(id)).state };
    step.release();
    await settled();

    expect(running).toMatchObject({ now: 1, runs: 1, state: "running" });
    expect(step.seen).toEqual({ now: 0, most: 1, runs: 1 });
    expect(await mill.jobs.attempts(id)).toHaveLength(1);
  });

  test("5: a key is locked: no second job, and no copy beside its original (003-41)", async () => {
    await using world = await World.open();
    const { mill, settled, advance } = world.kit;
    const step = new HeldStep();
    const { id } = await mill.enqueue(step.job, PAYLOAD, OPTIONS);
    const second = mill.enqueue(step.job, PAYLOAD, OPTIONS);
    await expect(second).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_USED" });
    for (const _ of [1, 2]) mill.work({ jobs: [step.job], lanes: { general: 2 } });
    await settled();

    // An operator gives the job up while its handler still runs.
    await mill.jobs.fail(id, "it hangs");
    await world.get("/dlq/");
    const { body } = await world.post("/dlq/1/reprocess/", { notes: "again" });
    await advance("5m");
    const waiting = { ...step.seen, status: (await world.row(body.new_job_id)).status };
    step.release();
    await advance("5s");

    expect(waiting).toMatchObject({ runs: 1, status: "pending" });
    expect(await world.row(body.new_job_id)).toMatchObject({ status: "completed" });
    expect(step.seen).toEqual({ now: 0, most: 1, runs: 2 });
  });

  test("6: non-retryable errors and used-up attempts lead to the DLQ (003-42)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");
    await world.fetchMessage("missing_1", { external_message_id: "none" });
    await world.exhaust();

    const { body } = await world.get("/dlq/");
    expect(body.dlq_items).toMatchObject([
      { idempotency_key: "missing_1", error_class: "retryable", attempt_count: 5 },
      { idempotency_key: "dead_1", error_class: "non_retryable", attempt_count: 1 },
    ]);
  });

  test("7: DLQ items can be seen by administrators alone (003-43)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");
    await world.addUser("client", { isStaff: false, role: "partner" });
    await world.addUser("member", { isStaff: true, role: "member" });

    const seen = [];
    for (const who of [null, "client", "member", "grace"]) {
      const { status, body } = await world.get("/dlq/", who);
      seen.push([who, status, body.total_count ?? null]);
    }

    expect(seen).toEqual([
      [null, 401, null],
      ["client", 403, null],
      ["member", 403, null],
      ["grace", 200, 1],
    ]);
  });

  test("8: DLQ items can be reprocessed (003-44)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");
    await world.get("/dlq/");
    addMessage(world.practice, FIRM, "msg_789", 999);

    const { body } = await world.post("/dlq/1/reprocess/", { notes: "fixed" });
    await world.drain();

    expect(await world.row(body.new_job_id)).toMatchObject({ result: { fetched_count: 1 } });
  });

  test("9: reprocessing preserves the original payload (003-45)", async () => {
    await using world = await World.open();
    const { payload } = await world.deadJob("dead_1");
    await world.get("/dlq/");

    const { body } = await world.post("/dlq/1/reprocess/", { notes: "fixed" });

    expect((await world.row(body.new_job_id)).payload).toEqual(payload);
    expect((await world.get("/dlq/1/")).body.payload).toEqual(payload);
  });

  test("10: reprocessing is audited (003-46)", async () => {
    await using world = await World.open();
    await world.deadJob("dead_1");
    await world.get("/dlq/");

    await world.post("/dlq/1/reprocess/", { notes: "fixed" });

    expect(await world.audited()).toEqual([
      "job_dlq_reprocess_requested",
      "job_dlq_reprocess_success",
    ]);
  });

  test("11: retries, rows and DLQ share the four error classes (003-47)", async () => {
    await using world = await World.open();
    const classes = [];
    for (const how of ["dead", "missing", "offline", "busy"] as const) {
      if (how === "offline" || how === "busy") closeMailbox(world.practice, FIRM, how);
      const refs = how === "dead" ? { connection_id: 999 } : { external_message_id: "none" };
      const { job_id: id } = await world.fetchMessage(how, refs);
      await world.exhaust();
      const [attempt] = await world.kit.mill.jobs.attempts(id);
      const { body } = await world.get("/dlq/?limit=1");
      const { error_class: inRow } = await world.row(id);
      classes.push([attempt?.error?.class, inRow, body.dlq_items[0].error_class]);
      if (how === "offline") openMailbox(world.practice, FIRM, how);
    }

    const expected = ["non_retryable", "retryable", "transient", "rate_limited"];
    expect(classes).toEqual(expected.map((each) => [each, each, each]));
  });
});

/** A step whose first run goes on until it is released, and how many run at once. */
class HeldStep {
  readonly seen = { now: 0, most: 0, runs: 0 };
  readonly #released = Promise.withResolvers<void>();
  readonly release = this.#released.resolve;
  readonly job = defineJob({
    type: STEP,
    category: "orchestration",
    payload: typed<FirmPayload>(),
    payloadVersion: PAYLOAD_VERSION,
    timeout: false,
  }).run(async () => {
    this.seen.now += 1;
    this.seen.runs += 1;
    this.seen.most = Math.max(this.seen.most, this.seen.now);
    if (this.seen.runs === 1) await this.#released.promise;
    this.seen.now -= 1;
  });
}
