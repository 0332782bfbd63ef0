/**
 * Fills an installation with finished and waiting jobs by SQL, because a million jobs through the
 * engine would take minutes. Every hundredth finished job has failed. Three jobs have the type
 * `rare`: the oldest and the newest finished job, and the oldest waiting job.
 */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { parseDatabaseUrl } from "../../../../src/client/database-url.ts";

export interface Backlog {
  readonly finished: number;
  readonly waiting: number;
}

/** Jobs per event of the feed. */
const EVENT_JOBS = 500;

/** Fills an empty installation that has been migrated. */
export async function fillBacklog(url: string, backlog: Backlog): Promise<void> {
  const address = parseDatabaseUrl(url);
  if (address.kind === "sqlite") return fillFile(address.path, backlog);
  return fillSchema(address.url, address.schema ?? "millrace", backlog);
}

const NAMES = "(2, 1, 'email'), (3, 1, 'report'), (4, 1, 'rare'), (5, 3, 'general')";

function fillFile(path: string, { finished, waiting }: Backlog): void {
  const all = finished + waiting;
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -200000;
    BEGIN;
    INSERT INTO millrace_interned_name (id, kind, text) VALUES ${NAMES};
    WITH RECURSIVE job (key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM job WHERE key < ${all})
    INSERT INTO millrace_job (key, id, type, tenant, lane, priority, run_at, max_attempts,
        timeout_ms, payload, created_at, flags)
    SELECT key, unhex(printf('01940000%024x', key)), ${typeOf("key", finished)}, 1, 5, 100,
           1700000000000 + key, 5, 60000, '{"to":"ada@example.com","text":"' ||
           printf('%060d', key) || '"}', 1700000000000 + key, 0
    FROM job;
    INSERT INTO millrace_attempt (key, n, tries, crashes, worker, fence, claimed_at, started_at,
        finished_at, outcome, state, error_class, error)
    SELECT key, 1, 1, 0, zeroblob(16), key / 100, created_at + 10, created_at + 11, created_at + 12,
           iif(key % 100 = 0, 2, 1), iif(key % 100 = 0, 6, 4), iif(key % 100 = 0, 3, NULL),
           iif(key % 100 = 0, '${FAULT}', NULL)
    FROM millrace_job WHERE key <= ${finished};
    INSERT INTO millrace_dead_letter (id, type, tenant, status, error, attempts, died_at, spec,
        cause)
    SELECT id, type, tenant, 1, '${FAULT}', 1, created_at + 12, '{}', '0123456789abcdef'
    FROM millrace_job WHERE key <= ${finished} AND key % 100 = 0;
    INSERT INTO millrace_ready (lane, crashes, priority, rank, key, type, tenant, n, tries)
    SELECT lane, 0, priority, run_at * 1000, key, type, tenant, 1, 0
    FROM millrace_job WHERE key > ${finished};
    INSERT INTO millrace_event (kind, at, keys)
    SELECT 1, max(created_at), json_group_array(key) FROM millrace_job GROUP BY key / ${EVENT_JOBS};
    INSERT INTO millrace_event (kind, at, keys)
    SELECT iif(state = 4, 3, 5), max(finished_at), json_group_array(key)
    FROM millrace_attempt GROUP BY key / ${EVENT_JOBS}, state;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  database.close();
}

async function fillSchema(url: string, schema: string, backlog: Backlog): Promise<void> {
  const { finished, waiting } = backlog;
  const all = finished + waiting;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    SET search_path = "${schema}";
    INSERT INTO interned_name (id, kind, text) VALUES ${NAMES};
    INSERT INTO job (key, id, type, tenant, lane, priority, run_at, max_attempts, timeout_ms,
        payload, created_at, flags)
    SELECT key, ('01940000' || lpad(to_hex(key), 24, '0'))::uuid, ${typeOf("key", finished)}, 1, 5,
           100, at_ms(1700000000000 + key), 5, 60000,
           ('{"to":"ada@example.com","text":"' || lpad(key::text, 60, '0') || '"}')::json,
           at_ms(1700000000000 + key), 0
    FROM generate_series(1::bigint, ${all}) AS key;
    SELECT setval(pg_get_serial_sequence('job', 'key'), ${all});
    SELECT setval(pg_get_serial_sequence('interned_name', 'id'), 10);
    INSERT INTO attempt (key, n, tries, crashes, worker, fence, claimed_at, started_at,
        finished_at, outcome, state, error_class, error)
    SELECT key, 1, 1, 0, '00000000-0000-0000-0000-000000000000', key / 100, created_at, created_at,
           created_at, CASE WHEN key % 100 = 0 THEN 2 ELSE 1 END,
           CASE WHEN key % 100 = 0 THEN 6 ELSE 4 END, CASE WHEN key % 100 = 0 THEN 3 END,
           CASE WHEN key % 100 = 0 THEN '${FAULT}'::json END
    FROM job WHERE key <= ${finished};
    INSERT INTO dead_letter (id, type, tenant, status, error, attempts, died_at, spec, cause)
    SELECT id, type, tenant, 1, '${FAULT}', 1, created_at, '{}', '0123456789abcdef'
    FROM job WHERE key <= ${finished} AND key % 100 = 0;
    INSERT INTO ready (lane, crashes, priority, rank, key, type, tenant, n, tries)
    SELECT lane, 0, priority, ms_of(run_at) * 1000, key, type, tenant, 1, 0
    FROM job WHERE key > ${finished};
    INSERT INTO event (position, kind, at, keys)
    SELECT row_number() OVER (ORDER BY kind, first), kind, at, keys
    FROM (
        SELECT 1 AS kind, min(key) AS first, max(created_at) AS at, array_agg(key) AS keys
        FROM job GROUP BY key / ${EVENT_JOBS}
        UNION ALL
        SELECT CASE state WHEN 4 THEN 3 ELSE 5 END, min(key), max(finished_at), array_agg(key)
        FROM attempt GROUP BY key / ${EVENT_JOBS}, state
    ) AS told;
    UPDATE feed_head SET position = (SELECT max(position) FROM event);
  `);
  // As autovacuum leaves the tables of an installation that has run for a while.
  await client.query(`SET search_path = "${schema}"; ANALYZE`);
  for (const table of ["job", "attempt", "ready", "event"]) {
    await client.query(`VACUUM "${schema}".${table}`);
  }
  await client.query("CHECKPOINT");
  await client.end();
}

const FAULT = '{"class":"non_retryable","name":"Error","message":"refused"}';

/** The id of the type: mostly `email`, some `report`, and three jobs of the type `rare`. */
function typeOf(key: string, finished: number): string {
  const rare = `${key} IN (1, ${finished}, ${finished + 1})`;
  return `CASE WHEN ${rare} THEN 4 WHEN ${key} % 10 = 0 THEN 3 ELSE 2 END`;
}
