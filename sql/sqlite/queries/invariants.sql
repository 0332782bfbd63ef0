-- Invariants of an installation: each query returns the jobs that break one. The catalogue in
-- `src/store/doctor/catalogue.ts` says what each means and how it is fixed. Queries that read no
-- whole table examine at most `examined` rows of the table that drives them.

-- row OffendingRow: key integer?, id blob?

-- name: two_leases
-- Jobs that two leases hold, or one lease twice. Lists are joined as rows with an index: SQLite
-- would read the second list anew for each member of the first.
-- returns: OffendingRow
WITH named AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS key
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS each
),
numbered AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS n
    FROM millrace_lease AS lease
    JOIN json_each(lease.ns) AS each
)
SELECT named.key, job.id
FROM named
JOIN numbered AS run ON run.number = named.number AND run.turn = named.turn
LEFT JOIN millrace_job AS job ON job.key = named.key
WHERE NOT EXISTS (
    SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n
)
GROUP BY named.key, job.id
HAVING count(*) > 1
ORDER BY named.key
LIMIT :limit;

-- name: leases_against_ledger
-- Jobs that a lease holds although they are over or gone, or under a number that the ledger does
-- not expect.
-- returns: OffendingRow
WITH named AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS key
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS each
),
numbered AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS n
    FROM millrace_lease AS lease
    JOIN json_each(lease.ns) AS each
)
SELECT DISTINCT named.key, job.id
FROM named
LEFT JOIN numbered AS run ON run.number = named.number AND run.turn = named.turn
LEFT JOIN millrace_job AS job ON job.key = named.key
LEFT JOIN millrace_attempt AS last
    ON last.key = named.key
    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = named.key)
WHERE NOT EXISTS (
    SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n
)
  AND (
      job.key IS NULL
      OR run.n IS NULL
      OR last.state IS NOT NULL
      OR run.n <> coalesce(last.n, 0) + 1
  )
ORDER BY named.key
LIMIT :limit;

-- name: places_against_job
-- Waiting jobs whose place contradicts their spec, whose charges contradict the ledger, or that
-- have no attempt left. Jobs that are over are found by another query. An operator may have set
-- the priority.
-- returns: OffendingRow
WITH waiting (key, lane, type, tenant, concurrency, tries, crashes) AS (
    SELECT *
    FROM (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace_scheduled
        ORDER BY key
        LIMIT :examined
    )
    UNION ALL
    SELECT *
    FROM (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace_ready
        ORDER BY key
        LIMIT :examined
    )
    UNION ALL
    SELECT *
    FROM (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace_blocked
        ORDER BY key
        LIMIT :examined
    )
)
SELECT DISTINCT job.key, job.id
FROM waiting
CROSS JOIN millrace_job AS job ON job.key = waiting.key
LEFT JOIN millrace_attempt AS last
    ON last.key = waiting.key
    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = waiting.key)
WHERE last.state IS NULL
  AND (
      waiting.lane <> job.lane
      OR waiting.type <> job.type
      OR waiting.tenant <> job.tenant
      OR waiting.concurrency IS NOT job.concurrency
      OR waiting.tries <> coalesce(last.tries, 0)
      OR waiting.crashes <> coalesce(last.crashes, 0)
      OR waiting.tries >= job.max_attempts
  )
ORDER BY job.key
LIMIT :limit;

-- name: overdue_promotions
-- Scheduled jobs that were due long ago and were not promoted, although workers are alive.
-- returns: OffendingRow
SELECT place.key, job.id
FROM millrace_scheduled AS place
LEFT JOIN millrace_job AS job ON job.key = place.key
WHERE place.run_at < :now - 300000
  AND EXISTS (
      SELECT 1
      FROM millrace_worker AS worker
      WHERE worker.until > :now
        AND worker.joined_at < :now - 300000
  )
ORDER BY place.run_at, place.key
LIMIT :limit;

