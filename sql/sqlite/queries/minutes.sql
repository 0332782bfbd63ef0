-- row MinuteRow: span integer, start integer, type integer, lane integer, outcome integer,
--   count integer, wait_ms integer, run_ms integer, waits text, runs text

-- name: append_minute
-- Counts runs that end with this commit.
-- only: sqlite, because the statements that end runs on PostgreSQL count them as well.
INSERT INTO millrace_minute_outbox (at, type, lane, outcome, waits, runs)
VALUES (:at, :type, :lane, :outcome, :waits, :runs);

-- name: type_and_lane
-- The type and lane of each of these jobs.
-- only: sqlite, because the statements that end runs on PostgreSQL count them as well.
-- returns tuples: key integer, type integer, lane integer
SELECT job.key, job.type, job.lane
FROM json_each(:keys) AS named
CROSS JOIN millrace_job AS job ON job.key = named.value;

-- name: any_minutes
-- Whether the outbox has rows.
-- returns: found boolean
SELECT EXISTS (SELECT 1 FROM millrace_minute_outbox) AS found;

-- name: take_minutes
-- Removes rows from the outbox, to add them to `minute`.
-- returns: at integer, type integer, lane integer, outcome integer, waits text, runs text
DELETE FROM millrace_minute_outbox
WHERE number IN (SELECT number FROM millrace_minute_outbox ORDER BY number LIMIT :limit)
RETURNING at, type, lane, outcome, waits, runs;

-- name: find_minutes
-- The rows with these keys.
-- returns: MinuteRow
SELECT minute.span, minute.start, minute.type, minute.lane, minute.outcome, minute.count,
       minute.wait_ms, minute.run_ms, minute.waits, minute.runs
FROM json_each(:keys) AS wanted
CROSS JOIN millrace_minute AS minute
    ON minute.span = wanted.value ->> 'span'
    AND minute.start = wanted.value ->> 'start'
    AND minute.type = wanted.value ->> 'type'
    AND minute.lane = wanted.value ->> 'lane'
    AND minute.outcome = wanted.value ->> 'outcome';

-- name: put_minutes
-- Writes rows, or replaces them.
INSERT INTO millrace_minute (
    span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs
)
SELECT given.value ->> 'span', given.value ->> 'start', given.value ->> 'type',
       given.value ->> 'lane', given.value ->> 'outcome', given.value ->> 'count',
       given.value ->> 'wait_ms', given.value ->> 'run_ms', given.value ->> 'waits',
       given.value ->> 'runs'
FROM json_each(:rows) AS given
WHERE true
ON CONFLICT (span, start, type, lane, outcome) DO UPDATE
SET count = excluded.count, wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,
    waits = excluded.waits, runs = excluded.runs;

-- name: minutes_between
-- The rows of a stretch of time, the newest of each part: minutes up to `hours_from`, hours up to
-- `hours_to`, then minutes again, and the rows of the outbox, which have span 0 and one element per
-- run.
-- returns: MinuteRow
SELECT *
FROM (
    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs
    FROM millrace_minute
    WHERE span = 1
      AND start >= :since
      AND start < :hours_from
      AND (:type IS NULL OR type = :type)
      AND (:lane IS NULL OR lane = :lane)
    ORDER BY start DESC
    LIMIT :limit
)
UNION ALL
SELECT *
FROM (
    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs
    FROM millrace_minute
    WHERE span = 60
      AND start >= :hours_from
      AND start < :hours_to
      AND (:type IS NULL OR type = :type)
      AND (:lane IS NULL OR lane = :lane)
    ORDER BY start DESC
    LIMIT :limit
)
UNION ALL
SELECT *
FROM (
    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs
    FROM millrace_minute
    WHERE span = 1
      AND start >= :hours_to
      AND start < :until
      AND (:type IS NULL OR type = :type)
      AND (:lane IS NULL OR lane = :lane)
    ORDER BY start DESC
    LIMIT :limit
)
UNION ALL
SELECT *
FROM (
    SELECT 0, at, type, lane, outcome, 0, 0, 0, waits, runs
    FROM millrace_minute_outbox
    WHERE at >= :since
      AND at < :until
      AND (:type IS NULL OR type = :type)
      AND (:lane IS NULL OR lane = :lane)
    LIMIT :limit
);

-- name: insert_deploy
-- Notes a version of the application, unless it is the newest one or another registered worker has
-- it.
INSERT INTO millrace_deploy (n, app_version, at)
SELECT coalesce(max(n), 0) + 1, :app, :now
FROM millrace_deploy
HAVING :app IS NOT (SELECT app_version FROM millrace_deploy ORDER BY n DESC LIMIT 1)
   AND NOT EXISTS (SELECT 1 FROM millrace_worker WHERE app = :app AND id <> :worker);

-- name: list_deploys
-- The deploys of a stretch of time, newest first.
-- returns: app_version text, at integer
SELECT app_version, at
FROM millrace_deploy
WHERE at >= :since AND at < :until
ORDER BY n DESC
LIMIT :limit;

-- name: delete_deploys
-- Removes deploys past their retention. The newest one stays: a worker that registers compares.
DELETE FROM millrace_deploy
WHERE n IN (
    SELECT n
    FROM millrace_deploy
    WHERE at <= :now - :age AND n < (SELECT max(n) FROM millrace_deploy)
    LIMIT :limit
);
