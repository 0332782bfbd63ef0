-- Invariants of an installation: each query returns the jobs that break one. The catalogue in
-- `src/store/doctor/catalogue.ts` says what each means and how it is fixed. Queries that read no
-- whole table examine at most `examined` rows of the table that drives them.

-- row OffendingRow: key bigint?, id uuid?

-- name: two_leases
-- Jobs that two leases hold, or one lease twice.
-- returns: OffendingRow
-- timeout: doctor
SELECT run.key, job.id
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
LEFT JOIN millrace.job AS job ON job.key = run.key
WHERE NOT EXISTS (
    SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
)
GROUP BY run.key, job.id
HAVING count(*) > 1
ORDER BY run.key
LIMIT :limit::integer;

-- name: leases_against_ledger
-- Jobs that a lease holds although they are over or gone, or under a number that the ledger does
-- not expect.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT run.key, job.id
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
LEFT JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN LATERAL (
    SELECT attempt.n, attempt.state
    FROM millrace.attempt AS attempt
    WHERE attempt.key = run.key
    ORDER BY attempt.n DESC
    LIMIT 1
) AS last ON true
WHERE NOT EXISTS (
    SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
)
  AND (
      job.key IS NULL
      OR run.n IS NULL
      OR last.state IS NOT NULL
      OR run.n <> coalesce(last.n, 0) + 1
  )
ORDER BY run.key
LIMIT :limit::integer;

-- name: places_against_job
-- Waiting jobs whose place contradicts their spec, whose charges contradict the ledger, or that
-- have no attempt left. Jobs that are over are found by another query. An operator may have set
-- the priority.
-- returns: OffendingRow
-- timeout: doctor
WITH waiting (key, lane, type, tenant, concurrency, tries, crashes) AS (
    (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace.scheduled
        ORDER BY key
        LIMIT :examined::bigint
    )
    UNION ALL
    (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace.ready
        ORDER BY key
        LIMIT :examined::bigint
    )
    UNION ALL
    (
        SELECT key, lane, type, tenant, concurrency, tries, crashes
        FROM millrace.blocked
        ORDER BY key
        LIMIT :examined::bigint
    )
)
SELECT DISTINCT job.key, job.id
FROM waiting
JOIN millrace.job AS job ON job.key = waiting.key
LEFT JOIN LATERAL (
    SELECT attempt.state, attempt.tries, attempt.crashes
    FROM millrace.attempt AS attempt
    WHERE attempt.key = waiting.key
    ORDER BY attempt.n DESC
    LIMIT 1
) AS last ON true
WHERE last.state IS NULL
  AND (
      waiting.lane <> job.lane
      OR waiting.type <> job.type
      OR waiting.tenant <> job.tenant
      OR waiting.concurrency IS DISTINCT FROM job.concurrency
      OR waiting.tries <> coalesce(last.tries, 0)
      OR waiting.crashes <> coalesce(last.crashes, 0)
      OR waiting.tries >= job.max_attempts
  )
ORDER BY job.key
LIMIT :limit::integer;

-- name: overdue_promotions
-- Scheduled jobs that were due long ago and were not promoted, although workers are alive.
-- returns: OffendingRow
-- timeout: doctor
SELECT place.key, job.id
FROM millrace.scheduled AS place
LEFT JOIN millrace.job AS job ON job.key = place.key
WHERE place.run_at < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  AND EXISTS (
      SELECT 1
      FROM millrace.worker AS worker
      WHERE worker.until > millrace.clock_at(:now::timestamptz)
        AND worker.joined_at < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  )
ORDER BY place.run_at, place.key
LIMIT :limit::integer;

-- name: stale_dedup
-- Dedup keys whose holder is over, gone, or has another key. The unfinished successor of a job
-- holds a key as well, with tenant and type 0: the id of its predecessor.
-- returns: OffendingRow
-- timeout: doctor
SELECT held.job AS key, job.id
FROM (
    SELECT tenant, type, key, job FROM millrace.dedup ORDER BY job LIMIT :examined::bigint
) AS held
LEFT JOIN millrace.job AS job ON job.key = held.job
WHERE job.key IS NULL
   OR EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = held.job AND done.state IS NOT NULL
   )
   OR CASE
      WHEN held.tenant = 0 THEN job.retry_of::text = held.key
      ELSE job.tenant = held.tenant AND job.type = held.type AND job.dedup = held.key
   END IS NOT TRUE
