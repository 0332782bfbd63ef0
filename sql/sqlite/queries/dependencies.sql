-- apart: SQLite goes job by job under its one write lock, PostgreSQL locks rows in whole batches.

-- name: find_key
-- The key of a job.
SELECT key
FROM millrace_job
WHERE id = :id;

-- name: insert_need
-- A job waits for another.
INSERT INTO millrace_need (job, needs, tolerant)
VALUES (:job, :needs, :tolerant)
ON CONFLICT (job, needs) DO NOTHING;

-- name: set_rank_of_dependant
-- A job that waits for others is due at another time.
UPDATE millrace_blocked
SET rank = :rank
WHERE key = :key
  AND gate = 0;

-- name: has_needs
-- Whether a job still waits for others.
SELECT 1 AS yes
FROM millrace_need
WHERE job = :job
LIMIT 1;

-- name: delete_need
-- A job waits for another no longer.
DELETE FROM millrace_need
WHERE job = :job
  AND needs = :needs;

-- name: delete_needs
-- Jobs that are over, or go, wait for nobody.
DELETE FROM millrace_need
WHERE job IN (SELECT value FROM json_each(:keys));

-- name: insert_ended
-- Some of these jobs are over and others wait for them: those have yet to hear of it.
INSERT INTO millrace_ended (key)
SELECT DISTINCT need.needs
FROM json_each(:keys) AS over
CROSS JOIN millrace_need AS need ON need.needs = over.value
WHERE true
ON CONFLICT (key) DO NOTHING;

-- name: insert_ended_parents
-- Those jobs that a new one waits for and that are over already.
INSERT INTO millrace_ended (key)
SELECT need.needs
FROM millrace_need AS need
JOIN millrace_attempt AS ended ON ended.key = need.needs AND ended.state IS NOT NULL
WHERE need.job = :job
ON CONFLICT (key) DO NOTHING;

-- name: next_ended
-- A job whose end others have yet to hear of, and how it ended. Its id is null when it is gone.
SELECT ended.key, job.id,
       (
           SELECT attempt.state
           FROM millrace_attempt AS attempt
           WHERE attempt.key = ended.key AND attempt.state IS NOT NULL
       ) AS state
FROM millrace_ended AS ended
LEFT JOIN millrace_job AS job ON job.key = ended.key
LIMIT 1;

-- name: delete_ended
-- Everybody has heard of it.
DELETE FROM millrace_ended
WHERE key = :key;

-- name: dependants_of
-- Jobs that wait for one.
SELECT job, tolerant
FROM millrace_need
WHERE needs = :needs
ORDER BY job
LIMIT :limit;

-- name: take_dependant
-- Takes one job out of its place: it waits for others.
DELETE FROM millrace_blocked
WHERE key = :key
  AND gate = 0
RETURNING key, rank, lane, priority, type, tenant, concurrency, n, tries, crashes;

-- name: needs_after
-- The next needs in their order, and whether the job that is waited for is over or gone.
SELECT need.job, need.needs,
       EXISTS (
           SELECT 1
           FROM millrace_attempt AS ended
           WHERE ended.key = need.needs AND ended.state IS NOT NULL
       ) OR NOT EXISTS (
           SELECT 1 FROM millrace_job AS job WHERE job.key = need.needs
       ) AS is_over
FROM millrace_need AS need
WHERE (need.job, need.needs) > (:job, :needs)
ORDER BY need.job, need.needs
LIMIT :limit;

-- name: awaited_jobs
-- Jobs that one waits for and that are not over.
SELECT parent.id
FROM millrace_job AS job
CROSS JOIN millrace_need AS need ON need.job = job.key
CROSS JOIN millrace_job AS parent ON parent.key = need.needs
WHERE job.id = :id
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS ended
      WHERE ended.key = need.needs AND ended.state IS NOT NULL
  )
ORDER BY need.needs
LIMIT :limit;
