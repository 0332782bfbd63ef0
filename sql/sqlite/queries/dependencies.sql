-- apart: SQLite goes job by job under its one write lock, PostgreSQL locks rows in whole batches.

-- name: find_key
-- The key of the job that an id names. Null: the job was removed.
-- returns: key integer?
SELECT key
FROM millrace_job_name
WHERE id = :id;

-- name: awaited_code
-- The jobs with code that the successor of a job must wait for: the job, the jobs that it repeats,
-- and all jobs that repeat one of these. Negated, they are dependencies. A removed job still names
-- the jobs that repeat it.
-- returns: key integer
WITH RECURSIVE up (id, depth) AS (
    SELECT :id, 1
    UNION ALL
    SELECT job.retry_of, up.depth + 1
    FROM up
    CROSS JOIN millrace_job AS job ON job.id = up.id AND job.retry_of IS NOT NULL
    WHERE up.depth < :depth
),
family (id, depth) AS (
    SELECT id, 1 FROM up WHERE depth = (SELECT max(depth) FROM up)
    UNION ALL
    SELECT job.id, family.depth + 1
    FROM family
    CROSS JOIN millrace_job AS job ON job.retry_of = family.id
    WHERE family.depth <= :depth
)
SELECT DISTINCT job.key
FROM family
CROSS JOIN millrace_job AS job ON job.id = family.id
CROSS JOIN millrace_ended_run AS code ON code.key = job.key
JOIN millrace_worker AS worker ON worker.id = code.worker
JOIN millrace_attempt AS ended ON ended.key = code.key AND ended.n = code.n
WHERE ended.started_at IS NOT NULL
ORDER BY job.key
LIMIT :limit;

-- name: insert_ended_code
-- Records those of these jobs whose code other jobs wait for, and of which no code is left.
INSERT INTO millrace_finished_dependency (key)
SELECT DISTINCT dependency.depends_on
FROM json_each(:keys) AS over
CROSS JOIN millrace_dependency AS dependency ON dependency.depends_on = -over.value
WHERE NOT EXISTS (SELECT 1 FROM millrace_ended_run AS code WHERE code.key = over.value)
ON CONFLICT (key) DO NOTHING;

-- name: insert_dependency
-- A job waits for another job.
INSERT INTO millrace_dependency (job, depends_on, tolerant)
VALUES (:job, :depends_on, :tolerant)
ON CONFLICT (job, depends_on) DO NOTHING;

-- name: set_rank_of_dependant
-- Changes the due time of a job that waits for other jobs.
UPDATE millrace_blocked
SET rank = :rank
WHERE key = :key
  AND gate = 0;

-- name: has_dependencies
-- Whether a job still waits for other jobs.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_dependency
WHERE job = :job
LIMIT 1;

-- name: delete_dependency
-- A job no longer waits for another job.
DELETE FROM millrace_dependency
WHERE job = :job
  AND depends_on = :depends_on;

-- name: delete_dependencies
-- Removes the dependencies of jobs that are over or are being removed.
DELETE FROM millrace_dependency
WHERE job IN (SELECT value FROM json_each(:keys));

-- name: insert_finished_dependency
-- Records those of these jobs that are over and have dependants.
INSERT INTO millrace_finished_dependency (key)
SELECT DISTINCT dependency.depends_on
FROM json_each(:keys) AS over
CROSS JOIN millrace_dependency AS dependency ON dependency.depends_on = over.value
WHERE true
ON CONFLICT (key) DO NOTHING;

-- name: insert_finished_dependencies
-- Records which dependencies of a new job have finished already.
INSERT INTO millrace_finished_dependency (key)
SELECT dependency.depends_on
FROM millrace_dependency AS dependency
JOIN millrace_attempt AS ended ON ended.key = dependency.depends_on AND ended.state IS NOT NULL
WHERE dependency.job = :job
ON CONFLICT (key) DO NOTHING;

-- name: next_finished_dependency
-- A finished job whose dependants are unresolved, and its final state. `id` is null when the job is
-- gone.
-- returns: key integer, id blob?, state integer?
SELECT ended.key, job.id,
       (
           SELECT attempt.state
           FROM millrace_attempt AS attempt
           WHERE attempt.key = ended.key AND attempt.state IS NOT NULL
       ) AS state
FROM millrace_finished_dependency AS ended
LEFT JOIN millrace_job AS job ON job.key = ended.key
LIMIT 1;

-- name: delete_finished_dependency
-- All dependants of a finished job are resolved.
DELETE FROM millrace_finished_dependency
WHERE key = :key;

-- name: dependants_of
-- The jobs that wait for a job.
-- returns: job integer, tolerant boolean
SELECT job, tolerant
FROM millrace_dependency
WHERE depends_on = :depends_on
ORDER BY job
LIMIT :limit;

-- name: take_dependant
-- Removes one job that waits for other jobs from `blocked`.
-- returns: WaitingRow
DELETE FROM millrace_blocked
WHERE key = :key
  AND gate = 0
RETURNING key, rank, lane, priority, type, tenant, concurrency, n, tries, crashes;

-- name: dependencies_after
-- The next dependencies in their order, and whether the job they name is over or gone, or its code
-- has ended.
-- returns: job integer, depends_on integer, is_over boolean
SELECT dependency.job, dependency.depends_on,
       EXISTS (
           SELECT 1
           FROM millrace_attempt AS ended
           WHERE ended.key = dependency.depends_on AND ended.state IS NOT NULL
       ) OR (
           NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = dependency.depends_on)
           AND NOT EXISTS (
               SELECT 1
               FROM millrace_ended_run AS code
               JOIN millrace_worker AS worker ON worker.id = code.worker
               WHERE code.key = -dependency.depends_on
           )
       ) AS is_over
FROM millrace_dependency AS dependency
WHERE (dependency.job, dependency.depends_on) > (:job, :depends_on)
ORDER BY dependency.job, dependency.depends_on
LIMIT :limit;

-- name: dependants_of_job
-- The jobs that wait for a job, oldest first.
-- returns: id blob
SELECT waiting.id
FROM millrace_dependency AS dependency
CROSS JOIN millrace_job AS waiting ON waiting.key = dependency.job
WHERE dependency.depends_on IN (
    SELECT key FROM millrace_job_name WHERE id = :id
    UNION ALL
    SELECT -key FROM millrace_job_name WHERE id = :id
)
ORDER BY dependency.job
LIMIT :limit;

-- name: open_dependencies
-- The unfinished jobs that a job waits for, and the jobs whose code it waits for.
-- returns: id blob
SELECT parent.id
FROM millrace_dependency AS dependency
CROSS JOIN millrace_job AS parent ON parent.key = abs(dependency.depends_on)
WHERE dependency.job = (SELECT key FROM millrace_job_name WHERE id = :id)
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS ended
      WHERE ended.key = dependency.depends_on AND ended.state IS NOT NULL
  )
ORDER BY abs(dependency.depends_on)
LIMIT :limit;
