/** The roles of an installation and their grants. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, openMillrace } from "../../../src/index.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { migrations } from "../../../src/store/postgres/database/migrations.gen.ts";
import { type } from "../../cli/command-line.ts";
import {
  DEQUEUE,
  enqueued,
  makeRoles,
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

async function withRoles(): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  await makeRoles(scene);
  return scene;
}

/** Reads for one tenant call functions with the rights of this role, which row policies limit. */
const TENANT = "millrace_tenant";
const OWN = "pronamespace = 'millrace'::regnamespace";
/** The functions that run with the rights of the owner: exactly those that roles may call. */
const DEFINERS = [
  "cancel",
  "complete_task",
  "dequeue_next_available_task",
  "enqueue",
  "fail_task",
  "find_function",
  "heartbeat",
  "promote_due_tasks",
  "sweep_expired_leases",
];

/**
 * Functions without a fixed search path, with the rights of their caller. A fixed one takes time at
 * each call, and keeps the planner from putting the body of a function in SQL into a statement.
 * Those of the surface and the routines have one, and it holds in what they call.
 */
const UNPINNED = {
  sql: [
    "error_has",
    "is_refilled",
    "is_streak_due",
    "key_tokens",
    "limit_rooms",
    "take_key_tokens",
    "target_rooms",
    "want_limits",
  ],
  plpgsql: [
    "add_crashed",
    "claim_alone",
    "claim_batch",
    "claim_probe",
    "end_jobs",
    "enqueue_alike",
    "enqueue_batch",
    "find_ends",
    "find_job",
    "find_limited",
    "find_lone",
    "free_locks",
    "hold_spent_keys",
    "look_at_limits",
    "payload_has",
    "release_job_locks",
    "require_protocol",
    "reset_streaks",
    "settle_done",
    "start_runs",
    "take_permits",
    "take_quota_tokens",
  ],
};

describe("the catalogue of a migrated installation", () => {
  test("has a fixed search path for every definer, and only known ones", async () => {
    await using scene = await surface.open();
    const found = await scene.rows(
      `SELECT proname AS name, proconfig::text AS config FROM pg_proc WHERE ${OWN} AND prosecdef
       ORDER BY proname COLLATE "C"`,
    );
    expect(found.map(({ name }) => name)).toEqual(DEFINERS);
    for (const { config } of found) expect(config).toContain("search_path=pg_catalog, pg_temp");
    const [{ config }] = await scene.rows(
      "SELECT proconfig::text AS config FROM pg_proc WHERE proname = 'run_function'",
    );
    expect(config).toContain("search_path=pg_catalog, pg_temp");
  });

  test("fixes the search path of every function but known ones, which no role calls", async () => {
    await using scene = await withRoles();
    const found = await scene.rows(
      `SELECT proname AS name, lanname AS language, prosecdef AS is_definer,
              ARRAY(SELECT pg_get_userbyid(acl.grantee)::text
                    FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) AS acl
                    WHERE acl.grantee <> proowner) AS grantees
       FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
       -- A body of statements that were parsed when the function was created looks up no name.
       WHERE ${OWN} AND prosqlbody IS NULL
         AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
       ORDER BY proname COLLATE "C"`,
    );
    for (const [language, names] of Object.entries(UNPINNED)) {
      const own = found.filter((each) => each.language === language);
      expect(own.map(({ name }) => name)).toEqual(names);
    }
    for (const { is_definer, grantees } of found) {
      expect({ is_definer, grantees }).toEqual({ is_definer: false, grantees: [TENANT] });
    }
  });

  test("002-41 gives nothing to PUBLIC", async () => {
    await using scene = await withRoles();
    for (const sql of [
      `SELECT proname FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS acl
       WHERE ${OWN} AND acl.grantee = 0`,
      `SELECT relname FROM pg_class, aclexplode(relacl) AS acl
       WHERE relnamespace = 'millrace'::regnamespace AND acl.grantee = 0`,
      `SELECT typname FROM pg_type, aclexplode(coalesce(typacl, acldefault('T', typowner))) AS acl
       WHERE typnamespace = 'millrace'::regnamespace AND typelem = 0 AND acl.grantee = 0`,
      `SELECT FROM pg_namespace, aclexplode(nspacl) AS acl
       WHERE nspname = 'millrace' AND acl.grantee = 0`,
    ]) {
      expect(await scene.rows(sql)).toEqual([]);
    }
    await scene.owner.query(`SET ROLE millrace_owner;
      CREATE FUNCTION millrace.later() RETURNS integer LANGUAGE sql AS 'SELECT 1';
      CREATE TYPE millrace.later AS (at timestamptz); RESET ROLE`);
    expect(await scene.rows("SELECT * FROM millrace.role_findings()")).toEqual([]);
  });

  test("lets reads for one tenant call none of them", async () => {
    await using scene = await surface.open();
    expect(
      await scene.rows(
        `SELECT proname FROM pg_proc
         WHERE ${OWN} AND prosecdef AND has_function_privilege('millrace_tenant', oid, 'EXECUTE')`,
      ),
    ).toEqual([]);
  });

  test("002-30 gives no table to producers and workers", async () => {
    await using scene = await withRoles();
    expect(
      await scene.rows(
        `SELECT relname FROM pg_class, unnest('{millrace_producer,millrace_worker}'::text[]) AS role
         WHERE relnamespace = 'millrace'::regnamespace AND relkind IN ('r', 'v', 'm')
           AND has_table_privilege(role, pg_class.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')`,
      ),
    ).toEqual([]);
  });
});