-- name: stale_dedup
-- Dedup keys whose holder is over, gone, or has another key.
-- returns: OffendingRow
SELECT held.job AS key, job.id
FROM (
    SELECT tenant, type, key, job FROM millrace_dedup ORDER BY job LIMIT :examined
) AS held
LEFT JOIN millrace_job AS job ON job.key = held.job
WHERE job.key IS NULL
   OR EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = held.job AND done.state IS NOT NULL
   )
   OR (job.tenant = held.tenant AND job.type = held.type AND job.dedup = held.key) IS NOT TRUE
ORDER BY held.job
LIMIT :limit;

-- name: unheld_dedup
-- Unfinished jobs whose dedup key has no holder: a duplicate would be accepted.
-- returns: OffendingRow
WITH live (key) AS (
    SELECT * FROM (SELECT key FROM millrace_scheduled ORDER BY key LIMIT :examined)
    UNION
    SELECT * FROM (SELECT key FROM millrace_ready ORDER BY key LIMIT :examined)
    UNION
    SELECT * FROM (SELECT key FROM millrace_blocked ORDER BY key LIMIT :examined)
    UNION
    SELECT named.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS named
)
SELECT job.key, job.id
FROM live
JOIN millrace_job AS job ON job.key = live.key
WHERE job.dedup IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_dedup AS held
      WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL
  )
ORDER BY job.key
LIMIT :limit;

-- name: shared_dedup
-- Unfinished jobs whose dedup key another job holds.
-- returns: OffendingRow
WITH live (key) AS (
    SELECT * FROM (SELECT key FROM millrace_scheduled ORDER BY key LIMIT :examined)
    UNION
    SELECT * FROM (SELECT key FROM millrace_ready ORDER BY key LIMIT :examined)
    UNION
    SELECT * FROM (SELECT key FROM millrace_blocked ORDER BY key LIMIT :examined)
    UNION
    SELECT named.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS named
),
-- A lookup per row: without statistics the planner may choose a join that reads whole tables.
keyed AS MATERIALIZED (
    SELECT job.key, job.id, job.tenant, job.type, job.dedup, (
               SELECT held.job
               FROM millrace_dedup AS held
               WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup
           ) AS holder
    FROM live
    JOIN millrace_job AS job ON job.key = live.key
    WHERE job.dedup IS NOT NULL
)
SELECT keyed.key, keyed.id
FROM keyed
WHERE keyed.holder <> keyed.key
  AND EXISTS (
      SELECT 1
      FROM millrace_job AS holder
      WHERE holder.key = keyed.holder
        AND holder.tenant = keyed.tenant
        AND holder.type = keyed.type
        AND holder.dedup = keyed.dedup
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = keyed.key AND done.state IS NOT NULL
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS done
      WHERE done.key = keyed.holder AND done.state IS NOT NULL
  )
ORDER BY keyed.key
LIMIT :limit;

-- name: stale_cancel_requests
-- Cancel requests for jobs that are over, gone, or waiting: a waiting job is cancelled at once.
-- returns: OffendingRow
SELECT asked.key, job.id
FROM (SELECT key FROM millrace_cancel_request ORDER BY key LIMIT :examined) AS asked
LEFT JOIN millrace_job AS job ON job.key = asked.key
WHERE job.key IS NULL
   OR EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = asked.key AND done.state IS NOT NULL
   )
   OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = asked.key)
   OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = asked.key)
   OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = asked.key)
ORDER BY asked.key
LIMIT :limit;

-- name: locks_without_run
-- Locks of jobs whose run has ended, that wait, or that are gone. Lost jobs are found by another
-- query, and their locks go with their run. The lock of a key without a token has the job 0.
-- returns: OffendingRow
SELECT DISTINCT held.job AS key, job.id
FROM (SELECT job, n FROM millrace_lock WHERE job > 0 ORDER BY job LIMIT :examined) AS held
LEFT JOIN millrace_job AS job ON job.key = held.job
WHERE job.key IS NULL
   OR EXISTS (SELECT 1 FROM millrace_attempt AS run WHERE run.key = held.job AND run.n = held.n)
   OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = held.job)
   OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = held.job)
   OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = held.job)
