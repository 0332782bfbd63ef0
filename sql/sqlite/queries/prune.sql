-- name: finished_before
-- Jobs in one final state that have outlived their time, longest finished first. One that a lease
-- still names waits until its neighbours are done, for without its ledger it would look as if it
-- ran.
SELECT attempt.key, attempt.finished_at, job.id, job.tenant, job.idempotency, job.tags
FROM millrace_attempt AS attempt
JOIN millrace_job AS job ON job.key = attempt.key
WHERE attempt.state = :state
  AND attempt.finished_at <= :before
  AND attempt.key NOT IN (
      SELECT claimed.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS claimed
  )
ORDER BY attempt.finished_at
LIMIT :limit;

-- name: delete_jobs
-- Removes what was asked for.
DELETE FROM millrace_job
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_attempts
-- Removes the ledger of jobs that go.
DELETE FROM millrace_attempt
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_runs
-- Removes how far jobs had come that go.
DELETE FROM millrace_run
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_phases
-- Removes what jobs had completed that go.
DELETE FROM millrace_phase
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: delete_units
-- Removes units of jobs that go, so many at a time.
DELETE FROM millrace_unit
WHERE (key, phase, unit) IN (
    SELECT unit.key, unit.phase, unit.unit
    FROM json_each(:keys) AS gone
    JOIN millrace_unit AS unit ON unit.key = gone.value
    LIMIT :limit
);

-- name: delete_tags
-- Removes the tags of one job that goes.
DELETE FROM millrace_tag
WHERE key = :key
  AND (name, value) IN (SELECT tag.key, tag.value FROM json_each(:tags) AS tag);

-- name: expire_idempotency
-- The job goes; its key stays for a while.
UPDATE millrace_idempotency
SET expires_at = :expires_at
WHERE tenant = :tenant
  AND key = :key
  AND job_id = :job_id;

-- name: delete_expired_idempotency
-- Keys that have outlived their jobs for long enough.
DELETE FROM millrace_idempotency
WHERE (tenant, key) IN (
    SELECT tenant, key
    FROM millrace_idempotency
    WHERE expires_at <= :now
    LIMIT :limit
);

-- name: delete_dead_letters
-- Review records past their time.
DELETE FROM millrace_dead_letter
WHERE id IN (
    SELECT id FROM millrace_dead_letter WHERE died_at <= :before ORDER BY died_at LIMIT :limit
);

-- name: delete_events
-- Feed entries past their time.
DELETE FROM millrace_event
WHERE position IN (
    SELECT position FROM millrace_event WHERE at <= :before ORDER BY at LIMIT :limit
);
