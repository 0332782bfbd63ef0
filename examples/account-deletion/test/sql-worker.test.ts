/** The tables and functions of the specification, used by a worker that knows SQL alone. */
import type { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { urlAs } from "../src/install.ts";
import { column, connect, value } from "../src/queries.ts";
import { useServer } from "./server.ts";
import { workOnce } from "./sql-worker.ts";
import type { World } from "./world.ts";

const createWorld = useServer();
const DEQUEUE = "SELECT to_jsonb(task) FROM queues.dequeue_next_available_task() AS task";

/** A connection of the worker's role. */
async function asWorker(world: World): Promise<Client> {
  const client = await connect(urlAs("worker_service_user", world.url));
  onTestFinished(() => client.end());
  return client;
}

/** Makes what is scheduled due, so that no test waits. */
async function work(world: World, worker: Client, times = 1): Promise<string[]> {
  const done: string[] = [];
  const isOpen = async (): Promise<boolean> => (await world.openTasks()).length > 0;
  while (await isOpen()) {
    const task = await workOnce(worker, { folder: world.folder, times });
    if (task !== null) done.push(task.payload.db_function ?? task.task_type);
  }
  return done;
}

/** The SQLSTATE with which a statement is refused. */
async function refusal(client: Client, text: string): Promise<unknown> {
  try {
    await client.query(text);
    return "accepted";
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

describe("the queue", () => {
  test("has tasks that are written once (002-01)", async () => {
    await using world = await createWorld();
    await world.client.query(`SELECT queues.enqueue('db_function', '{"a": 1}', '2030-01-01Z')`);

    expect(await world.value("SELECT to_jsonb(task) FROM queues.task")).toMatchObject({
      task_type: "db_function",
      payload: { a: 1 },
      scheduled_at: "2030-01-01T00:00:00+00:00",
    });
    expect(await world.column(COLUMNS, "task")).toEqual([
      "task_id",
      "task_type",
      "payload",
      "enqueued_at",
      "scheduled_at",
    ]);
    expect(await refusal(world.client, "UPDATE queues.task SET payload = '{}'")).toBe("55000");
    expect(await refusal(world.client, "SELECT queues.enqueue('fax', '{}')")).toBe("23514");
  });

  test("gives the next due task a lease of five minutes (002-02, 002-06)", async () => {
    await using world = await createWorld();
    const worker = await asWorker(world);
    await world.client.query(`
      SELECT queues.enqueue('db_function', '{"n": 3}', now() + interval '1 hour');
      SELECT queues.enqueue('db_function', '{"n": 2}', now() - interval '1 second');
      SELECT queues.enqueue('sms', '{"n": 1}', now() - interval '1 hour')`);

    const taken = [await value(worker, DEQUEUE), await value(worker, DEQUEUE)];
    const none = await value(worker, DEQUEUE);

    expect(taken.map(({ payload }) => payload.n)).toEqual([1, 2]);
    expect(none.task_id).toBeNull();
    expect(
      await world.column(
        `SELECT extract(epoch FROM expires_at - leased_at)::integer FROM queues.task_lease`,
      ),
    ).toEqual([300, 300]);
  });

  test("completes a task once, however often it is told (002-03, 002-07)", async () => {
    await using world = await createWorld();
    const worker = await asWorker(world);
    await world.client.query("SELECT queues.enqueue('sms', '{}')");
    const { task_id } = await value(worker, DEQUEUE);

    await worker.query("SELECT queues.complete_task($1)", [task_id]);
    await worker.query("SELECT queues.complete_task($1)", [task_id]);

    expect(await world.column("SELECT task_id::integer FROM queues.task_completed")).toEqual([
      task_id,
    ]);
    expect((await value(worker, DEQUEUE)).task_id).toBeNull();
  });

  test("ends no task of which the caller has no lease", async () => {
    await using world = await createWorld();
    const worker = await asWorker(world);
    await world.client.query("SELECT queues.enqueue('sms', '{}')");

    expect(await refusal(worker, "SELECT queues.complete_task(1)")).toBe("MR015");
    expect(await refusal(worker, "SELECT queues.fail_task(1, 'no route')")).toBe("MR015");
    expect(await world.openTasks()).toHaveLength(1);
  });

  test("notes an error, and leaves the task as it is (002-04, 002-08)", async () => {
    await using world = await createWorld();
    const worker = await asWorker(world);
    await world.client.query("SELECT queues.enqueue('sms', '{}')");
    const { task_id } = await value(worker, DEQUEUE);

    await worker.query("SELECT queues.fail_task($1, $2)", [task_id, "no route"]);
    await worker.query("SELECT queues.fail_task($1, $2)", [task_id, "no route"]);

    expect(await world.column("SELECT error_message FROM queues.error")).toEqual([
      "no route",
      "no route",
    ]);
    expect(await world.openTasks()).toHaveLength(1);
  });
});

describe("a worker that knows SQL alone", () => {
  test("deletes an account by the five functions it may call (002-10, 002-12)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    await world.request(account);

    const done = await work(world, await asWorker(world));

    expect(await world.report(account)).toMatchObject({ outcome: "succeeded" });
    expect(world.objects()).toEqual([]);
    expect(await world.disagreements()).toEqual([]);
    expect(new Set(done)).toEqual(
      new Set([
        "accounts.account_deletion_supervisor",
        "accounts.account_anonymization_supervisor",
        "files.file_deletion_supervisor",
        "comms.send_email_supervisor",
        "comms.send_sms_supervisor",
        "email",
        "sms",
        "file_delete",
      ]),
    );
  });

  test("may run each step twice, as after a crash", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav", "two.wav"]);
    await world.request(account);

    await work(world, await asWorker(world), 2);

    expect(await world.report(account)).toMatchObject({ outcome: "succeeded" });
    expect(await world.disagreements()).toEqual([]);
    expect(await world.value("SELECT count(*)::integer FROM files.file_deletion_attempt")).toBe(2);
  });

  test("keeps all tasks in the tenant of the session that asked", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    await world.client.query("SELECT millrace.limit_role_to_tenant('api_service_user', 'acme')");
    const application = await connect(urlAs("api_service_user", world.url));
    await value(application, "SELECT api.request_account_deletion($1)", account);
    await application.end();

    await work(world, await asWorker(world));

    expect(await world.report(account)).toMatchObject({ outcome: "succeeded" });
    expect(await world.column("SELECT DISTINCT tenant FROM millrace.task")).toEqual(["acme"]);
  });

  test("sees tasks and handlers with the payloads of the specification (002-27)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    await world.request(account);
    await work(world, await asWorker(world));

    const first = (type: string): Promise<any> =>
      world.value("SELECT payload FROM queues.task WHERE task_type = $1 ORDER BY task_id", type);
    expect(await first("db_function")).toEqual({
      task_type: "db_function",
      db_function: "comms.send_email_supervisor",
      send_email_task_id: 1,
      check: 0,
    });
    expect(await first("email")).toEqual({
      task_type: "email",
      send_email_attempt_id: 1,
      before_handler: "comms.get_email_payload",
      success_handler: "comms.record_email_success",
      error_handler: "comms.record_email_failure",
    });
    expect(await first("file_delete")).toEqual({
      task_type: "file_delete",
      file_deletion_task_id: 1,
      file_deletion_attempt_id: 1,
      file_id: 1,
      before_handler: "files.get_file_delete_payload",
      success_handler: "files.record_file_delete_success",
      error_handler: "files.record_file_delete_failure",
    });
  });

  test("may do nothing else (002-05, 002-30, 002-31, C-26)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    const worker = await asWorker(world);

    for (const statement of [
      "SELECT queues.enqueue('sms', '{}')",
      "SELECT millrace.enqueue('sms', '{}')",
      "SELECT * FROM queues.task",
      "SELECT * FROM millrace.job",
      "SELECT * FROM accounts.account",
      "UPDATE accounts.account SET email = NULL",
      "DELETE FROM files.file",
      "INSERT INTO accounts.account_flag VALUES (1, 'deleted')",
      `SELECT accounts.anonymize_account(${account})`,
      `SELECT accounts.kickoff_account_deletion(${account})`,
      `SELECT api.request_account_deletion(${account})`,
      "SELECT files.mark_file_deleted(1)",
      "SELECT millrace.register_function('accounts.account_deletion_supervisor(jsonb)')",
      "CREATE TABLE accounts.mine (id integer)",
      "CREATE SCHEMA mine",
      "SET ROLE millrace_owner",
    ]) {
      expect([statement, await refusal(worker, statement)]).toEqual([statement, "42501"]);
    }
    const run = (name: string): string => `SELECT internal.run_function('${name}', '{}')`;
    expect(await refusal(worker, run("pg_sleep"))).toBe("MR018");
    expect(await refusal(worker, run("accounts.anonymize_account"))).toBe("MR018");
    expect(await refusal(worker, run("files.get_file_delete_payload(''{}''); --"))).not.toBe(
      "accepted",
    );
  });

  test("shares the queue with the application, which may ask and nothing else", async () => {
    await using world = await createWorld();
    const account = await world.addAccount([]);
    const application = await connect(urlAs("api_service_user", world.url));
    onTestFinished(() => application.end());
    const request = "SELECT api.request_account_deletion($1)";

    expect(await value(application, request, 99)).toBe("account 99 does not exist");
    expect(await value(application, request, account)).toBeNull();
    expect(await value(application, request, account)).toBeNull();
    expect(await refusal(application, "SELECT * FROM accounts.account")).toBe("42501");
    expect(await refusal(application, DEQUEUE)).toBe("42501");
    expect(await world.value("SELECT count(*)::integer FROM accounts.account_deletion_task")).toBe(
      1,
    );
  });
});