ORDER BY held.job
LIMIT :limit;

-- name: runs_without_lock
-- Running jobs that do not hold the lock of their concurrency key.
-- returns: OffendingRow
WITH named AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS key
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS each
),
numbered AS MATERIALIZED (
    SELECT lease.number, each.key AS turn, each.value AS n
    FROM millrace_lease AS lease
    JOIN json_each(lease.ns) AS each
)
SELECT DISTINCT job.key, job.id
FROM named
JOIN numbered AS run ON run.number = named.number AND run.turn = named.turn
JOIN millrace_job AS job ON job.key = named.key
WHERE job.concurrency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_lock AS held
      WHERE held.tenant = job.tenant AND held.name = job.concurrency AND held.job = job.key
  )
ORDER BY job.key
LIMIT :limit;

-- name: waits_without_dependencies
-- Jobs behind gate 0 without a dependency.
-- returns: OffendingRow
SELECT place.key, job.id
FROM (
    SELECT key FROM millrace_blocked WHERE gate = 0 ORDER BY priority, rank, key LIMIT :examined
) AS place
LEFT JOIN millrace_job AS job ON job.key = place.key
WHERE NOT EXISTS (SELECT 1 FROM millrace_dependency AS dependency WHERE dependency.job = place.key)
ORDER BY place.key
LIMIT :limit;

-- name: dependencies_without_wait
-- Jobs with a dependency that are final, gone or wait elsewhere than behind gate 0. Lost jobs are
-- found by another query, and wait for their dependencies once they are released. A running job is
-- judged when its run has ended.
-- returns: OffendingRow
SELECT DISTINCT dependency.job AS key, job.id
FROM (SELECT job FROM millrace_dependency ORDER BY job LIMIT :examined) AS dependency
LEFT JOIN millrace_job AS job ON job.key = dependency.job
WHERE NOT EXISTS (
    SELECT 1 FROM millrace_blocked AS place WHERE place.key = dependency.job AND place.gate = 0
)
  AND (
      job.key IS NULL
      OR EXISTS (
          SELECT 1
          FROM millrace_attempt AS done
          WHERE done.key = dependency.job AND done.state IS NOT NULL
      )
      OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = dependency.job)
      OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = dependency.job)
      OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = dependency.job)
  )
ORDER BY dependency.job
LIMIT :limit;

-- name: failed_without_letter
-- Failed jobs without a dead letter, as far as the letters reach back: the oldest letters are
-- removed first.
-- returns: OffendingRow
SELECT job.key, job.id
FROM (
    SELECT key, finished_at
    FROM millrace_attempt
    WHERE state = 6 AND state > 4
    ORDER BY key DESC
    LIMIT :examined
) AS done
JOIN millrace_job AS job ON job.key = done.key
WHERE done.finished_at > (SELECT min(died_at) FROM millrace_dead_letter)
  AND NOT EXISTS (SELECT 1 FROM millrace_dead_letter AS letter WHERE letter.id = job.id)
ORDER BY job.key
LIMIT :limit;

-- name: letters_without_failure
-- Dead letters of jobs that still exist and have not failed. Only the ledger of jobs with a letter
-- is read.
-- returns: OffendingRow
WITH lettered AS MATERIALIZED (
    SELECT job.key, job.id
    FROM (
        SELECT id FROM millrace_dead_letter ORDER BY died_at DESC, id DESC LIMIT :examined
    ) AS letter
    CROSS JOIN millrace_job AS job ON job.id = letter.id
)
SELECT lettered.key, lettered.id
FROM lettered
WHERE (
    SELECT last.state
    FROM millrace_attempt AS last
    WHERE last.key = lettered.key
    ORDER BY last.n DESC
    LIMIT 1
) IS NOT 6
ORDER BY lettered.key
LIMIT :limit;

