-- apart: arrays are lists of the database here, and JSON there.

-- row ShownJobRow: key bigint, id uuid, state integer, type integer, tenant integer, lane integer,
--   category integer?, priority integer, payload json?, payload_version text?, correlation text?,
--   parent uuid?, retry_of uuid?, concurrency text?, idempotency text?, dedup text?, webhook text?,
--   flags smallint, tags json?, created_by text?, max_attempts integer, timeout_ms bigint?,
--   tries integer, crashes integer, outcome smallint?, result json?, error json?,
--   cancel_reason text?, gate integer?, cancel_requested boolean, created_at bigint,
--   run_at bigint, next_run_at bigint?, finished_at bigint?, last_started_at bigint?,
--   phase text?, overall double precision?, is_stale boolean, started_at bigint?

-- name: job_by_id
-- One job with its present state. The newest lease that names a running job is the valid one.
-- returns: ShownJobRow
SELECT * FROM millrace.find_job(:id::uuid);

-- name: tenants_of_ids
-- The tenants of jobs and dead letters. Ids that name neither have no row.
-- returns: asked uuid, tenant integer
SELECT asked.id AS asked, coalesce(job.tenant, letter.tenant) AS tenant
FROM unnest(:ids::uuid[]) AS asked (id)
LEFT JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named ON true
LEFT JOIN millrace.job AS job ON job.key = named.key
LEFT JOIN millrace.dead_letter AS letter ON letter.id = asked.id
WHERE job.key IS NOT NULL OR letter.id IS NOT NULL;

-- name: ids_between
-- The first ids of a range that name a job or a dead letter.
-- returns: id uuid
-- timeout: reader
(
    SELECT id
    FROM millrace.job
    WHERE id BETWEEN :first::uuid AND :last::uuid
    ORDER BY id
    LIMIT :limit::integer
)
UNION
(
    SELECT id
    FROM millrace.alias
    WHERE id BETWEEN :first::uuid AND :last::uuid AND job IS NOT NULL
    ORDER BY id
    LIMIT :limit::integer
)
UNION
(
    SELECT id
    FROM millrace.dead_letter
    WHERE id BETWEEN :first::uuid AND :last::uuid
    ORDER BY id
    LIMIT :limit::integer
)
ORDER BY id
LIMIT :limit::integer;

-- name: ends_of_jobs
-- How these jobs have ended. Jobs that do not exist have no row, other jobs no state.
-- returns: asked uuid, id uuid, type integer, state smallint?, result json?, error json?,
--   reason text?
SELECT * FROM millrace.find_ends(:ids::uuid[]);

-- name: match_jobs
-- The newest of these candidates that pass the filter, newest first. The filter comes before the
-- order, without the columns that only the answer needs: with a limit on an ordered scan, the
-- planner would look for each job in the list of candidates. One scan of the leases finds the start
-- of all running jobs.
-- returns: ShownJobRow
-- timeout: reader
WITH passed AS MATERIALIZED (
    SELECT job.key
    FROM unnest(:keys::bigint[]) AS candidate (key)
    JOIN millrace.job_now AS job ON job.key = candidate.key
    WHERE (:states::integer[] IS NULL OR job.state = ANY (:states::integer[]))
      AND (:type::integer IS NULL OR job.type = :type::integer)
      AND (:tenant::integer IS NULL OR job.tenant = :tenant::integer)
      AND (:category::integer IS NULL OR job.category = :category::integer)
      AND (:lane::integer IS NULL OR job.lane = :lane::integer)
      AND (:error::text IS NULL OR millrace.error_has(job.last_error, :error::text))
      AND (
          :payload_text::text IS NULL
          OR strpos(job.payload::text COLLATE "C", :payload_text::text) > 0
      )
      AND (:payload::json IS NULL OR millrace.payload_has(job.payload, :payload::json))
      AND (
          :correlation::text IS NULL
          OR job.correlation IN (:correlation::text, :correlation_uuid::text)
          OR (job.correlation IS NULL AND job.id = :correlation_id::uuid)
      )
      AND (:parent::uuid IS NULL OR job.parent = :parent::uuid)
      AND (
          :created_from::bigint IS NULL
          OR job.created_at >= millrace.at_ms(:created_from::bigint)
      )
      AND (
          :created_before::bigint IS NULL
          OR job.created_at < millrace.at_ms(:created_before::bigint)
      )
      AND NOT EXISTS (
          SELECT 1
          FROM json_each_text(:tags::json) AS wanted
          WHERE NOT EXISTS (
              SELECT 1
              FROM millrace.tag AS tag
              WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = job.key
          )
      )
),
newest AS MATERIALIZED (
    SELECT key FROM passed ORDER BY key DESC LIMIT :limit::integer
),
run AS MATERIALIZED (
    SELECT DISTINCT ON (run.key) run.key,
           coalesce(lease.started_at, (
               SELECT start.at
               FROM millrace.run_start AS start
               WHERE start.lease = lease.number AND start.key = run.key
           )) AS start
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys) AS run (key)
    WHERE lease.low <= (SELECT max(key) FROM newest)
      AND lease.high >= (SELECT min(key) FROM newest)
      AND run.key IN (SELECT key FROM newest)
    ORDER BY run.key, lease.number DESC
)
SELECT job.*, told.phase, told.overall, stale.key IS NOT NULL AS is_stale,
       CASE
           WHEN job.state = 3 THEN millrace.ms_of(run.start)
           ELSE job.last_started_at
       END AS started_at
