-- row JobNowRow: key integer, id blob, type integer, tenant integer, lane integer,
--   category integer?, priority integer, run_at integer, max_attempts integer, timeout_ms integer?,
--   payload text?, payload_version text?, correlation text?, parent blob?, retry_of blob?,
--   concurrency text?, idempotency text?, dedup text?, webhook text?, tags text?, created_by text?,
--   created_at integer, flags integer, state integer, tries integer, crashes integer,
--   outcome integer?, next_run_at integer?, last_started_at integer?, last_finished_at integer?,
--   last_error text?, result text?, cancel_reason text?, gate integer?, next_priority integer?,
--   cancel_requested boolean
-- row ShownJobRow: JobNowRow, phase text?, overall real?, is_stale boolean

-- name: job_by_id
-- One job with its present state.
-- returns: ShownJobRow
SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale
FROM millrace_job_now AS now
LEFT JOIN millrace_run AS run ON run.key = now.key
LEFT JOIN millrace_stale AS stale ON stale.key = now.key
WHERE now.key = (SELECT key FROM millrace_job_name WHERE id = :id);

-- name: job_by_key
-- One job with its present state.
-- returns: JobNowRow
SELECT *
FROM millrace_job_now
WHERE key = :key;

-- name: tenants_of_ids
-- The tenants of jobs and dead letters. Ids that name neither have no row.
-- returns: asked blob, tenant integer
SELECT unhex(asked.value) AS asked, coalesce(job.tenant, letter.tenant) AS tenant
FROM json_each(:ids) AS asked
LEFT JOIN millrace_job AS job
    ON job.key = (SELECT key FROM millrace_job_name WHERE id = unhex(asked.value))
LEFT JOIN millrace_dead_letter AS letter ON letter.id = unhex(asked.value)
WHERE job.key IS NOT NULL OR letter.id IS NOT NULL;

-- name: ids_between
-- The first ids of a range that name a job or a dead letter.
-- returns: id blob
SELECT id
FROM (SELECT id FROM millrace_job WHERE id BETWEEN :first AND :last ORDER BY id LIMIT :limit)
UNION
SELECT id
FROM (
    SELECT id
    FROM millrace_alias
    WHERE id BETWEEN :first AND :last AND job IS NOT NULL
    ORDER BY id
    LIMIT :limit
)
UNION
SELECT id
FROM (
    SELECT id
    FROM millrace_dead_letter
    WHERE id BETWEEN :first AND :last
    ORDER BY id
    LIMIT :limit
)
ORDER BY id
LIMIT :limit;

-- name: ends_of_jobs
-- How these jobs have ended. Jobs that do not exist have no row, other jobs no state.
-- returns: asked blob, id blob, type integer, state integer?, result text?, error text?,
--   reason text?
SELECT unhex(asked.value) AS asked, job.id, job.type, last.state, last.result, last.error,
       last.reason
FROM json_each(:ids) AS asked
CROSS JOIN millrace_job AS job
    ON job.key = (SELECT key FROM millrace_job_name WHERE id = unhex(asked.value))
LEFT JOIN millrace_attempt AS last
    ON last.key = job.key
    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = job.key);

