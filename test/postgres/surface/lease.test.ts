/** Tasks that sessions take in plain SQL: `dequeue_next_available_task` and what comes after it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, openMillrace } from "../../../src/index.ts";
import {
  DEQUEUE,
  enqueued,
  expire,
  openSurface,
  refusalOf,
  type Scene,
  type Surface,
} from "./support.ts";

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

async function take(scene: Scene): Promise<any> {
  const [task] = await scene.rows(DEQUEUE);
  return task;
}

const LEDGER = `SELECT n, tries, crashes, outcome, state, expires_at IS NOT NULL AS expires
  FROM millrace.attempt ORDER BY n`;

describe("dequeue_next_available_task", () => {
  test("002-06 takes one task by priority, due time and id", async () => {
    await using scene = await declared();
    const late = await enqueued(scene, "'{}', now() - interval '1 min'");
    const early = await enqueued(scene, "'{}', now() - interval '2 min'");
    const urgent = await enqueued(scene, "'{}', priority => 1");
    const order = [await take(scene), await take(scene), await take(scene), await take(scene)];
    expect(order.map((task) => task.task_id)).toEqual([urgent, early, late, null]);
  });

  test("002-02 shows the lease with its end and role, and a worker without memory", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const { fence, token } = await take(scene);
    expect(token).toMatch(new RegExp(`^${fence}-[0-9a-f]{32}$`));
    const minutes = "round(extract(epoch FROM expires_at - leased_at)::numeric / 60) AS minutes";
    expect(
      await scene.rows(
        `SELECT task_lease_id, task_id, taken_by, ${minutes} FROM millrace.task_lease`,
      ),
    ).toEqual([{ task_lease_id: fence, task_id: id, taken_by: "postgres", minutes: "5" }]);

    await using mill = await openMillrace(scene.url);
    expect(await mill.workers.list()).toMatchObject([
      { takenBy: "postgres", isAlive: true, memoryBytes: null, running: 1, host: "sql" },
    ]);
    await mill.pause({ lane: "general" }, "test");
    await take(scene);
    expect(await mill.workers.list()).toHaveLength(1);
  });

  test("takes only the types that are named, and tasks that have become due", async () => {
    await using scene = await declared();
    await scene.owner.query("SELECT millrace.declare_type('b')");
    await enqueued(scene);
    const types = "SELECT * FROM millrace.dequeue_next_available_task('{b}')";
    expect((await scene.rows(types))[0].task_id).toBeNull();
    await scene.owner.query("SELECT millrace.enqueue('b', scheduled_at => now() + interval '1 h')");
    expect((await scene.rows(types))[0].task_id).toBeNull();
    await scene.owner.query("UPDATE millrace.scheduled SET run_at = now() - interval '1 s'");
    expect((await scene.rows(types))[0].task_type).toBe("b");
  });

  test("obeys pauses, limits and concurrency keys", async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    await mill.limits.set({ type: "a" }, { concurrency: 1 });
    const first = await enqueued(scene);
    await enqueued(scene);
    expect((await take(scene)).task_id).toBe(first);
    expect((await take(scene)).task_id).toBeNull();
    await scene.owner.query("SELECT millrace.complete_task($1)", [first]);
    expect(await scene.rows("SELECT used FROM millrace.limit_setting")).toEqual([{ used: 0 }]);
    const second = await take(scene);
    expect(second.task_id).not.toBeNull();
    await expire(scene, second.task_id);
    expect((await take(scene)).task_id).toBe(second.task_id);
    expect(await scene.rows("SELECT used FROM millrace.limit_setting")).toEqual([{ used: 1 }]);
    await scene.owner.query("SELECT millrace.complete_task($1)", [second.task_id]);

    await enqueued(scene, "'{}', concurrency_key => 'k'");
    await enqueued(scene, "'{}', concurrency_key => 'k'");
    await mill.limits.remove({ type: "a" });
    const held = await take(scene);
    expect((await take(scene)).task_id).toBeNull();
    await scene.owner.query("SELECT millrace.complete_task($1)", [held.task_id]);
    expect((await take(scene)).task_id).not.toBeNull();
  });

  test("refuses leases that are too short or too long", async () => {
    await using scene = await declared();
    for (const lease of ["0 s", "2 days"]) {
      const call = `SELECT millrace.dequeue_next_available_task(lease => '${lease}')`;
      expect(await refusalOf(scene.owner.query(call))).toBe("22023");
    }
  });

  test("gives a task its whole lease, however long the claim has waited", async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    await mill.limits.set({ type: "a" }, { concurrency: 5 });
    await enqueued(scene);
    await enqueued(scene);
    const holder = await scene.as("postgres");
    await holder.query("BEGIN");
    await holder.query("SELECT FROM millrace.limit_setting FOR UPDATE");
    const short = scene.rows(
      "SELECT * FROM millrace.dequeue_next_available_task(lease => '1 second')",
    );
    const { rows } = await holder.query("SELECT clock_timestamp()::text AS at FROM pg_sleep(1.2)");
    await holder.query("ROLLBACK");
    await short;
    const whole = "SELECT expires_at > $1::timestamptz + interval '900 ms' AS whole";
    expect(await scene.rows(`${whole} FROM millrace.task_lease`, [rows[0].at])).toEqual([
      { whole: true },
    ]);
  });

  test("never gives one task to two of many sessions", async () => {
    await using scene = await declared();
    await scene.owner.query("SELECT millrace.enqueue('a') FROM generate_series(1, 200)");
    const sessions = await Promise.all(Array.from({ length: 4 }, () => scene.as("postgres")));
    const taken: string[] = [];
    const drain = async (session: (typeof sessions)[number]): Promise<void> => {
      for (;;) {
        const { rows } = await session.query(DEQUEUE);
        if (rows[0].task_id === null) return;
        taken.push(rows[0].task_id);
        await session.query("SELECT millrace.complete_task($1)", [rows[0].task_id]);
      }
    };
    await Promise.all(sessions.map(drain));
    expect(taken).toHaveLength(200);
    expect(new Set(taken).size).toBe(200);
    expect(await scene.rows("SELECT count(*) FROM millrace.task_completed")).toEqual([
      { count: "200" },
    ]);
    expect(await scene.rows("SELECT FROM millrace.worker")).toEqual([]);
  });

  test("shares a queue with a worker in TypeScript", async () => {
    await using scene = await surface.open();
    await using mill = await openMillrace(scene.url);
    const seen: string[] = [];
    const job = defineJob({ type: "a" }).run((_, { job: { id } }) => {
      seen.push(id);
    });
    const worker = mill.work({ jobs: [job], signals: false });
    await worker.ready;
    await scene.owner.query("SELECT millrace.enqueue('a') FROM generate_series(1, 200)");
    let own = 0;
    for (;;) {
      const { task_id: id } = await take(scene);
      if (id === null) break;
      own += 1;
      await scene.owner.query("SELECT millrace.complete_task($1)", [id]);
    }
    await expect
      .poll(async () => (await scene.rows("SELECT FROM millrace.task_completed")).length)
      .toBe(200);
    await worker.stop();
    expect(own + new Set(seen).size).toBe(200);
    expect(await scene.rows("SELECT FROM millrace.attempt WHERE n > 1")).toEqual([]);
  });
});

describe("complete_task", () => {
  test("002-07 is harmless when repeated", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const { token } = await take(scene);
    const complete = "SELECT millrace.complete_task($1, $2, $3)";
    await scene.owner.query(complete, [id, token, { ok: 1 }]);
    await scene.owner.query(complete, [id, token, { ok: 2 }]);
    await scene.owner.query("SELECT millrace.complete_task($1)", [id]);
    const done = { n: 1, tries: 1, crashes: 0, outcome: 1, state: 4, expires: true };
    expect(await scene.rows(LEDGER)).toEqual([done]);
    expect(await scene.rows("SELECT result FROM millrace.attempt")).toEqual([
      { result: { ok: 1 } },
    ]);
  });

  test("is refused to another role, to a wrong token and for a task without a lease", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const complete = "SELECT millrace.complete_task($1, $2)";
    expect(await refusalOf(scene.owner.query(complete, [id, null]))).toBe("MR015");
    expect(await refusalOf(scene.owner.query(complete, [99, null]))).toBe("MR016");
    const { token, fence } = await take(scene);
    expect(await refusalOf(scene.owner.query(complete, [id, "x"]))).toBe("22023");
    const wrong = `${fence}-${"0".repeat(32)}`;
    expect(await refusalOf(scene.owner.query(complete, [id, wrong]))).toBe("MR015");
    const other = await scene.as("another", "pg_read_all_data");
    await scene.owner.query("GRANT USAGE ON SCHEMA millrace TO another");
    await scene.owner.query("GRANT EXECUTE ON FUNCTION millrace.complete_task TO another");
    expect(await refusalOf(other.query(complete, [id, null]))).toBe("MR015");
    expect(await refusalOf(other.query(complete, [id, token]))).toBeNull();
  });

  test("needs the token of a registered worker's lease", async () => {
    await using scene = await surface.open();
    await using mill = await openMillrace(scene.url);
    const [started, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const job = defineJob({ type: "a" }).run(async () => {
      started.resolve();
      await release.promise;
    });
    const worker = mill.work({ jobs: [job], signals: false });
    await worker.ready;
    const id = await enqueued(scene);
    await started.promise;
    const complete = "SELECT millrace.complete_task($1, $2)";
    expect(await refusalOf(scene.owner.query(complete, [id, null]))).toBe("MR015");
    const [{ token }] = await scene.rows(
      "SELECT number || '-' || secret AS token FROM millrace.lease",
    );
    const beat = scene.owner.query("SELECT millrace.heartbeat($1, token => $2)", [id, token]);
    expect(await refusalOf(beat)).toBe("MR019");
    await scene.owner.query(complete, [id, token]);
    release.resolve();
    await worker.stop();
    expect(await scene.rows(LEDGER)).toMatchObject([{ n: 1, outcome: 1, expires: false }]);
  });

  test("and a sweep of the lease at the same moment have one winner", async () => {
    await using scene = await declared();
    const sweeper = await scene.as("postgres");
    for (let round = 0; round < 20; round += 1) {
      const id = await enqueued(scene);
      await take(scene);
      await scene.owner.query("BEGIN");
      await scene.owner.query("SELECT millrace.complete_task($1)", [id]);
      const swept = sweeper.query(
        "SELECT millrace.end_expired_leases(100, now() + interval '1 h') AS ended",
      );
      if (round % 2 === 0) await swept;
      await scene.owner.query("COMMIT");
      expect((await swept).rows).toEqual([{ ended: 0 }]);
    }
    expect(await scene.rows("SELECT FROM millrace.attempt WHERE outcome <> 1")).toEqual([]);
  });
});

describe("an expired lease", () => {
  test("is a crash that is not counted, and its task is available at once (002-32)", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const { fence, token } = await take(scene);
    await expire(scene, id);
    for (const call of [
      "SELECT millrace.complete_task($1, $2)",
      "SELECT millrace.fail_task($1, 'late', $2)",
      "SELECT millrace.heartbeat($1, token => $2)",
    ]) {
      expect(await refusalOf(scene.owner.query(call, [id, token]))).toBe("MR015");
    }
    const next = await take(scene);
    expect(next.task_id).toBe(id);
    expect(
      await refusalOf(scene.owner.query("SELECT millrace.complete_task($1, $2)", [id, token])),
    ).toBe("MR015");
    const crash = { n: 1, tries: 0, crashes: 0, outcome: 4, state: null, expires: true };
    expect(await scene.rows(LEDGER)).toEqual([crash]);
    const claim = { worker: expect.any(String), leased_at: expect.any(Date) };
    expect(
      await scene.rows(
        `SELECT task_lease_id AS fence, worker, leased_at, outcome
         FROM millrace.task_lease ORDER BY run`,
      ),
    ).toEqual([
      { ...claim, fence, outcome: "crashed" },
      { ...claim, fence: next.fence, outcome: null },
    ]);
    await scene.owner.query("SELECT millrace.complete_task($1)", [id]);
    expect(await scene.rows("SELECT FROM millrace.worker")).toEqual([]);
  });

  test("is cancelled if a cancel was requested", async () => {
    await using scene = await declared();
    const id = await enqueued(scene, "'{}', dedup_key => 'd'");
    await take(scene);
    expect(await scene.rows("SELECT millrace.cancel($1, 'stop')", [id])).toEqual([
      { cancel: "requested" },
    ]);
    await expire(scene, id);
    expect((await take(scene)).task_id).toBeNull();
    expect(await scene.rows("SELECT millrace.cancel($1)", [id])).toEqual([{ cancel: "cancelled" }]);
    expect(await scene.rows("SELECT FROM millrace.dedup")).toEqual([]);
  });

  test("is swept by the rescuer of a worker in TypeScript, which runs the task", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    await take(scene);
    await expire(scene, id);
    await using mill = await openMillrace(scene.url);
    const job = defineJob({ type: "a" }).run(() => "done");
    const worker = mill.work({ jobs: [job], signals: false, lease: "2s" });
    await expect
      .poll(() => scene.rows("SELECT task_id FROM millrace.task_completed"), { timeout: 20_000 })
      .toEqual([{ task_id: id }]);
    await worker.stop();
    expect(await scene.rows(LEDGER)).toMatchObject([{ outcome: 4, tries: 0 }, { outcome: 1 }]);
  });

  test("fails a job that must not run again after a crash, by that rescuer", async () => {
    await using scene = await surface.open();
    await using mill = await openMillrace(scene.url);
    const job = defineJob({ type: "a", onOrphan: "fail" }).run(() => "done");
    const first = mill.work({ jobs: [job], signals: false });
    await first.ready;
    await first.stop();
    const id = await enqueued(scene);
    await take(scene);
    await expire(scene, id);
    expect((await take(scene)).task_id).toBeNull();
    const worker = mill.work({ jobs: [job], signals: false, lease: "2s" });
    await expect
      .poll(() => scene.rows("SELECT outcome FROM millrace.task_completed"), { timeout: 20_000 })
      .toEqual([{ outcome: "failed" }]);
    await worker.stop();
  });
});

describe("heartbeat and fail_task", () => {
  test("a heartbeat moves the end of the lease", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const { token } = await take(scene);
    const [{ far }] = await scene.rows(
      "SELECT millrace.heartbeat($1, '2 h', $2) > now() + interval '1 h' AS far",
      [id, token],
    );
    expect(far).toBe(true);
    await scene.owner.query("SELECT millrace.end_expired_leases(10, now() + interval '1 h')");
    expect(await scene.rows("SELECT FROM millrace.attempt")).toEqual([]);
  });

  test("002-08 an error is noted, and the task goes on", async () => {
    await using scene = await declared();
    const id = await enqueued(scene);
    const { fence } = await take(scene);
    const fail = "SELECT millrace.fail_task($1, $2)";
    await scene.owner.query(fail, [id, "hung up"]);
    await scene.owner.query(fail, [id, "x".repeat(20_000)]);
    expect(await refusalOf(scene.owner.query(fail, [id, ""]))).toBe("22004");
    const error = { task_id: id, fence, by: "postgres" };
    expect(
      await scene.rows(`SELECT task_id, fence, by, left(error_message, 10) AS message,
        length(error_message) AS length FROM millrace.task_error_log ORDER BY failed_at`),
    ).toEqual([
      { ...error, message: "hung up", length: 7 },
      { ...error, message: "x".repeat(10), length: 10_000 },
    ]);
    await scene.owner.query("SELECT millrace.complete_task($1)", [id]);
    expect(await refusalOf(scene.owner.query(fail, [id, "late"]))).toBe("MR015");
  });
});

describe("cancel", () => {
  test("ends a waiting task with its keys, an event and an audit entry", async () => {
    await using scene = await declared();
    const id = await enqueued(scene, "'{}', dedup_key => 'd'");
    const cancel = "SELECT millrace.cancel($1, 'wrong address')";
    expect(await scene.rows(cancel, [id])).toEqual([{ cancel: "cancelled" }]);
    expect(await refusalOf(scene.owner.query(cancel, [99]))).toBe("MR016");
    expect(await scene.rows("SELECT FROM millrace.dedup")).toEqual([]);
    await using mill = await openMillrace(scene.url);
    const [{ id: jobId }] = await scene.rows(
      "SELECT millrace.job_id_text(id) AS id FROM millrace.job",
    );
    expect(await mill.jobs.get(jobId)).toMatchObject({
      state: "cancelled",
      cancelReason: "wrong address",
    });
    expect(
      await scene.rows("SELECT name, actor, reason, subject, after FROM millrace.audit"),
    ).toEqual([
      {
        name: "job_cancel_requested",
        actor: "postgres",
        reason: "wrong address",
        subject: jobId,
        after: '{"state":"cancelled"}',
      },
    ]);
  });
});