FROM newest
JOIN millrace.job_record AS job ON job.key = newest.key
LEFT JOIN run ON run.key = job.key
LEFT JOIN millrace.run AS told ON told.key = job.key
LEFT JOIN millrace.stale AS stale ON stale.key = job.key
ORDER BY job.key DESC;

-- name: count_matching
-- How many of these candidates pass the filter. The twin of `match_jobs`, without its columns.
-- returns: count bigint
-- timeout: reader
SELECT count(*) AS count
FROM unnest(:keys::bigint[]) AS candidate (key)
JOIN millrace.job_now AS job ON job.key = candidate.key
WHERE (:states::integer[] IS NULL OR job.state = ANY (:states::integer[]))
  AND (:type::integer IS NULL OR job.type = :type::integer)
  AND (:tenant::integer IS NULL OR job.tenant = :tenant::integer)
  AND (:category::integer IS NULL OR job.category = :category::integer)
  AND (:lane::integer IS NULL OR job.lane = :lane::integer)
  AND (:error::text IS NULL OR millrace.error_has(job.last_error, :error::text))
  AND (
      :payload_text::text IS NULL
      OR strpos(job.payload::text COLLATE "C", :payload_text::text) > 0
  )
  AND (:payload::json IS NULL OR millrace.payload_has(job.payload, :payload::json))
  AND (
      :correlation::text IS NULL
      OR job.correlation IN (:correlation::text, :correlation_uuid::text)
      OR (job.correlation IS NULL AND job.id = :correlation_id::uuid)
  )
  AND (:parent::uuid IS NULL OR job.parent = :parent::uuid)
  AND (
      :created_from::bigint IS NULL
      OR job.created_at >= millrace.at_ms(:created_from::bigint)
  )
  AND (
      :created_before::bigint IS NULL
      OR job.created_at < millrace.at_ms(:created_before::bigint)
  )
  AND NOT EXISTS (
      SELECT 1
      FROM json_each_text(:tags::json) AS wanted
      WHERE NOT EXISTS (
          SELECT 1
          FROM millrace.tag AS tag
          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = job.key
      )
  );

-- name: count_places
-- How many jobs are in each place, and how many runs are open, each counted up to a limit. All
-- figures are of one moment. `retrying` are the scheduled ones that have run before.
-- returns: scheduled bigint, retrying bigint, ready bigint, blocked bigint, running bigint
-- timeout: reader
SELECT (SELECT count(*) FROM (SELECT 1 FROM millrace.scheduled LIMIT :max::bigint) AS few)
           AS scheduled,
       (
           SELECT count(*)
           FROM (SELECT n FROM millrace.scheduled LIMIT :max::bigint) AS few
           WHERE n > 1
       ) AS retrying,
       (SELECT count(*) FROM (SELECT 1 FROM millrace.ready LIMIT :max::bigint) AS few) AS ready,
       (SELECT count(*) FROM (SELECT 1 FROM millrace.blocked LIMIT :max::bigint) AS few)
           AS blocked,
       (
           SELECT count(*)
           FROM (
               SELECT 1
               FROM millrace.lease AS lease
               CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
               WHERE NOT EXISTS (
                   SELECT 1
                   FROM millrace.attempt AS ended
                   WHERE ended.key = run.key AND ended.n = run.n
               )
               LIMIT :max::bigint
           ) AS few
       ) AS running;

