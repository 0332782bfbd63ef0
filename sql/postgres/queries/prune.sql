-- apart: one statement removes many jobs, where SQLite goes job by job.

-- name: expired_keys
-- Looks through stretches in the order of ends, each of one final state, for jobs that have
-- expired the time of their state and type: one type alone, or all but those that have their own.
-- One that a lease still names waits until its neighbours are done, for without its ledger it would
-- look as if it ran; one that others wait for stays until they know how it ended. Answers what it
-- found of each stretch, and up to where it looked: the end, or where that was too far.
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
    SELECT age.turn, age.state, age.type, age.others, age.from_key, age.end_key,
           millrace.at_ms(age.from_at) AS from_at,
           least(
               moment.at - age.ms * interval '1 millisecond', millrace.at_ms(age.end_at)
           ) AS end_at
    FROM moment
    CROSS JOIN json_to_recordset(:ages::json) AS age (
        turn integer, state smallint, ms bigint, type integer, others integer[], from_at bigint,
        from_key bigint, end_at bigint, end_key bigint
    )
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
      -- Each is looked up by itself: of EXISTS the planner may make a look through the whole table.
      AND (
          SELECT link.job
          FROM millrace.dependency AS link
          WHERE link.depends_on = walked.key
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
-- Jobs as they stand now, in the order of the keys.
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
-- Removes those of these jobs that are over: what was asked for, the ledger, the tags. Idempotency
-- keys stay for a while. One that a lease names, or that others wait for, stays as well. Those that
-- another process is removing right now are left to it. When some have very many units, those after
-- them wait. Answers how many went, and how many have to wait.
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
      AND NOT EXISTS (SELECT 1 FROM millrace.dependency AS link WHERE link.depends_on = attempt.key)
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
-- Keys as a list: a join would let the planner read the whole table.
gone AS (
    DELETE FROM millrace.job
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
    RETURNING key, id, tenant, idempotency, tags
),
unledgered AS (
    DELETE FROM millrace.attempt
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
untold AS (
    DELETE FROM millrace.run
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
unphased AS (
    DELETE FROM millrace.phase
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
ununited AS (
    DELETE FROM millrace.unit
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
unlogged AS (
    DELETE FROM millrace.log
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
unmarked AS (
    DELETE FROM millrace.stale
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
unneeded AS (
    DELETE FROM millrace.dependency
    WHERE job = ANY (ARRAY(SELECT key FROM expired))
),
unheard AS (
    DELETE FROM millrace.finished_dependency
    WHERE key = ANY (ARRAY(SELECT key FROM expired))
),
untagged AS (
    DELETE FROM millrace.tag AS tag
    USING gone
    CROSS JOIN LATERAL json_each_text(gone.tags) AS old
    WHERE gone.tags IS NOT NULL
      AND tag.name = old.key AND tag.value = old.value AND tag.key = gone.key
),
unasked AS (
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
told AS (
    INSERT INTO millrace.event_outbox (at, kind, ids)
    SELECT moment.at, 7, array_agg(named.id ORDER BY named.turn)
    FROM moment
    CROSS JOIN (
        SELECT id, row_number() OVER (ORDER BY key) AS turn FROM gone
    ) AS named
    GROUP BY moment.at, (named.turn - 1) / 1000
)
SELECT (SELECT count(*) FROM expired) AS count,
       (SELECT count(*) FROM aged) - (SELECT count(*) FROM expired) AS waiting;

-- name: prune_idempotency
-- Keys that have expired their jobs for long enough, oldest first, from the instant that the
-- caller knows. What goes is chosen once and found by its place, or a plan might choose anew for
-- each row and remove more than was asked. Answers how many went, and how far that got.
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
-- Review records past their time, oldest first.
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

-- name: prune_events
-- Feed entries past their time. Only the oldest positions are looked at, so that nothing is read
-- when nothing is to go.
-- timeout: reader
WITH oldest AS MATERIALIZED (
    SELECT position, at
    FROM millrace.event
    ORDER BY position
    LIMIT :limit::integer
)
DELETE FROM millrace.event
WHERE position = ANY (ARRAY(
    SELECT position
    FROM oldest
    WHERE at <= millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
));