-- name: runs_after_end
-- Jobs that have run again after they were over. Reads the whole ledger.
-- returns: OffendingRow
SELECT DISTINCT late.key, job.id
FROM millrace_attempt AS ended
JOIN millrace_attempt AS late ON late.key = ended.key AND late.n > ended.n
LEFT JOIN millrace_job AS job ON job.key = late.key
WHERE ended.state IS NOT NULL
ORDER BY late.key
LIMIT :limit;

-- name: run_gaps
-- Jobs in whose ledger a run is missing. Reads the whole ledger.
-- returns: OffendingRow
SELECT DISTINCT run.key, job.id
FROM millrace_attempt AS run
LEFT JOIN millrace_job AS job ON job.key = run.key
WHERE run.n > 1
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS before WHERE before.key = run.key AND before.n = run.n - 1
  )
ORDER BY run.key
LIMIT :limit;

-- name: wrong_charges
-- Jobs with more attempts than allowed, that went on without an attempt left, or with a run that
-- was charged twice or gave a charge back. Reads the whole ledger.
-- returns: OffendingRow
SELECT DISTINCT job.key, job.id
FROM millrace_attempt AS run
JOIN millrace_job AS job ON job.key = run.key
LEFT JOIN millrace_attempt AS before ON before.key = run.key AND before.n = run.n - 1
WHERE run.tries > job.max_attempts
   OR (run.state IS NULL AND run.tries >= job.max_attempts)
   OR (
      (run.n = 1 OR before.key IS NOT NULL)
      AND (
          run.tries - coalesce(before.tries, 0) NOT BETWEEN 0 AND 1
          OR run.crashes - coalesce(before.crashes, 0) NOT BETWEEN 0 AND 1
      )
   )
ORDER BY job.key
LIMIT :limit;

-- name: ledger_without_job
-- Ledger rows of jobs that are gone. Reads the whole ledger.
-- returns: OffendingRow
SELECT DISTINCT run.key, NULL AS id
FROM millrace_attempt AS run
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = run.key)
ORDER BY run.key
LIMIT :limit;

-- name: ended_runs_without_worker
-- Ended runs that no heartbeat will tell: their worker is not registered, or their job is gone.
-- returns: OffendingRow
SELECT DISTINCT ended.key, job.id
FROM (SELECT worker, key FROM millrace_ended_run ORDER BY worker, key LIMIT :examined) AS ended
LEFT JOIN millrace_job AS job ON job.key = ended.key
WHERE job.key IS NULL
   OR NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = ended.worker)
ORDER BY ended.key
LIMIT :limit;

-- name: jobs_without_name
-- Jobs whose type, tenant, lane or category has no name. Reads all jobs.
-- returns: OffendingRow
SELECT job.key, job.id
FROM millrace_job AS job
WHERE NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.type)
   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.tenant)
   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.lane)
   OR (
      job.category IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.category)
   )
ORDER BY job.key
LIMIT :limit;

-- name: notes_without_job
-- Progress, phases, units, log lines and retention marks of jobs that are gone. Reads all of them.
-- returns: OffendingRow
SELECT DISTINCT note.key, NULL AS id
FROM (
    SELECT key FROM millrace_run
    UNION
    SELECT key FROM millrace_phase
    UNION
    SELECT key FROM millrace_unit
    UNION
    SELECT key FROM millrace_log
    UNION
    SELECT key FROM millrace_stale
) AS note
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = note.key)
ORDER BY note.key
LIMIT :limit;

-- name: tags_without_job
-- Tags of jobs that are gone. Reads all tags.
-- returns: OffendingRow
SELECT DISTINCT tag.key, NULL AS id
FROM millrace_tag AS tag
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = tag.key)
ORDER BY tag.key
LIMIT :limit;

-- name: aliases_without_job
-- Aliases of jobs that are gone, or of children of such jobs. Reads all aliases.
-- returns: OffendingRow
SELECT alias.job AS key, alias.id
FROM millrace_alias AS alias
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS parent WHERE parent.key = alias.parent)
   OR (
       alias.job IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = alias.job)
   )
ORDER BY alias.id
LIMIT :limit;