-- name: match_jobs
-- The newest of these candidates that pass the filter, newest first. A path of the payload is
-- walked step by step, as JSON text, so that numbers stay as they were written.
-- returns: ShownJobRow
SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale
FROM json_each(:keys) AS candidate
JOIN millrace_job_now AS now ON now.key = candidate.value
LEFT JOIN millrace_run AS run ON run.key = now.key
LEFT JOIN millrace_stale AS stale ON stale.key = now.key
WHERE (:states IS NULL OR now.state IN (SELECT value FROM json_each(:states)))
  AND (:type IS NULL OR now.type = :type)
  AND (:tenant IS NULL OR now.tenant = :tenant)
  AND (:category IS NULL OR now.category = :category)
  AND (:lane IS NULL OR now.lane = :lane)
  AND (
      :error IS NULL
      OR instr(lower(now.last_error ->> 'message'), lower(:error)) > 0
      OR instr(lower(now.last_error ->> 'name'), lower(:error)) > 0
      OR instr(lower(now.last_error ->> 'class'), lower(:error)) > 0
  )
  AND (:payload_text IS NULL OR instr(now.payload, :payload_text) > 0)
  AND NOT EXISTS (
      SELECT 1
      FROM json_each(:payload) AS wanted
      WHERE NOT EXISTS (
          WITH RECURSIVE step (depth, value) AS (
              SELECT 0, now.payload
              UNION ALL
              SELECT step.depth + 1, step.value -> part.fullkey
              FROM step
              CROSS JOIN json_each(step.value) AS part
              WHERE CAST(part.key AS TEXT) = wanted.value ->> ('$.path[' || step.depth || ']')
          )
          SELECT 1
          FROM step
          WHERE depth = json_array_length(wanted.value, '$.path')
            AND CASE json_type(value)
                WHEN 'object' THEN NULL
                WHEN 'array' THEN NULL
                WHEN 'text' THEN value ->> '$'
                ELSE value
            END = wanted.value ->> 'text'
      )
  )
  AND (
      :correlation IS NULL
      OR now.correlation IN (:correlation, :correlation_uuid)
      OR (now.correlation IS NULL AND now.id = :correlation_id)
  )
  AND (:parent IS NULL OR now.parent = :parent)
  AND (:created_from IS NULL OR now.created_at >= :created_from)
  AND (:created_before IS NULL OR now.created_at < :created_before)
  AND NOT EXISTS (
      SELECT 1
      FROM json_each(:tags) AS wanted
      WHERE NOT EXISTS (
          SELECT 1
          FROM millrace_tag AS tag
          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = now.key
      )
  )
ORDER BY now.key DESC
LIMIT :limit;

-- name: count_matching
-- How many of these candidates pass the filter. The twin of `match_jobs`, without its columns.
-- returns: count integer
SELECT count(*) AS count
FROM json_each(:keys) AS candidate
JOIN millrace_job_now AS now ON now.key = candidate.value
WHERE (:states IS NULL OR now.state IN (SELECT value FROM json_each(:states)))
  AND (:type IS NULL OR now.type = :type)
  AND (:tenant IS NULL OR now.tenant = :tenant)
  AND (:category IS NULL OR now.category = :category)
  AND (:lane IS NULL OR now.lane = :lane)
  AND (
      :error IS NULL
      OR instr(lower(now.last_error ->> 'message'), lower(:error)) > 0
      OR instr(lower(now.last_error ->> 'name'), lower(:error)) > 0
      OR instr(lower(now.last_error ->> 'class'), lower(:error)) > 0
  )
  AND (:payload_text IS NULL OR instr(now.payload, :payload_text) > 0)
  AND NOT EXISTS (
      SELECT 1
      FROM json_each(:payload) AS wanted
      WHERE NOT EXISTS (
          WITH RECURSIVE step (depth, value) AS (
              SELECT 0, now.payload
              UNION ALL
              SELECT step.depth + 1, step.value -> part.fullkey
              FROM step
              CROSS JOIN json_each(step.value) AS part
              WHERE CAST(part.key AS TEXT) = wanted.value ->> ('$.path[' || step.depth || ']')
          )
          SELECT 1
          FROM step
          WHERE depth = json_array_length(wanted.value, '$.path')
            AND CASE json_type(value)
                WHEN 'object' THEN NULL
                WHEN 'array' THEN NULL
                WHEN 'text' THEN value ->> '$'
                ELSE value
            END = wanted.value ->> 'text'
      )
  )
  AND (
      :correlation IS NULL
      OR now.correlation IN (:correlation, :correlation_uuid)
      OR (now.correlation IS NULL AND now.id = :correlation_id)
  )
  AND (:parent IS NULL OR now.parent = :parent)
  AND (:created_from IS NULL OR now.created_at >= :created_from)
  AND (:created_before IS NULL OR now.created_at < :created_before)
  AND NOT EXISTS (
      SELECT 1
      FROM json_each(:tags) AS wanted
      WHERE NOT EXISTS (
          SELECT 1
          FROM millrace_tag AS tag
          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = now.key
      )
  );

