-- apart: PostgreSQL locks rows in whole batches, SQLite goes lock by lock under its one write lock.

-- name: acquire_locks
-- A run acquires those of these locks that are free, in one order for all runs. The lock of a key
-- without a token, which has the job 0, is free for units.
INSERT INTO millrace.lock (job, n, tenant, name)
SELECT job.key, :n::integer, job.tenant, wanted.name
FROM millrace.job AS job
CROSS JOIN unnest(:names::text[]) AS wanted (name)
WHERE job.key = :key::bigint
ORDER BY wanted.name COLLATE "C"
ON CONFLICT (tenant, name) DO UPDATE SET job = excluded.job, n = excluded.n WHERE lock.job = 0;

-- name: locks_of_run
-- Which of these locks a run holds.
-- returns: name text
SELECT name
FROM millrace.lock
WHERE job = :key::bigint
  AND n = :n::integer
  AND name = ANY (:names::text[]);

-- name: release_locks
-- Runs release locks, but not those of their jobs' concurrency keys. A lock that several notes of a
-- run name is released once: each release moves a waiting job. Returns how many.
-- returns: count bigint, done text?
WITH own AS MATERIALIZED (
    SELECT lock.tenant, lock.name
    FROM (
        SELECT DISTINCT key, n, name
        FROM json_to_recordset(:names::json) AS note (key bigint, n integer, name text)
    ) AS given
    JOIN millrace.job AS job ON job.key = given.key
    JOIN millrace.lock AS lock ON lock.tenant = job.tenant AND lock.name = given.name
    WHERE lock.job = given.key
      AND lock.n = given.n
      AND lock.name IS DISTINCT FROM job.concurrency
    ORDER BY lock.tenant, lock.name
    FOR UPDATE OF lock
)
SELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done
FROM own;

-- name: free_dead_locks
-- Releases locks whose run has ended, or whose job waits or is gone. No verb leaves such a row
-- behind, but it would block the lock for ever. The lock of a key without a token has the job 0.
-- Each row is looked up by itself: for EXISTS the planner may choose a scan of the whole table.
-- Returns how many.
-- returns: count bigint, done text?
WITH dead AS MATERIALIZED (
    SELECT lock.tenant, lock.name
    FROM millrace.lock AS lock
    WHERE (
        SELECT over.n FROM millrace.attempt AS over WHERE over.key = lock.job AND over.n = lock.n
    ) IS NOT NULL
       OR (
           (SELECT job.key FROM millrace.job AS job WHERE job.key = lock.job) IS NULL
           AND (
               SELECT rate.held_until
               FROM millrace.key_rate AS rate
               WHERE lock.job = 0 AND rate.tenant = lock.tenant AND rate.name = lock.name
           ) IS NULL
       )
       OR (SELECT place.key FROM millrace.ready AS place WHERE place.key = lock.job) IS NOT NULL
       OR (
           SELECT place.key FROM millrace.scheduled AS place WHERE place.key = lock.job
       ) IS NOT NULL
       OR (SELECT place.key FROM millrace.blocked AS place WHERE place.key = lock.job) IS NOT NULL
    ORDER BY lock.tenant, lock.name
    LIMIT :limit::integer
    FOR UPDATE OF lock SKIP LOCKED
)
SELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done
FROM dead;

-- name: release_keys
-- Moves the most urgent job of each concurrency key from `blocked` back to `ready`, if the lock is
-- free. A recursive hop over the index finds the keys, however many jobs there are.
WITH RECURSIVE hop (tenant, name) AS (
    (
        SELECT tenant, concurrency
        FROM millrace.blocked
        WHERE gate = -1
        ORDER BY tenant, concurrency
        LIMIT 1
    )
    UNION ALL
    SELECT next.tenant, next.concurrency
    FROM hop
    CROSS JOIN LATERAL (
        SELECT blocked.tenant, blocked.concurrency
        FROM millrace.blocked AS blocked
        WHERE blocked.gate = -1
          AND (blocked.tenant, blocked.concurrency) > (hop.tenant, hop.name)
        ORDER BY blocked.tenant, blocked.concurrency
        LIMIT 1
    ) AS next
),
open AS MATERIALIZED (
    SELECT hop.tenant, hop.name
    FROM hop
    WHERE NOT EXISTS (
        SELECT 1
        FROM millrace.lock AS lock
        WHERE lock.tenant = hop.tenant AND lock.name = hop.name
    )
    LIMIT :limit::integer
),
free AS MATERIALIZED (
    SELECT first.key
    FROM open
    CROSS JOIN LATERAL (
        SELECT blocked.key
        FROM millrace.blocked AS blocked
        WHERE blocked.gate = -1
          AND blocked.tenant = open.tenant
          AND blocked.concurrency = open.name
        ORDER BY blocked.priority, blocked.rank, blocked.key
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) AS first
),
taken AS (
    DELETE FROM millrace.blocked AS blocked
    USING free
    WHERE blocked.key = free.key
    RETURNING blocked.*
)
INSERT INTO millrace.ready (
    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
FROM taken;

-- name: lock_holder
-- The job that holds a lock.
-- returns: id uuid
SELECT job.id
FROM millrace.lock AS lock
JOIN millrace.job AS job ON job.key = lock.job
WHERE lock.tenant = :tenant::integer
  AND lock.name = :name::text;
