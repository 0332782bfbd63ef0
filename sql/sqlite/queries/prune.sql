-- apart: SQLite goes job by job, where one statement of PostgreSQL removes many.

-- row FinishedRow: key integer, finished_at integer, id blob, type integer, tenant integer,
--   correlation text?, idempotency text?, tags text?

-- name: end_of_range
-- The position in the order of ends that is a number of jobs of one final state further on.
-- returns: finished_at integer, key integer
SELECT finished_at, key
FROM millrace_attempt
WHERE state = :state
  AND (finished_at, key) > (:at, :key)
  AND (finished_at, key) <= (:end_at, :end_key)
ORDER BY finished_at, key
LIMIT 1 OFFSET :depth - 1;

-- name: expired_jobs
-- Jobs of one final state in a range of the order of ends, longest finished first. A job that a
-- lease still names stays until the other runs of the lease have ended, because without its ledger
-- row it would look as if it ran. A job that other jobs wait for stays until they are resolved. A
-- child stays until its parent is final, because a later phase of the parent may name the child. So
-- does a job that a child of the parent gave way to. A job whose code goes on stays, with the jobs
-- that it repeats and that repeat it.
-- returns: FinishedRow
SELECT ended.key, ended.finished_at, job.id, job.type, job.tenant, job.correlation,
       job.idempotency, job.tags
FROM millrace_attempt AS ended
CROSS JOIN millrace_job AS job ON job.key = ended.key
WHERE ended.state = :state
  AND (ended.finished_at, ended.key) > (:at, :key)
  AND (ended.finished_at, ended.key) <= (:end_at, :end_key)
  AND (:type IS NULL OR job.type = :type)
  AND job.type NOT IN (SELECT value FROM json_each(:others))
  AND (:fresh = 0 OR NOT EXISTS (SELECT 1 FROM millrace_stale AS stale WHERE stale.key = job.key))
  AND NOT EXISTS (SELECT 1 FROM millrace_dependency AS link WHERE link.depends_on = job.key)
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_job AS parent
      WHERE parent.id = job.parent
        AND NOT EXISTS (
            SELECT 1
            FROM millrace_attempt AS last
            WHERE last.key = parent.key AND last.state IS NOT NULL
        )
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_alias AS alias
      CROSS JOIN millrace_job AS parent ON parent.key = alias.parent
      WHERE alias.job = job.key
        AND NOT EXISTS (
            SELECT 1
            FROM millrace_attempt AS over
            WHERE over.key = parent.key AND over.state IS NOT NULL
        )
  )
  AND job.key NOT IN (SELECT key FROM millrace_job_with_code)
  AND job.key NOT IN (
      SELECT claimed.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS claimed
  )
ORDER BY ended.finished_at, ended.key
LIMIT :limit;

-- name: removable_jobs
-- Those of these jobs that are over and can be removed, by the rules of `expired_jobs`.
-- returns: FinishedRow
SELECT ended.key, ended.finished_at, job.id, job.type, job.tenant, job.correlation,
       job.idempotency, job.tags
FROM json_each(:keys) AS named
CROSS JOIN millrace_attempt AS ended ON ended.key = named.value AND ended.state IS NOT NULL
CROSS JOIN millrace_job AS job ON job.key = ended.key
WHERE NOT EXISTS (SELECT 1 FROM millrace_dependency AS link WHERE link.depends_on = job.key)
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_job AS parent
      WHERE parent.id = job.parent
        AND NOT EXISTS (
            SELECT 1
            FROM millrace_attempt AS last
            WHERE last.key = parent.key AND last.state IS NOT NULL
        )
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_alias AS alias
      CROSS JOIN millrace_job AS parent ON parent.key = alias.parent
      WHERE alias.job = job.key
        AND NOT EXISTS (
            SELECT 1
            FROM millrace_attempt AS over
            WHERE over.key = parent.key AND over.state IS NOT NULL
        )
  )
  AND job.key NOT IN (SELECT key FROM millrace_job_with_code)
  AND job.key NOT IN (
      SELECT claimed.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS claimed
  );

-- name: jobs_by_keys
-- Jobs with their present state, in the order of the keys.
-- returns: ShownJobRow
SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale
FROM json_each(:keys) AS named
CROSS JOIN millrace_job_now AS now ON now.key = named.value
LEFT JOIN millrace_run AS run ON run.key = now.key
LEFT JOIN millrace_stale AS stale ON stale.key = now.key
ORDER BY named.key;

-- name: insert_stale
-- Marks those of these jobs that are over and have no mark yet.
-- returns: key integer
INSERT INTO millrace_stale (key, at)
SELECT DISTINCT ended.key, :at
FROM json_each(:keys) AS named
CROSS JOIN millrace_attempt AS ended ON ended.key = named.value AND ended.state IS NOT NULL
WHERE true
ON CONFLICT (key) DO NOTHING
RETURNING key;

