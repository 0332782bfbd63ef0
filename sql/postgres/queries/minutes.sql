-- row MinuteRow: span smallint, start bigint, type integer, lane integer, outcome smallint,
--   count bigint, wait_ms bigint, run_ms bigint, waits json, runs json

-- name: lock_fold
-- Locks the fold. No row: another process folds.
-- only: postgres, because a transaction of SQLite is the only one that writes.
-- returns: name text
SELECT name
FROM millrace.meta
WHERE name = 'minute_fold'
FOR UPDATE SKIP LOCKED;

-- name: any_minutes
-- Whether the outbox has rows.
-- returns: found boolean
SELECT EXISTS (SELECT 1 FROM millrace.minute_outbox) AS found;

-- name: take_minutes
-- Removes rows from the outbox, to add them to `minute`. The caller has locked the fold.
-- returns: at bigint, type integer, lane integer, outcome smallint, waits integer[],
--   runs integer[]
DELETE FROM millrace.minute_outbox
WHERE ctid = ANY (ARRAY(SELECT ctid FROM millrace.minute_outbox LIMIT :limit::integer))
RETURNING millrace.ms_of(at) AS at, type, lane, outcome, waits, runs;

-- name: find_minutes
-- The rows with these keys.
-- returns: MinuteRow
SELECT minute.span, millrace.ms_of(minute.start) AS start, minute.type, minute.lane,
       minute.outcome, minute.count, minute.wait_ms, minute.run_ms, minute.waits, minute.runs
FROM json_to_recordset(:keys::json) AS wanted (
    span smallint, start bigint, type integer, lane integer, outcome smallint
)
JOIN millrace.minute AS minute
    ON minute.span = wanted.span
    AND minute.start = millrace.at_ms(wanted.start)
    AND minute.type = wanted.type
    AND minute.lane = wanted.lane
    AND minute.outcome = wanted.outcome;

-- name: put_minutes
-- Writes rows, or replaces them.
INSERT INTO millrace.minute (
    span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs
)
SELECT given.span, millrace.at_ms(given.start), given.type, given.lane, given.outcome, given.count,
       given.wait_ms, given.run_ms, given.waits::json, given.runs::json
FROM json_to_recordset(:rows::json) AS given (
    span smallint, start bigint, type integer, lane integer, outcome smallint, count bigint,
    wait_ms bigint, run_ms bigint, waits text, runs text
)
ON CONFLICT (span, start, type, lane, outcome) DO UPDATE
SET count = excluded.count, wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,
    waits = excluded.waits, runs = excluded.runs;

-- name: minutes_between
-- The rows of a stretch of time, the newest of each part: minutes up to `hours_from`, hours up to
-- `hours_to`, then minutes again, and the rows of the outbox, which have span 0 and one element per
-- run. One statement: a fold may move rows between two.
-- returns: MinuteRow
-- timeout: reader
(
    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,
           waits, runs
    FROM millrace.minute
    WHERE span = 1
      AND start >= millrace.at_ms(:since::bigint)
      AND start < millrace.at_ms(:hours_from::bigint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:lane::integer IS NULL OR lane = :lane::integer)
    ORDER BY minute.start DESC
    LIMIT :limit::integer
)
UNION ALL
(
    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,
           waits, runs
    FROM millrace.minute
    WHERE span = 60
      AND start >= millrace.at_ms(:hours_from::bigint)
      AND start < millrace.at_ms(:hours_to::bigint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:lane::integer IS NULL OR lane = :lane::integer)
    ORDER BY minute.start DESC
    LIMIT :limit::integer
)
UNION ALL
(
    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,
           waits, runs
    FROM millrace.minute
    WHERE span = 1
      AND start >= millrace.at_ms(:hours_to::bigint)
      AND start < millrace.at_ms(:until::bigint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:lane::integer IS NULL OR lane = :lane::integer)
    ORDER BY minute.start DESC
    LIMIT :limit::integer
)
UNION ALL
(
    SELECT 0::smallint, millrace.ms_of(at), type, lane, outcome, 0, 0, 0, to_json(waits),
           to_json(runs)
    FROM millrace.minute_outbox
    WHERE at >= millrace.at_ms(:since::bigint)
      AND at < millrace.at_ms(:until::bigint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:lane::integer IS NULL OR lane = :lane::integer)
    LIMIT :limit::integer
);

-- name: lock_deploys
-- Locks the deploys: workers that register at the same time do so one after the other.
-- only: postgres, because a transaction of SQLite is the only one that writes.
-- returns: name text
SELECT name
FROM millrace.meta
WHERE name = 'deploy'
FOR UPDATE;

-- name: insert_deploy
-- Notes a version of the application, unless it is the newest one or another registered worker has
-- it.
INSERT INTO millrace.deploy (n, app_version, at)
SELECT coalesce(max(n), 0) + 1, :app::text, millrace.clock_at(:now::timestamptz)
FROM millrace.deploy
HAVING :app::text IS DISTINCT FROM (
        SELECT app_version FROM millrace.deploy ORDER BY n DESC LIMIT 1
    )
   AND NOT EXISTS (
       SELECT 1 FROM millrace.worker WHERE app = :app::text AND id <> :worker::uuid
   );

-- name: list_deploys
-- The deploys of a stretch of time, newest first.
-- returns: app_version text, at bigint
-- timeout: reader
SELECT app_version, millrace.ms_of(at) AS at
FROM millrace.deploy
WHERE at >= millrace.at_ms(:since::bigint) AND at < millrace.at_ms(:until::bigint)
ORDER BY n DESC
LIMIT :limit::integer;

-- name: delete_deploys
-- Removes deploys past their retention. The newest one stays: a worker that registers compares.
DELETE FROM millrace.deploy
WHERE n IN (
    SELECT n
    FROM millrace.deploy
    WHERE at <= millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
      AND n < (SELECT max(n) FROM millrace.deploy)
    LIMIT :limit::integer
);
