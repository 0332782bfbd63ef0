-- apart: one statement settles a whole batch, where SQLite goes job by job.

-- name: settle_done
-- Ends runs that have succeeded, and notifies listeners if a message is given. Returns the keys of
-- the accepted ones, whether locks were released, whether other jobs wait for one of these jobs,
-- the keys of jobs without a row, and the time of the ends.
-- returns tuples: accepted bigint[], freed boolean, awaited boolean, missing bigint[],
--   ended_at bigint, told text?
SELECT accepted, freed, awaited, missing, ended_at,
       CASE WHEN :word::text IS NOT NULL THEN pg_notify(:channel::text, :word::text)::text END
           AS told
FROM millrace.settle_done(
    :leases::bigint[], :secrets::text[], :places::integer[], :keys::bigint[], :ns::integer[],
    :tries::integer[], :crashes::integer[], :states::smallint[], :results::text[],
    :now::timestamptz
);

-- name: insert_attempts
-- Writes the ledger rows of runs that have ended, and of waits that an operator ended. The lease of
-- a run must still exist. After a clock was set back, a run begins and ends at the end. Runs that
-- have started are counted in `minute_outbox`. Returns when a job is to run again.
-- returns: key bigint, next_run_at bigint?
WITH ended AS MATERIALIZED (
    SELECT *
    FROM json_to_recordset(:ends::json) AS ended (
        key bigint, n integer, tries integer, crashes integer, fence bigint, rank bigint,
        started_at bigint, outcome smallint, state smallint, error_class smallint, error text,
        result text, reason text, delay_ms bigint
    )
),
written AS (
    INSERT INTO millrace.attempt (
        key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,
        error_class, error, result, reason, next_run_at
    )
    SELECT ended.key, ended.n, ended.tries, ended.crashes, lease.worker, ended.fence,
           CASE WHEN lease.claimed_at > moment.at THEN moment.at ELSE lease.claimed_at END,
           CASE WHEN millrace.at_ms(ended.started_at) > moment.at THEN moment.at
                ELSE millrace.at_ms(ended.started_at) END,
           moment.at, ended.outcome, ended.state, ended.error_class, ended.error::json,
           ended.result::json, ended.reason,
           moment.at + ended.delay_ms * interval '1 millisecond'
    FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
    CROSS JOIN ended
    LEFT JOIN millrace.lease AS lease ON lease.number = ended.fence
    ORDER BY ended.key
    RETURNING key, n, finished_at, next_run_at
),
counted AS (
    INSERT INTO millrace.minute_outbox (at, type, lane, outcome, waits, runs)
    SELECT written.finished_at, job.type, job.lane, ended.outcome,
           array_agg(millrace.duration_ms(ended.started_at - ended.rank / 1000)),
           array_agg(millrace.duration_ms(millrace.ms_of(written.finished_at) - ended.started_at))
    FROM written
    JOIN ended ON ended.key = written.key AND ended.n = written.n
    JOIN millrace.job AS job ON job.key = written.key
    WHERE ended.started_at IS NOT NULL
    GROUP BY written.finished_at, job.type, job.lane, ended.outcome
)
SELECT key, millrace.ms_of(next_run_at) AS next_run_at
FROM written;

-- name: end_runs
-- Runs have ended, and some of their jobs are over: removes their locks, dedup keys and
-- dependencies, and the counts of lone deaths of types that have succeeded. Returns whether locks
-- were released, and whether other jobs wait for one of these jobs.
-- returns: freed boolean, awaited boolean, done text?
WITH deleted_dedup AS (
    DELETE FROM millrace.dedup
    WHERE job = ANY (:over::bigint[])
)
SELECT millrace.release_job_locks(:jobs::bigint[]) AS freed,
       millrace.end_jobs(:over::bigint[]) AS awaited,
       millrace.reset_streaks(:succeeded::bigint[])::text AS done;