ORDER BY held.job
LIMIT :limit::integer;

-- name: unheld_dedup
-- Unfinished jobs whose dedup key has no holder: a duplicate would be accepted.
-- returns: OffendingRow
-- timeout: doctor
WITH live (key) AS (
    (SELECT key FROM millrace.scheduled ORDER BY key LIMIT :examined::bigint)
    UNION
    (SELECT key FROM millrace.ready ORDER BY key LIMIT :examined::bigint)
    UNION
    (SELECT key FROM millrace.blocked ORDER BY key LIMIT :examined::bigint)
    UNION
    SELECT unnest(keys) FROM millrace.lease
)
SELECT job.key, job.id
FROM live
JOIN millrace.job AS job ON job.key = live.key
WHERE job.dedup IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.dedup AS held
      WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL
  )
ORDER BY job.key
LIMIT :limit::integer;

-- name: shared_dedup
-- Unfinished jobs whose dedup key another job holds.
-- returns: OffendingRow
-- timeout: doctor
WITH live (key) AS (
    (SELECT key FROM millrace.scheduled ORDER BY key LIMIT :examined::bigint)
    UNION
    (SELECT key FROM millrace.ready ORDER BY key LIMIT :examined::bigint)
    UNION
    (SELECT key FROM millrace.blocked ORDER BY key LIMIT :examined::bigint)
    UNION
    SELECT unnest(keys) FROM millrace.lease
),
-- A lookup per row: without statistics the planner may choose a join that reads whole tables.
keyed AS MATERIALIZED (
    SELECT job.key, job.id, job.tenant, job.type, job.dedup, (
               SELECT held.job
               FROM millrace.dedup AS held
               WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup
           ) AS holder
    FROM live
    JOIN millrace.job AS job ON job.key = live.key
    WHERE job.dedup IS NOT NULL
)
SELECT keyed.key, keyed.id
FROM keyed
WHERE keyed.holder <> keyed.key
  AND EXISTS (
      SELECT 1
      FROM millrace.job AS holder
      WHERE holder.key = keyed.holder
        AND holder.tenant = keyed.tenant
        AND holder.type = keyed.type
        AND holder.dedup = keyed.dedup
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = keyed.key AND done.state IS NOT NULL
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.attempt AS done
      WHERE done.key = keyed.holder AND done.state IS NOT NULL
  )
ORDER BY keyed.key
LIMIT :limit::integer;

-- name: stale_cancel_requests
-- Cancel requests for jobs that are over, gone, or waiting: a waiting job is cancelled at once.
-- returns: OffendingRow
-- timeout: doctor
SELECT asked.key, job.id
FROM (SELECT key FROM millrace.cancel_request ORDER BY key LIMIT :examined::bigint) AS asked
LEFT JOIN millrace.job AS job ON job.key = asked.key
WHERE job.key IS NULL
   OR EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = asked.key AND done.state IS NOT NULL
   )
   OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = asked.key)
   OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = asked.key)
   OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = asked.key)
ORDER BY asked.key
LIMIT :limit::integer;

-- name: locks_without_run
-- Locks of jobs whose run has ended, that wait, or that are gone. Lost jobs are found by another
-- query, and their locks go with their run. The lock of a key without a token has the job 0.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT held.job AS key, job.id
FROM (SELECT job, n FROM millrace.lock WHERE job > 0 ORDER BY job LIMIT :examined::bigint) AS held
LEFT JOIN millrace.job AS job ON job.key = held.job
WHERE job.key IS NULL
   OR EXISTS (SELECT 1 FROM millrace.attempt AS run WHERE run.key = held.job AND run.n = held.n)
   OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = held.job)
   OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = held.job)
   OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = held.job)
