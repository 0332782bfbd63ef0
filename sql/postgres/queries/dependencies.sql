-- apart: PostgreSQL locks rows in whole batches, SQLite goes job by job under its one write lock.
--
-- Lookups per row are scalar subqueries: for EXISTS the planner may choose a scan of the whole
-- table.

-- name: find_dependencies
-- The keys of jobs that other jobs want to run after. Null: the job was removed.
-- returns: key bigint?, id uuid
SELECT key, id
FROM millrace.job_name
WHERE id = ANY (:ids::uuid[]);

-- name: awaited_code
-- The jobs with code that the successors of these jobs must wait for: the job, the jobs that it
-- repeats, and all jobs that repeat one of these. Negated, they are dependencies. A removed job
-- still names the jobs that repeat it.
-- returns: id uuid, key bigint
SELECT named.id, code.key
FROM unnest(:ids::uuid[]) AS named (id)
CROSS JOIN LATERAL (
    WITH RECURSIVE up (id, depth) AS (
        SELECT named.id, 1
        UNION ALL
        SELECT job.retry_of, up.depth + 1
        FROM up
        JOIN millrace.job AS job ON job.id = up.id AND job.retry_of IS NOT NULL
        WHERE up.depth < :depth::integer
    ),
    family (id, depth) AS (
        SELECT up.id, 1 FROM up WHERE up.depth = (SELECT max(up.depth) FROM up)
        UNION ALL
        SELECT job.id, family.depth + 1
        FROM family
        JOIN millrace.job AS job ON job.retry_of = family.id
        WHERE family.depth <= :depth::integer
    )
    SELECT DISTINCT job.key
    FROM family
    JOIN millrace.job AS job ON job.id = family.id
    JOIN millrace.ended_run AS left_code ON left_code.key = job.key
    JOIN millrace.worker AS worker ON worker.id = left_code.worker
    JOIN millrace.attempt AS ended ON ended.key = left_code.key AND ended.n = left_code.n
    WHERE ended.started_at IS NOT NULL
    ORDER BY job.key
    LIMIT :limit::integer
) AS code
WHERE EXISTS (SELECT 1 FROM millrace.ended_run)
ORDER BY named.id, code.key;

-- name: insert_ended_code
-- Records those of these jobs whose code other jobs wait for, and of which no code is left.
INSERT INTO millrace.finished_dependency (key)
SELECT DISTINCT dependency.depends_on
FROM unnest(:keys::bigint[]) AS over (key)
JOIN millrace.dependency AS dependency ON dependency.depends_on = -over.key
WHERE NOT EXISTS (SELECT 1 FROM millrace.ended_run AS code WHERE code.key = over.key)
ORDER BY dependency.depends_on
ON CONFLICT (key) DO NOTHING;

-- name: insert_finished_dependencies
-- Records which dependencies of new jobs have finished already. This runs after the commit of the
-- new jobs: a statement that finishes a job looks for its dependants, and one of the two sees the
-- other. The statement waits for a row that is about to be deleted, because the deleter did not see
-- the new jobs.
INSERT INTO millrace.finished_dependency (key)
SELECT DISTINCT dependency.depends_on
FROM millrace.dependency AS dependency
JOIN millrace.attempt AS over ON over.key = dependency.depends_on AND over.state IS NOT NULL
WHERE dependency.job = ANY (:jobs::bigint[])
ORDER BY dependency.depends_on
ON CONFLICT (key) DO UPDATE SET key = excluded.key;

-- name: dependencies_in_use
-- Whether any job waits for other jobs, and whether any finished dependency is unresolved.
-- returns: waiting boolean, ended boolean
SELECT EXISTS (SELECT 1 FROM millrace.dependency) AS waiting,
       EXISTS (SELECT 1 FROM millrace.finished_dependency) AS ended;

-- name: sweep_dependencies
-- Scans the next dependencies in their order for jobs that have finished or are gone, and for code
-- that has ended, and records these as finished. Returns the last dependency of the scan if the
-- scan reached its limit.
-- returns: job bigint, depends_on bigint
WITH seen AS MATERIALIZED (
    SELECT dependency.job, dependency.depends_on
    FROM millrace.dependency AS dependency
    WHERE (dependency.job, dependency.depends_on) > (:job::bigint, :depends_on::bigint)
    ORDER BY dependency.job, dependency.depends_on
    LIMIT :limit::integer
),
found AS (
    INSERT INTO millrace.finished_dependency (key)
    SELECT DISTINCT seen.depends_on
    FROM seen
    WHERE (
        SELECT over.state
        FROM millrace.attempt AS over
        WHERE over.key = seen.depends_on AND over.state IS NOT NULL
        LIMIT 1
    ) IS NOT NULL
       OR (
           (SELECT job.key FROM millrace.job AS job WHERE job.key = seen.depends_on) IS NULL
           AND (
               SELECT code.key
               FROM millrace.ended_run AS code
               JOIN millrace.worker AS worker ON worker.id = code.worker
               WHERE code.key = -seen.depends_on
               LIMIT 1
           ) IS NULL
       )
    ORDER BY seen.depends_on
    ON CONFLICT (key) DO NOTHING
)
SELECT job, depends_on
FROM seen
ORDER BY job DESC, depends_on DESC
OFFSET greatest(:limit::integer - 1, 0)
LIMIT 1;