describe("the roles", () => {
  test("a producer and a worker do their work with functions alone", async () => {
    await using scene = await withRoles();
    const producer = await scene.as("app_producer", "millrace_producer");
    const worker = await scene.as("app_worker", "millrace_worker");
    const { rows } = await producer.query("SELECT millrace.enqueue('a', '{}') AS id");
    const [taken] = (await worker.query(DEQUEUE)).rows;
    expect(taken.task_id).toBe(rows[0].id);
    await worker.query("SELECT millrace.heartbeat($1)", [taken.task_id]);
    await worker.query("SELECT millrace.fail_task($1, 'x')", [taken.task_id]);
    await worker.query("SELECT millrace.complete_task($1)", [taken.task_id]);
    const second = (await producer.query("SELECT millrace.enqueue('a', '{}') AS id")).rows[0].id;
    const { rows: answers } = await producer.query("SELECT millrace.cancel($1)", [second]);
    expect(answers).toEqual([{ cancel: "cancelled" }]);
    expect(
      await scene.rows(
        "SELECT pg_get_userbyid(proowner) AS by FROM pg_proc WHERE proname = 'enqueue'",
      ),
    ).toEqual([{ by: "millrace_owner" }]);
  });

  test("C-26 002-31 a worker enqueues only through a function that is granted to it", async () => {
    await using scene = await withRoles();
    await scene.owner.query(`CREATE FUNCTION public.next(payload jsonb) RETURNS jsonb
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
        $$ SELECT to_jsonb(millrace.enqueue('a', payload)) $$;
      REVOKE ALL ON FUNCTION public.next FROM PUBLIC;
      SELECT millrace.register_function('public.next(jsonb)')`);
    const worker = await scene.as("next_worker", "millrace_worker");
    const run = `SELECT millrace.run_function('public.next', '{"x": 1}') AS id`;
    expect(await refusalOf(worker.query("SELECT millrace.enqueue('a')"))).toBe("42501");
    expect(await refusalOf(worker.query(run))).toBe("42501");
    await scene.owner.query("GRANT EXECUTE ON FUNCTION public.next TO next_worker");
    expect((await worker.query(run)).rows).toEqual([{ id: 1 }]);
    expect(await refusalOf(worker.query("SELECT millrace.enqueue('a')"))).toBe("42501");
  });

  test("a worker in TypeScript runs as a member of the owner role", async () => {
    await using scene = await withRoles();
    await scene.as("app_owner", "millrace_owner");
    await using mill = await openMillrace(scene.url.replace("postgres@", "app_owner@"));
    const job = defineJob({ type: "a" }).run(() => "done");
    const worker = mill.work({ jobs: [job], signals: false });
    expect(await mill.result(await mill.enqueue(job))).toBe("done");
    await worker.stop();
    const acme = mill.forTenant("acme");
    expect((await acme.jobs.list()).jobs).toEqual([]);
  });

  test("a reader sees facts without values, maintenance sweeps and promotes", async () => {
    await using scene = await withRoles();
    const id = await enqueued(scene, `'{"card": "4111"}'`);
    await scene.owner.query(DEQUEUE);
    await scene.owner.query("SELECT millrace.fail_task($1, 'card 4111')", [id]);
    const reader = await scene.as("app_reader", "millrace_reader");
    const read = async (text: string): Promise<unknown> => (await reader.query(text)).rows;
    expect(await read("SELECT payload FROM millrace.task")).toEqual([
      { payload: { card: "[redacted]" } },
    ]);
    expect(await read("SELECT error_message FROM millrace.task_error_log")).toEqual([
      { error_message: "[redacted]" },
    ]);
    expect(await read("SELECT task_id FROM millrace.task_lease")).toEqual([{ task_id: id }]);
    expect(await scene.rows("SELECT payload FROM millrace.task")).toEqual([
      { payload: { card: "4111" } },
    ]);
    const keeper = await scene.as("app_keeper", "millrace_maintenance");
    const { rows } = await keeper.query(
      "SELECT millrace.sweep_expired_leases(), millrace.promote_due_tasks()",
    );
    expect(rows).toEqual([{ sweep_expired_leases: 0, promote_due_tasks: 0 }]);
  });

  test("making them again changes nothing", async () => {
    await using scene = await withRoles();
    const acls = `SELECT relname, relacl::text FROM pg_class
      WHERE relnamespace = 'millrace'::regnamespace ORDER BY relname`;
    const before = await scene.rows(acls);
    await makeRoles(scene);
    expect(await scene.rows(acls)).toEqual(before);
    expect(await scene.rows("SELECT * FROM millrace.role_findings()")).toEqual([]);
  });

  test("missing and excessive grants are found, with the statement that repairs each", async () => {
    await using scene = await withRoles();
    await scene.owner.query(`REVOKE EXECUTE ON FUNCTION millrace.enqueue FROM millrace_producer;
      GRANT SELECT ON millrace.job TO millrace_worker;
      GRANT EXECUTE ON FUNCTION millrace.declare_type TO PUBLIC`);
    const findings = await scene.rows("SELECT * FROM millrace.role_findings() ORDER BY found");
    expect(findings.map(({ found }) => found.replace(/\(.*\)/, "()"))).toEqual([
      "PUBLIC has EXECUTE on millrace.declare_type()",
      "millrace_producer may not use millrace.enqueue()",
      "millrace_worker has SELECT on millrace.job",
    ]);
    for (const { fix } of findings) await scene.owner.query(fix);
    expect(await scene.rows("SELECT * FROM millrace.role_findings()")).toEqual([]);
  });
});

