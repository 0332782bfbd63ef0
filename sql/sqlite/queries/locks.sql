-- apart: SQLite goes lock by lock under its one write lock, PostgreSQL locks rows in whole batches.

-- row LockRow: tenant integer, name text

-- name: insert_lock
-- A claimed job acquires the lock of its concurrency key, which the claim has found free.
INSERT INTO millrace_lock (tenant, name, job, n)
VALUES (:tenant, :name, :job, :n);

-- name: acquire_lock
-- A run acquires a lock if it is free. The lock of a key without a token, which has the job 0, is
-- free for units.
INSERT INTO millrace_lock (tenant, name, job, n)
SELECT tenant, :name, key, :n
FROM millrace_job
WHERE key = :key
ON CONFLICT (tenant, name) DO UPDATE SET job = excluded.job, n = excluded.n WHERE job = 0;

-- name: locks_of_run
-- Which of these locks a run holds.
-- returns: name text
SELECT lock.name
FROM millrace_lock AS lock
WHERE lock.job = :key
  AND lock.n = :n
  AND lock.name IN (SELECT value FROM json_each(:names));

-- name: release_locks
-- Runs release locks, but not those of their jobs' concurrency keys.
-- returns: LockRow
DELETE FROM millrace_lock
WHERE job = :key
  AND n = :n
  AND name IN (SELECT value FROM json_each(:names))
  AND name IS NOT (SELECT job.concurrency FROM millrace_job AS job WHERE job.key = :key)
RETURNING tenant, name;

-- name: delete_locks
-- Releases all locks of runs that have ended.
-- returns: LockRow
DELETE FROM millrace_lock
WHERE job IN (SELECT value FROM json_each(:keys))
RETURNING tenant, name;

-- name: next_of_key
-- The most urgent of the jobs that are in `blocked` because of a taken lock.
-- returns: key integer
SELECT key
FROM millrace_blocked
WHERE gate = -1
  AND tenant = :tenant
  AND concurrency = :name
ORDER BY priority, rank, key
LIMIT 1;

-- name: any_lock
-- Whether any lock is taken.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_lock
LIMIT 1;

-- name: jobs_of_taken_keys
-- Due jobs at the front of a lane, with so many crashes, whose concurrency key is locked. Only the
-- front is scanned: jobs further back do not slow down a claim.
-- returns: key integer
SELECT front.key
FROM (
    SELECT key, tenant, concurrency
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = :crashes
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
CROSS JOIN millrace_lock AS lock ON lock.tenant = front.tenant AND lock.name = front.concurrency
LIMIT :limit;

-- name: locks_after
-- The next locks in their order, and whether they are dead: the run has ended, or the job waits or
-- is gone. No verb leaves such a row behind, but it would block the lock for ever. The lock of a
-- key without a token has the job 0.
-- returns: tenant integer, name text, is_dead boolean
SELECT lock.tenant, lock.name,
       EXISTS (
           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = lock.job AND ended.n = lock.n
       )
       OR (
           NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = lock.job)
           AND NOT EXISTS (
               SELECT 1
               FROM millrace_key_rate AS rate
               WHERE lock.job = 0
                 AND rate.tenant = lock.tenant
                 AND rate.name = lock.name
                 AND rate.held_until IS NOT NULL
           )
       )
       OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = lock.job)
       OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = lock.job)
       OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = lock.job) AS is_dead
FROM millrace_lock AS lock
WHERE (lock.tenant, lock.name) > (:tenant, :name)
ORDER BY lock.tenant, lock.name
LIMIT :limit;

-- name: delete_lock
-- Releases one lock.
DELETE FROM millrace_lock
WHERE tenant = :tenant
  AND name = :name;

-- name: jobs_of_free_keys
-- The most urgent job of each concurrency key in `blocked` whose lock is free. A recursive hop over
-- the index finds the keys, however many jobs there are.
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
-- The job that holds a lock.
-- returns: id blob
SELECT job.id
FROM millrace_lock AS lock
JOIN millrace_job AS job ON job.key = lock.job
WHERE lock.tenant = :tenant
  AND lock.name = :name;
