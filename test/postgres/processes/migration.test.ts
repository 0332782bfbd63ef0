/** The migration of `millrace process new` as a file: where it runs, and what rights it leaves. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isReserved } from "../../../src/cli/commands/process/reserved-words.ts";
import { Installations, migrationOf, type Installation } from "./installation.ts";

const HANDLERS = [
  "comms.get_send_email_payload(jsonb)",
  "comms.record_send_email_failure(jsonb)",
  "comms.record_send_email_success(jsonb)",
];
const SUPERVISOR = "comms.send_email_supervisor(jsonb)";
const KICKOFF = "comms.kickoff_send_email(bigint,timestamp with time zone,text)";

let installations: Installations;
beforeAll(async () => {
  installations = await Installations.start();
});
afterAll(() => installations[Symbol.asyncDispose]());

describe("the migration of a process", () => {
  test.each([
    ["comms.send_email", { channel: "email" }],
    ["billing.close", { channel: "db_function", maxAttempts: "1" }],
    ["files.purge", { channel: "file_delete", root: "key:text" }],
    ["files.scan", { channel: "virus-scan.v2", root: "file_id:uuid", references: "base.file" }],
    ["base.user", { channel: "db_function", root: "found:integer", references: "base.odd" }],
    [`base.${"p".repeat(40)}`, { channel: "email", root: "r".repeat(62) }],
  ])("runs as it stands: %s with %j", async (name, words) => {
    await using made = await installations.open();
    await made.sql.query("CREATE SCHEMA base");
    await made.sql.query("CREATE TABLE base.file (file_id uuid PRIMARY KEY)");
    await made.sql.query("CREATE TABLE base.odd (found integer PRIMARY KEY)");

    await made.add(name, words);

    const [schema, process] = name.split(".");
    expect(
      await made.column(
        `SELECT relname::text FROM pg_class
         WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname LIKE $2 || '\\_%'
         ORDER BY 1`,
        schema,
        process,
      ),
    ).toEqual(
      ["_attempt", "_attempt_failed", "_attempt_succeeded", "_task", "_task_failed"].map(
        (end) => `${process}${end}`,
      ),
    );
  });

  test("makes the tables of facts with their columns (002-22)", async () => {
    await using made = await withEmail();
    const columns = await made.column(`
      SELECT relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'comms'::regnamespace AND relkind = 'r' AND attnum > 0
      ORDER BY relname, attnum`);

    const time = "timestamp with time zone";
    expect(columns).toEqual([
      "send_email_attempt.send_email_attempt_id bigint",
      "send_email_attempt.send_email_task_id bigint",
      `send_email_attempt.created_at ${time}`,
      "send_email_attempt_failed.send_email_attempt_id bigint",
      "send_email_attempt_failed.error_message text",
      `send_email_attempt_failed.created_at ${time}`,
      "send_email_attempt_succeeded.send_email_attempt_id bigint",
      `send_email_attempt_succeeded.created_at ${time}`,
      "send_email_task.send_email_task_id bigint",
      "send_email_task.subject_id bigint",
      "send_email_task.tenant text",
      "send_email_task.process_key uuid",
      `send_email_task.created_at ${time}`,
      "send_email_task_failed.send_email_task_id bigint",
      "send_email_task_failed.error_message text",
      `send_email_task_failed.created_at ${time}`,
    ]);
  });

  test("leaves the declaration of a type as a worker has made it", async () => {
    await using made = await installations.open();
    await made.sql.query("SELECT millrace.declare_type('email', 'mail', services => '{smtp}')");

    await made.add("comms.send_email");

    expect(await made.column("SELECT lane FROM millrace.type_setting ORDER BY lane")).toEqual([
      "general",
      "mail",
    ]);
    expect(await made.value("SELECT count(*)::integer FROM millrace.service_use")).toBe(1);
  });

  test("is refused a second time, and changes nothing", async () => {
    await using made = await withEmail();
    const own = "CREATE OR REPLACE FUNCTION comms.send_email_max_attempts() RETURNS integer";
    await made.sql.query(`${own} LANGUAGE sql IMMUTABLE RETURN 9`);

    const code = await made.refusal(migrationOf("comms.send_email"));

    expect(code).toBe("42P07");
    expect(await made.value("SELECT comms.send_email_max_attempts()")).toBe(9);
  });

  test("is refused for a role that does not own the installation", async () => {
    await using made = await installations.open();
    await made.sql.query("CREATE ROLE stranger");
    await made.sql.query("SET ROLE stranger");

    expect(await made.refusal(migrationOf("comms.send_email"))).toBe("42501");
    await made.sql.query("RESET ROLE");
    expect(await made.value("SELECT to_regnamespace('comms')::text")).toBeNull();
  });

  test("is refused without an installation", async () => {
    await using made = await installations.open();

    const code = await made.refusal(migrationOf("comms.send_email", { schema: "elsewhere" }));

    expect(code).toBe("3F000");
  });

  test("has a name for every word that the server reserves", async () => {
    await using made = await installations.open();
    const words = await made.column(
      "SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')",
    );

    expect(words.length).toBeGreaterThan(70);
    expect(words.filter((word) => !isReserved(word))).toEqual([]);
  });
});

describe("the rights of a process", () => {
  test("are those of its owner, with a fixed search path (002-31)", async () => {
    await using made = await withEmail();
    const definers = await made.column(`
      SELECT oid::regprocedure::text FROM pg_proc
      WHERE pronamespace = 'comms'::regnamespace AND prosecdef ORDER BY 1`);
    const unpinned = await made.column(`
      SELECT oid::regprocedure::text FROM pg_proc
      WHERE pronamespace = 'comms'::regnamespace AND prosqlbody IS NULL
        AND NOT coalesce('search_path=pg_catalog, comms, pg_temp' = ANY (proconfig), false)`);

    expect(definers).toEqual([...HANDLERS, KICKOFF, SUPERVISOR].toSorted());
    expect(unpinned).toEqual([]);
  });

  test("pin the search path of a process in SQL alone", async () => {
    await using made = await installations.open();
    await made.add("billing.close", { channel: "db_function" });

    expect(
      await made.column(`
        SELECT oid::regprocedure::text FROM pg_proc
        WHERE pronamespace = 'billing'::regnamespace AND prosqlbody IS NULL
          AND NOT coalesce('search_path=pg_catalog, billing, pg_temp' = ANY (proconfig), false)`),
    ).toEqual([]);
  });

  test.each([["email"], ["db_function"]])("are none of PUBLIC: %s (002-41)", async (channel) => {
    await using made = await installations.open();
    await made.add("comms.send_email", { channel });

    expect(
      await made.column(`
        SELECT oid::regprocedure::text FROM pg_proc
        WHERE pronamespace = 'comms'::regnamespace
          AND (proacl IS NULL OR EXISTS (SELECT 1 FROM aclexplode(proacl) WHERE grantee = 0))
        UNION ALL
        SELECT oid::regclass::text FROM pg_class
        WHERE relnamespace = 'comms'::regnamespace
          AND EXISTS (SELECT 1 FROM aclexplode(relacl) WHERE grantee = 0)
        UNION ALL
        SELECT 'schema' FROM pg_namespace
        WHERE nspname = 'comms' AND EXISTS (SELECT 1 FROM aclexplode(nspacl) WHERE grantee = 0)`),
    ).toEqual([]);
  });

  test("let workers call the registered functions, and nothing else (002-30)", async () => {
    await using made = await withRoles();
    await made.add("comms.send_email");
    const registered = await made.column(
      "SELECT name || '(jsonb)' FROM millrace.registered_function ORDER BY 1",
    );

    expect(registered).toEqual([...HANDLERS, SUPERVISOR].toSorted());
    for (const role of ["millrace_worker", "millrace_engine"]) {
      expect([role, await made.column(CALLABLE, role)]).toEqual([role, registered]);
      expect([role, await made.column(READABLE, role)]).toEqual([role, []]);
    }
  });

  test("let a worker run the supervisor by its name, and read no fact (002-09)", async () => {
    await using made = await withRoles();
    await made.add("comms.send_email");
    await made.sql.query("SELECT comms.kickoff_send_email(7)");
    const [payload] = await made.tasks("db_function");
    await made.sql.query("RESET ROLE");
    await made.sql.query("SET ROLE millrace_worker");

    const answer = await made.value(
      "SELECT millrace.run_function($1, $2)",
      SUPERVISOR_NAME,
      payload,
    );

    expect(answer).toMatchObject({ status: "succeeded" });
    for (const statement of [
      "SELECT * FROM comms.send_email_task",
      "INSERT INTO comms.send_email_attempt_succeeded VALUES (1)",
      "SELECT comms.kickoff_send_email(8)",
      "SELECT comms.is_send_email_stuck(7)",
    ]) {
      expect(await made.refusal(statement)).toBe("42501");
    }
  });
});

const CALLABLE = `SELECT oid::regprocedure::text FROM pg_proc
  WHERE pronamespace = 'comms'::regnamespace AND has_schema_privilege($1, 'comms', 'USAGE')
    AND has_function_privilege($1, oid, 'EXECUTE') ORDER BY 1`;
const READABLE = `SELECT oid::regclass::text FROM pg_class
  WHERE relnamespace = 'comms'::regnamespace AND relkind IN ('r', 'S')
    AND CASE relkind WHEN 'r' THEN has_any_column_privilege($1, oid, 'SELECT')
        ELSE has_sequence_privilege($1, oid, 'USAGE') END`;
const SUPERVISOR_NAME = "comms.send_email_supervisor";

async function withEmail(): Promise<Installation> {
  const made = await installations.open();
  await made.add("comms.send_email");
  return made;
}

/** An installation with the roles of `millrace migrate --roles`, as their owner. */
async function withRoles(): Promise<Installation> {
  const made = await installations.open();
  for (const statement of await made.column("SELECT millrace.role_statements()")) {
    await made.sql.query(statement);
  }
  await made.sql.query("SET ROLE millrace_owner");
  return made;
}