-- name: count_ended
-- How many jobs have ended in one final state, up to a limit.
-- returns: count bigint
-- timeout: reader
SELECT count(*) AS count
FROM (
    SELECT 1 FROM millrace.attempt WHERE state = :state::smallint LIMIT :max::bigint
) AS few;

-- name: count_groups
-- How many jobs of each type, lane and tenant are in each place, among so many rows of each place.
-- The largest groups come first; of failed jobs, the newest are counted. `retrying` are the
-- scheduled ones that have run before; `oldest_ms` is how long the due job with the earliest due
-- time has waited. If asked to, jobs of different categories are in different groups.
-- returns: type integer, lane integer, tenant integer, category integer?, scheduled bigint,
--   retrying bigint, queued bigint, held bigint, running bigint, failed bigint,
--   oldest_ms bigint?
-- timeout: reader
WITH counted (place, type, lane, tenant, rank, key) AS (
    (
        SELECT CASE WHEN n > 1 THEN 6 ELSE 1 END, type, lane, tenant, NULL::bigint, key
        FROM millrace.scheduled
        LIMIT :rows::bigint
    )
    UNION ALL
    (
        SELECT 2, type, lane, tenant, coalesce(due * 1000, rank), key
        FROM millrace.ready
        LIMIT :rows::bigint
    )
    UNION ALL
    (SELECT 3, type, lane, tenant, NULL, key FROM millrace.blocked LIMIT :rows::bigint)
    UNION ALL
    SELECT 4, job.type, job.lane, job.tenant, NULL, job.key
    FROM (
        SELECT run.key
        FROM millrace.lease AS lease
        CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
        WHERE NOT EXISTS (
            SELECT 1
            FROM millrace.attempt AS ended
            WHERE ended.key = run.key AND ended.n = run.n
        )
        LIMIT :rows::bigint
    ) AS run
    JOIN millrace.job AS job ON job.key = run.key
    UNION ALL
    SELECT 5, job.type, job.lane, job.tenant, NULL, job.key
    FROM (
        SELECT key
        FROM millrace.attempt
        WHERE state = 6 AND state > 4
        ORDER BY key DESC
        LIMIT :rows::bigint
    ) AS failed
    JOIN millrace.job AS job ON job.key = failed.key
)
SELECT type, lane, tenant, category,
       count(*) FILTER (WHERE place IN (1, 6)) AS scheduled,
       count(*) FILTER (WHERE place = 6) AS retrying,
       count(*) FILTER (WHERE place = 2) AS queued,
       count(*) FILTER (WHERE place = 3) AS held,
       count(*) FILTER (WHERE place = 4) AS running,
       count(*) FILTER (WHERE place = 5) AS failed,
       CASE WHEN min(rank) IS NOT NULL THEN greatest(
           0,
           millrace.ms_of(millrace.clock_at(:now::timestamptz)) - min(rank) / 1000
       ) END AS oldest_ms
FROM counted
CROSS JOIN LATERAL (
    SELECT CASE WHEN :categories::boolean THEN (
        SELECT job.category FROM millrace.job AS job WHERE job.key = counted.key
    ) END AS category
) AS of_job
WHERE :tenant::integer IS NULL OR tenant = :tenant::integer
GROUP BY type, lane, tenant, category
ORDER BY count(*) DESC, type, lane, tenant, category
LIMIT :groups::integer;

-- name: claims_under_way
-- only: postgres, where claims run beside other transactions.
-- The transactions that have read the gates and are still open, of all of them or of those given.
-- A claim reads the gates before it takes jobs, and keeps the lock of this read until its commit.
-- returns: name text
SELECT DISTINCT held.virtualtransaction AS name
FROM pg_locks AS held
WHERE held.locktype = 'relation'
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND held.relation = 'millrace.gate'::regclass
  AND held.pid <> pg_backend_pid()
  AND (:claims::text[] IS NULL OR held.virtualtransaction = ANY (:claims::text[]));

