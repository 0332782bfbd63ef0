/** `run_function` and its registry. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeRoles, openSurface, refusalOf, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

const RUN = "SELECT millrace.run_function($1, $2) AS answer";

test("002-09 runs a registered function by its name, with the payload", async () => {
  await using scene = await surface.open();
  await scene.owner.query(`CREATE SCHEMA "odd-Name";
    CREATE FUNCTION "odd-Name"."do it"(jsonb) RETURNS jsonb LANGUAGE sql AS
      $$ SELECT jsonb_build_object('status', 'succeeded', 'payload', $1) $$;
    CREATE FUNCTION "odd-Name"."do it"(text) RETURNS jsonb LANGUAGE sql AS
      $$ SELECT 'null'::jsonb $$;
    SELECT millrace.register_function('"odd-Name"."do it"(jsonb)');
    SELECT millrace.register_function('"odd-Name"."do it"(jsonb)', 'short')`);
  for (const name of ["odd-Name.do it", "short"]) {
    expect(await scene.rows(RUN, [name, { a: 1 }])).toEqual([
      { answer: { status: "succeeded", payload: { a: 1 } } },
    ]);
  }
  expect(await scene.rows("SELECT millrace.unregister_function('short') AS was")).toEqual([
    { was: true },
  ]);
  expect(await refusalOf(scene.owner.query(RUN, ["short", {}]))).toBe("MR018");
});

test.each([
  "public.f",
  "now",
  "pg_catalog.pg_sleep",
  "public.g(jsonb); DROP TABLE t; --",
  `public."g"`,
  "PUBLIC.G",
  "",
  null,
])("refuses the name %s, which is not registered", async (name) => {
  await using scene = await surface.open();
  await scene.owner.query(`CREATE TABLE t ();
    CREATE FUNCTION f(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    CREATE FUNCTION g(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    SELECT millrace.register_function('g(jsonb)')`);
  expect(await refusalOf(scene.owner.query(RUN, [name, {}]))).toBe("MR018");
  expect(await scene.rows("SELECT FROM t")).toEqual([]);
});

test.each([
  "f(text) RETURNS jsonb LANGUAGE sql AS $$ SELECT 'null'::jsonb $$",
  "f(jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$",
  "f(jsonb, jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$",
  "f(jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT $1 $$",
  "f(VARIADIC jsonb[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1[1] $$",
])("does not register CREATE FUNCTION %s", async (declaration) => {
  await using scene = await surface.open();
  await scene.owner.query(`CREATE FUNCTION ${declaration}`);
  const signature = "(SELECT oid::regprocedure FROM pg_proc WHERE proname = 'f')";
  const call = scene.owner.query(`SELECT millrace.register_function(${signature})`);
  expect(await refusalOf(call)).toBe("22023");
});

test("refuses a function that is gone or has another owner than before", async () => {
  await using scene = await surface.open();
  await scene.as("thief");
  await scene.owner.query(`CREATE FUNCTION f(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    SELECT millrace.register_function('f(jsonb)')`);
  await scene.owner.query("ALTER FUNCTION f(jsonb) OWNER TO thief");
  expect(await refusalOf(scene.owner.query(RUN, ["public.f", {}]))).toBe("MR018");
  await scene.owner.query("ALTER FUNCTION f(jsonb) OWNER TO postgres");
  expect(await refusalOf(scene.owner.query(RUN, ["public.f", {}]))).toBeNull();
  await scene.owner.query("DROP FUNCTION f(jsonb)");
  expect(await refusalOf(scene.owner.query(RUN, ["public.f", {}]))).toBe("MR018");
});

test("needs no right of the owner on the function, only one of the caller", async () => {
  await using scene = await surface.open();
  await scene.owner.query(`CREATE SCHEMA app;
    CREATE FUNCTION app.f(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    SELECT millrace.register_function('app.f(jsonb)')`);
  await makeRoles(scene);
  const worker = await scene.as("app_runner", "millrace_worker");
  expect(await refusalOf(worker.query(RUN, ["app.f", {}]))).toBe("42501");
  await scene.owner.query("GRANT USAGE ON SCHEMA app TO app_runner");
  expect(await refusalOf(worker.query(RUN, ["app.f", {}]))).toBeNull();
});

test("runs with the rights of its caller", async () => {
  await using scene = await surface.open();
  const caller = await scene.as("caller");
  await scene.owner.query(`CREATE TABLE secret ();
    CREATE FUNCTION f(jsonb) RETURNS jsonb LANGUAGE sql AS
      $$ SELECT to_jsonb(count(*)) FROM public.secret $$;
    SELECT millrace.register_function('f(jsonb)');
    GRANT USAGE ON SCHEMA millrace TO caller;
    GRANT EXECUTE ON FUNCTION millrace.run_function, millrace.find_function TO caller`);
  expect(await refusalOf(caller.query(RUN, ["public.f", {}]))).toBe("42501");
  expect(await refusalOf(scene.owner.query(RUN, ["public.f", {}]))).toBeNull();
});
