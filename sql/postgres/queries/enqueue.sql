-- apart: PostgreSQL takes whole batches in one statement, where SQLite goes job by job.

-- row BodyRow: id uuid, type integer, tenant integer, payload json?, state integer

-- name: enqueue_alike
-- Writes new jobs that differ only in id and payload, and notifies listeners if a message is given.
-- Returns whether the jobs are scheduled for later; null: their intake is closed, or a quota
-- is new.
-- returns tuples: later boolean?, told text?
SELECT millrace.enqueue_alike(
    :ids::uuid[], :payloads::text[], :type::integer, :tenant::integer, :lane::integer,
    :category::integer, :priority::integer, :due_at::bigint, :delay_ms::bigint,
    :max_attempts::integer, :timeout_ms::bigint, :payload_version::text, :correlation::text,
    :parent::uuid, :concurrency::text, :webhook::text, :tags::json, :created_by::text,
    :flags::smallint, :now::timestamptz, :protocol::integer, :quotas::bigint
) AS later,
    CASE WHEN :word::text IS NOT NULL THEN pg_notify(:channel::text, :word::text)::text END AS told;

-- name: enqueue
-- Writes new jobs and puts them into `ready` or `scheduled`. Returns the ids of the scheduled ones,
-- or null if the intake of one of the jobs is closed, or a quota is new: then nothing was written.
-- returns tuples: later uuid[]?
SELECT millrace.enqueue_batch(
    :kinds::json, :ids::uuid[], :payloads::text[], :kind_of::integer[], :now::timestamptz,
    :protocol::integer, :quotas::bigint
) AS later;