-- name: count_running
-- How many jobs of a gate, or of a worker, workers hold, up to a limit. Gate -2 is the gate of all
-- jobs. A run that has ended may still be in a lease.
-- returns: count bigint
-- timeout: reader
WITH own (name) AS MATERIALIZED (
    VALUES (:gate::integer)
    UNION ALL
    SELECT type FROM millrace.service_use WHERE service = :gate::integer
)
SELECT count(*) AS count
FROM (
    SELECT 1
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
    JOIN millrace.job AS job ON job.key = run.key
    WHERE (:worker::uuid IS NULL OR lease.worker = :worker::uuid)
      AND EXISTS (
          SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2)
      )
      AND NOT EXISTS (
          SELECT 1
          FROM millrace.attempt AS ended
          WHERE ended.key = run.key AND ended.n = run.n
      )
    LIMIT :rows::bigint
) AS held;

-- name: ids_of_running
-- The ids of some of the jobs that `count_running` counts.
-- returns: id uuid
-- timeout: reader
WITH own (name) AS MATERIALIZED (
    VALUES (:gate::integer)
    UNION ALL
    SELECT type FROM millrace.service_use WHERE service = :gate::integer
)
SELECT job.id
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
JOIN millrace.job AS job ON job.key = run.key
WHERE (:worker::uuid IS NULL OR lease.worker = :worker::uuid)
  AND EXISTS (SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.attempt AS ended
      WHERE ended.key = run.key AND ended.n = run.n
  )
LIMIT :limit::bigint;

-- name: count_due
-- Of so many due jobs, how many a closed gate holds back, although they have not been moved, how
-- many none does, and the least rank of these; and whether there are no more due jobs.
-- Returns how long that job has waited, by the clock of the server. Jobs that gates cannot tell
-- apart are counted together: there are few kinds of them, and the gates are looked up for each.
-- returns: queued bigint, behind bigint, ms bigint?, exact boolean
-- timeout: reader
WITH closed (name) AS MATERIALIZED (
    SELECT target
    FROM millrace.barrier
    WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
),
parked (tenant, type) AS MATERIALIZED (
    SELECT tenant, type
    FROM millrace.tenant_barrier
    WHERE until > millrace.clock_at(:now::timestamptz)
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
            SELECT lane, type, tenant, rank, due FROM millrace.ready LIMIT :rows::bigint
        ) AS ready
        GROUP BY lane, type, tenant
    ) AS alike
)
SELECT coalesce(sum(jobs) FILTER (WHERE NOT behind), 0)::bigint AS queued,
       coalesce(sum(jobs) FILTER (WHERE behind), 0)::bigint AS behind,
       CASE WHEN bool_or(NOT behind) THEN greatest(
           0,
           millrace.ms_of(millrace.clock_at(:now::timestamptz))
               - min(rank) FILTER (WHERE NOT behind) / 1000
       ) END AS ms,
       NOT EXISTS (SELECT 1 FROM millrace.ready LIMIT 1 OFFSET :rows::bigint) AS exact
FROM due;

-- name: longest_due
-- How long the job that has been due longest has waited. The first job of each lane and priority is
-- the oldest there, among the jobs with each number of crashes, so a recursive hop over the indexes
-- finds it, however many jobs there are. Where jobs have turns, the oldest of them and the first
-- job without a turn are looked up.
-- returns: ms bigint?, hops bigint
-- timeout: reader
WITH RECURSIVE fresh (lane, priority, rank) AS (
    (
        SELECT lane, priority, rank
        FROM millrace.ready
        WHERE crashes = 0
        ORDER BY lane, priority, rank, key
        LIMIT 1
    )
    UNION ALL
    SELECT next.lane, next.priority, next.rank
    FROM fresh
    CROSS JOIN LATERAL (
        SELECT ready.lane, ready.priority, ready.rank
        FROM millrace.ready AS ready
        WHERE ready.crashes = 0
          AND (ready.lane, ready.priority) > (fresh.lane, fresh.priority)
        ORDER BY ready.lane, ready.priority, ready.rank, ready.key
        LIMIT 1
    ) AS next
),
crashed (lane, crashes, priority, rank) AS (
    (
        SELECT lane, crashes, priority, rank
        FROM millrace.ready
        WHERE crashes > 0
        ORDER BY lane, crashes, priority, rank, key
        LIMIT 1
    )
    UNION ALL
    SELECT next.lane, next.crashes, next.priority, next.rank
    FROM crashed
    CROSS JOIN LATERAL (
        SELECT ready.lane, ready.crashes, ready.priority, ready.rank
        FROM millrace.ready AS ready
        WHERE ready.crashes > 0
          AND (ready.lane, ready.crashes, ready.priority)
              > (crashed.lane, crashed.crashes, crashed.priority)
        ORDER BY ready.lane, ready.crashes, ready.priority, ready.rank, ready.key
        LIMIT 1
    ) AS next
)
SELECT greatest(0, millrace.ms_of(millrace.clock_at(:now::timestamptz)) - min(rank) / 1000) AS ms,
       count(*) AS hops
