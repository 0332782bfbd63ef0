-- apart: one statement removes many jobs, where SQLite goes job by job.

-- name: prune_jobs
-- Removes jobs that have outlived the time of their state, longest finished first: what was asked
-- for, the ledger, the tags. Idempotency keys stay for a while. A job that a lease still names
-- waits until its neighbours are done, for without its ledger it would look as if it ran. Those
-- that another process is removing right now are left to it. Each state is looked through from the
-- instant that the caller knows, because dead rows before it may not be cleared yet. When some have
-- very many units, those after them wait. Answers how many went, and how far that got.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
leased AS MATERIALIZED (
    SELECT DISTINCT claimed.key
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)
),
aged AS MATERIALIZED (
    SELECT ended.key, ended.finished_at, age.state
    FROM moment
    CROSS JOIN json_to_recordset(:ages::json) AS age (state smallint, ms bigint, since bigint)
    CROSS JOIN LATERAL (
        SELECT attempt.key, attempt.finished_at
        FROM millrace.attempt AS attempt
        WHERE attempt.state = age.state
          AND attempt.finished_at >= millrace.at_ms(age.since)
          AND attempt.finished_at <= moment.at - age.ms * interval '1 millisecond'
          AND attempt.key NOT IN (SELECT leased.key FROM leased)
        ORDER BY attempt.finished_at
        LIMIT :limit::integer
        FOR UPDATE SKIP LOCKED
    ) AS ended
    ORDER BY ended.finished_at
    LIMIT :limit::integer
),
weighed AS (
    SELECT aged.key, aged.finished_at, aged.state,
           sum(unit.count) OVER (ORDER BY aged.finished_at, aged.key) - unit.count AS units_before
    FROM aged
    CROSS JOIN LATERAL (
        SELECT count(*) AS count
        FROM (
            SELECT 1 FROM millrace.unit WHERE unit.key = aged.key LIMIT :units::integer
        ) AS few
    ) AS unit
),
outlived AS MATERIALIZED (
    SELECT key, finished_at, state
    FROM weighed
    WHERE units_before < :units::integer
),
-- Keys as a list: a join would let the planner read the whole table.
gone AS (
    DELETE FROM millrace.job
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
    RETURNING key, id, tenant, idempotency, tags
),
unledgered AS (
    DELETE FROM millrace.attempt
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
),
untold AS (
    DELETE FROM millrace.run
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
),
unphased AS (
    DELETE FROM millrace.phase
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
),
ununited AS (
    DELETE FROM millrace.unit
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
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
    WHERE key = ANY (ARRAY(SELECT key FROM outlived))
),
expiring AS (
    UPDATE millrace.idempotency AS held
    SET expires_at = outlived.finished_at + :idempotency_ms::bigint * interval '1 millisecond'
    FROM gone
    JOIN outlived ON outlived.key = gone.key
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
SELECT state, count(*) AS count, millrace.ms_of(max(finished_at)) AS last,
       (SELECT count(*) FROM aged) - (SELECT count(*) FROM outlived) AS waiting
FROM outlived
GROUP BY state;

-- name: prune_idempotency
-- Keys that have outlived their jobs for long enough, oldest first, from the instant that the
-- caller knows. What goes is chosen once and found by its place, or a plan might choose anew for
-- each row and remove more than was asked. Answers how many went, and how far that got.
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
WITH outlived AS MATERIALIZED (
    SELECT id
    FROM millrace.dead_letter
    WHERE died_at <= millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
    ORDER BY died_at, id
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
)
DELETE FROM millrace.dead_letter
WHERE id = ANY (ARRAY(SELECT id FROM outlived));

-- name: prune_events
-- Feed entries past their time. Only the oldest positions are looked at, so that nothing is read
-- when nothing is to go.
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
