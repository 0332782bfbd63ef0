-- apart: PostgreSQL moves whole batches, where SQLite goes job by job.

-- row WaitingRow: key bigint, rank bigint, lane integer, priority integer, type integer,
--   tenant integer, concurrency text?, n integer, tries integer, crashes integer
-- row StateRow: key bigint, state integer, runs integer, lease bigint?, at bigint,
--   tenant integer

-- name: take_waiting
-- Removes jobs from the places they wait in, in one order for all callers. The statement waits for
-- jobs that another transaction is moving: afterwards such a job is in one place or in none. The
-- turns of the jobs end.
-- returns: WaitingRow
WITH wanted AS MATERIALIZED (
    SELECT key FROM unnest(:keys::bigint[]) AS wanted (key) ORDER BY key
),
from_ready AS (
    DELETE FROM millrace.ready AS place
    USING wanted
    WHERE place.key = wanted.key
    RETURNING place.key, coalesce(place.due * 1000, place.rank) AS rank, place.lane,
              place.priority, place.type, place.tenant, place.concurrency, place.n, place.tries,
              place.crashes
),
from_scheduled AS (
    DELETE FROM millrace.scheduled AS place
    USING wanted
    WHERE place.key = wanted.key
    RETURNING place.key, millrace.ms_of(place.run_at) * 1000 AS rank, place.lane, place.priority,
              place.type, place.tenant, place.concurrency, place.n, place.tries, place.crashes
),
from_blocked AS (
    DELETE FROM millrace.blocked AS place
    USING wanted
    WHERE place.key = wanted.key
    RETURNING place.key, place.rank, place.lane, place.priority, place.type, place.tenant,
              place.concurrency, place.n, place.tries, place.crashes
)
SELECT * FROM from_ready
UNION ALL
SELECT * FROM from_scheduled
UNION ALL
SELECT * FROM from_blocked;

-- name: put_waiting
-- Puts jobs where they belong by their due time, an instant or a length from now: `ready` if it has
-- come, else `scheduled`. A job that still waits for other jobs goes behind gate 0. Returns whether
-- a job is scheduled for later.
-- returns: key bigint, waits boolean
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
job AS MATERIALIZED (
    SELECT job.key, job.lane, job.priority, job.type, job.tenant, job.concurrency, job.n,
           job.tries, job.crashes,
           date_trunc('milliseconds', coalesce(
               millrace.at_ms(job.due_at),
               moment.at + job.delay_ms * interval '1 millisecond'
           )) AS run_at,
           moment.at AS now,
           (
               SELECT link.job FROM millrace.dependency AS link WHERE link.job = job.key LIMIT 1
           ) IS NOT NULL AS awaits
    FROM moment
    CROSS JOIN json_to_recordset(:jobs::json) AS job (
        key bigint, lane integer, priority integer, type integer, tenant integer,
        concurrency text, n integer, tries integer, crashes integer, due_at bigint, delay_ms bigint
    )
),
waiting AS (
    INSERT INTO millrace.scheduled (
        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
    FROM job
    WHERE run_at > now AND NOT awaits
),
due AS (
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, n, tries, crashes,
           concurrency
    FROM job
    WHERE run_at <= now AND NOT awaits
),
held AS (
    INSERT INTO millrace.blocked (
        key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, 0, lane, priority, type, tenant, n, tries, crashes,
           concurrency
    FROM job
    WHERE awaits
)
SELECT key, run_at > now AND NOT awaits AS waits FROM job;

-- name: put_back
-- Puts jobs back into `ready` with their old rank.
INSERT INTO millrace.ready (
    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT job.key, job.rank, job.lane, job.priority, job.type, job.tenant, job.n, job.tries,
       job.crashes, job.concurrency
FROM json_to_recordset(:jobs::json) AS job (
    key bigint, rank bigint, lane integer, priority integer, type integer, tenant integer,
    n integer, tries integer, crashes integer, concurrency text
);

-- name: end_unstarted
-- Writes the end of jobs that were cancelled before they started: the ledger row. Dedup keys and
-- cancel requests are removed. Returns whether any job has dependants.
-- returns: awaited boolean
WITH ended AS (
    INSERT INTO millrace.attempt (
        key, n, tries, crashes, finished_at, outcome, state, reason
    )
    SELECT job.key, job.n, job.tries, job.crashes, millrace.clock_at(:now::timestamptz), 5, 7,
           job.reason
    FROM json_to_recordset(:jobs::json) AS job (
        key bigint, n integer, tries integer, crashes integer, reason text
    )
    RETURNING key
),
deleted_dedup AS (
    DELETE FROM millrace.dedup AS held
    USING ended
    WHERE held.job = ended.key
),
deleted_requests AS (
    DELETE FROM millrace.cancel_request AS request
    USING ended
    WHERE request.key = ended.key
)
SELECT millrace.end_jobs(array_agg(key)) AS awaited FROM ended;

-- name: still_waiting
-- Which of these jobs are in a place. Asked for jobs that an earlier statement found in none: a job
-- that was moving at that moment was in neither place.
-- returns: key bigint
SELECT key FROM millrace.ready WHERE key = ANY (:keys::bigint[])
UNION ALL
SELECT key FROM millrace.scheduled WHERE key = ANY (:keys::bigint[])
UNION ALL
SELECT key FROM millrace.blocked WHERE key = ANY (:keys::bigint[]);

-- name: hurry_job
-- Makes a scheduled job due now. A job that waits for other jobs stays behind gate 0, with the new
-- due time.
-- returns: moved bigint, put_forward bigint
WITH put_forward AS (
    UPDATE millrace.blocked AS blocked
    SET rank = millrace.ms_of(millrace.clock_at(:now::timestamptz)) * 1000
    WHERE blocked.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
      AND blocked.gate = 0
      AND blocked.rank > millrace.ms_of(millrace.clock_at(:now::timestamptz)) * 1000
    RETURNING blocked.key
),
taken AS (
    DELETE FROM millrace.scheduled AS scheduled
    WHERE scheduled.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
    RETURNING scheduled.*
),
moved AS (
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(millrace.clock_at(:now::timestamptz)) * 1000, lane, priority, type,
           tenant, n, tries, crashes, concurrency
    FROM taken
    RETURNING key
)
SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM put_forward) AS put_forward;

-- name: state_of
-- The state of a job, how many runs its ledger has, the number of the newest lease that names it,
-- and the store's clock.
-- returns: StateRow
SELECT now.key, now.state,
       (SELECT coalesce(max(n), 0) FROM millrace.attempt AS run WHERE run.key = now.key) AS runs,
       (
           SELECT max(lease.number)
           FROM millrace.lease AS lease
           WHERE now.key BETWEEN lease.low AND lease.high
             AND lease.keys @> ARRAY[now.key]
       ) AS lease,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS at, now.tenant
FROM millrace.job_now AS now
WHERE now.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid);

-- name: insert_cancel_request
-- Asks the worker of a running job to stop it. The reason of the first request stays.
INSERT INTO millrace.cancel_request (key, by, reason, at)
VALUES (:key::bigint, :by::text, :reason::text, millrace.clock_at(:now::timestamptz))
ON CONFLICT (key) DO NOTHING;