ORDER BY held.job
LIMIT :limit::integer;

-- name: runs_without_lock
-- Running jobs that do not hold the lock of their concurrency key.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT job.key, job.id
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
JOIN millrace.job AS job ON job.key = run.key
WHERE job.concurrency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.lock AS held
      WHERE held.tenant = job.tenant AND held.name = job.concurrency AND held.job = job.key
  )
ORDER BY job.key
LIMIT :limit::integer;

-- name: waits_without_dependencies
-- Jobs behind gate 0 without a dependency.
-- returns: OffendingRow
-- timeout: doctor
SELECT place.key, job.id
FROM (
    SELECT key
    FROM millrace.blocked
    WHERE gate = 0
    ORDER BY priority, rank, key
    LIMIT :examined::bigint
) AS place
LEFT JOIN millrace.job AS job ON job.key = place.key
WHERE NOT EXISTS (SELECT 1 FROM millrace.dependency AS dependency WHERE dependency.job = place.key)
ORDER BY place.key
LIMIT :limit::integer;

-- name: dependencies_without_wait
-- Jobs with a dependency that are final, gone or wait elsewhere than behind gate 0. Lost jobs are
-- found by another query, and wait for their dependencies once they are released. A running job is
-- judged when its run has ended.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT dependency.job AS key, job.id
FROM (SELECT job FROM millrace.dependency ORDER BY job LIMIT :examined::bigint) AS dependency
LEFT JOIN millrace.job AS job ON job.key = dependency.job
WHERE NOT EXISTS (
    SELECT 1 FROM millrace.blocked AS place WHERE place.key = dependency.job AND place.gate = 0
)
  AND (
      job.key IS NULL
      OR EXISTS (
          SELECT 1
          FROM millrace.attempt AS done
          WHERE done.key = dependency.job AND done.state IS NOT NULL
      )
      OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = dependency.job)
      OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = dependency.job)
      OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = dependency.job)
  )
ORDER BY dependency.job
LIMIT :limit::integer;

-- name: failed_without_letter
-- Failed jobs without a dead letter, as far as the letters reach back: the oldest letters are
-- removed first.
-- returns: OffendingRow
-- timeout: doctor
SELECT job.key, job.id
FROM (
    SELECT key, finished_at
    FROM millrace.attempt
    WHERE state = 6 AND state > 4
    ORDER BY key DESC
    LIMIT :examined::bigint
) AS done
JOIN millrace.job AS job ON job.key = done.key
WHERE done.finished_at > (SELECT min(died_at) FROM millrace.dead_letter)
  AND NOT EXISTS (SELECT 1 FROM millrace.dead_letter AS letter WHERE letter.id = job.id)
ORDER BY job.key
LIMIT :limit::integer;

-- name: letters_without_failure
-- Dead letters of jobs that still exist and have not failed. Only the ledger of jobs with a letter
-- is read.
-- returns: OffendingRow
-- timeout: doctor
WITH lettered AS MATERIALIZED (
    SELECT job.key, job.id
    FROM (
        SELECT id FROM millrace.dead_letter ORDER BY died_at DESC, id DESC LIMIT :examined::bigint
    ) AS letter
    JOIN millrace.job AS job ON job.id = letter.id
)
SELECT lettered.key, lettered.id
FROM lettered
WHERE (
    SELECT last.state
    FROM millrace.attempt AS last
    WHERE last.key = lettered.key
    ORDER BY last.n DESC
    LIMIT 1
) IS DISTINCT FROM 6
ORDER BY lettered.key
LIMIT :limit::integer;

-- name: runs_after_end
-- Jobs that have run again after they were over. Reads the whole ledger.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT late.key, job.id
FROM millrace.attempt AS ended
JOIN millrace.attempt AS late ON late.key = ended.key AND late.n > ended.n
LEFT JOIN millrace.job AS job ON job.key = late.key
WHERE ended.state IS NOT NULL
ORDER BY late.key
LIMIT :limit::integer;

