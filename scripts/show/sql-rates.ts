/**
 * How fast `enqueue` is from many sessions, and taking and completing by a few, beside the bare
 * statements of a queue of one table; and both again with many finished tasks.
 *
 *     node --conditions=source scripts/show/sql-rates.ts [--finished 1000000] [--tasks 20000]
 *
 * Sound: with the finished tasks, each rate is at least 0.7 of the rate without them.
 */
import { performance } from "node:perf_hooks";
import type { Client } from "pg";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { connect, startPostgres, type PostgresServer } from "../../test/support/postgres.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { finished, tasks, sessions, workers } = numbersFrom("sql-rates.ts", {
  finished: 1_000_000,
  tasks: 20_000,
  sessions: 50,
  workers: 4,
});
const FLAT_MIN = 0.7;

const BARE_SETUP = `CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type text NOT NULL, payload jsonb NOT NULL, run_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE bare_done (id bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
  CREATE INDEX bare_due ON bare (run_at, id)`;
const BARE_ENQUEUE = `INSERT INTO bare (type, payload) VALUES ('a', '{"n": 1}')`;
const BARE_TAKE = `DELETE FROM bare WHERE id = (
    SELECT id FROM bare ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id AS task_id`;
const BARE_COMPLETE = "INSERT INTO bare_done (id) VALUES ($1)";
const ENQUEUE = `SELECT millrace.enqueue('a', '{"n": 1}')`;
const TAKE = "SELECT task_id, token FROM millrace.dequeue_next_available_task()";
const COMPLETE = "SELECT millrace.complete_task($1)";

/** Finished tasks, as the functions leave them. */
const FINISH = `WITH made AS (
    INSERT INTO millrace.job (run_at, created_at, id, type, tenant, lane, priority, max_attempts,
      flags, payload)
    SELECT now(), now(), gen_random_uuid(), name.id, 1, lane.id, 100, 5, 0, '{"n": 1}'
    FROM generate_series(1, $1::integer)
    JOIN millrace.interned_name AS name ON name.kind = 1 AND name.text = 'a'
    JOIN millrace.interned_name AS lane ON lane.kind = 3 AND lane.text = 'general'
    RETURNING key)
  INSERT INTO millrace.attempt (key, finished_at, n, tries, crashes, outcome, state, started_at)
  SELECT key, now(), 1, 1, 0, 1, 4, now() FROM made`;

await onStage(async () => {
  // It waits for the disk, as a real server does.
  await using server = await startPostgres();
  const store = makePostgresStore({ url: server.url, schema: "millrace" });
  await store.open();
  await store.close();
  const owner = await connect(server.url);
  await owner.query(`SELECT millrace.declare_type('a'); ${BARE_SETUP}`);
  const bare = {
    enqueue: await enqueueAll(server, BARE_ENQUEUE),
    work: await workAll(server, BARE_TAKE, BARE_COMPLETE),
  };
  report("bare statements", bare);
  const own = await ownRates(server, "empty");
  await owner.query(FINISH, [finished]);
  await owner.query("VACUUM ANALYZE");
  const full = await ownRates(server, `${finished} finished`);
  await owner.end();
  console.log(`enqueue / bare        ${(own.enqueue / bare.enqueue).toFixed(2)}`);
  console.log(`take, complete / bare ${(own.work / bare.work).toFixed(2)}`);
  console.log(`enqueue, full / empty ${(full.enqueue / own.enqueue).toFixed(2)}`);
  console.log(`take, full / empty    ${(full.work / own.work).toFixed(2)}`);
  return { sound: full.enqueue / own.enqueue >= FLAT_MIN && full.work / own.work >= FLAT_MIN };
});

interface Rates {
  readonly enqueue: number;
  readonly work: number;
}

async function ownRates(server: PostgresServer, name: string): Promise<Rates> {
  const enqueue = await enqueueAll(server, ENQUEUE);
  const work = await workAll(server, TAKE, COMPLETE);
  report(name, { enqueue, work });
  return { enqueue, work };
}

function report(name: string, { enqueue, work }: Rates): void {
  console.log(
    `${name.padEnd(22)} ${enqueue.toFixed(0)}/s enqueued by ${sessions} sessions, ` +
      `${work.toFixed(0)}/s taken and completed by ${workers}`,
  );
}

async function enqueueAll(server: PostgresServer, statement: string): Promise<number> {
  let left = tasks;
  return perSecond(server, sessions, async (client) => {
    while (left > 0) {
      left -= 1;
      await client.query({ name: "enqueue", text: statement });
    }
  });
}

async function workAll(server: PostgresServer, take: string, complete: string): Promise<number> {
  return perSecond(server, workers, async (client) => {
    for (;;) {
      const { rows } = await client.query({ name: "take", text: take });
      const id = rows[0]?.task_id ?? null;
      if (id === null) return;
      await client.query({ name: "complete", text: complete, values: [id] });
    }
  });
}

/** Tasks per second of so many sessions. */
async function perSecond(
  server: PostgresServer,
  count: number,
  work: (client: Client) => Promise<void>,
): Promise<number> {
  const clients = await Promise.all(Array.from({ length: count }, () => connect(server.url)));
  const began = performance.now();
  await Promise.all(clients.map(work));
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all(clients.map((client) => client.end()));
  return tasks / seconds;
}
