-- apart: SQLite goes name by name under its one write lock, PostgreSQL locks rows in whole batches.

-- row LockRow: tenant integer, name text

-- name: insert_lock
-- A job that was claimed has its concurrency key. That nobody else has it was seen before.
INSERT INTO millrace_lock (tenant, name, job, n)
VALUES (:tenant, :name, :job, :n);

-- name: acquire_lock
-- A run takes a name, if it is free.
INSERT INTO millrace_lock (tenant, name, job, n)
SELECT tenant, :name, key, :n
FROM millrace_job
WHERE key = :key
ON CONFLICT (tenant, name) DO NOTHING;

-- name: locks_of_run
-- Which of these names a run has.
-- returns: name text
SELECT lock.name
FROM millrace_lock AS lock
WHERE lock.job = :key
  AND lock.n = :n
  AND lock.name IN (SELECT value FROM json_each(:names));

-- name: release_locks
-- A run gives names up, but not the concurrency key of its job.
-- returns: LockRow
DELETE FROM millrace_lock
WHERE job = :key
  AND n = :n
  AND name IN (SELECT value FROM json_each(:names))
  AND name IS NOT (SELECT job.concurrency FROM millrace_job AS job WHERE job.key = :key)
RETURNING tenant, name;

-- name: delete_locks
-- Runs have ended, and with them everything that they had.
-- returns: LockRow
DELETE FROM millrace_lock
WHERE job IN (SELECT value FROM json_each(:keys))
RETURNING tenant, name;

-- name: next_of_key
-- The most urgent of the jobs that were moved away because a key was taken.
-- returns: key integer
SELECT key
FROM millrace_blocked
WHERE gate = -1
  AND tenant = :tenant
  AND concurrency = :name
ORDER BY priority, rank, key
LIMIT 1;

-- name: any_lock
-- Whether any name is taken.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_lock
LIMIT 1;

-- name: jobs_of_taken_keys
-- Due jobs in front of a lane whose concurrency key is taken. Only the front is looked at: what
-- lies deeper is in nobody's way.
-- returns: key integer
SELECT front.key
FROM (
    SELECT key, tenant, concurrency
    FROM millrace_ready
    WHERE lane = :lane
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
CROSS JOIN millrace_lock AS lock ON lock.tenant = front.tenant AND lock.name = front.concurrency
LIMIT :limit;

-- name: locks_after
-- The next names in their order, and whether nobody has them any more: the run has ended, the job
-- waits, or it is gone. Nothing leaves such a row behind, but nobody would ever get the name.
-- returns: tenant integer, name text, is_dead boolean
SELECT lock.tenant, lock.name,
       EXISTS (
           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = lock.job AND ended.n = lock.n
       )
       OR NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = lock.job)
       OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = lock.job)
       OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = lock.job)
       OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = lock.job) AS is_dead
FROM millrace_lock AS lock
WHERE (lock.tenant, lock.name) > (:tenant, :name)
ORDER BY lock.tenant, lock.name
LIMIT :limit;

-- name: delete_lock
-- Frees one name.
DELETE FROM millrace_lock
WHERE tenant = :tenant
  AND name = :name;

-- name: jobs_of_free_keys
-- Of the jobs that were moved away for the sake of a key, the most urgent, where it is free again.
-- The keys are found by hopping over the index, however many jobs there are.
-- returns: key integer
WITH RECURSIVE hop (tenant, name, key) AS (
    SELECT tenant, concurrency, key
    FROM millrace_blocked
    WHERE key = (
        SELECT first.key
        FROM millrace_blocked AS first INDEXED BY millrace_blocked_key
        WHERE first.gate = -1
        ORDER BY first.tenant, first.concurrency, first.priority, first.rank, first.key
        LIMIT 1
    )
    UNION ALL
    SELECT place.tenant, place.concurrency, place.key
    FROM hop
    JOIN millrace_blocked AS place ON place.key = coalesce(
        (
            SELECT next.key
            FROM millrace_blocked AS next INDEXED BY millrace_blocked_key
            WHERE next.gate = -1 AND next.tenant = hop.tenant AND next.concurrency > hop.name
            ORDER BY next.concurrency, next.priority, next.rank, next.key
            LIMIT 1
        ),
        (
            SELECT next.key
            FROM millrace_blocked AS next INDEXED BY millrace_blocked_key
            WHERE next.gate = -1 AND next.tenant > hop.tenant
            ORDER BY next.tenant, next.concurrency, next.priority, next.rank, next.key
            LIMIT 1
        )
    )
)
SELECT hop.key
FROM hop
WHERE NOT EXISTS (
    SELECT 1 FROM millrace_lock AS lock WHERE lock.tenant = hop.tenant AND lock.name = hop.name
)
LIMIT :limit;

-- name: lock_holder
-- Who has a name.
-- returns: id blob
SELECT job.id
FROM millrace_lock AS lock
JOIN millrace_job AS job ON job.key = lock.job
WHERE lock.tenant = :tenant
  AND lock.name = :name;