-- name: run_gaps
-- Jobs in whose ledger a run is missing. Reads the whole ledger.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT run.key, job.id
FROM millrace.attempt AS run
LEFT JOIN millrace.job AS job ON job.key = run.key
WHERE run.n > 1
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS before WHERE before.key = run.key AND before.n = run.n - 1
  )
ORDER BY run.key
LIMIT :limit::integer;

-- name: wrong_charges
-- Jobs with more attempts than allowed, with more crashes than runs, that went on without an
-- attempt left, or with a run that was charged twice or gave a charge back. Reads the whole ledger.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT job.key, job.id
FROM millrace.attempt AS run
JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN millrace.attempt AS before ON before.key = run.key AND before.n = run.n - 1
WHERE run.tries > job.max_attempts
   OR run.crashes > run.n
   OR (run.state IS NULL AND run.tries >= job.max_attempts)
   OR (
      (run.n = 1 OR before.key IS NOT NULL)
      AND (
          run.tries - coalesce(before.tries, 0) NOT BETWEEN 0 AND 1
          OR run.crashes - coalesce(before.crashes, 0) NOT BETWEEN 0 AND 1
      )
   )
ORDER BY job.key
LIMIT :limit::integer;

-- name: ledger_without_job
-- Ledger rows of jobs that are gone. Reads the whole ledger.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT run.key, NULL::uuid AS id
FROM millrace.attempt AS run
WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = run.key)
ORDER BY run.key
LIMIT :limit::integer;

-- name: ended_runs_without_worker
-- Ended runs that no heartbeat will tell: their worker is not registered, or their job is gone.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT ended.key, job.id
FROM (
    SELECT worker, key FROM millrace.ended_run ORDER BY worker, key LIMIT :examined::bigint
) AS ended
LEFT JOIN millrace.job AS job ON job.key = ended.key
WHERE job.key IS NULL
   OR NOT EXISTS (SELECT 1 FROM millrace.worker AS worker WHERE worker.id = ended.worker)
ORDER BY ended.key
LIMIT :limit::integer;

-- name: jobs_without_name
-- Jobs whose type, tenant, lane or category has no name. Reads all jobs.
-- returns: OffendingRow
-- timeout: doctor
SELECT job.key, job.id
FROM millrace.job AS job
WHERE NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.type)
   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.tenant)
   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.lane)
   OR (
      job.category IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.category)
   )
ORDER BY job.key
LIMIT :limit::integer;

-- name: notes_without_job
-- Progress, phases, units, log lines and retention marks of jobs that are gone. Reads all of them.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT note.key, NULL::uuid AS id
FROM (
    SELECT key FROM millrace.run
    UNION
    SELECT key FROM millrace.phase
    UNION
    SELECT key FROM millrace.unit
    UNION
    SELECT key FROM millrace.log
    UNION
    SELECT key FROM millrace.stale
) AS note
WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = note.key)
ORDER BY note.key
LIMIT :limit::integer;

-- name: tags_without_job
-- Tags of jobs that are gone. Reads all tags.
-- returns: OffendingRow
-- timeout: doctor
SELECT DISTINCT tag.key, NULL::uuid AS id
FROM millrace.tag AS tag
WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = tag.key)
ORDER BY tag.key
LIMIT :limit::integer;

-- name: aliases_without_job
-- Aliases of jobs that are gone, or of children of such jobs. Reads all aliases.
-- returns: OffendingRow
-- timeout: doctor
SELECT alias.job AS key, alias.id
FROM millrace.alias AS alias
WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS parent WHERE parent.key = alias.parent)
   OR (
       alias.job IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = alias.job)
   )
ORDER BY alias.id
LIMIT :limit::integer;

-- name: endless_idempotency
-- Idempotency keys whose job is gone and that never expire. Reads all keys.
-- returns: OffendingRow
-- timeout: doctor
SELECT NULL::bigint AS key, held.job_id AS id
FROM millrace.idempotency AS held
WHERE held.expires_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.id = held.job_id)
ORDER BY held.job_id
LIMIT :limit::integer;

