/** Three workers on one queue: bash with psql, Python with psql, and TypeScript. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Pool, type Client } from "pg";
import { defineJob, openMillrace, typed } from "../../../../src/index.ts";
import { makePostgresStore } from "../../../../src/store/postgres/create.ts";
import { uuidOf } from "../../../../src/store/postgres/database/values.ts";
import { systemClock } from "../../../../src/lib/system.ts";
import { wait } from "../../../../src/core/clock.ts";
import { connect, startPostgres } from "../../../../test/support/postgres.ts";

export interface Race {
  /** The tasks that each worker has noted. */
  readonly byWorker: Readonly<Record<string, number>>;
  readonly facts: number;
  readonly tasks: number;
  /** Tasks with more than one run, fact or completion. */
  readonly twice: number;
  readonly completed: number;
}

/** The program that is missing; null: none is. */
export function missingProgram(): string | null {
  const programs = ["bash", "psql", "python3"];
  return programs.find((name) => spawnSync(name, ["--version"]).status !== 0) ?? null;
}

const SETUP = `CREATE SCHEMA app;
  CREATE TABLE app.fact (task_id bigint NOT NULL, worker text NOT NULL);
  CREATE FUNCTION app.note(payload jsonb) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO app.fact VALUES ((payload ->> 'task_id')::bigint, payload ->> 'worker');
    SELECT '{"status": "succeeded"}'::jsonb
  $$;
  REVOKE ALL ON FUNCTION app.note FROM PUBLIC;
  GRANT USAGE ON SCHEMA app TO millrace_worker;
  GRANT EXECUTE ON FUNCTION app.note TO millrace_worker;
  SELECT millrace.register_function('app.note(jsonb)');
  SELECT millrace.declare_type('note');
  CREATE ROLE bash_worker LOGIN IN ROLE millrace_worker;
  CREATE ROLE python_worker LOGIN IN ROLE millrace_worker;`;

const ENQUEUE = `SELECT millrace.enqueue('note', '{"db_function": "app.note"}')
  FROM generate_series(1, $1)`;

/** Runs the race on a server of its own. */
export async function raceWorkers({ tasks }: { readonly tasks: number }): Promise<Race> {
  await using server = await startPostgres({ durable: false });
  const store = makePostgresStore({ url: server.url, schema: "millrace" });
  await store.open();
  for (const statement of await store.roleStatements()) await store.runSql(statement);
  await store.close();
  const owner = await connect(server.url);
  // A server that stops before it is asked to close is told by the query that fails.
  owner.on("error", () => {});
  await owner.query(SETUP);
  // Each worker begins before the next one, so that none finds an empty queue.
  const first = 40;
  await owner.query(ENQUEUE, [1]);
  const python = ended("python3", "worker.py", server.url.replace("postgres@", "python_worker@"));
  await Promise.race([untilWorking(owner, "python"), python]);
  await owner.query(ENQUEUE, [first]);
  const bash = ended("bash", "worker.sh", server.url.replace("postgres@", "bash_worker@"));
  await Promise.race([untilWorking(owner, "bash"), bash]);
  await owner.query(ENQUEUE, [tasks - first - 1]);
  await Promise.all([runInTypeScript(server.url, owner), bash, python]);
  const race = await judged(owner, tasks);
  await owner.end();
  return race;
}

/** Runs a worker in another language until it finds no task. */
export async function ended(program: string, script: string, url: string): Promise<void> {
  const child = spawn(program, [join(import.meta.dirname, script)], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the worker in ${program} ended with ${code}`);
}

async function untilWorking(owner: Client, worker: string): Promise<void> {
  for (;;) {
    const { rowCount } = await owner.query("SELECT FROM app.fact WHERE worker = $1", [worker]);
    if (rowCount !== 0) return;
    await wait(systemClock, 20);
  }
}

/** Ends when every task is completed. */
async function runInTypeScript(url: string, owner: Client): Promise<void> {
  await using mill = await openMillrace(url);
  const pool = new Pool({ connectionString: url });
  const note = defineJob({ type: "note", payload: typed<object>() }).run(async (_, { job }) => {
    const id = "(SELECT key FROM millrace.job WHERE id = $1)";
    const message = `jsonb_build_object('task_id', ${id}, 'worker', 'typescript')`;
    await pool.query(`SELECT millrace.run_function('app.note', ${message})`, [uuidOf(job.id)]);
  });
  // One slot, so that the others have a share.
  const worker = mill.work({ jobs: [note], lanes: { general: 1 }, signals: false });
  for (;;) {
    const { rows } = await owner.query(
      `SELECT NOT EXISTS (SELECT FROM millrace.ready) AND NOT EXISTS (SELECT FROM millrace.lease)
         AS is_done`,
    );
    if (rows[0].is_done === true) break;
    await wait(systemClock, 50);
  }
  await worker.stop();
  await pool.end();
}

async function judged(owner: Client, tasks: number): Promise<Race> {
  const { rows } = await owner.query(
    `SELECT (SELECT count(*) FROM app.fact)::integer AS facts,
            (SELECT count(*) FROM millrace.task_completed WHERE outcome = 'completed')::integer
              AS completed,
            (SELECT count(*) FROM (
               SELECT task_id FROM app.fact GROUP BY task_id HAVING count(*) > 1
               UNION SELECT task_id FROM millrace.task_lease GROUP BY task_id HAVING count(*) > 1
             ) AS twice)::integer AS twice,
            (SELECT json_object_agg(worker, noted) FROM (
               SELECT worker, count(*) AS noted FROM app.fact GROUP BY worker
             ) AS own) AS by_worker`,
  );
  const { facts, completed, twice, by_worker: byWorker } = rows[0];
  return { byWorker, facts, tasks, twice, completed };
}
