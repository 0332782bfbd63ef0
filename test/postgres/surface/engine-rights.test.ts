/** What the role of the engine may not do, and that its routines do what their owner wrote. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, openMillrace } from "../../../src/index.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { openCopyTarget } from "../../../src/store/postgres/copy/target.ts";
import { migrations } from "../../../src/store/postgres/database/migrations.gen.ts";
import { type } from "../../cli/command-line.ts";
import { ENGINE_LOGIN } from "../../support/engine-role.ts";
import { connect } from "../../support/postgres.ts";
import { makeEngine, openSurface, refusalOf, type Scene, type Surface } from "./support.ts";

const DENIED = "42501";

let surface: Surface;
let scene: Scene;
let url: string;
let engine: Client;
beforeAll(async () => {
  surface = await openSurface();
  scene = await surface.open();
  url = await makeEngine(scene);
  engine = await connect(url);
});
afterAll(async () => {
  await engine.end();
  await scene[Symbol.asyncDispose]();
  await surface[Symbol.asyncDispose]();
});

describe("the role of the engine", () => {
  test("has no right on a table, a view or a sequence", async () => {
    const found = await scene.rows(
      `SELECT relname FROM pg_class
       WHERE relnamespace = 'millrace'::regnamespace AND CASE relkind
         WHEN 'S' THEN has_sequence_privilege($1, oid, 'USAGE, SELECT, UPDATE')
         WHEN 'r' THEN has_table_privilege($1, oid, $2) OR has_any_column_privilege($1, oid, $3)
         WHEN 'v' THEN has_table_privilege($1, oid, $2) OR has_any_column_privilege($1, oid, $3)
         ELSE false END`,
      [
        ENGINE_LOGIN,
        "SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER",
        "SELECT, INSERT, UPDATE, REFERENCES",
      ],
    );
    expect(found).toEqual([]);
    const [{ count }] = await scene.rows(
      `SELECT count(*)::integer FROM pg_class
       WHERE relnamespace = 'millrace'::regnamespace AND relkind IN ('r', 'v')`,
    );
    expect(count).toBeGreaterThan(60);
  });

  test("may call its routines and two functions more, and no other", async () => {
    const callable = await scene.rows(
      `SELECT proname AS name FROM pg_proc
       WHERE pronamespace = 'millrace'::regnamespace AND NOT starts_with(prosrc, $2)
         AND has_function_privilege($1, oid, 'EXECUTE') ORDER BY 1`,
      [ENGINE_LOGIN, "\n-- A routine of Millrace"],
    );
    expect(callable.map(({ name }) => name)).toEqual(["find_function", "run_function"]);
    const [{ may }] = await scene.rows(
      `SELECT has_schema_privilege($1, 'millrace', 'CREATE')
           OR has_database_privilege($1, current_database(), 'CREATE') AS may`,
      [ENGINE_LOGIN],
    );
    expect(may).toBe(false);
  });

  test.each([
    ["reads jobs", "SELECT * FROM millrace.job"],
    ["reads the view of tasks", "SELECT * FROM millrace.task"],
    ["reads the secrets of leases", "SELECT secret FROM millrace.lease"],
    ["reads the tokens of the API", "SELECT * FROM millrace.api_token"],
    ["adds a job to a place", "INSERT INTO millrace.finished_dependency VALUES (7)"],
    ["deletes jobs", "DELETE FROM millrace.ready"],
    ["changes a payload", "UPDATE millrace.job SET payload = '{}'"],
    ["empties the audit", "TRUNCATE millrace.audit"],
    ["switches the triggers of the audit off", "ALTER TABLE millrace.audit DISABLE TRIGGER ALL"],
    ["drops a table", "DROP TABLE millrace.saved_view"],
    ["draws from a sequence", "SELECT nextval('millrace.audit_id_seq')"],
    ["creates a table in the schema", "CREATE TABLE millrace.mine ()"],
    ["creates a table in public", "CREATE TABLE public.mine ()"],
    ["creates a schema", "CREATE SCHEMA mine"],
    [
      "shadows a function",
      "CREATE FUNCTION millrace.ms_of(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
    ],
    [
      "replaces a routine",
      `CREATE OR REPLACE FUNCTION millrace.run_installation()
       RETURNS TABLE (name text, value text) LANGUAGE sql AS 'SELECT 1, 2'`,
    ],
    ["moves a search path", "ALTER FUNCTION millrace.run_installation() SET search_path = a"],
    ["calls an inner function", "SELECT millrace.release_job_locks('{}')"],
    ["calls another one", "SELECT millrace.sync_commit()"],
    ["enqueues by the surface", "SELECT millrace.enqueue('a')"],
    ["declares a type", "SELECT millrace.declare_type('a')"],
    ["removes a function from the registry", "SELECT millrace.unregister_function('public.f')"],
    ["passes its rights on", "GRANT millrace_engine TO postgres"],
    ["becomes the owner", "SET ROLE millrace_owner"],
  ])("%s: is refused", async (_, sql) => {
    expect(await refusalOf(engine.query(sql))).toBe(DENIED);
    await scene.owner.query("BEGIN");
    const asOwner = await refusalOf(scene.owner.query(sql));
    await scene.owner.query("ROLLBACK");
    expect(asOwner).not.toBe(DENIED);
  });

  test("changes no routine by its search path, temporary objects or operators", async () => {
    const session = await connect(url);
    await session.query(`CREATE TEMPORARY TABLE meta (name text, value text);
      INSERT INTO meta VALUES ('schema', '999');
      CREATE FUNCTION pg_temp.ms_of(timestamptz) RETURNS bigint LANGUAGE sql AS 'SELECT 1';
      CREATE FUNCTION pg_temp.equal(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.equal);
      SET search_path = pg_temp, public`);
    const { rows } = await session.query("SELECT * FROM millrace.run_schema_version()");
    expect(rows).toEqual([{ version: migrations.at(-1)?.version }]);
    const clock = await session.query("SELECT * FROM millrace.run_read_clock(NULL)");
    expect(Number(clock.rows[0].now)).toBeGreaterThan(1);
    const names = await session.query(
      `SELECT * FROM millrace.run_find_names('[{"kind": 2, "text": "default"}]')`,
    );
    expect(names.rows).toHaveLength(1);
    await session.end();
  });

  test("sees the rows of one tenant as the role of tenants, and writes none", async () => {
    await using mill = await openMillrace(url);
    const note = defineJob({ type: "note" });
    const own = await mill.enqueue(note, undefined, { tenant: "acme" });
    await mill.enqueue(note, undefined, { tenant: "other" });
    const { jobs } = await mill.forTenant("acme").jobs.list();
    expect(jobs.map(({ id }) => id)).toEqual([own.id]);

    const [{ id }] = await scene.rows(
      "SELECT id FROM millrace.interned_name WHERE text = 'acme' AND kind = 2",
    );
    await engine.query(`BEGIN; SET LOCAL ROLE millrace_tenant`);
    const none = await engine.query("SELECT key FROM millrace.job");
    await engine.query(`SET LOCAL millrace_reads.tenant = '${id}'`);
    const some = await engine.query("SELECT key FROM millrace.job");
    const calls = refusalOf(engine.query("SELECT * FROM millrace.run_installation()"));
    expect([none.rows.length, some.rows.length, await calls]).toEqual([0, 1, DENIED]);
    await engine.query("ROLLBACK; BEGIN; SET LOCAL ROLE millrace_tenant");
    expect(await refusalOf(engine.query("DELETE FROM millrace.job"))).toBe(DENIED);
    await engine.query("ROLLBACK");
  });

  test("runs a registered function with its own rights, and not those of the owner", async () => {
    await scene.owner.query(`CREATE FUNCTION public.who(payload jsonb) RETURNS jsonb
      LANGUAGE sql AS $$ SELECT to_jsonb(current_user::text) $$;
      SELECT millrace.register_function('public.who(jsonb)')`);
    const store = makePostgresStore({ url });
    await store.open();
    const answer = await store.runFunction("public.who", "{}");
    await store.close();
    expect(JSON.stringify(answer)).toContain(ENGINE_LOGIN);
  });
});

describe("what needs the owner", () => {
  test("names the command and the role that may run it", async () => {
    const roles = await type("migrate", "--roles", "--db", url);
    expect(roles.code).not.toBe(0);
    expect(roles.err).toContain('"millrace migrate --roles" needs the rights of the owner');
    expect(roles.err).toContain("millrace_migrator");

    const store = makePostgresStore({ url });
    await store.open();
    await expect(store.runSql("SELECT 1")).rejects.toMatchObject({
      code: "STORE_DENIED",
      message: expect.stringMatching(/"millrace doctor --fix".*millrace_migrator/),
    });
    const { findings } = await store.examine();
    await store.close();
    expect(findings).toContainEqual({
      name: "schema",
      found: "not compared: run millrace doctor as a member of millrace_migrator",
      fix: null,
    });

    const target = await openCopyTarget({ url, schema: "millrace", place: "here" });
    await expect(target.readState()).rejects.toMatchObject({ code: "STORE_DENIED" });
    await target.close();
  });

  test("a current schema opens, and an outdated one names the command", async () => {
    const current = await type("migrate", "--db", url);
    expect(current).toMatchObject({ code: 0, out: expect.stringContaining("is up to date") });

    const later = { version: 9, name: "later", sql: "CREATE TABLE millrace.later ();" };
    const store = makePostgresStore({ url }, { migrations: [...migrations, later] });
    await expect(store.open()).rejects.toMatchObject({
      code: "STORE_OLDER",
      message: expect.stringMatching(/run "millrace migrate" as a member of millrace_migrator/),
    });
  });
});
