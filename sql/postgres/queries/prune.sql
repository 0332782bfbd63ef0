-- apart: one statement removes many jobs, where SQLite goes job by job.

-- name: expired_keys
-- Scans ranges of the order of ends, each of one final state, for jobs past the retention of their
-- state and type: of one type alone, or of all types without a retention of their own. A job that a
-- lease still names stays until the other runs of the lease have ended, because without its ledger
-- row it would look as if it ran. A job that other jobs wait for stays until they are resolved. A
-- child stays until its parent is final, because a later phase of the parent may name the child. So
-- does a job that a child of the parent gave way to. A job whose code goes on stays, with the jobs
-- that it repeats and that repeat it.
-- Returns the jobs of each range (`turn`), and with `is_found` false how far the range was scanned;
-- `is_cut` says that the range goes on there.
-- returns: turn integer, key bigint, at bigint, is_found boolean, is_cut boolean
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
leased AS MATERIALIZED (
    SELECT DISTINCT claimed.key
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)
),
age AS MATERIALIZED (
    SELECT age.turn, age.state, age.type, age.others, age.from_key,
           millrace.at_ms(age.from_at) AS from_at,
           least(due.at, millrace.at_ms(age.end_at)) AS end_at,
           -- All jobs that ended at the last instant of the period have expired.
           CASE WHEN due.at < millrace.at_ms(age.end_at) THEN 9223372036854775807
                ELSE age.end_key END AS end_key
    FROM moment
    CROSS JOIN json_to_recordset(:ages::json) AS age (
        turn integer, state smallint, ms bigint, type integer, others integer[], from_at bigint,
        from_key bigint, end_at bigint, end_key bigint
    )
    CROSS JOIN LATERAL (
        SELECT moment.at - age.ms * interval '1 millisecond' AS at
    ) AS due
),
walked AS MATERIALIZED (
    SELECT age.turn, age.type, age.others, passed.key, passed.finished_at, passed.place
    FROM age
    CROSS JOIN LATERAL (
        SELECT attempt.key, attempt.finished_at,
               row_number() OVER (ORDER BY attempt.finished_at, attempt.key) AS place
        FROM millrace.attempt AS attempt
        WHERE attempt.state = age.state
          AND attempt.finished_at >= age.from_at
          AND attempt.finished_at <= age.end_at
          AND (attempt.finished_at, attempt.key) > (age.from_at, age.from_key)
          AND (attempt.finished_at, attempt.key) <= (age.end_at, age.end_key)
        ORDER BY attempt.finished_at, attempt.key
        LIMIT :depth::integer
    ) AS passed
),
found AS MATERIALIZED (
    SELECT walked.turn, walked.key, walked.finished_at,
           row_number() OVER (
               PARTITION BY walked.turn ORDER BY walked.finished_at, walked.key
           ) AS place
    FROM walked
    WHERE walked.key NOT IN (SELECT leased.key FROM leased)
      AND walked.key NOT IN (SELECT code.key FROM millrace.job_with_code AS code)
      -- A lookup per row: for EXISTS the planner may choose a scan of the whole table.
      AND (
          SELECT link.job
          FROM millrace.dependency AS link
          WHERE link.depends_on = walked.key
          LIMIT 1
      ) IS NULL
      AND (
          SELECT parent.key
          FROM millrace.job AS child
          JOIN millrace.job AS parent ON parent.id = child.parent
          WHERE child.key = walked.key
            AND (
                SELECT last.key
                FROM millrace.attempt AS last
                WHERE last.key = parent.key AND last.state IS NOT NULL
                LIMIT 1
            ) IS NULL
          LIMIT 1
      ) IS NULL
      AND (
          SELECT parent.key
          FROM millrace.alias AS alias
          JOIN millrace.job AS parent ON parent.key = alias.parent
          WHERE alias.job = walked.key
            AND (
                SELECT over.key
                FROM millrace.attempt AS over
                WHERE over.key = parent.key AND over.state IS NOT NULL
                LIMIT 1
            ) IS NULL
          LIMIT 1
      ) IS NULL
      AND (
          (walked.type IS NULL AND walked.others = '{}')
          OR (
              SELECT job.type
              FROM millrace.job AS job
              WHERE job.key = walked.key
                AND (walked.type IS NULL OR job.type = walked.type)
                AND job.type <> ALL (walked.others)
          ) IS NOT NULL
      )
      AND (
          NOT :fresh::boolean
          OR (SELECT stale.key FROM millrace.stale AS stale WHERE stale.key = walked.key) IS NULL
      )
)
SELECT turn, key, millrace.ms_of(finished_at) AS at, true AS is_found, false AS is_cut
FROM found
WHERE place <= :limit::integer
UNION ALL
SELECT age.turn, coalesce(cut.key, 0), millrace.ms_of(coalesce(cut.finished_at, age.end_at)),
       false, cut.key IS NOT NULL