-- name: endless_idempotency
-- Idempotency keys whose job is gone and that never expire. Reads all keys.
-- returns: OffendingRow
SELECT NULL AS key, held.job_id AS id
FROM millrace_idempotency AS held
WHERE held.expires_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.id = held.job_id)
ORDER BY held.job_id
LIMIT :limit;

-- name: lost_idempotency
-- Jobs whose idempotency key has another holder or none, or is about to expire. Reads all jobs.
-- returns: OffendingRow
SELECT job.key, job.id
FROM millrace_job AS job
WHERE job.idempotency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_idempotency AS held
      WHERE held.tenant = job.tenant
        AND held.key = job.idempotency
        AND held.job_id = job.id
        AND held.expires_at IS NULL
  )
ORDER BY job.key
LIMIT :limit;

-- name: untold_changes
-- Jobs whose enqueue, retry or end is missing from the feed or is there too often, as far as the
-- feed reaches back. Where events have been removed, one minute is left out: the order of instants
-- is not quite the order of positions, in which events are removed. Reads the whole feed and the
-- whole ledger.
-- returns: OffendingRow
WITH reach AS MATERIALIZED (
    SELECT CASE
               WHEN head.seq IS NULL OR first.position = 1 THEN -1
               WHEN first.position IS NULL THEN 9e15
               ELSE first.at + 60000
           END AS at
    FROM (SELECT max(seq) AS seq FROM sqlite_sequence WHERE name = 'millrace_event') AS head
    LEFT JOIN (SELECT position, at FROM millrace_event ORDER BY position LIMIT 1) AS first
),
told AS MATERIALIZED (
    SELECT CAST(named.value AS INTEGER) AS key, entry.kind, count(*) AS times
    FROM millrace_event AS entry
    JOIN json_each(entry.keys) AS named
    WHERE entry.kind IN (1, 3, 4, 5, 6)
    GROUP BY 1, 2
),
due AS (
    SELECT job.key, 1 AS kind, 1 AS times
    FROM millrace_job AS job
    CROSS JOIN reach
    WHERE job.created_at > reach.at
    UNION ALL
    SELECT run.key,
           CASE run.state WHEN 4 THEN 3 WHEN 5 THEN 3 WHEN 6 THEN 5 WHEN 7 THEN 6 ELSE 4 END,
           count(*)
    FROM millrace_attempt AS run
    CROSS JOIN reach
    WHERE run.finished_at > reach.at
    GROUP BY 1, 2
)
SELECT DISTINCT due.key, job.id
FROM due
LEFT JOIN told ON told.key = due.key AND told.kind = due.kind
LEFT JOIN millrace_job AS job ON job.key = due.key
WHERE coalesce(told.times, 0) < due.times
   OR (due.kind <> 4 AND told.times > due.times)
ORDER BY due.key
LIMIT :limit;

-- name: permits_against_limits
-- Limits whose number of used permits is not the sum of the permits that workers hold, and permits
-- without a worker or without a limit. Neither concerns a job.
-- returns: OffendingRow
SELECT NULL AS key, NULL AS id
FROM millrace_limit_setting AS setting
WHERE setting.used <> (
    SELECT coalesce(sum(permit.held), 0)
    FROM millrace_permit AS permit
    WHERE permit.limit_id = setting.id
)
UNION ALL
SELECT NULL, NULL
FROM millrace_permit AS permit
WHERE NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = permit.worker)
   OR NOT EXISTS (
       SELECT 1 FROM millrace_limit_setting AS setting WHERE setting.id = permit.limit_id
   )
LIMIT :limit;

-- name: recount
-- How many jobs are in each state, counted job by job. Reads all jobs.
-- returns: scheduled integer, queued integer, held integer, running integer, failed integer
SELECT count(*) FILTER (WHERE state = 1) AS scheduled,
       count(*) FILTER (WHERE state = 2 AND gate IS NULL) AS queued,
       count(*) FILTER (WHERE state = 2 AND gate IS NOT NULL) AS held,
       count(*) FILTER (WHERE state = 3) AS running,
       count(*) FILTER (WHERE state = 6) AS failed
FROM millrace_job_now;