-- name: take_finished_dependencies
-- Locks finished jobs whose dependants are unresolved. Rows that another process has locked are
-- skipped. Each of these jobs should be over or gone; `is_over` says whether that is so.
-- returns: key bigint, is_over boolean
SELECT ended.key,
       (
           SELECT over.state
           FROM millrace.attempt AS over
           WHERE over.key = ended.key AND over.state IS NOT NULL
           LIMIT 1
       ) IS NOT NULL OR (
           SELECT job.key FROM millrace.job AS job WHERE job.key = ended.key
       ) IS NULL AS is_over
FROM millrace.finished_dependency AS ended
ORDER BY ended.key
LIMIT :limit::integer
FOR UPDATE OF ended SKIP LOCKED;

-- name: dependants_of
-- The jobs that wait for these jobs.
-- returns: key bigint
SELECT DISTINCT job AS key
FROM millrace.dependency
WHERE depends_on = ANY (:keys::bigint[])
ORDER BY job
LIMIT :limit::integer;

-- name: lock_dependants
-- Locks those of these jobs that are behind gate 0, in the order of their keys. Their dependencies
-- are read by a later statement, which sees newer commits.
-- returns: key bigint
SELECT key
FROM millrace.blocked
WHERE key = ANY (:keys::bigint[])
  AND gate = 0
ORDER BY key
FOR UPDATE;

-- name: spoilt_dependants
-- Those of these jobs that can no longer run, because one of the finished jobs has failed, was
-- cancelled, or is gone. The oldest such dependency is returned; `id` is null if it is gone.
-- returns: key bigint, id uuid?, state smallint?
SELECT DISTINCT ON (dependency.job) dependency.job AS key, parent.id, over.state
FROM millrace.dependency AS dependency
LEFT JOIN millrace.job AS parent ON parent.key = dependency.depends_on
LEFT JOIN millrace.attempt AS over ON over.key = dependency.depends_on AND over.state IS NOT NULL
WHERE dependency.job = ANY (:jobs::bigint[])
  AND dependency.depends_on = ANY (:keys::bigint[])
  AND dependency.tolerant = 0
  AND (parent.key IS NULL OR over.state IN (6, 7))
ORDER BY dependency.job, dependency.depends_on;

-- name: drop_dependencies
-- Removes the dependencies of these jobs on finished jobs. For a job that is not behind gate 0,
-- which should not occur, the dependency goes as well.
DELETE FROM millrace.dependency AS dependency
WHERE dependency.depends_on = ANY (:keys::bigint[])
  AND (
      dependency.job = ANY (:jobs::bigint[])
      OR (
          dependency.job = ANY (:others::bigint[])
          AND (
              SELECT blocked.key
              FROM millrace.blocked AS blocked
              WHERE blocked.key = dependency.job AND blocked.gate = 0
          ) IS NULL
      )
  );

-- name: let_go_on
-- Moves those of these jobs that have no dependency left to `ready` or `scheduled`, by their due
-- time. Returns how many were moved.
-- returns: count bigint
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
taken AS (
    DELETE FROM millrace.blocked AS blocked
    WHERE blocked.key = ANY (:jobs::bigint[])
      AND blocked.gate = 0
      AND NOT EXISTS (SELECT 1 FROM millrace.dependency AS link WHERE link.job = blocked.key)
    RETURNING blocked.*
),
waiting AS (
    INSERT INTO millrace.scheduled (
        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.at_ms(rank / 1000), lane, priority, type, tenant, n, tries, crashes,
           concurrency
    FROM moment
    CROSS JOIN taken
    WHERE rank / 1000 > millrace.ms_of(moment.at)
),
due AS (
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    FROM moment
    CROSS JOIN taken
    WHERE rank / 1000 <= millrace.ms_of(moment.at)
)
SELECT count(*) AS count
FROM taken;

-- name: delete_finished_dependency
-- Removes the records of finished jobs that no dependency names any more, and records that should
-- not exist.
DELETE FROM millrace.finished_dependency AS ended
WHERE (
      ended.key = ANY (:keys::bigint[])
      AND (
          SELECT link.job FROM millrace.dependency AS link WHERE link.depends_on = ended.key LIMIT 1
      ) IS NULL
  )
   OR ended.key = ANY (:strays::bigint[]);

-- name: dependants_of_job
-- The jobs that wait for a job, oldest first.
-- returns: id uuid
SELECT waiting.id
FROM millrace.dependency AS dependency
JOIN millrace.job AS waiting ON waiting.key = dependency.job
WHERE dependency.depends_on IN (
    SELECT key FROM millrace.job_name WHERE id = :id::uuid
    UNION ALL
    SELECT -key FROM millrace.job_name WHERE id = :id::uuid
)
ORDER BY dependency.job
LIMIT :limit::integer;

-- name: open_dependencies
-- The unfinished jobs that a job waits for, and the jobs whose code it waits for.
-- returns: id uuid
SELECT parent.id
FROM millrace.dependency AS dependency
JOIN millrace.job AS parent ON parent.key = abs(dependency.depends_on)
WHERE dependency.job = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.attempt AS over
      WHERE over.key = dependency.depends_on AND over.state IS NOT NULL
  )
ORDER BY abs(dependency.depends_on)
LIMIT :limit::integer;