FROM (
    (
        SELECT CASE WHEN fresh.rank >= 0 THEN fresh.rank ELSE least(
                   (
                       SELECT min(turn.due) * 1000
                       FROM millrace.ready AS turn
                       WHERE turn.lane = fresh.lane
                         AND turn.priority = fresh.priority
                         AND turn.due IS NOT NULL
                   ),
                   (
                       SELECT min(ready.rank)
                       FROM millrace.ready AS ready
                       WHERE ready.lane = fresh.lane
                         AND ready.crashes = 0
                         AND ready.priority = fresh.priority
                         AND ready.rank >= 0
                   )
               ) END AS rank
        FROM (SELECT * FROM fresh LIMIT :hops::integer) AS fresh
    )
    UNION ALL
    (SELECT rank FROM crashed LIMIT :hops::integer)
) AS first
HAVING count(*) > 0;

-- name: key_at
-- The first key whose job was created at this time or later, or the key after the last one. Keys
-- are in the order of creation, so a binary search finds it.
-- returns: key bigint
-- timeout: reader
WITH RECURSIVE search (low, high) AS (
    SELECT coalesce(min(key), 0), coalesce(max(key), 0) + 1
    FROM millrace.job
    UNION ALL
    SELECT CASE WHEN middle.is_older THEN middle.key + 1 ELSE low END,
           CASE WHEN middle.is_older THEN high ELSE (low + high) / 2 END
    FROM search
    CROSS JOIN LATERAL (
        SELECT job.key, job.created_at < millrace.at_ms(:at::bigint) AS is_older
        FROM millrace.job AS job
        WHERE job.key >= (search.low + search.high) / 2
        ORDER BY job.key
        LIMIT 1
    ) AS middle
    WHERE low < high
)
SELECT low AS key FROM search WHERE low = high;

-- name: keys_of_all
-- Candidates when nothing narrows the search, newest first.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_type
-- Candidates by type, newest first.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE type = :type::integer
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_tenant
-- Candidates by tenant, newest first. The default tenant has no index of its own.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE tenant = :tenant::integer
  AND tenant <> 1
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_category
-- Candidates by category, newest first.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE category = :category::integer
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_correlation
-- Candidates by correlation, newest first. A job without a correlation is found by its own id.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE correlation IN (:correlation::text, :correlation_uuid::text)
  AND key < :before::bigint
UNION ALL
SELECT key
FROM millrace.job
WHERE id = :correlation_id::uuid
  AND correlation IS NULL
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_parent
-- Candidates by parent, newest first.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.job
WHERE parent = :parent::uuid
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_tag
-- Candidates by one tag, newest first.
-- returns: key bigint
-- timeout: reader
SELECT key
FROM millrace.tag
WHERE name = :name::text
  AND value = :value::text
  AND key < :before::bigint
ORDER BY key DESC
LIMIT :limit::integer;

-- name: keys_of_long_runs
-- Jobs whose present run started so long ago, newest job first. Of a lease that was claimed later,
-- no run can have started. A prefetched job has not started, and a run that has ended may still be
-- in its lease.
-- returns: key bigint
-- timeout: reader
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) - :running_ms::bigint * interval '1 millisecond'
               AS at
)
SELECT DISTINCT run.key
FROM moment
JOIN millrace.lease AS lease ON lease.claimed_at <= moment.at
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
WHERE run.key < :before::bigint
  AND coalesce(lease.started_at, (
      SELECT start.at
      FROM millrace.run_start AS start
      WHERE start.lease = lease.number AND start.key = run.key
  )) <= moment.at
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.attempt AS ended
      WHERE ended.key = run.key AND ended.n = run.n
  )
ORDER BY run.key DESC
LIMIT :limit::integer;

