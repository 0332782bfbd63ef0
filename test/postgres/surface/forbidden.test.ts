/**
 * What producers and workers must not do. Each act of the list is refused with its SQLSTATE, and a
 * member of the owner may do the same, so that a refusal is one of the role and not a mistake in
 * the statement. The tests about the search path are of another kind: PostgreSQL
 * permits objects in `pg_temp`, a path of the caller and a text with SQL in it, and the tests show
 * that these have no effect.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEQUEUE, enqueued, makeRoles, openSurface, refusalOf, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

const DENIED = "42501";

/** Who does it, the statement, and its refusal. */
interface Act {
  readonly who: "app_worker" | "app_producer";
  readonly what: string;
  readonly sql: string;
  readonly code: string;
}

/**
 * `$TASK` is a task that a member of the owner has taken, and `$OTHER` a waiting task of another
 * tenant.
 */
const ACTS: readonly Act[] = [
  act("app_worker", "reads jobs", "SELECT * FROM millrace.job"),
  act("app_worker", "reads the tokens of leases", "SELECT secret FROM millrace.lease"),
  act("app_worker", "reads the view of tasks", "SELECT * FROM millrace.task"),
  act("app_worker", "writes a job", "DELETE FROM millrace.ready"),
  act("app_worker", "settles by hand", "INSERT INTO millrace.finished_dependency VALUES (7)"),
  act("app_worker", "enqueues", "SELECT millrace.enqueue('a')"),
  act("app_worker", "declares a type", "SELECT millrace.declare_type('b')"),
  act("app_worker", "cancels a task", "SELECT millrace.cancel($OTHER)"),
  act("app_worker", "registers a function", "SELECT millrace.register_function('f(jsonb)')"),
  act("app_worker", "unregisters a function", "SELECT millrace.unregister_function('public.f')"),
  act("app_worker", "writes the registry", "UPDATE millrace.registered_function SET owner = 'x'"),
  act("app_worker", "calls an inner function", "SELECT millrace.release_job_locks('{}')"),
  act("app_worker", "reads what a token proves", "SELECT millrace.own_lease($TASK, NULL)"),
  act("app_worker", "creates a table in the schema", "CREATE TABLE millrace.mine ()"),
  act(
    "app_worker",
    "shadows a function",
    "CREATE FUNCTION millrace.clock_at(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  ),
  act(
    "app_worker",
    "shadows an operator",
    `CREATE OPERATOR millrace.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.texteq)`,
  ),
  act("app_worker", "holds a type", "CREATE TEMP TABLE mine (job millrace.job)"),
  act("app_worker", "creates a schema", "CREATE SCHEMA mine"),
  act("app_worker", "runs an ungranted function", "SELECT millrace.run_function('public.g', '{}')"),
  act("app_worker", "drops a view", "DROP VIEW millrace.task_completed"),
  act("app_worker", "makes itself a tenant's role", "DELETE FROM millrace.role_limit"),
  act("app_worker", "limits another", "SELECT millrace.limit_role_to_tenant('app_producer', 'b')"),
  act("app_producer", "lifts its limit", "SELECT millrace.unlimit_role('app_producer')"),
  act("app_worker", "ends another's lease", "SELECT millrace.complete_task($TASK)", "MR015"),
  act("app_worker", "extends another's lease", "SELECT millrace.heartbeat($TASK)", "MR015"),
  act("app_worker", "notes an error of another", "SELECT millrace.fail_task($TASK, 'x')", "MR015"),
  act("app_worker", "becomes the owner", "SET ROLE millrace_owner"),
  act("app_producer", "takes a task", "SELECT millrace.dequeue_next_available_task()"),
  act("app_producer", "completes a task", "SELECT millrace.complete_task($TASK)"),
  act("app_producer", "runs a function", "SELECT millrace.run_function('public.f', '{}')"),
  act("app_producer", "reads payloads", "SELECT payload FROM millrace.job"),
  act("app_producer", "reads the view of tasks", "SELECT * FROM millrace.task"),
  act("app_producer", "empties the queue", "TRUNCATE millrace.ready"),
  act("app_producer", "opens intakes", "DELETE FROM millrace.intake"),
  act("app_producer", "changes quotas", "DELETE FROM millrace.quota"),
  act("app_producer", "forges an audit entry", "SELECT nextval('millrace.audit_id_seq')"),
  act("app_producer", "sweeps leases", "SELECT millrace.sweep_expired_leases()"),
  act("app_producer", "cancels for another tenant", "SELECT millrace.cancel($OTHER)", "MR017"),
  act(
    "app_producer",
    "enqueues for another tenant",
    "SELECT millrace.enqueue('a', tenant => 'other')",
    "MR017",
  ),
];

function act(who: Act["who"], what: string, sql: string, code = DENIED): Act {
  return { who, what, sql, code };
}

async function scene() {
  const opened = await surface.open();
  await opened.owner.query(`SELECT millrace.declare_type('a');
    CREATE FUNCTION f(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    CREATE FUNCTION g(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$;
    SELECT millrace.register_function('f(jsonb)'), millrace.register_function('g(jsonb)')`);
  await makeRoles(opened);
  await opened.owner.query(`REVOKE ALL ON FUNCTION g FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION g TO millrace_owner`);
  const owner = await opened.as("app_owner", "millrace_owner");
  const task = await enqueued(opened);
  await owner.query(DEQUEUE);
  const other = await enqueued(opened, "'{}', tenant => 'other'");
  const worker = await opened.as("app_worker", "millrace_worker");
  const producer = await opened.as("app_producer", "millrace_producer");
  await opened.owner.query("SELECT millrace.limit_role_to_tenant('app_producer', 'acme')");
  const filled = (sql: string): string => sql.replace("$TASK", task).replace("$OTHER", other);
  return { opened, owner, filled, sessions: { app_worker: worker, app_producer: producer } };
}

describe("a forbidden act is refused to its role and allowed to the owner", () => {
  test("there are enough acts of each role", () => {
    expect(ACTS.filter(({ who }) => who === "app_worker").length).toBeGreaterThanOrEqual(10);
    expect(ACTS.length).toBeGreaterThanOrEqual(20);
  });

  test.each(ACTS)("$who $what", async ({ who, sql, code }) => {
    const { opened, owner, filled, sessions } = await scene();
    await using _ = opened;
    expect(await refusalOf(sessions[who].query(filled(sql)))).toBe(code);
    expect(await refusalOf(owner.query(filled(sql)))).toBeNull();
  });
});

describe("the search path of the caller", () => {
  test("decides about no name or operator inside a function of the owner", async () => {
    const { opened, sessions } = await scene();
    await using _ = opened;
    const { app_producer: producer, app_worker: worker } = sessions;
    const shadows = `CREATE TEMP TABLE job (key bigint);
      CREATE TEMP TABLE meta (name text, value text);
      CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS
        $$ SELECT 'infinity'::timestamptz $$;
      CREATE FUNCTION pg_temp.same(text, text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'shadowed'; END $$;
      CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same);
      SET search_path = pg_temp, pg_catalog`;
    for (const session of [producer, worker]) await session.query(shadows);
    const { rows } = await producer.query(
      "SELECT millrace.enqueue('a', '{}', pg_catalog.now()) AS id",
    );
    const [taken] = (
      await worker.query("SELECT * FROM millrace.dequeue_next_available_task('{a}')")
    ).rows;
    const ids = await opened.rows("SELECT key FROM millrace.job ORDER BY key");
    expect(ids.map(({ key }) => key)).toContain(rows[0].id);
    await worker.query("SELECT millrace.complete_task($1, $2)", [taken.task_id, taken.token]);
    await worker.query("SELECT millrace.run_function('public.f', '{}')");
    await producer.query("SELECT millrace.cancel($1)", [rows[0].id]);
  });

  test("no text of a payload or name is run", async () => {
    const { opened, sessions } = await scene();
    await using _ = opened;
    const name = `public.f('{}'); DELETE FROM millrace.job; --`;
    const run = sessions.app_worker.query("SELECT millrace.run_function($1, '{}')", [name]);
    expect(await refusalOf(run)).toBe("MR018");
    const typed = sessions.app_producer.query("SELECT millrace.enqueue($1)", [name]);
    expect(await refusalOf(typed)).toBe("MR010");
    expect(await opened.rows("SELECT count(*) FROM millrace.job")).toEqual([{ count: "2" }]);
  });
});