-- name: count_waiting
-- How many jobs are in each place, each counted up to a limit. `retrying` are the scheduled ones
-- that have run before.
-- returns: scheduled integer, retrying integer, ready integer, blocked integer
SELECT (SELECT count(*) FROM (SELECT 1 FROM millrace_scheduled LIMIT :max)) AS scheduled,
       (SELECT count(*) FROM (SELECT n FROM millrace_scheduled LIMIT :max) WHERE n > 1) AS retrying,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_ready LIMIT :max)) AS ready,
       (SELECT count(*) FROM (SELECT 1 FROM millrace_blocked LIMIT :max)) AS blocked;

-- name: count_ended
-- How many jobs have ended in one final state, up to a limit.
-- returns: count integer
SELECT count(*) AS count
FROM (SELECT 1 FROM millrace_attempt WHERE state = :state LIMIT :max);

-- name: count_groups
-- How many jobs of each type, lane and tenant are in each place, among so many rows of each place.
-- The largest groups come first; of failed jobs, the newest are counted. `retrying` are the
-- scheduled ones that have run before; `oldest_ms` is how long the due job with the earliest due
-- time has waited. If asked to, jobs of different categories are in different groups.
-- returns: type integer, lane integer, tenant integer, category integer?, scheduled integer,
--   retrying integer, queued integer, held integer, running integer, failed integer,
--   oldest_ms integer?
WITH counted (place, type, lane, tenant, rank, key) AS (
    SELECT iif(n > 1, 6, 1), type, lane, tenant, NULL, key
    FROM (SELECT n, type, lane, tenant, key FROM millrace_scheduled LIMIT :rows)
    UNION ALL
    SELECT 2, type, lane, tenant, coalesce(due * 1000, rank), key
    FROM (SELECT type, lane, tenant, due, rank, key FROM millrace_ready LIMIT :rows)
    UNION ALL
    SELECT 3, type, lane, tenant, NULL, key
    FROM (SELECT type, lane, tenant, key FROM millrace_blocked LIMIT :rows)
    UNION ALL
    SELECT 4, job.type, job.lane, job.tenant, NULL, job.key
    FROM (
        SELECT claimed.value AS key
        FROM millrace_lease AS lease
        JOIN json_each(lease.keys) AS claimed
        WHERE NOT EXISTS (
            SELECT 1
            FROM millrace_attempt AS ended
            WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key
        )
        LIMIT :rows
    ) AS run
    CROSS JOIN millrace_job AS job ON job.key = run.key
    UNION ALL
    SELECT 5, job.type, job.lane, job.tenant, NULL, job.key
    FROM (
        SELECT key
        FROM millrace_attempt
        WHERE state = 6 AND state > 4
        ORDER BY key DESC
        LIMIT :rows
    ) AS failed
    CROSS JOIN millrace_job AS job ON job.key = failed.key
)
SELECT type, lane, tenant,
       iif(
           :categories,
           (SELECT job.category FROM millrace_job AS job WHERE job.key = counted.key),
           NULL
       ) AS category,
       count(*) FILTER (WHERE place IN (1, 6)) AS scheduled,
       count(*) FILTER (WHERE place = 6) AS retrying,
       count(*) FILTER (WHERE place = 2) AS queued,
       count(*) FILTER (WHERE place = 3) AS held,
       count(*) FILTER (WHERE place = 4) AS running,
       count(*) FILTER (WHERE place = 5) AS failed,
       max(0, :now - min(rank) / 1000) AS oldest_ms
FROM counted
WHERE :tenant IS NULL OR tenant = :tenant
GROUP BY type, lane, tenant, category
ORDER BY count(*) DESC, type, lane, tenant, category
LIMIT :groups;