-- name: find_fences
-- The lease under which each of these runs ended, and its outcome.
-- returns: key bigint, n integer, fence bigint?, outcome smallint
SELECT attempt.key, attempt.n, attempt.fence, attempt.outcome
FROM json_to_recordset(:runs::json) AS run (key bigint, n integer)
JOIN millrace.attempt AS attempt ON attempt.key = run.key AND attempt.n = run.n;

-- name: find_cancel_requests
-- Which of these jobs have a cancel request.
-- returns: key bigint, reason text?
SELECT key, reason
FROM millrace.cancel_request
WHERE key = ANY (:keys::bigint[]);

-- name: delete_cancel_requests
-- Removes cancel requests that were fulfilled or came too late.
DELETE FROM millrace.cancel_request
WHERE key = ANY (:keys::bigint[]);

-- name: specs_of
-- The specs of these jobs, with names instead of ids.
-- returns: key bigint, id uuid, type text, tenant text, lane text, category text?,
--   priority integer, payload json?, payload_version text?, correlation text?, parent uuid?,
--   retry_of uuid?, concurrency text?, idempotency text?, dedup text?, webhook text?, tags json?,
--   created_by text?, created_at bigint, run_at bigint, max_attempts integer, timeout_ms bigint?,
--   flags smallint
SELECT job.key, job.id, coalesce(type.text, 'unknown name ' || job.type) AS type,
       coalesce(tenant.text, 'unknown name ' || job.tenant) AS tenant,
       coalesce(lane.text, 'unknown name ' || job.lane) AS lane, category.text AS category,
       job.priority, job.payload, job.payload_version, job.correlation, job.parent, job.retry_of,
       job.concurrency, job.idempotency, job.dedup, job.webhook, job.tags,
       job.created_by, millrace.ms_of(job.created_at) AS created_at,
       millrace.ms_of(job.run_at) AS run_at, job.max_attempts, job.timeout_ms, job.flags
FROM millrace.job AS job
LEFT JOIN millrace.interned_name AS type ON type.id = job.type
LEFT JOIN millrace.interned_name AS tenant ON tenant.id = job.tenant
LEFT JOIN millrace.interned_name AS lane ON lane.id = job.lane
LEFT JOIN millrace.interned_name AS category ON category.id = job.category
WHERE job.key = ANY (:keys::bigint[]);

-- name: insert_dead_letters
-- Writes the review records of jobs that have failed for good. After retention has removed a job
-- but not its record, its id may have been used again: then the record is replaced.
INSERT INTO millrace.dead_letter AS letter (
    id, type, tenant, status, error, attempts, died_at, spec, cause, history
)
SELECT job.id, job.type, job.tenant, 1, dead.error::json, dead.attempts,
       attempt.finished_at, dead.spec::json, dead.cause,
       coalesce(past.history, '[]')
FROM json_to_recordset(:letters::json) AS dead (
    key bigint, n integer, error text, attempts integer, spec text, cause text
)
JOIN millrace.job AS job ON job.key = dead.key
JOIN millrace.attempt AS attempt ON attempt.key = dead.key AND attempt.n = dead.n
LEFT JOIN LATERAL (
    SELECT json_agg(
               json_build_object(
                   'n', run.n, 'outcome', run.outcome, 'at', millrace.ms_of(run.finished_at),
                   'class', run.error ->> 'class', 'name', run.error ->> 'name',
                   'message', left(run.error ->> 'message', 300), 'cause', run.error ->> 'cause'
               )
               ORDER BY run.n
           ) AS history
    FROM (
        SELECT n, outcome, finished_at, error
        FROM millrace.attempt
        WHERE key = dead.key AND error IS NOT NULL
        ORDER BY n DESC
        LIMIT 50
    ) AS run
) AS past ON true
ORDER BY job.id
ON CONFLICT (id) DO UPDATE
SET type = excluded.type, tenant = excluded.tenant, status = 1, error = excluded.error,
    attempts = excluded.attempts, died_at = excluded.died_at, reviewed_by = NULL,
    reviewed_at = NULL, notes = NULL, successor = NULL, spec = excluded.spec,
    cause = excluded.cause, history = excluded.history, reviews = '[]', assigned_to = NULL;
