-- name: lost_jobs
-- only: sqlite, whose file any process can edit or put together from pieces.
-- Unfinished jobs that are in no place and in no lease: no worker will ever run them. Jobs are
-- examined up to a key, the oldest first. The casts let SQLite build an index over the values of a
-- JSON list.
-- returns: id blob
WITH held AS (
    SELECT DISTINCT CAST(named.value AS INTEGER) AS key, CAST(run.value AS INTEGER) AS n
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS named
    JOIN json_each(lease.ns) AS run ON run.key = named.key
)
SELECT job.id
FROM millrace_job AS job
WHERE job.key <= :last_key
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS last WHERE last.key = job.key AND last.state IS NOT NULL
  )
  AND NOT EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = job.key)
  AND NOT EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = job.key)
  AND NOT EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = job.key)
  AND NOT EXISTS (
      SELECT 1
      FROM held
      WHERE held.key = job.key
        AND held.n > (
            SELECT coalesce(max(done.n), 0) FROM millrace_attempt AS done WHERE done.key = job.key
        )
  )
ORDER BY job.key
LIMIT :limit;

-- name: ownerless_leases
-- only: sqlite, whose file any process can edit or put together from pieces.
-- Leases of a worker that is not registered, with the jobs that they still hold: no rescue finds
-- them.
-- returns: number integer, worker blob, id blob?
WITH held AS (
    SELECT lease.number, named.value AS key
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS named
    JOIN json_each(lease.ns) AS run ON run.key = named.key
    WHERE NOT EXISTS (
        SELECT 1
        FROM millrace_attempt AS ended
        WHERE ended.key = named.value
          AND ended.n >= run.value
    )
)
SELECT lease.number, lease.worker, job.id
FROM millrace_lease AS lease
LEFT JOIN held ON held.number = lease.number
LEFT JOIN millrace_job AS job ON job.key = held.key
WHERE NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = lease.worker)
ORDER BY lease.number, job.key
LIMIT :limit;

-- name: places_without_job
-- only: sqlite, whose file any process can edit or put together from pieces.
-- Places of jobs that do not exist: a claim that meets one fails.
-- returns: place text `"scheduled" | "ready" | "blocked"`, key integer
WITH waiting (place, key) AS (
    SELECT * FROM (SELECT 'scheduled', key FROM millrace_scheduled ORDER BY key LIMIT :examined)
    UNION ALL
    SELECT * FROM (SELECT 'ready', key FROM millrace_ready ORDER BY key LIMIT :examined)
    UNION ALL
    SELECT * FROM (SELECT 'blocked', key FROM millrace_blocked ORDER BY key LIMIT :examined)
)
SELECT place, key
FROM waiting
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = waiting.key)
ORDER BY place, key
LIMIT :limit;

-- name: places_against_ledger
-- only: sqlite, whose file any process can edit or put together from pieces.
-- Jobs that wait although they are over, are held by a worker, wait in another place as well, or
-- would run under a number that the ledger does not expect.
-- returns: place text `"scheduled" | "ready" | "blocked"`, key integer, id blob, is_over boolean,
--   is_held boolean, is_twin boolean, next_n integer
WITH held AS (
    SELECT DISTINCT CAST(named.value AS INTEGER) AS key, CAST(run.value AS INTEGER) AS n
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS named
    JOIN json_each(lease.ns) AS run ON run.key = named.key
),
waiting (place, key, n) AS (
    SELECT * FROM (SELECT 'scheduled', key, n FROM millrace_scheduled ORDER BY key LIMIT :examined)
    UNION ALL
    SELECT * FROM (SELECT 'blocked', key, n FROM millrace_blocked ORDER BY key LIMIT :examined)
    UNION ALL
    SELECT * FROM (SELECT 'ready', key, n FROM millrace_ready ORDER BY key LIMIT :examined)
),
judged AS (
    SELECT waiting.place, waiting.key, job.id, waiting.n,
           waiting.place <> 'scheduled'
           AND EXISTS (SELECT 1 FROM millrace_scheduled AS twin WHERE twin.key = waiting.key)
           OR waiting.place = 'ready'
           AND EXISTS (SELECT 1 FROM millrace_blocked AS twin WHERE twin.key = waiting.key)
               AS is_twin,
           last.state IS NOT NULL AS is_over,
           held.key IS NOT NULL AS is_held,
           coalesce(last.n, 0) + 1 AS next_n
    FROM waiting
    JOIN millrace_job AS job ON job.key = waiting.key
    LEFT JOIN millrace_attempt AS last
        ON last.key = waiting.key
        AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = waiting.key)
    LEFT JOIN held ON held.key = waiting.key AND held.n = waiting.n
)
SELECT place, key, id, is_over, is_held, is_twin, next_n
FROM judged
WHERE is_over OR is_held OR is_twin OR n <> next_n
ORDER BY key, place
LIMIT :limit;

-- name: examined_tables
-- The first and the last key of all jobs, and how many rows each table has, up to a limit.
-- returns: first_key integer, last_key integer, scheduled integer, ready integer,
--   blocked integer, dedup integer, cancel_request integer, lock integer, dependency integer,
--   failed integer, dead_letter integer, ended_run integer
SELECT coalesce((SELECT min(key) FROM millrace_job), 0) AS first_key,
       coalesce((SELECT max(key) FROM millrace_job), 0) AS last_key,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_scheduled LIMIT :max)) AS scheduled,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_ready LIMIT :max)) AS ready,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_blocked LIMIT :max)) AS blocked,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_dedup LIMIT :max)) AS dedup,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_cancel_request LIMIT :max)) AS cancel_request,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_lock LIMIT :max)) AS lock,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_dependency LIMIT :max)) AS dependency,
       (
           SELECT count(*)
           FROM (SELECT 1 FROM millrace_attempt WHERE state = 6 AND state > 4 LIMIT :max)
       ) AS failed,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_dead_letter LIMIT :max)) AS dead_letter,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_ended_run LIMIT :max)) AS ended_run;
