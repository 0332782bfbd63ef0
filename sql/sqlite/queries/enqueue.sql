-- name: admission
-- only: sqlite. On PostgreSQL, the statements that write jobs check both.
-- The least protocol that the store accepts, and whether any intake is closed or any quota is set.
-- returns: protocol integer, closed integer, limited integer
SELECT CAST(value AS INTEGER) AS protocol, EXISTS (SELECT 1 FROM millrace_intake) AS closed,
       EXISTS (SELECT 1 FROM millrace_quota) AS limited
FROM millrace_meta
WHERE name = 'min_protocol';

-- name: insert_job
-- Writes the spec of a job. The rest of an enqueue depends on this row being new, so that a
-- repeated call changes nothing.
INSERT INTO millrace_job (
    id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,
    payload_version, correlation, parent, retry_of, concurrency, idempotency, dedup, webhook, tags,
    created_by, created_at, flags
)
VALUES (
    :id, :type, :tenant, :lane, :category, :priority, :run_at, :max_attempts, :timeout_ms, :payload,
    :payload_version, :correlation, :parent, :retry_of, :concurrency, :idempotency, :dedup,
    :webhook, :tags, :created_by, :created_at, :flags
)
ON CONFLICT (id) DO NOTHING;

-- name: insert_tag
-- Makes a job findable by one of its tags.
INSERT INTO millrace_tag (name, value, key)
VALUES (:name, :value, :key);

-- name: insert_ready
-- Puts a job into `ready`, unless it is there.
INSERT INTO millrace_ready (
    lane, crashes, priority, rank, key, type, tenant, concurrency, n, tries
)
VALUES (:lane, :crashes, :priority, :rank, :key, :type, :tenant, :concurrency, :n, :tries)
ON CONFLICT DO NOTHING;

-- name: insert_scheduled
-- Puts a job into `scheduled`, unless it is there.
INSERT INTO millrace_scheduled (
    key, run_at, lane, priority, type, tenant, concurrency, n, tries, crashes
)
VALUES (:key, :run_at, :lane, :priority, :type, :tenant, :concurrency, :n, :tries, :crashes)
ON CONFLICT DO NOTHING;

-- name: find_body
-- The job that an id already belongs to.
-- returns: key integer, type integer, tenant integer, payload text?
SELECT key, type, tenant, payload
FROM millrace_job
WHERE id = :id;

-- name: find_idempotency
-- The holder of an idempotency key.
-- returns: job_id blob, body blob
SELECT job_id, body
FROM millrace_idempotency
WHERE tenant = :tenant
  AND key = :key;

-- name: insert_idempotency
-- Inserts an idempotency key.
INSERT INTO millrace_idempotency (tenant, key, job_id, body)
VALUES (:tenant, :key, :job_id, :body);

-- name: find_successor
-- The unfinished job that repeats a final one.
-- returns: key integer, id blob
SELECT job.key, job.id
FROM millrace_job AS job
WHERE job.retry_of = :retry_of
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS attempt
      WHERE attempt.key = job.key AND attempt.state IS NOT NULL
  )
LIMIT 1;

-- name: find_dedup
-- The unfinished job that holds a dedup key. A holder without id has no job row.
-- returns: key integer, id blob?
SELECT dedup.job AS key, job.id
FROM millrace_dedup AS dedup
LEFT JOIN millrace_job AS job ON job.key = dedup.job
WHERE dedup.tenant = :tenant
  AND dedup.type = :type
  AND dedup.key = :key;

-- name: insert_dedup
-- Inserts a dedup key.
INSERT INTO millrace_dedup (tenant, type, key, job)
VALUES (:tenant, :type, :key, :job);

-- name: delete_dedup
-- Removes the dedup keys of jobs that are over or were deleted.
DELETE FROM millrace_dedup
WHERE job IN (SELECT value FROM json_each(:keys));

-- name: append_event
-- Appends the event of a batch to the feed.
INSERT INTO millrace_event (kind, at, keys, ids, details)
VALUES (:kind, :at, :keys, :ids, :details);

-- name: find_alias
-- Whether a child with this id has given way.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_alias
WHERE id = :id;

-- name: insert_alias
-- The id of a child that gave way names the holder of its key.
INSERT INTO millrace_alias (id, job, parent)
SELECT :id, (SELECT key FROM millrace_job WHERE id = :holder), parent.key
FROM millrace_job AS parent
WHERE parent.id = :parent
ON CONFLICT (id) DO NOTHING;
