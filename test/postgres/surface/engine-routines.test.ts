/** The routines of an installation: how they are made, compared, repaired and refreshed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMillrace } from "../../../src/index.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { migrations } from "../../../src/store/postgres/database/migrations.gen.ts";
import { routinesOf } from "../../../src/store/postgres/rights/routines.ts";
import { type } from "../../cli/command-line.ts";
import { urlAs } from "../../support/engine-role.ts";
import { makeEngine, openSurface, type Scene, type Surface } from "./support.ts";

const OWN = "pronamespace = 'millrace'::regnamespace";
const ROUTINES = `SELECT proname AS name FROM pg_proc
  WHERE ${OWN} AND starts_with(prosrc, E'\\n-- A routine of Millrace')`;
/** What a routine is after it was tampered with. */
const TAMPERED = `CREATE OR REPLACE FUNCTION millrace.run_schema_version()
  RETURNS TABLE (version integer) LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
-- A routine of Millrace, for schema_version, of an older release
BEGIN RETURN QUERY SELECT 1; END $$`;

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

async function found({ url }: Scene): Promise<readonly object[]> {
  const store = makePostgresStore({ url });
  await store.open();
  const { findings } = await store.examine();
  await store.close();
  return findings.filter(({ name }) => name === "routines" || name === "roles");
}

const byText = (left: string, right: string): number => (left < right ? -1 : 1);