-- name: lost_idempotency
-- Jobs whose idempotency key has another holder or none, or is about to expire. Reads all jobs.
-- returns: OffendingRow
-- timeout: doctor
SELECT job.key, job.id
FROM millrace.job AS job
WHERE job.idempotency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.idempotency AS held
      WHERE held.tenant = job.tenant
        AND held.key = job.idempotency
        AND held.job_id = job.id
        AND held.expires_at IS NULL
  )
ORDER BY job.key
LIMIT :limit::integer;

-- name: untold_changes
-- Jobs whose enqueue, retry or end is missing from the feed or is there too often, as far as the
-- feed reaches back. Where events have been removed, one minute is left out: the order of instants
-- is not quite the order of positions, in which events are removed. Reads the whole feed and the
-- whole ledger.
-- returns: OffendingRow
-- timeout: doctor
WITH reach AS MATERIALIZED (
    SELECT CASE
               WHEN head.position = 0 OR first.position = 1 THEN '-infinity'::timestamptz
               WHEN first.position IS NULL THEN 'infinity'::timestamptz
               ELSE first.at + interval '1 minute'
           END AS at
    FROM millrace.feed_head AS head
    LEFT JOIN (SELECT position, at FROM millrace.event ORDER BY position LIMIT 1) AS first ON true
),
told AS (
    SELECT named.key, entry.kind::integer AS kind, count(*) AS times
    FROM (
        SELECT kind, keys FROM millrace.event
        UNION ALL
        SELECT kind, keys FROM millrace.event_outbox
    ) AS entry
    CROSS JOIN LATERAL unnest(entry.keys) AS named (key)
    WHERE entry.kind IN (1, 3, 4, 5, 6)
    GROUP BY named.key, entry.kind
),
due AS (
    SELECT job.key, 1 AS kind, 1::bigint AS times
    FROM millrace.job AS job
    CROSS JOIN reach
    WHERE job.created_at > reach.at
    UNION ALL
    SELECT run.key,
           CASE run.state WHEN 4 THEN 3 WHEN 5 THEN 3 WHEN 6 THEN 5 WHEN 7 THEN 6 ELSE 4 END,
           count(*)
    FROM millrace.attempt AS run
    CROSS JOIN reach
    WHERE run.finished_at > reach.at
    GROUP BY 1, 2
)
SELECT DISTINCT due.key, job.id
FROM due
LEFT JOIN told ON told.key = due.key AND told.kind = due.kind
LEFT JOIN millrace.job AS job ON job.key = due.key
WHERE coalesce(told.times, 0) < due.times
   OR (due.kind <> 4 AND told.times > due.times)
ORDER BY due.key
LIMIT :limit::integer;

-- name: permits_against_limits
-- Limits whose number of used permits is not the sum of the permits that workers hold, and permits
-- without a worker or without a limit. Neither concerns a job.
-- returns: OffendingRow
SELECT NULL::bigint AS key, NULL::uuid AS id
FROM millrace.limit_setting AS setting
WHERE setting.used <> (
    SELECT coalesce(sum(permit.held), 0)
    FROM millrace.permit AS permit
    WHERE permit.limit_id = setting.id
)
UNION ALL
SELECT NULL, NULL
FROM millrace.permit AS permit
WHERE NOT EXISTS (SELECT 1 FROM millrace.worker AS worker WHERE worker.id = permit.worker)
   OR NOT EXISTS (
       SELECT 1 FROM millrace.limit_setting AS setting WHERE setting.id = permit.limit_id
   )
LIMIT :limit::integer;

-- name: recount
-- How many jobs are in each state, counted job by job. Reads all jobs.
-- returns: scheduled bigint, queued bigint, held bigint, running bigint, failed bigint
-- timeout: doctor
SELECT count(*) FILTER (WHERE state = 1) AS scheduled,
       count(*) FILTER (WHERE state = 2 AND gate IS NULL) AS queued,
       count(*) FILTER (WHERE state = 2 AND gate IS NOT NULL) AS held,
       count(*) FILTER (WHERE state = 3) AS running,
       count(*) FILTER (WHERE state = 6) AS failed
FROM millrace.job_now;
