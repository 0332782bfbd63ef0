-- apart: PostgreSQL stores all types of a worker in one statement, SQLite goes type by type.

-- row TypeRow: type integer, lane text, priority integer, max_attempts integer, timeout_ms bigint?,
--   category text?, payload_version text?, payload_schema json?, app_version text?, flags smallint,
--   declared_at bigint, services json, workers bigint,
--   hashes bigint, own_lane text?, own_priority integer?, own_attempts integer?,
--   own_timeout_ms bigint?, own_by text?, own_set_at bigint?

-- name: put_type_settings
-- Stores what a worker declares about its types, instead of earlier declarations, in one order for
-- all callers. The rows stay locked, so that workers that join at the same moment replace the
-- services of a type one after the other.
INSERT INTO millrace.type_setting AS known (
    type, lane, priority, max_attempts, timeout_ms, category, payload_version, payload_schema,
    app_version, flags, hash, declared_at
)
SELECT declared.type, declared.lane, declared.priority, declared.max_attempts,
       declared.timeout_ms, declared.category, declared.payload_version, declared.payload_schema,
       declared.app_version, declared.flags, declared.hash,
       millrace.clock_at(:now::timestamptz)
FROM json_to_recordset(:types::json) AS declared (
    type integer, lane text, priority integer, max_attempts integer, timeout_ms bigint,
    category text, payload_version text, payload_schema json, app_version text, flags smallint,
    hash text
)
ORDER BY declared.type
ON CONFLICT (type) DO UPDATE
SET lane = excluded.lane, priority = excluded.priority, max_attempts = excluded.max_attempts,
    timeout_ms = excluded.timeout_ms, category = excluded.category,
    payload_version = excluded.payload_version, payload_schema = excluded.payload_schema,
    app_version = excluded.app_version, flags = excluded.flags, hash = excluded.hash,
    declared_at = excluded.declared_at;

-- name: put_type_override
-- Stores what an operator sets in place of the declaration of a type. What is null stays.
INSERT INTO millrace.type_override AS known (
    type, lane, priority, max_attempts, timeout_ms, by, set_at
)
SELECT setting.type, :lane::text, :priority::integer, :max_attempts::integer,
       :timeout_ms::bigint, :by::text, millrace.clock_at(:now::timestamptz)
FROM millrace.type_setting AS setting
WHERE setting.type = :type::integer
ON CONFLICT (type) DO UPDATE
SET lane = coalesce(excluded.lane, known.lane),
    priority = coalesce(excluded.priority, known.priority),
    max_attempts = coalesce(excluded.max_attempts, known.max_attempts),
    timeout_ms = coalesce(excluded.timeout_ms, known.timeout_ms),
    by = excluded.by, set_at = excluded.set_at;

-- name: delete_type_override
-- The declaration of a type counts again.
DELETE FROM millrace.type_override
WHERE type = :type::integer;

-- name: delete_services_of
-- Forgets the services of types.
DELETE FROM millrace.service_use
WHERE type = ANY (:types::integer[]);

-- name: insert_services_of
-- Stores the services of types.
INSERT INTO millrace.service_use (service, type)
SELECT uses.service, uses.type
FROM unnest(:services::integer[], :types::integer[]) AS uses (service, type)
ORDER BY uses.service, uses.type
ON CONFLICT DO NOTHING;

-- name: put_worker_types
-- Stores the hashes of the declarations of a worker, if the worker is registered. The lock waits
-- for a rescuer that removes the worker.
WITH worker AS MATERIALIZED (
    SELECT id FROM millrace.worker WHERE id = :worker::uuid FOR KEY SHARE
)
INSERT INTO millrace.worker_type (worker, type, hash)
SELECT worker.id, declared.type, declared.hash
FROM worker
CROSS JOIN json_to_recordset(:types::json) AS declared (type integer, hash text)
ON CONFLICT (worker, type) DO UPDATE SET hash = excluded.hash;

-- name: delete_worker_types
-- Removes the declarations of a worker that is removed.
DELETE FROM millrace.worker_type
WHERE worker = :worker::uuid;

-- name: list_types
-- The declared types by name, with their services, the number of living workers that have declared
-- the type, and the number of different declarations among them.
-- returns: TypeRow
SELECT setting.type, setting.lane, setting.priority, setting.max_attempts, setting.timeout_ms,
       setting.category, setting.payload_version, setting.payload_schema, setting.app_version,
       setting.flags, millrace.ms_of(setting.declared_at) AS declared_at,
       (
           SELECT coalesce(json_agg(service.text ORDER BY service.text COLLATE "C"), '[]')
           FROM millrace.service_use AS uses
           JOIN millrace.interned_name AS service ON service.id = uses.service
           WHERE uses.type = setting.type
       ) AS services,
       living.workers, living.hashes,
       own.lane AS own_lane, own.priority AS own_priority, own.max_attempts AS own_attempts,
       own.timeout_ms AS own_timeout_ms, own.by AS own_by, millrace.ms_of(own.set_at) AS own_set_at
FROM millrace.type_setting AS setting
JOIN millrace.interned_name AS name ON name.id = setting.type
LEFT JOIN millrace.type_override AS own ON own.type = setting.type
CROSS JOIN LATERAL (
    SELECT count(*) AS workers, count(DISTINCT declared.hash) AS hashes
    FROM millrace.worker AS worker
    JOIN millrace.worker_type AS declared ON declared.worker = worker.id
    WHERE declared.type = setting.type
      AND worker.until > millrace.clock_at(:now::timestamptz)
) AS living
WHERE :only::integer IS NULL OR setting.type = :only::integer
ORDER BY name.text COLLATE "C"
LIMIT :limit::bigint;