-- name: insert_jobs
-- Writes new jobs inside a transaction. Jobs whose ids are taken are left out, jobs with keys bring
-- the number that was drawn for them, and the transaction writes the events. Jobs with dependencies
-- go behind gate 0. Returns how many were written, the ids of the scheduled ones, and, if some were
-- left out, the ids and keys of those written.
-- returns tuples: made bigint, scheduled uuid[]?, ids uuid[]?, keys bigint[]?
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
asked_dependency AS MATERIALIZED (
    SELECT link.job, link.depends_on, link.tolerant
    FROM json_to_recordset(:dependencies::json) AS link (
        job bigint, depends_on bigint, tolerant smallint
    )
),
made AS (
    INSERT INTO millrace.job (
        key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,
        payload_version, correlation, parent, retry_of, concurrency, idempotency, dedup, webhook,
        tags, created_by, created_at, flags
    )
    SELECT coalesce(asked.key, nextval('millrace.job_key_seq')), asked.id, asked.type,
           asked.tenant, asked.lane, asked.category, asked.priority,
           coalesce(
               millrace.at_ms(asked.due_at),
               moment.at + asked.delay_ms * interval '1 millisecond'
           ),
           asked.max_attempts, asked.timeout_ms, asked.payload::json, asked.payload_version,
           asked.correlation, asked.parent, asked.retry_of, asked.concurrency, asked.idempotency,
           asked.dedup, asked.webhook, asked.tags, asked.created_by, moment.at, asked.flags
    FROM moment
    CROSS JOIN json_to_recordset(:jobs::json) AS asked (
        key bigint, id uuid, type integer, tenant integer, lane integer, category integer,
        priority integer, due_at bigint, delay_ms bigint, max_attempts integer, timeout_ms bigint,
        payload text, payload_version text, correlation text, parent uuid, retry_of uuid,
        concurrency text, idempotency text, dedup text, webhook text, tags json, created_by text,
        flags smallint
    )
    ON CONFLICT (id) DO NOTHING
    RETURNING key, id, type, tenant, lane, priority, concurrency, run_at, tags,
              run_at > created_at AS waits
),
placed AS MATERIALIZED (
    SELECT made.*, made.key IN (SELECT job FROM asked_dependency) AS awaits FROM made
),
waiting AS (
    INSERT INTO millrace.scheduled (
        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, run_at, lane, priority, type, tenant, 1, 0, 0, concurrency
    FROM placed
    WHERE waits AND NOT awaits
),
due AS (
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, 1, 0, 0, concurrency
    FROM placed
    WHERE NOT waits AND NOT awaits
),
held AS (
    INSERT INTO millrace.blocked (
        key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, 0, lane, priority, type, tenant, 1, 0, 0, concurrency
    FROM placed
    WHERE awaits
),
dependencies AS (
    INSERT INTO millrace.dependency (job, depends_on, tolerant)
    SELECT asked_dependency.job, asked_dependency.depends_on, asked_dependency.tolerant
    FROM placed
    JOIN asked_dependency ON asked_dependency.job = placed.key
),
tagged AS (
    INSERT INTO millrace.tag (name, value, key)
    SELECT tag.key, tag.value, made.key
    FROM made
    CROSS JOIN LATERAL json_each_text(made.tags) AS tag
    WHERE made.tags IS NOT NULL
)
SELECT count(*) AS made,
       array_agg(id) FILTER (WHERE waits AND NOT awaits) AS scheduled,
       CASE WHEN count(*) < :asked::integer THEN coalesce(array_agg(id), '{}') END AS ids,
       array_agg(key ORDER BY key) AS keys
FROM placed;

-- name: find_bodies
-- The jobs that these ids already belong to.
-- returns: BodyRow
SELECT id, type, tenant, payload, state
FROM millrace.job_now
WHERE id = ANY (:ids::uuid[]);

-- name: states_of
-- The states of these jobs.
-- returns: id uuid, state integer
SELECT id, state
FROM millrace.job_now
WHERE id = ANY (:ids::uuid[]);

-- name: draw_keys
-- Draws keys for jobs that do not exist yet: their dedup rows must name them first. Returns the
-- least protocol that the store accepts with each key, whether any intake is closed, and the newest
-- revision of a quota.
-- returns: key bigint, protocol integer, closed boolean, quotas bigint?
SELECT nextval('millrace.job_key_seq') AS key,
       (SELECT value::integer FROM millrace.meta WHERE name = 'min_protocol') AS protocol,
       (SELECT EXISTS (SELECT 1 FROM millrace.intake)) AS closed,
       (SELECT max(revision) FROM millrace.quota) AS quotas
FROM generate_series(1, :count::integer);

-- name: take_idempotency
-- Inserts idempotency keys, in one order for all callers, and returns those that were free.
-- returns: job_id uuid
INSERT INTO millrace.idempotency (tenant, key, job_id, body)
SELECT wanted.tenant, wanted.key, wanted.job_id, decode(wanted.body, 'hex')
FROM json_to_recordset(:wanted::json) AS wanted (
    tenant integer, key text, job_id uuid, body text
)
ORDER BY wanted.tenant, wanted.key
ON CONFLICT (tenant, key) DO NOTHING
RETURNING job_id;

-- name: find_idempotency
-- The holders of idempotency keys. A separate statement, so that it sees rows that others have
-- committed meanwhile.
-- returns: seeker uuid, holder uuid, same boolean
SELECT wanted.job_id AS seeker, held.job_id AS holder,
       held.body = decode(wanted.body, 'hex') AS same
FROM json_to_recordset(:wanted::json) AS wanted (
    tenant integer, key text, job_id uuid, body text
)
JOIN millrace.idempotency AS held ON held.tenant = wanted.tenant AND held.key = wanted.key;

-- name: return_idempotency
-- Removes keys that were inserted for jobs that were not written.
DELETE FROM millrace.idempotency AS held
USING json_to_recordset(:taken::json) AS taken (tenant integer, key text, job_id uuid)
WHERE held.tenant = taken.tenant
  AND held.key = taken.key
  AND held.job_id = taken.job_id;

-- name: take_dedup
-- Inserts dedup keys, and the keys that stand for successors, in one order for all callers. Returns
-- those that were free.
-- returns: type integer, job bigint
INSERT INTO millrace.dedup (tenant, type, key, job)
SELECT wanted.tenant, wanted.type, wanted.key, wanted.job
FROM json_to_recordset(:wanted::json) AS wanted (
    tenant integer, type integer, key text, job bigint
)
ORDER BY wanted.tenant, wanted.type, wanted.key
ON CONFLICT (tenant, type, key) DO NOTHING
RETURNING type, job;

-- name: lock_dedup
-- Locks dedup keys until the end of the transaction, in one order for all callers. The next
-- statement then reads the holder that the transaction before has left. An advisory lock: the end
-- of a job deletes the row of its key, and must not wait for a caller that waits for the place of
-- the job.
-- returns: locked bigint
SELECT count(pg_advisory_xact_lock(key.hash)) AS locked
FROM (
    SELECT hashtextextended(
               concat_ws(
                   ' ', 'millrace.dedup'::regclass::oid, wanted.tenant, wanted.type, wanted.key
               ),
               0
           ) AS hash
    FROM json_to_recordset(:wanted::json) AS wanted (tenant integer, type integer, key text)
    ORDER BY hash
    OFFSET 0
) AS key;

-- name: find_dedup
-- The unfinished jobs that hold dedup keys or are successors. A holder without id has no job row.
-- The row of a key and the row of its job are committed together, so such a job was deleted.
-- returns: type integer, seeker bigint, holder bigint, id uuid?
SELECT wanted.type, wanted.job AS seeker, held.job AS holder, job.id
FROM json_to_recordset(:wanted::json) AS wanted (
    tenant integer, type integer, key text, job bigint
)
JOIN millrace.dedup AS held
    ON held.tenant = wanted.tenant AND held.type = wanted.type AND held.key = wanted.key
LEFT JOIN millrace.job AS job ON job.key = held.job;

-- name: delete_dedup
-- Removes the dedup keys of jobs that are over, were deleted or were not written.
DELETE FROM millrace.dedup
WHERE job = ANY (:jobs::bigint[]);

-- name: append_events
-- Appends the events of several batches to the outbox. The order of the batches is kept.
INSERT INTO millrace.event_outbox (at, kind, keys, ids, details)
SELECT millrace.clock_at(:now::timestamptz), told.kind,
       CASE WHEN told.keys IS NOT NULL
            THEN ARRAY(SELECT value::bigint FROM json_array_elements_text(told.keys)) END,
       CASE WHEN told.ids IS NOT NULL
            THEN ARRAY(SELECT value::uuid FROM json_array_elements_text(told.ids)) END,
       CASE WHEN told.details IS NOT NULL
            THEN ARRAY(SELECT value FROM json_array_elements_text(told.details)) END
FROM json_to_recordset(:batches::json) AS told (kind smallint, keys json, ids json, details json);

-- name: find_aliases
-- Those of these ids whose children have given way.
-- returns: id uuid
SELECT id
FROM millrace.alias
WHERE id = ANY (:ids::uuid[]);

-- name: insert_aliases
-- The ids of children that gave way name the holders of their keys.
INSERT INTO millrace.alias (id, job, parent)
SELECT given.id, holder.key, parent.key
FROM json_to_recordset(:given::json) AS given (id uuid, holder uuid, parent uuid)
JOIN millrace.job AS parent ON parent.id = given.parent
LEFT JOIN millrace.job AS holder ON holder.id = given.holder
ORDER BY given.id
ON CONFLICT (id) DO NOTHING;