-- name: keys_of_states
-- Candidates by state, newest first. Every state has an index of its own: a place, the leases, or
-- the unusual final states. For `completed`, candidates are all jobs with a ledger row. Each part
-- names a job once, so that a part that ends at the limit reaches as far as the whole.
-- returns: key bigint
-- timeout: reader
SELECT DISTINCT key
FROM (
    (
        SELECT key
        FROM millrace.scheduled
        WHERE 1 = ANY (:states::integer[]) AND key < :before::bigint
        ORDER BY key DESC
        LIMIT :limit::integer
    )
    UNION ALL
    (
        SELECT key
        FROM millrace.ready
        WHERE 2 = ANY (:states::integer[]) AND key < :before::bigint
        ORDER BY key DESC
        LIMIT :limit::integer
    )
    UNION ALL
    (
        SELECT key
        FROM millrace.blocked
        WHERE 2 = ANY (:states::integer[]) AND key < :before::bigint
        ORDER BY key DESC
        LIMIT :limit::integer
    )
    UNION ALL
    (
        SELECT DISTINCT claimed.key
        FROM millrace.lease AS lease
        CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)
        WHERE 3 = ANY (:states::integer[]) AND claimed.key < :before::bigint
        ORDER BY claimed.key DESC
        LIMIT :limit::integer
    )
    UNION ALL
    (
        SELECT DISTINCT key
        FROM millrace.attempt
        WHERE 4 = ANY (:states::integer[]) AND key < :before::bigint
        ORDER BY key DESC
        LIMIT :limit::integer
    )
    UNION ALL
    SELECT ended.key
    FROM unnest(:states::integer[]) AS wanted (state)
    CROSS JOIN LATERAL (
        SELECT DISTINCT attempt.key
        FROM millrace.attempt AS attempt
        WHERE attempt.state = wanted.state
          AND attempt.state > 4
          AND attempt.key < :before::bigint
        ORDER BY attempt.key DESC
        LIMIT :limit::integer
    ) AS ended
) AS candidate
ORDER BY key DESC
LIMIT :limit::integer;

-- name: attempts_of_job
-- The ledger of one job.
-- returns: n integer, tries integer, crashes integer, fence bigint?, worker uuid?,
--   outcome smallint, error_class smallint?, error json?, reason text?, claimed_at bigint?,
--   started_at bigint?, finished_at bigint, next_run_at bigint?
SELECT attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,
       attempt.outcome, attempt.error_class, attempt.error, attempt.reason,
       millrace.ms_of(attempt.claimed_at) AS claimed_at,
       millrace.ms_of(attempt.started_at) AS started_at,
       millrace.ms_of(attempt.finished_at) AS finished_at,
       millrace.ms_of(attempt.next_run_at) AS next_run_at
FROM millrace.attempt AS attempt
WHERE attempt.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
ORDER BY attempt.n;

-- name: attempts_of_jobs
-- The ledgers of these jobs.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: key bigint, n integer, tries integer, crashes integer, fence bigint?, worker uuid?,
--   outcome smallint, error_class smallint?, error json?, reason text?, claimed_at bigint?,
--   started_at bigint?, finished_at bigint, next_run_at bigint?
-- timeout: reader
SELECT attempt.key, attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,
       attempt.outcome, attempt.error_class, attempt.error, attempt.reason,
       millrace.ms_of(attempt.claimed_at) AS claimed_at,
       millrace.ms_of(attempt.started_at) AS started_at,
       millrace.ms_of(attempt.finished_at) AS finished_at,
       millrace.ms_of(attempt.next_run_at) AS next_run_at
FROM millrace.attempt AS attempt
WHERE attempt.key = ANY (:keys::bigint[])
ORDER BY attempt.key, attempt.n;

-- name: ids_of_keys
-- The public ids of those of these jobs that still exist.
-- returns: key bigint, id uuid
SELECT job.key, job.id
FROM unnest(:keys::bigint[]) AS named (key)
JOIN millrace.job AS job ON job.key = named.key;

-- name: facts_of_keys
-- What the feed tells listeners about these jobs, with their present state.
-- returns: key bigint, id uuid, type integer, tenant integer, correlation text?, state integer,
--   tries integer, next_run_at bigint?, finished_at bigint?, error json?, phase text?,
--   overall double precision?
SELECT job.key, job.id, job.type, job.tenant, job.correlation, job.state, job.tries,
       job.next_run_at, job.finished_at, job.error, run.phase, run.overall
FROM unnest(:keys::bigint[]) AS named (key)
JOIN millrace.job_record AS job ON job.key = named.key
LEFT JOIN millrace.run AS run ON run.key = named.key;
