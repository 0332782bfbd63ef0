/** `enqueue` and `declare_type` in plain SQL. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, openMillrace, typed } from "../../../src/index.ts";
import { enqueued, openSurface, refusalOf, type Scene, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

async function declared(): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  return scene;
}

const JOB = `SELECT job.priority, job.max_attempts, job.timeout_ms, job.flags, lane.text AS lane
  FROM millrace.job AS job JOIN millrace.interned_name AS lane ON lane.id = job.lane
  ORDER BY job.key DESC LIMIT 1`;

describe("enqueue", () => {
  test("002-05 returns the task id, and a job with the settings of the declaration", async () => {
    await using scene = await surface.open();
    await scene.owner.query(
      `SELECT millrace.declare_type('a', lane => 'fast', priority => 7, max_attempts => 9,
         timeout => '5 s', retry_owner => 'supervisor', services => '{bank}')`,
    );
    const id = await enqueued(scene);

    const own = { lane: "fast", priority: 7, max_attempts: 9, timeout_ms: "5000", flags: 2 };
    expect(await scene.rows(JOB)).toEqual([own]);
    expect(await scene.rows("SELECT task_id, task_type FROM millrace.task")).toEqual([
      { task_id: id, task_type: "a" },
    ]);
    expect(await scene.rows("SELECT count(*) FROM millrace.service_use")).toEqual([{ count: "1" }]);
  });

  test("prefers its options to an operator's, and these to the declaration", async () => {
    await using scene = await declared();
    await scene.owner.query(
      `INSERT INTO millrace.type_override (set_at, type, priority, max_attempts, timeout_ms)
       SELECT now(), type, 3, 4, 0 FROM millrace.type_setting`,
    );
    await enqueued(scene, "'{}', priority => 1, timeout => '1 s'");
    expect(await scene.rows(JOB)).toMatchObject([
      { priority: 1, max_attempts: 4, timeout_ms: "1000" },
    ]);
    await enqueued(scene);
    expect(await scene.rows(JOB)).toMatchObject([{ priority: 3, timeout_ms: null }]);
  });

  test.each([
    ["'b'", "MR010"],
    ["NULL", "22004"],
    ["'a', priority => -1", "22023"],
    ["'a', max_attempts => 0", "22023"],
    ["'a', timeout => '-1 s'", "22023"],
    ["'a', timeout => 'infinity'", "22023"],
    ["'a', ('{\"n\": 1' || repeat('0', 1000) || '}')::jsonb", "22023"],
    ["'a', ('{\"n\": 0.' || repeat('1', 1001) || '}')::jsonb", "22023"],
    ["'a', (repeat('[', 1000) || repeat(']', 1000))::jsonb, idempotency_key => 'k'", "22023"],
    ["'a', scheduled_at => 'infinity'", "22023"],
    ["'a', tenant => ''", "22023"],
    ["'a', lane => E'x\\u0001'", "22023"],
    ["'a', correlation_id => repeat('x', 201)", "22023"],
    ["'a', idempotency_key => ''", "22023"],
    ["'a', dedup_key => repeat('x', 501)", "22023"],
    ["'a', tags => '[1]'", "22023"],
    ["'a', tags => '{\"n\": 1}'", "22023"],
    ["'a', to_jsonb(repeat('x', 1000001))", "22023"],
  ])("refuses %s", async (options, code) => {
    await using scene = await declared();
    const refusal = await refusalOf(scene.owner.query(`SELECT millrace.enqueue(${options})`));
    expect(refusal).toBe(code);
    expect(await scene.rows("SELECT FROM millrace.job")).toEqual([]);
  });

  test("takes numbers of a thousand digits, and longer texts", async () => {
    await using scene = await declared();
    const number = "('{\"n\": [1e300, -0.' || repeat('1', 1000) || ', 5e-324]}')::jsonb";
    expect(await refusalOf(enqueued(scene, number))).toBeNull();
    const text = `('["\\\\\\"' || repeat('1', 5000) || '"]')::jsonb`;
    expect(await refusalOf(enqueued(scene, text))).toBeNull();
  });

  test("waits until scheduled_at", async () => {
    await using scene = await declared();
    await enqueued(scene, "'{}', now() + interval '1 hour'");
    await enqueued(scene, "'{}', now() - interval '1 hour'");
    expect(await scene.rows("SELECT key FROM millrace.scheduled")).toEqual([{ key: "1" }]);
    expect(await scene.rows("SELECT key FROM millrace.ready")).toEqual([{ key: "2" }]);
  });

  test("answers the task of a repeated idempotency key, and refuses another payload", async () => {
    await using scene = await declared();
    const key = "idempotency_key => 'k'";
    const first = await enqueued(scene, `'{"x": 1, "y": [1.50, "é"]}', ${key}`);
    expect(await enqueued(scene, `'{"y": [1.5, "é"], "x": 1.0}', ${key}`)).toBe(first);
    expect(await refusalOf(enqueued(scene, `'{"x": 2}', ${key}`))).toBe("MR014");
    expect(await scene.rows("SELECT count(*) FROM millrace.job")).toEqual([{ count: "1" }]);
  });

  test("shares idempotency keys with producers in TypeScript", async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    const job = defineJob({ type: "a", payload: typed<object>() });
    const payload = {
      n: [0, -1, 0.1, 1.5e-7, -2e-10, 9007199254740991, 5e-324, 100, 1e-6, 1.25],
      'ü\u0001"\\/\n': null,
      b: { z: true, a: "\u007f€😀" },
    };
    const made = await mill.enqueue(job, payload, { idempotencyKey: "k" });

    const { rows } = await scene.owner.query(
      "SELECT millrace.enqueue('a', $1, idempotency_key => 'k') AS id",
      [JSON.stringify(payload)],
    );
    const [own] = await scene.rows("SELECT millrace.job_id_text(id) AS id, key FROM millrace.job");
    expect([own.id, own.key]).toEqual([made.id, rows[0].id]);
  });

  test("answers the unfinished holder of a dedup key", async () => {
    await using scene = await declared();
    const first = await enqueued(scene, "'{}', dedup_key => 'd'");
    expect(await enqueued(scene, `'{"x": 1}', dedup_key => 'd', idempotency_key => 'k'`)).toBe(
      first,
    );
    expect(await scene.rows("SELECT FROM millrace.idempotency")).toEqual([]);
    await scene.owner.query("SELECT millrace.cancel($1)", [first]);
    expect(await enqueued(scene, "'{}', dedup_key => 'd'")).not.toBe(first);
  });

  test("leaves nothing when the transaction of a trigger rolls back", async () => {
    await using scene = await declared();
    const { owner } = scene;
    await owner.query(`CREATE TABLE account (id integer);
      CREATE FUNCTION hire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM millrace.enqueue('a', jsonb_build_object('id', NEW.id), tags => '{"t": "x"}',
          idempotency_key => 'k' || NEW.id, dedup_key => 'd' || NEW.id);
        RETURN NEW; END $$;
      CREATE TRIGGER hire AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION hire()`);
    await owner.query("BEGIN; INSERT INTO account VALUES (1); ROLLBACK");
    const tables = ["job", "ready", "tag", "idempotency", "dedup", "event_outbox"];
    for (const table of tables) {
      expect(await scene.rows(`SELECT FROM millrace.${table}`)).toEqual([]);
    }
    await owner.query("INSERT INTO account VALUES (2), (3)");
    expect(await scene.rows("SELECT payload FROM millrace.task ORDER BY task_id")).toEqual([
      { payload: { id: 2 } },
      { payload: { id: 3 } },
    ]);
  });

  test("wakes a worker in TypeScript, which runs the job, and tells listeners", async () => {
    await using scene = await surface.open();
    await using mill = await openMillrace(scene.url);
    const told: string[] = [];
    const runs = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
    let started = 0;
    const job = defineJob({ type: "a", payload: typed<object>() }).run((payload) => {
      runs[started++]?.resolve(payload);
    });
    // A poll would come after the test's limit: only a wake-up starts the job in time.
    const worker = mill.work({ jobs: [job], signals: false, poll: "10m" });
    await worker.ready;
    mill.on("job:enqueued", ({ id }) => void told.push(id));
    // `mill.enqueue` waits until the listener has its place in the feed. A call in SQL cannot.
    const first = await mill.enqueue(job, { x: 0 });
    await runs[0]?.promise;

    await enqueued(scene, `'{"x": 1}'`);

    expect(await runs[1]?.promise).toEqual({ x: 1 });
    await worker.stop();
    const jobs = await scene.rows(
      "SELECT millrace.job_id_text(id) AS id FROM millrace.job ORDER BY key",
    );
    expect(jobs).toEqual([{ id: first.id }, { id: expect.any(String) }]);
    await expect.poll(() => told).toEqual(jobs.map(({ id }) => id));
  });

  test("fails after one run what only the schema of a worker refuses", async () => {
    await using scene = await surface.open();
    await using mill = await openMillrace(scene.url);
    let calls = 0;
    const payload = z.object({ user: z.int() });
    const job = defineJob({ type: "a", payload, maxAttempts: 5 }).run(() => void (calls += 1));
    const worker = mill.work({ jobs: [job], signals: false });
    await worker.ready;

    await enqueued(scene, `'{"user": "seven"}'`);

    const [{ id }] = await scene.rows("SELECT millrace.job_id_text(id) AS id FROM millrace.job");
    const ended = await mill.wait({ id, type: "a" });
    await worker.stop();
    expect(ended.state).toBe("failed");
    expect(calls).toBe(0);
    expect(await mill.jobs.attempts(id)).toMatchObject([
      { number: 1, outcome: "failed", error: { class: "non_retryable" } },
    ]);
    expect(await mill.deadLetters.list()).toMatchObject([
      { jobId: id, error: { class: "non_retryable", message: expect.stringContaining("user") } },
    ]);
  });

  test("obeys closed intakes and quotas", async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    await mill.intake.close({ type: "a" }, "moving", { actor: "eva" });
    expect(await refusalOf(enqueued(scene))).toBe("MR011");
    await mill.intake.open({ type: "a" }, { actor: "eva" });
    const why = { reason: "x", actor: "eva" };
    await mill.tenants.setQuota("acme", { waiting: 1, payloadBytes: 20 }, why);
    await enqueued(scene, "'{}', tenant => 'acme'");
    expect(await refusalOf(enqueued(scene, "'{}', tenant => 'acme'"))).toBe("MR012");
    const long = `'{"x": "01234567890123456789"}', tenant => 'acme'`;
    expect(await refusalOf(enqueued(scene, long))).toBe("MR012");
    expect(await refusalOf(enqueued(scene))).toBeNull();
  });

  test.each([
    [{ required: { "a.id": "integer" } }, { a: { id: 1 } }, { a: { id: "1" } }],
    [{ required: { id: "uuid" } }, { id: "01a1f105-2ecf-7caf-9cde-29d2232fc2b5" }, { id: "1" }],
    [{ required: { id: "any" } }, { id: false }, { id: "" }],
    [{ hardBytes: 10 }, { a: 1 }, { a: "0123456789" }],
    [{ forbidden: ["Body"] }, { a: 1 }, { a: [{ body: 1 }] }],
    [{ forbidden: [] }, { tenant_id: "default" }, { tenant_id: "acme" }],
  ])("checks payloads by the rule %j", async (rule, good, bad) => {
    await using scene = await declared();
    await scene.owner.query(
      `INSERT INTO millrace.payload_rule (set_at, scope, name, rule, owner)
       VALUES (now(), 'type', 'a', $1, 'operator')`,
      [JSON.stringify(rule)],
    );
    expect(await refusalOf(enqueued(scene, `'${JSON.stringify(good)}'`))).toBeNull();
    expect(await refusalOf(enqueued(scene, `'${JSON.stringify(bad)}'`))).toBe("MR013");
  });

  test("lets a worker that joins later replace a declaration", async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    const job = defineJob({ type: "a", priority: 5, onOrphan: "fail" }).run(() => {});
    const worker = mill.work({ jobs: [job], signals: false });
    await worker.ready;
    await worker.stop();
    await enqueued(scene);
    expect(await scene.rows(JOB)).toMatchObject([{ priority: 5, flags: 1 }]);
  });
});