-- name: count_running
-- How many jobs of a gate, or of a worker, workers hold, up to a limit. Gate -2 is the gate of all
-- jobs. A run that has ended may still be in a lease.
-- returns: count integer
WITH own (name) AS MATERIALIZED (
    VALUES (:gate)
    UNION ALL
    SELECT type FROM millrace_service_use WHERE service = :gate
)
SELECT count(*) AS count
FROM (
    SELECT 1
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS claimed
    CROSS JOIN millrace_job AS job ON job.key = claimed.value
    WHERE (:worker IS NULL OR lease.worker = :worker)
      AND EXISTS (
          SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2)
      )
      AND NOT EXISTS (
          SELECT 1
          FROM millrace_attempt AS ended
          WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key
      )
    LIMIT :rows
);

-- name: ids_of_running
-- The ids of some of the jobs that `count_running` counts.
-- returns: id blob
WITH own (name) AS MATERIALIZED (
    VALUES (:gate)
    UNION ALL
    SELECT type FROM millrace_service_use WHERE service = :gate
)
SELECT job.id
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
CROSS JOIN millrace_job AS job ON job.key = claimed.value
WHERE (:worker IS NULL OR lease.worker = :worker)
  AND EXISTS (SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS ended
      WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key
  )
LIMIT :limit;

-- name: count_due
-- Of so many due jobs, how many a closed gate holds back, although they have not been moved, how
-- many none does, and the least rank of these; and whether there are no more due jobs. Jobs that
-- gates cannot tell apart are counted together: there are few kinds of them, and the gates are
-- looked up for each.
-- returns: queued integer, behind integer, rank integer?, exact boolean
WITH closed (name) AS MATERIALIZED (
    SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now
),
parked (tenant, type) AS MATERIALIZED (
    SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now
),
due (jobs, rank, behind) AS (
    SELECT alike.jobs, alike.rank, EXISTS (
        SELECT 1 FROM closed WHERE closed.name IN (alike.lane, alike.type, alike.tenant, -2)
    ) OR EXISTS (
        SELECT 1 FROM parked WHERE parked.type = alike.type AND parked.tenant = alike.tenant
    )
    FROM (
        SELECT lane, type, tenant, count(*) AS jobs, min(coalesce(due * 1000, rank)) AS rank
        FROM (
            SELECT lane, type, tenant, rank, due FROM millrace_ready LIMIT :rows
        ) AS ready
        GROUP BY lane, type, tenant
    ) AS alike
)
SELECT coalesce(sum(jobs) FILTER (WHERE NOT behind), 0) AS queued,
       coalesce(sum(jobs) FILTER (WHERE behind), 0) AS behind,
       min(rank) FILTER (WHERE NOT behind) AS rank,
       NOT EXISTS (SELECT 1 FROM millrace_ready LIMIT 1 OFFSET :rows) AS exact
FROM due;

-- name: oldest_ready
-- The least rank of all due jobs. Of each lane, number of crashes and priority, the first job
-- is the oldest, so a recursive hop over the index finds it, however many jobs there are. Where
-- jobs have turns, the oldest of them and the first job without a turn are looked up.
-- returns: rank integer?, hops integer
WITH RECURSIVE hop (lane, crashes, priority, rank) AS (
    SELECT lane, crashes, priority, rank
    FROM millrace_ready
    WHERE key = (
        SELECT key FROM millrace_ready ORDER BY lane, crashes, priority, rank, key LIMIT 1
    )
    UNION ALL
    SELECT ready.lane, ready.crashes, ready.priority, ready.rank
    FROM hop
    JOIN millrace_ready AS ready ON ready.key = coalesce(
        (
            SELECT next.key
            FROM millrace_ready AS next
            WHERE next.lane = hop.lane
              AND next.crashes = hop.crashes
              AND next.priority > hop.priority
            ORDER BY next.priority, next.rank, next.key
            LIMIT 1
        ),
        (
            SELECT next.key
            FROM millrace_ready AS next
            WHERE next.lane = hop.lane AND next.crashes > hop.crashes
            ORDER BY next.crashes, next.priority, next.rank, next.key
            LIMIT 1
        ),
        (
            SELECT next.key
            FROM millrace_ready AS next
            WHERE next.lane > hop.lane
            ORDER BY next.lane, next.crashes, next.priority, next.rank, next.key
            LIMIT 1
        )
    )
    LIMIT :hops
)
SELECT min(CASE WHEN hop.rank >= 0 THEN hop.rank ELSE (
           SELECT min(first.rank)
           FROM (
               SELECT min(turn.due) * 1000 AS rank
               FROM millrace_ready AS turn
               WHERE turn.lane = hop.lane AND turn.priority = hop.priority AND turn.due IS NOT NULL
               UNION ALL
               SELECT min(ready.rank)
               FROM millrace_ready AS ready
               WHERE ready.lane = hop.lane
                 AND ready.crashes = hop.crashes
                 AND ready.priority = hop.priority
                 AND ready.rank >= 0
           ) AS first
       ) END) AS rank,
       count(*) AS hops