describe("the schemas", () => {
  test("give PUBLIC nothing, and pin every search path (002-41)", async () => {
    await using world = await createWorld();

    expect(await column(world.client, OPEN_TO_PUBLIC)).toEqual([]);
    expect(await column(world.client, UNPINNED)).toEqual([]);
  });

  test("enqueue by queues.enqueue, and in no other way", async () => {
    await using world = await createWorld();

    expect(await column(world.client, CALLS, "millrace.enqueue(")).toEqual(["queues.enqueue"]);
    expect(await column(world.client, CALLS, "queues.enqueue(")).toEqual([
      "comms.enqueue_send_email_supervisor",
      "comms.enqueue_send_sms_supervisor",
      "comms.send_email_supervisor",
      "comms.send_sms_supervisor",
      "files.file_deletion_supervisor",
      "queues.enqueue",
      "queues.enqueue_check",
    ]);
  });
});

const SCHEMAS = "ARRAY['queues', 'internal', 'comms', 'files', 'learning', 'accounts', 'api']";
const OPEN_TO_PUBLIC = `
  SELECT oid::regprocedure::text FROM pg_proc
  WHERE pronamespace = ANY (${SCHEMAS}::regnamespace[])
    AND EXISTS (SELECT 1 FROM aclexplode(coalesce(proacl, acldefault('f', proowner)))
                WHERE grantee = 0)
  UNION ALL
  SELECT oid::regclass::text FROM pg_class
  WHERE relnamespace = ANY (${SCHEMAS}::regnamespace[])
    AND EXISTS (SELECT 1 FROM aclexplode(relacl) WHERE grantee = 0)`;
const UNPINNED = `
  SELECT oid::regprocedure::text FROM pg_proc
  WHERE pronamespace = ANY (${SCHEMAS}::regnamespace[]) AND prosqlbody IS NULL
    AND NOT EXISTS (SELECT 1 FROM unnest(proconfig) AS each WHERE each LIKE 'search_path=%')`;

const CALLS = `
  SELECT pronamespace::regnamespace || '.' || proname FROM pg_proc
  WHERE pronamespace = ANY (${SCHEMAS}::regnamespace[])
    AND strpos(pg_get_functiondef(oid), $1) > 0 ORDER BY 1`;

const COLUMNS = `SELECT attname::text FROM pg_attribute
  WHERE attrelid = ('queues.' || $1)::regclass AND attnum > 0 ORDER BY attnum`;