describe("millrace migrate --roles", () => {
  test("prints the statements and changes nothing, or makes the roles", async () => {
    await using scene = await surface.open();
    await scene.owner.query("CREATE SCHEMA other");
    const db = `${scene.url}?schema=other`;
    await type("migrate", "--db", db);
    const printed = await type("migrate", "--roles", "--print", "--db", db);
    expect(printed.code).toBe(0);
    expect(printed.out).toMatch(/CREATE ROLE other_worker NOLOGIN/);
    const roles =
      "SELECT rolname AS role FROM pg_roles WHERE rolname LIKE 'other@_%' ESCAPE '@' ORDER BY 1";
    expect(await scene.rows(roles)).toEqual([]);
    const made = await type("migrate", "--roles", "--db", db);
    expect(made).toMatchObject({ code: 0, err: "" });
    expect((await scene.rows(roles)).map(({ role }) => role)).toEqual([
      "other_engine",
      "other_maintenance",
      "other_migrator",
      "other_owner",
      "other_producer",
      "other_reader",
      "other_worker",
    ]);
    await scene.owner.query(printed.out);

    await scene.owner.query("GRANT SELECT ON other.job TO other_producer");
    const { out, code } = await type("doctor", "-o", "json", "--db", db);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toContainEqual({
      name: "roles",
      found: "other_producer has SELECT on other.job",
      fix: "REVOKE SELECT ON TABLE other.job FROM other_producer;",
    });
  });

  test("is refused for SQLite", async () => {
    const { code, err } = await type("migrate", "--roles", "--db", "sqlite:./none.db");
    expect(code).not.toBe(0);
    expect(err).toContain("PostgreSQL");
  });

  test("a later migration gives its tables to the owner role", async () => {
    await using scene = await withRoles();
    await scene.as("app_migrator", "millrace_migrator");
    const url = scene.url.replace("postgres@", "app_migrator@");
    const later = { version: 9, name: "later", sql: "CREATE TABLE millrace.later ();" };
    const store = makePostgresStore({ url }, { migrations: [...migrations, later] });
    await store.open();
    await store.close();
    const owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'later'";
    expect(await scene.rows(owner)).toEqual([{ tableowner: "millrace_owner" }]);
  });
});