FROM hop;

-- name: key_at
-- The first key whose job was created at this time or later, or the key after the last one. Keys
-- are in the order of creation, so a binary search finds it.
-- returns: key integer
WITH RECURSIVE search (low, high) AS (
    SELECT coalesce(min(key), 0), coalesce(max(key), 0) + 1
    FROM millrace_job
    UNION ALL
    SELECT CASE WHEN middle.created_at < :at THEN middle.key + 1 ELSE low END,
           CASE WHEN middle.created_at < :at THEN high ELSE (low + high) / 2 END
    FROM search
    JOIN millrace_job AS middle ON middle.key = (
        SELECT min(next.key)
        FROM millrace_job AS next
        WHERE next.key >= (search.low + search.high) / 2
    )
    WHERE low < high
)
SELECT low AS key FROM search WHERE low = high;

-- name: keys_of_all
-- Candidates when nothing narrows the search, newest first.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_type
-- Candidates by type, newest first.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE type = :type
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_tenant
-- Candidates by tenant, newest first. The default tenant has no index of its own.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE tenant = :tenant
  AND tenant <> 1
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_category
-- Candidates by category, newest first.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE category = :category
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_correlation
-- Candidates by correlation, newest first. A job without a correlation is found by its own id.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE correlation IN (:correlation, :correlation_uuid)
  AND key < :before
UNION ALL
SELECT key
FROM millrace_job
WHERE id = :correlation_id
  AND correlation IS NULL
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_parent
-- Candidates by parent, newest first.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE parent = :parent
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_tag
-- Candidates by one tag, newest first.
-- returns: key integer
SELECT key
FROM millrace_tag
WHERE name = :name
  AND value = :value
  AND key < :before
ORDER BY key DESC
LIMIT :limit;

-- name: keys_of_long_runs
-- Jobs whose present run started so long ago, newest job first. Of a lease that was claimed later,
-- no run can have started. A prefetched job has not started, and a run that has ended may still be
-- in its lease.
-- returns: key integer
SELECT DISTINCT claimed.value AS key
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
WHERE lease.claimed_at <= :now - :running_ms
  AND lease.claimed_at + (lease.starts ->> claimed.key) <= :now - :running_ms
  AND claimed.value < :before
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS ended
      WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key
  )
ORDER BY claimed.value DESC
LIMIT :limit;

