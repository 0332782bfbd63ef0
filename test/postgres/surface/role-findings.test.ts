/** What `millrace doctor` finds about the roles: planted changes, and the statements for them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeRoles, openSurface, refusalOf, type Scene, type Surface } from "./support.ts";

let surface: Surface;
let scene: Scene;
beforeAll(async () => {
  surface = await openSurface();
  scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  await makeRoles(scene);
  for (const role of ["stranger", "between", "foreigner", "some_migrator"]) await scene.as(role);
  await scene.owner.query("GRANT millrace_migrator TO some_migrator");
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await surface[Symbol.asyncDispose]();
});

const LATER = "CREATE FUNCTION millrace.later() RETURNS integer LANGUAGE sql";
const OWN_PRIVILEGES = "ALTER DEFAULT PRIVILEGES FOR ROLE millrace_owner";

/** A statement that an operator may have run, and what doctor says about it. */
const CHANGES: readonly (readonly [string, string | RegExp])[] = [
  [
    "GRANT SELECT (payload) ON millrace.job TO millrace_worker",
    "millrace_worker has SELECT (payload) on millrace.job",
  ],
  ["GRANT CREATE ON SCHEMA millrace TO PUBLIC", "PUBLIC has CREATE on the schema millrace"],
  [
    "REVOKE USAGE ON SCHEMA millrace FROM millrace_worker",
    "millrace_worker may not use the schema millrace",
  ],
  ["GRANT millrace_owner TO millrace_reader", "millrace_reader is a member of millrace_owner"],
  [
    "REVOKE millrace_worker FROM millrace_owner",
    "millrace_owner may not take the role millrace_worker",
  ],
  [
    "GRANT millrace_producer TO between; GRANT between TO millrace_worker",
    "millrace_worker is a member of between, and so of millrace_producer",
  ],
  [
    `REVOKE millrace_tenant FROM millrace_engine; ALTER ROLE millrace_engine INHERIT;
     GRANT millrace_tenant TO millrace_engine`,
    "millrace_engine has the rights of millrace_tenant all along",
  ],
  ["GRANT pg_read_all_data TO millrace_reader", /millrace_reader is a member of pg_read_all_data/],
  ["GRANT postgres TO millrace_owner", /millrace_owner is a member of postgres/],
  [
    "GRANT EXECUTE ON FUNCTION millrace.complete_task TO millrace_worker WITH GRANT OPTION",
    /millrace_worker may pass on EXECUTE on millrace\.complete_task/,
  ],
  [
    `GRANT SELECT ON millrace.task TO millrace_reader WITH GRANT OPTION; SET ROLE millrace_reader;
     GRANT SELECT ON millrace.task TO stranger; RESET ROLE`,
    "stranger has SELECT on millrace.task",
  ],
  ["ALTER FUNCTION millrace.enqueue OWNER TO foreigner", /millrace\.enqueue\(.* to foreigner/],
  ["ALTER TABLE millrace.job OWNER TO foreigner", "millrace.job belongs to foreigner"],
  ["ALTER SCHEMA millrace OWNER TO foreigner", "millrace belongs to foreigner"],
  [
    "ALTER TYPE millrace.leased_task OWNER TO foreigner",
    "millrace.leased_task belongs to foreigner",
  ],
  ["GRANT SELECT ON millrace.job TO stranger", "stranger has SELECT on millrace.job"],
  ["GRANT DELETE ON millrace.job TO millrace_tenant", /millrace_tenant has DELETE on/],
  ["GRANT EXECUTE ON FUNCTION millrace.enqueue TO millrace_tenant", /millrace_tenant has EXECUTE/],
  [
    "GRANT USAGE ON SEQUENCE millrace.job_key_seq TO stranger",
    "stranger has USAGE on millrace.job_key_seq",
  ],
  [
    `${OWN_PRIVILEGES} GRANT EXECUTE ON FUNCTIONS TO PUBLIC`,
    "PUBLIC gets EXECUTE on new functions of millrace_owner",
  ],
  [
    `${OWN_PRIVILEGES} GRANT SELECT ON TABLES TO stranger`,
    "stranger gets SELECT on new tables of millrace_owner",
  ],
  [
    "ALTER DEFAULT PRIVILEGES IN SCHEMA millrace GRANT EXECUTE ON FUNCTIONS TO PUBLIC",
    "PUBLIC gets EXECUTE on new functions of postgres",
  ],
  ["GRANT USAGE ON TYPE millrace.job TO PUBLIC", "PUBLIC has USAGE on the type millrace.job"],
  [
    `${OWN_PRIVILEGES} GRANT USAGE ON TYPES TO PUBLIC`,
    "PUBLIC gets USAGE on new types of millrace_owner",
  ],
  ["ALTER FUNCTION millrace.enqueue RESET search_path", /its search path does not end with pg_te/],
  ["ALTER FUNCTION millrace.cancel SET search_path = public", /its search path does not end/],
  ["ALTER FUNCTION millrace.run_function SECURITY DEFINER", /and not with those of its caller/],
  ...["SUPERUSER", "BYPASSRLS", "CREATEROLE", "LOGIN"].map(
    (attribute) =>
      [
        `ALTER ROLE millrace_worker ${attribute}`,
        `millrace_worker has the attribute ${attribute}`,
      ] as const,
  ),
  [
    `SET ROLE millrace_owner; ${LATER} SECURITY DEFINER AS 'SELECT 1'; RESET ROLE`,
    /millrace\.later\(\) runs with the rights of its owner/,
  ],
  [
    `SET SESSION AUTHORIZATION some_migrator; ${LATER} AS 'SELECT 1'; RESET SESSION AUTHORIZATION`,
    "PUBLIC has EXECUTE on millrace.later()",
  ],
  [
    `SET ROLE millrace_owner; CREATE PROCEDURE millrace.later() LANGUAGE sql AS 'SELECT 1';
     GRANT EXECUTE ON PROCEDURE millrace.later() TO millrace_worker; RESET ROLE`,
    "millrace_worker has EXECUTE on millrace.later()",
  ],
];

/** Registered functions of other schemas: what follows `CREATE FUNCTION`, and what doctor says. */
const OPEN = "PUBLIC may call app.f(jsonb), which runs with the rights of its owner";
const UNPINNED =
  "app.f(jsonb) runs with the rights of its owner, and its search path does not end with pg_temp";
const REVOKED = "REVOKE ALL ON FUNCTION app.f FROM PUBLIC";
const PINNED = "SET search_path = pg_catalog, app, pg_temp";
const REGISTERED: readonly (readonly [string, string, readonly string[]])[] = [
  ["SECURITY DEFINER", "", [OPEN, UNPINNED]],
  [`SECURITY DEFINER ${PINNED}`, "", [OPEN]],
  ["SECURITY DEFINER", REVOKED, [UNPINNED]],
  ["SECURITY DEFINER SET search_path = ''", REVOKED, [UNPINNED]],
  [`SECURITY DEFINER SET search_path = app, "$user"`, REVOKED, [UNPINNED]],
  ["SECURITY DEFINER SET search_path = 'app, pg_temp'", REVOKED, [UNPINNED]],
  ["SECURITY DEFINER SET search_path = pg_temp, app", REVOKED, [UNPINNED]],
  ["SECURITY DEFINER SET search_path = app, pg_temp, public", REVOKED, [UNPINNED]],
  [`SECURITY DEFINER ${PINNED}`, REVOKED, []],
  ["SECURITY INVOKER", "", []],
];

const FINDINGS = "SELECT found, fix FROM millrace.role_findings() ORDER BY found";

describe("a change of the roles", () => {
  test.each(CHANGES)("is found and cured: %s", async (change, expected) => {
    await scene.owner.query("BEGIN");
    try {
      expect(await scene.rows(FINDINGS)).toEqual([]);
      await scene.owner.query(change);
      const findings = await scene.rows(FINDINGS);
      const matching = findings.filter(({ found }) =>
        typeof expected === "string" ? found === expected : expected.test(found),
      );
      expect(matching).toHaveLength(1);
      for (const { fix } of findings) await scene.owner.query(fix);
      expect(await scene.rows(FINDINGS)).toEqual([]);
    } finally {
      await scene.owner.query("ROLLBACK");
    }
  });

  test.each(CHANGES)("is repaired by millrace migrate --roles: %s", async (change) => {
    await scene.owner.query("BEGIN");
    try {
      await scene.owner.query(change);
      await makeRoles(scene);
      expect(await scene.rows(FINDINGS)).toEqual([]);
    } finally {
      await scene.owner.query("ROLLBACK");
    }
  });

  test.each(REGISTERED)(
    "by a registered function of another schema is found and cured: %s %s",
    async (attributes, then, expected) => {
      await scene.owner.query("BEGIN");
      try {
        await scene.owner.query(`CREATE SCHEMA app;
          CREATE FUNCTION app.f(jsonb) RETURNS jsonb LANGUAGE sql ${attributes} AS 'SELECT $1';
          SELECT millrace.register_function('app.f(jsonb)'); ${then}`);
        await makeRoles(scene);
        const findings = await scene.rows(FINDINGS);
        expect(findings.map(({ found }) => found)).toEqual(expected);
        for (const { fix } of findings) await scene.owner.query(fix);
        expect(await scene.rows(FINDINGS)).toEqual([]);
      } finally {
        await scene.owner.query("ROLLBACK");
      }
    },
  );

  test("that makes workers owners is refused by PostgreSQL", async () => {
    const call = scene.owner.query("GRANT millrace_owner TO millrace_worker");
    expect(await refusalOf(call)).toBe("0LP01");
  });

  test("of the owner's own is none: grants for functions of other schemas", async () => {
    await scene.owner.query(`BEGIN; CREATE SCHEMA app;
      CREATE FUNCTION app.f(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
      GRANT USAGE ON SCHEMA app TO millrace_worker;
      GRANT EXECUTE ON FUNCTION app.f TO millrace_worker;
      GRANT millrace_worker, millrace_producer TO stranger`);
    expect(await scene.rows(FINDINGS)).toEqual([]);
    expect(await refusalOf(scene.owner.query("ROLLBACK"))).toBeNull();
  });
});
