-- Facts for readers: tasks, every lease ever taken, completions and errors. A session that is
-- listed in `role_tenant` sees the rows of its tenant. Only members of the owner of the schema see
-- values of payloads and messages of errors. A payload that jsonb cannot hold is null.

CREATE VIEW millrace.task WITH (security_barrier = true) AS
SELECT job.key AS task_id, type.text AS task_type,
       CASE
           WHEN NOT checked.is_readable THEN NULL
           WHEN reader.is_owner THEN job.payload::jsonb
           WHEN json_typeof(job.payload) = 'object' THEN (
               SELECT coalesce(jsonb_object_agg(field, '[redacted]'::text), '{}')
               FROM json_object_keys(job.payload) AS field
           )
           WHEN job.payload IS NOT NULL THEN '"[redacted]"'::jsonb
       END AS payload,
       job.created_at AS enqueued_at, job.run_at AS scheduled_at, tenant.text AS tenant,
       lane.text AS lane, job.priority, job.correlation AS correlation_id, job.id AS job_id,
       job.created_by
FROM millrace.job AS job
JOIN millrace.interned_name AS type ON type.id = job.type
JOIN millrace.interned_name AS tenant ON tenant.id = job.tenant
JOIN millrace.interned_name AS lane ON lane.id = job.lane
CROSS JOIN (
    SELECT pg_has_role(session_user, class.relowner, 'USAGE') AS is_owner,
           (
               SELECT listed.tenant
               FROM millrace.role_tenant AS listed
               WHERE listed.role = session_user
           ) AS only_tenant
    FROM millrace.meta AS meta
    JOIN pg_class AS class ON class.oid = meta.tableoid
    WHERE meta.name = 'min_protocol'
) AS reader
CROSS JOIN LATERAL (
    -- U+0000 in a text, more than a thousand digits in a row, an exponent of five digits: the last
    -- two are looked for outside of texts. No function of the schema is called, because the
    -- role that reads a view needs the right to call its functions.
    SELECT CASE
               WHEN job.payload::text !~ E'\\\\u0000|[0-9]{250}|[eE][+-]?[0-9]{5}' THEN true
               WHEN job.payload::text ~ E'(?:^|[^\\\\])(?:\\\\\\\\)*\\\\u0000' THEN false
               ELSE regexp_replace(job.payload::text, E'"(?:[^"\\\\]|\\\\.)*"', '', 'g')
                   !~ '(?:[0-9]{250}){4}[0-9]|[eE][+-]?[0-9]{5}'
           END AS is_readable
) AS checked
WHERE reader.only_tenant IS NULL OR tenant.text = reader.only_tenant;

-- Every lease ever taken: the ledger, and the living leases. `expires_at` is null for runs of
-- registered workers that have ended.
CREATE VIEW millrace.task_lease WITH (security_barrier = true) AS
SELECT run.fence AS task_lease_id, run.key AS task_id, run.n AS run, run.claimed_at AS leased_at,
       run.expires_at, run.worker, NULL::text AS taken_by, run.finished_at AS ended_at,
       (ARRAY['succeeded', 'failed', 'timed_out', 'crashed', 'cancelled', 'interrupted',
              'snoozed'])[run.outcome] AS outcome
FROM millrace.attempt AS run
JOIN millrace.task AS task ON task.task_id = run.key
WHERE run.fence IS NOT NULL
UNION ALL
SELECT run.lease, run.key, run.n, run.claimed_at, worker.until, run.worker, worker.taken_by, NULL,
       NULL
FROM millrace.lease AS lease
JOIN millrace.worker AS worker ON worker.id = lease.worker
CROSS JOIN LATERAL (
    SELECT lease.number AS lease, named.key, named.n, lease.claimed_at, lease.worker
    FROM unnest(lease.keys, lease.ns) AS named (key, n)
) AS run
JOIN millrace.task AS task ON task.task_id = run.key
WHERE NOT EXISTS (
    SELECT FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
);

-- The tasks that are over, with their final state.
CREATE VIEW millrace.task_completed WITH (security_barrier = true) AS
SELECT last.key AS task_id, last.finished_at AS completed_at,
       (ARRAY['completed', 'completed_with_errors', 'failed', 'cancelled'])[last.state - 3]
           AS outcome
FROM millrace.attempt AS last
JOIN millrace.task AS task ON task.task_id = last.key
WHERE last.state IS NOT NULL;

-- The errors that sessions have noted.
CREATE VIEW millrace.task_error_log WITH (security_barrier = true) AS
SELECT error.task_id, error.failed_at,
       CASE WHEN pg_has_role(session_user, class.relowner, 'USAGE')
            THEN error.error_message ELSE '[redacted]' END AS error_message,
       error.fence, error.by
FROM millrace.task_error AS error
JOIN millrace.task AS task ON task.task_id = error.task_id
JOIN pg_class AS class ON class.oid = error.tableoid;