-- name: keys_of_states
-- Candidates by state, newest first. Every state has an index of its own: a place, the leases, or
-- the unusual final states. For `completed`, candidates are all jobs with a ledger row. Each part
-- names a job once, so that a part that ends at the limit reaches as far as the whole. A part that
-- is not wanted has no bound, and reads nothing.
-- returns: key integer
WITH wanted (state) AS MATERIALIZED (SELECT value FROM json_each(:states))
SELECT key
FROM (
    SELECT key
    FROM millrace_scheduled
    WHERE key < (SELECT :before FROM wanted WHERE state = 1)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT key
    FROM millrace_ready
    WHERE key < (SELECT :before FROM wanted WHERE state = 2)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT key
    FROM millrace_blocked
    WHERE key < (SELECT :before FROM wanted WHERE state = 2)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT DISTINCT claimed.value AS key
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS claimed
    WHERE lease.number < (SELECT 9e18 FROM wanted WHERE state = 3) AND claimed.value < :before
    ORDER BY claimed.value DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT DISTINCT key
    FROM millrace_attempt
    WHERE key < (SELECT :before FROM wanted WHERE state = 4)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT DISTINCT key
    FROM millrace_attempt
    WHERE state = 5 AND state > 4 AND key < (SELECT :before FROM wanted WHERE state = 5)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT DISTINCT key
    FROM millrace_attempt
    WHERE state = 6 AND state > 4 AND key < (SELECT :before FROM wanted WHERE state = 6)
    ORDER BY key DESC
    LIMIT :limit
)
UNION
SELECT key
FROM (
    SELECT DISTINCT key
    FROM millrace_attempt
    WHERE state = 7 AND state > 4 AND key < (SELECT :before FROM wanted WHERE state = 7)
    ORDER BY key DESC
    LIMIT :limit
)
ORDER BY key DESC
LIMIT :limit;

-- name: starts_of_runs
-- When the present runs of these jobs started. The newest lease that names a job is the valid one,
-- and comes last.
-- returns: key integer, started_at integer?
SELECT claimed.value AS key, lease.claimed_at + (lease.starts ->> claimed.key) AS started_at
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
WHERE claimed.value IN (SELECT value FROM json_each(:keys))
ORDER BY lease.number;

-- name: attempts_of_job
-- The ledger of one job.
-- returns: n integer, tries integer, crashes integer, fence integer?, worker blob?,
--   claimed_at integer?, started_at integer?, finished_at integer, outcome integer,
--   error_class integer?, error text?, reason text?, next_run_at integer?
SELECT attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,
       attempt.claimed_at, attempt.started_at, attempt.finished_at, attempt.outcome,
       attempt.error_class, attempt.error, attempt.reason, attempt.next_run_at
FROM millrace_attempt AS attempt
WHERE attempt.key = (SELECT key FROM millrace_job_name WHERE id = :id)
ORDER BY attempt.n;

-- name: feed_end
-- The last position that was given to an event.
-- The counter of the table includes the positions of removed events.
-- returns: position integer
SELECT coalesce(max(seq), 0) AS position
FROM sqlite_sequence
WHERE name = 'millrace_event';

-- name: feed_start
-- The position before the first event that is kept, or the last position if none is kept.
-- returns: position integer
SELECT coalesce((SELECT min(position) - 1 FROM millrace_event), max(seq), 0) AS position
FROM sqlite_sequence
WHERE name = 'millrace_event';

-- name: feed_after
-- The events after a position, oldest first. A page may end before the last of them.
-- returns: position integer, kind integer, at integer, keys text?, ids text?, details text?
SELECT position, kind, at, keys, ids, details
FROM millrace_event
WHERE position > :position
ORDER BY position
LIMIT :limit;

-- name: ids_of_keys
-- The public ids of those of these jobs that still exist.
-- returns: key integer, id blob
SELECT job.key, job.id
FROM json_each(:keys) AS named
JOIN millrace_job AS job ON job.key = named.value;

-- name: facts_of_keys
-- What the feed tells listeners about these jobs, with their present state.
-- returns: key integer, id blob, type integer, tenant integer, correlation text?, state integer,
--   tries integer, next_run_at integer?, error text?, finished_at integer?, phase text?,
--   overall real?
SELECT now.key, now.id, now.type, now.tenant, now.correlation, now.state, now.tries,
       now.next_run_at, now.last_error AS error,
       CASE WHEN now.state >= 4 THEN now.last_finished_at END AS finished_at,
       run.phase, run.overall
FROM json_each(:keys) AS named
CROSS JOIN millrace_job_now AS now ON now.key = named.value
LEFT JOIN millrace_run AS run ON run.key = named.value;