FROM age
LEFT JOIN walked AS cut ON cut.turn = age.turn AND cut.place = :depth::integer
ORDER BY at, key;

-- name: jobs_by_keys
-- Jobs with their present state, in the order of the keys.
-- returns: ShownJobRow
SELECT job.*, told.phase, told.overall, stale.key IS NOT NULL AS is_stale,
       job.last_started_at AS started_at
FROM unnest(:keys::bigint[]) WITH ORDINALITY AS named (key, turn)
JOIN millrace.job_record AS job ON job.key = named.key
LEFT JOIN millrace.run AS told ON told.key = job.key
LEFT JOIN millrace.stale AS stale ON stale.key = job.key
WHERE job.state > 3
ORDER BY named.turn;

-- name: insert_stale
-- Marks those of these jobs that are over and have no mark yet.
-- returns: key bigint
INSERT INTO millrace.stale (key, at)
SELECT DISTINCT over.key, millrace.clock_at(:now::timestamptz)
FROM millrace.attempt AS over
WHERE over.key = ANY (:keys::bigint[])
  AND over.state IS NOT NULL
ORDER BY over.key
ON CONFLICT (key) DO NOTHING
RETURNING key;

-- name: prune_jobs
-- Removes those of these jobs that are over: spec, ledger and tags. Idempotency keys stay for a
-- while. The jobs that `expired_keys` skips stay, and so do rows that another process has locked.
-- When some jobs have very many units, the jobs after them wait. Returns how many were removed, and
-- how many have to wait.
-- returns: count bigint, waiting bigint
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
leased AS MATERIALIZED (
    SELECT DISTINCT claimed.key
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)
),
aged AS MATERIALIZED (
    SELECT attempt.key, attempt.finished_at
    FROM millrace.attempt AS attempt
    WHERE attempt.key = ANY (:keys::bigint[])
      AND attempt.state IS NOT NULL
      AND attempt.key NOT IN (SELECT leased.key FROM leased)
      AND attempt.key NOT IN (SELECT code.key FROM millrace.job_with_code AS code)
      AND NOT EXISTS (SELECT 1 FROM millrace.dependency AS link WHERE link.depends_on = attempt.key)
      AND (
          SELECT parent.key
          FROM millrace.job AS child
          JOIN millrace.job AS parent ON parent.id = child.parent
          WHERE child.key = attempt.key
            AND (
                SELECT last.key
                FROM millrace.attempt AS last
                WHERE last.key = parent.key AND last.state IS NOT NULL
                LIMIT 1
            ) IS NULL
          LIMIT 1
      ) IS NULL
      AND (
          SELECT parent.key
          FROM millrace.alias AS alias
          JOIN millrace.job AS parent ON parent.key = alias.parent
          WHERE alias.job = attempt.key
            AND (
                SELECT over.key
                FROM millrace.attempt AS over
                WHERE over.key = parent.key AND over.state IS NOT NULL
                LIMIT 1
            ) IS NULL
          LIMIT 1
      ) IS NULL
    ORDER BY attempt.finished_at, attempt.key
    FOR UPDATE SKIP LOCKED
),
weighed AS (
    SELECT aged.key, aged.finished_at,
           sum(unit.count) OVER (ORDER BY aged.finished_at, aged.key) - unit.count AS units_before
    FROM aged
    CROSS JOIN LATERAL (
        SELECT count(*) AS count
        FROM (
            SELECT 1 FROM millrace.unit WHERE unit.key = aged.key LIMIT :units::integer
        ) AS few
    ) AS unit
),
expired AS MATERIALIZED (
    SELECT key, finished_at
    FROM weighed
    WHERE units_before < :units::integer
),
-- Keys as a list: with a join the planner might read the whole table.
gone AS (
    DELETE FROM millrace.job
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
    RETURNING key, id, type, tenant, correlation, idempotency, tags
),
deleted_attempts AS (
    DELETE FROM millrace.attempt
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_progress AS (
    DELETE FROM millrace.run
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_phases AS (
    DELETE FROM millrace.phase
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_units AS (
    DELETE FROM millrace.unit
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_logs AS (
    DELETE FROM millrace.log
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_errors AS (
    DELETE FROM millrace.task_error
    WHERE task_id = ANY (ARRAY(SELECT key FROM expired))
),
deleted_marks AS (
    DELETE FROM millrace.stale
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_aliases AS (
    DELETE FROM millrace.alias
    WHERE job = ANY (ARRAY(SELECT key FROM expired))
       OR parent = ANY (ARRAY(SELECT key FROM expired))
),
deleted_dependencies AS (
    DELETE FROM millrace.dependency
    WHERE job = ANY (ARRAY(SELECT key FROM expired))
),
deleted_finished AS (
    DELETE FROM millrace.finished_dependency
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
deleted_tags AS (
    DELETE FROM millrace.tag AS tag
    USING gone
    CROSS JOIN LATERAL json_each_text(gone.tags) AS old
    WHERE gone.tags IS NOT NULL
      AND tag.name = old.key AND tag.value = old.value AND tag.key = gone.key
),
deleted_requests AS (
    DELETE FROM millrace.cancel_request
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
expiring AS (
    UPDATE millrace.idempotency AS held
    SET expires_at = expired.finished_at + :idempotency_ms::bigint * interval '1 millisecond'
    FROM gone
    JOIN expired ON expired.key = gone.key
    WHERE gone.idempotency IS NOT NULL
      AND held.tenant = gone.tenant AND held.key = gone.idempotency AND held.job_id = gone.id
),
-- The detail of each removed job has the keys of DeletedDetail. A name whose row is missing must
-- not lose the event.
named AS (
    SELECT gone.id, row_number() OVER (ORDER BY gone.key) AS turn,
           json_build_object(
               'type', coalesce(type.text, 'unknown name ' || gone.type),
               'tenant', coalesce(tenant.text, 'unknown name ' || gone.tenant),
               'correlationId', coalesce(gone.correlation, gone.id::text)
           )::text AS detail
    FROM gone
    LEFT JOIN millrace.interned_name AS type ON type.id = gone.type
    LEFT JOIN millrace.interned_name AS tenant ON tenant.id = gone.tenant
),
events AS (
    INSERT INTO millrace.event_outbox (at, kind, ids, details)
    SELECT moment.at, 7, array_agg(named.id ORDER BY named.turn),
           array_agg(named.detail ORDER BY named.turn)
    FROM moment
    CROSS JOIN named
    GROUP BY moment.at, (named.turn - 1) / 1000
)
SELECT (SELECT count(*) FROM expired) AS count,
       (SELECT count(*) FROM aged) - (SELECT count(*) FROM expired) AS waiting;

-- name: prune_idempotency
-- Removes keys that have expired, oldest first, from the instant that the caller knows. The rows
-- are chosen once and found by their ctid: a plan might otherwise choose anew for each row and
-- remove more than the limit. Returns how many were removed, and the expiry of the last one.
-- returns: count bigint, last bigint
-- timeout: reader
WITH expired AS MATERIALIZED (
    SELECT ctid AS place, expires_at
    FROM millrace.idempotency
    WHERE expires_at >= millrace.at_ms(:since::bigint)
      AND expires_at <= millrace.clock_at(:now::timestamptz)
    ORDER BY expires_at
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM millrace.idempotency
    WHERE ctid = ANY (ARRAY(SELECT place FROM expired))
)
SELECT count(*) AS count, millrace.ms_of(max(expires_at)) AS last
FROM expired
HAVING count(*) > 0;

-- name: prune_dead_letters
-- Removes review records past their retention, oldest first.
-- timeout: reader
WITH expired AS MATERIALIZED (
    SELECT id
    FROM millrace.dead_letter
    WHERE died_at <= millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
    ORDER BY died_at, id
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
)
DELETE FROM millrace.dead_letter
WHERE id = ANY (ARRAY(SELECT id FROM expired));

-- name: prune_tokens
-- Removes sessions and streams that have ended, and other tokens that ended a while ago.
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
ended AS MATERIALIZED (
    SELECT id
    FROM millrace.api_token
    WHERE (kind IN (4, 5) AND least(expires_at, revoked_at) <= (SELECT at FROM moment))
       OR (
           kind IN (1, 2, 3)
           AND least(expires_at, revoked_at)
               <= (SELECT at FROM moment) - :age::bigint * interval '1 millisecond'
       )
    ORDER BY least(expires_at, revoked_at), id
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
)
DELETE FROM millrace.api_token
WHERE id = ANY (ARRAY(SELECT id FROM ended));

-- name: prune_events
-- Removes feed events past their retention, in the order of positions. The events after one that
-- has not expired stay, so that a reader finds no gap behind the first event that is left: a late
-- commit gets a late position and an early instant.
-- timeout: reader
WITH oldest AS MATERIALIZED (
    SELECT position, at
    FROM millrace.event
    ORDER BY position
    LIMIT :limit::integer
),
young AS MATERIALIZED (
    SELECT min(position) AS position
    FROM oldest
    WHERE at > millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
)
DELETE FROM millrace.event
WHERE position = ANY (ARRAY(
    SELECT oldest.position
    FROM oldest
    CROSS JOIN young
    WHERE oldest.position < coalesce(young.position, 9223372036854775807)
));

-- name: prune_minutes
-- Removes the figures of minutes and hours that ended a while ago.
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond' AS at
),
ended AS MATERIALIZED (
    SELECT minute.ctid AS place
    FROM (VALUES (1::smallint), (60::smallint)) AS kind (span)
    JOIN millrace.minute AS minute ON minute.span = kind.span
    WHERE minute.start <= (SELECT at FROM moment) - kind.span * interval '1 minute'
    LIMIT :limit::integer
    FOR UPDATE OF minute SKIP LOCKED
)
DELETE FROM millrace.minute
WHERE ctid = ANY (ARRAY(SELECT place FROM ended));

-- name: delete_failure_groups
-- Removes decisions that are past the retention of dead letters, oldest first, if no dead letter of
-- their cause is open.
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond' AS before
),
expired AS MATERIALIZED (
    SELECT old.tenant, old.cause
    FROM moment
    CROSS JOIN millrace.failure_group AS old
    WHERE old.decided_at <= moment.before
      AND (old.until IS NULL OR old.until <= moment.before)
      AND NOT EXISTS (
          SELECT 1
          FROM millrace.dead_letter AS letter
          WHERE letter.cause = old.cause
            AND letter.status IN (1, 2)
            AND old.tenant IN (0, letter.tenant)
      )
    ORDER BY old.decided_at
    LIMIT :limit::integer
    FOR UPDATE OF old SKIP LOCKED
)
DELETE FROM millrace.failure_group AS gone
USING expired
WHERE gone.tenant = expired.tenant AND gone.cause = expired.cause;

-- name: declared_periods
-- The longest periods that workers have declared, as JSON.
-- returns: value text
SELECT value
FROM millrace.meta
WHERE name = 'retention';

-- name: lock_declared_periods
-- Locks the declared periods: workers declare theirs one after the other.
-- only: postgres, because a transaction of SQLite is the only one that writes.
-- returns: value text
SELECT value
FROM millrace.meta
WHERE name = 'retention'
FOR UPDATE;

-- name: put_declared_periods
-- Stores the longest periods that workers have declared.
UPDATE millrace.meta SET value = :value::text WHERE name = 'retention';