-- name: delete_jobs
-- Removes the specs of jobs.
DELETE FROM millrace_job
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_attempts
-- Removes the ledger of jobs.
DELETE FROM millrace_attempt
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_runs
-- Removes the progress of jobs.
DELETE FROM millrace_run
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_phases
-- Removes the completed phases of jobs.
DELETE FROM millrace_phase
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_units
-- Removes units of jobs, up to a limit.
DELETE FROM millrace_unit
WHERE (key, phase, unit) IN (
    SELECT unit.key, unit.phase, unit.unit
    FROM json_each(:keys) AS gone
    JOIN millrace_unit AS unit ON unit.key = gone.value
    LIMIT :limit
);

-- name: delete_logs
-- Removes log lines of jobs, up to a limit.
DELETE FROM millrace_log
WHERE (key, line) IN (
    SELECT log.key, log.line
    FROM json_each(:keys) AS gone
    JOIN millrace_log AS log ON log.key = gone.value
    LIMIT :limit
);

-- name: delete_stale
-- Removes the stale marks of jobs.
DELETE FROM millrace_stale
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_aliases
-- Removes the aliases of jobs, and of children of jobs.
DELETE FROM millrace_alias
WHERE job IN (SELECT value FROM json_each(:keys))
   OR parent IN (SELECT value FROM json_each(:keys));

-- name: delete_tags
-- Removes the tags of one job.
DELETE FROM millrace_tag
WHERE key = :key
  AND (name, value) IN (SELECT tag.key, tag.value FROM json_each(:tags) AS tag);

-- name: expire_idempotency
-- Sets the expiry of a key whose job is being removed.
UPDATE millrace_idempotency
SET expires_at = :expires_at
WHERE tenant = :tenant
  AND key = :key
  AND job_id = :job_id;

-- name: delete_expired_idempotency
-- Removes keys that have expired.
DELETE FROM millrace_idempotency
WHERE (tenant, key) IN (
    SELECT tenant, key
    FROM millrace_idempotency
    WHERE expires_at <= :now
    LIMIT :limit
);

-- name: delete_dead_letters
-- Removes review records past their retention.
DELETE FROM millrace_dead_letter
WHERE id IN (
    SELECT id FROM millrace_dead_letter WHERE died_at <= :before ORDER BY died_at LIMIT :limit
);

-- name: delete_events
-- Removes feed events past their retention, in the order of positions. The events after one that
-- has not expired stay, so that a reader finds no gap behind the first event that is left. The
-- index of `at` tells that nothing has expired.
WITH oldest AS MATERIALIZED (
    SELECT position, at
    FROM millrace_event
    WHERE EXISTS (SELECT 1 FROM millrace_event WHERE at <= :before)
    ORDER BY position
    LIMIT :limit
)
DELETE FROM millrace_event
WHERE position IN (
    SELECT position
    FROM oldest
    WHERE position < coalesce(
        (SELECT min(young.position) FROM oldest AS young WHERE young.at > :before),
        9223372036854775807
    )
);

-- name: delete_tokens
-- Removes sessions and streams that have ended, and other tokens that ended before an instant.
DELETE FROM millrace_api_token
WHERE id IN (
    SELECT id
    FROM millrace_api_token
    WHERE (kind IN (4, 5) AND min(expires_at, coalesce(revoked_at, expires_at)) <= :now)
       OR (kind IN (1, 2, 3) AND min(expires_at, coalesce(revoked_at, expires_at)) <= :before)
    ORDER BY min(expires_at, coalesce(revoked_at, expires_at)), id
    LIMIT :limit
);

-- name: delete_minutes
-- Removes the figures of minutes and hours that ended a while ago.
DELETE FROM millrace_minute
WHERE (span, start, type, lane, outcome) IN (
    SELECT span, start, type, lane, outcome
    FROM millrace_minute
    WHERE (span = 1 AND start <= :before - 60000)
       OR (span = 60 AND start <= :before - 3600000)
    LIMIT :limit
);

-- name: delete_failure_groups
-- Removes decisions that are past the retention of dead letters, oldest first, if no dead letter of
-- their cause is open.
DELETE FROM millrace_failure_group
WHERE (tenant, cause) IN (
    SELECT old.tenant, old.cause
    FROM millrace_failure_group AS old
    WHERE old.decided_at <= :before
      AND coalesce(old.until, 0) <= :before
      AND NOT EXISTS (
          SELECT 1
          FROM millrace_dead_letter AS letter
          WHERE letter.cause = old.cause
            AND letter.status IN (1, 2)
            AND old.tenant IN (0, letter.tenant)
      )
    ORDER BY old.decided_at
    LIMIT :limit
);

-- name: declared_periods
-- The longest periods that workers have declared, as JSON.
-- returns: value text
SELECT value
FROM millrace_meta
WHERE name = 'retention';

-- name: put_declared_periods
-- Stores the longest periods that workers have declared.
UPDATE millrace_meta SET value = :value WHERE name = 'retention';