async function engineOpens(url: string): Promise<string> {
  try {
    await (await openMillrace(url)).close();
    return "opened";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

describe("the routines of an installation", () => {
  test("are not made before the roles are", async () => {
    await using scene = await surface.open();
    expect(await scene.rows(ROUTINES)).toEqual([]);
    expect(await found(scene)).toEqual([]);
  });

  test("belong to the owner, pin their search path, and PUBLIC has no right on them", async () => {
    await using scene = await surface.open();
    await makeEngine(scene);
    const wanted = routinesOf("millrace").length;
    expect(wanted).toBeGreaterThan(350);
    expect(await scene.rows(ROUTINES)).toHaveLength(wanted);
    expect(
      await scene.rows(
        `${ROUTINES} AND NOT (prosecdef AND pg_get_userbyid(proowner) = 'millrace_owner'
           AND proconfig[1] = 'search_path=pg_catalog, pg_temp')`,
      ),
    ).toEqual([]);
    expect(
      await scene.rows(
        `SELECT DISTINCT coalesce(pg_get_userbyid(nullif(acl.grantee, 0)), 'PUBLIC') AS by,
                acl.privilege_type AS may
         FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS acl
         WHERE ${OWN} AND starts_with(prosrc, E'\\n-- A routine of Millrace') ORDER BY 1`,
      ),
    ).toEqual([
      { by: "millrace_engine", may: "EXECUTE" },
      { by: "millrace_owner", may: "EXECUTE" },
    ]);
    expect(
      await scene.rows(
        `SELECT proname FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS acl
         WHERE ${OWN} AND acl.grantee = 0
         UNION ALL SELECT proname FROM pg_proc WHERE ${OWN} AND prosecdef
           AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}'))`,
      ),
    ).toEqual([]);
    expect(await found(scene)).toEqual([]);
  });

  test("no body has dynamic SQL", () => {
    const dynamic = routinesOf("millrace").filter(({ statement }) =>
      /\bEXECUTE\b|\bformat\(/.test(statement),
    );
    expect(dynamic.map(({ name }) => name)).toEqual([]);
  });

  test("making them again changes nothing", async () => {
    await using scene = await surface.open();
    await makeEngine(scene);
    const oids = `SELECT oid, proacl::text FROM pg_proc WHERE ${OWN} ORDER BY oid`;
    const before = await scene.rows(oids);
    await makeEngine(scene);
    expect(await scene.rows(oids)).toEqual(before);
  });

  test("the doctor names each difference, and migrate --roles repairs all", async () => {
    await using scene = await surface.open();
    const url = await makeEngine(scene);
    await scene.owner.query(`DROP FUNCTION millrace.run_tenant_names; ${TAMPERED};
      REVOKE EXECUTE ON FUNCTION millrace.run_list_workers FROM millrace_engine;
      GRANT EXECUTE ON FUNCTION millrace.run_list_types TO PUBLIC;
      GRANT SELECT ON millrace.job TO millrace_engine;
      GRANT EXECUTE ON FUNCTION millrace.enqueue TO millrace_engine;
      CREATE FUNCTION millrace.run_old(integer) RETURNS bigint LANGUAGE plpgsql AS $$
-- A routine of Millrace, for old
BEGIN RETURN 1; END $$; REVOKE ALL ON FUNCTION millrace.run_old FROM PUBLIC`);
    const findings = (await found(scene)).map((each: any) =>
      [each.found, each.fix].map((text) => String(text).replace(/\(.*\)/, "()")).join(" | "),
    );
    expect(findings.toSorted(byText)).toEqual([
      "1 routine is changed: run_schema_version | Run millrace migrate --roles.",
      "1 routine is missing: run_tenant_names | Run millrace migrate --roles.",
      "1 routine is of another release: run_old | Run millrace migrate --roles.",
      "PUBLIC has EXECUTE on millrace.run_list_types() | " +
        "REVOKE EXECUTE ON ROUTINE millrace.run_list_types() FROM PUBLIC;",
      "millrace.run_old() belongs to postgres | " +
        "ALTER ROUTINE millrace.run_old() OWNER TO millrace_owner;",
      "millrace_engine has EXECUTE on millrace.enqueue() | " +
        "REVOKE EXECUTE ON ROUTINE millrace.enqueue() FROM millrace_engine;",
      "millrace_engine has SELECT on millrace.job | " +
        "REVOKE SELECT ON TABLE millrace.job FROM millrace_engine;",
      'millrace_engine may not use "millrace".run_list_workers() | ' +
        'GRANT EXECUTE ON FUNCTION "millrace".run_list_workers() TO "millrace_engine";',
    ]);
    await type("migrate", "--roles", "--shared-roles", "--db", scene.url);
    expect(await found(scene)).toEqual([]);
    expect(await engineOpens(url)).toBe("opened");
  });

  test("a printed script makes them as well", async () => {
    await using scene = await surface.open();
    const args = ["--roles", "--shared-roles", "--print"];
    const printed = await type("migrate", ...args, "--db", scene.url);
    await scene.owner.query(printed.out);
    expect(await scene.rows(ROUTINES)).toHaveLength(routinesOf("millrace").length);
    expect(await found(scene)).toEqual([]);
  });

  test("those of another release keep the engine out until millrace migrate ran", async () => {
    await using scene = await surface.open();
    const url = await makeEngine(scene);
    await scene.as("app_migrator", "millrace_migrator");
    await scene.owner.query(`UPDATE millrace.meta SET value = 'old' WHERE name = 'routines';
      ${TAMPERED}; DROP FUNCTION millrace.run_tenant_names`);
    expect(await engineOpens(url)).toBe("STORE_OLDER");
    await (await openMillrace(scene.url)).close();
    expect(await engineOpens(url)).toBe("STORE_OLDER");
    const { code } = await type("migrate", "--db", urlAs(scene.url, "app_migrator"));
    expect(code).toBe(0);
    expect(await engineOpens(url)).toBe("opened");
    expect(await found(scene)).toEqual([]);
  });

  test("a migration brings them along, and keeps what workers of older releases call", async () => {
    await using scene = await surface.open();
    await makeEngine(scene);
    await scene.owner.query(`DROP FUNCTION millrace.run_tenant_names;
      CREATE FUNCTION millrace.run_old(integer) RETURNS bigint LANGUAGE plpgsql AS $$
-- A routine of Millrace, for old
BEGIN RETURN 1; END $$`);
    const later = { version: 9, name: "later", sql: "CREATE TABLE millrace.later ();" };
    const store = makePostgresStore({ url: scene.url }, { migrations: [...migrations, later] });
    await store.open();
    await store.close();
    const kept = await scene.rows(`${ROUTINES} AND proname IN ('run_old', 'run_tenant_names')`);
    const names = kept.map(({ name }) => String(name));
    expect(names.toSorted(byText)).toEqual(["run_old", "run_tenant_names"]);
  });
});
