-- apart: PostgreSQL stores all types of a worker in one statement, SQLite goes type by type.

-- row TypeRow: type integer, lane text, priority integer, max_attempts integer,
--   timeout_ms integer?, category text?, payload_version text?, payload_schema text?,
--   app_version text?, flags integer, declared_at integer,
--   services text, workers integer, hashes integer, own_lane text?, own_priority integer?,
--   own_attempts integer?, own_timeout_ms integer?, own_by text?, own_set_at integer?

-- name: put_type_setting
-- Stores what a worker declares about a type, instead of an earlier declaration.
INSERT INTO millrace_type_setting (
    type, lane, priority, max_attempts, timeout_ms, category, payload_version, payload_schema,
    app_version, flags, hash, declared_at
)
VALUES (
    :type, :lane, :priority, :max_attempts, :timeout_ms, :category, :payload_version,
    :payload_schema, :app_version, :flags, :hash, :now
)
ON CONFLICT (type) DO UPDATE
SET lane = :lane, priority = :priority, max_attempts = :max_attempts, timeout_ms = :timeout_ms,
    category = :category, payload_version = :payload_version, payload_schema = :payload_schema,
    app_version = :app_version, flags = :flags, hash = :hash, declared_at = :now;

-- name: put_type_override
-- Stores what an operator sets in place of the declaration of a type. What is null stays.
INSERT INTO millrace_type_override (type, lane, priority, max_attempts, timeout_ms, by, set_at)
SELECT type, :lane, :priority, :max_attempts, :timeout_ms, :by, :now
FROM millrace_type_setting
WHERE type = :type
ON CONFLICT (type) DO UPDATE
SET lane = coalesce(excluded.lane, lane),
    priority = coalesce(excluded.priority, priority),
    max_attempts = coalesce(excluded.max_attempts, max_attempts),
    timeout_ms = coalesce(excluded.timeout_ms, timeout_ms),
    by = excluded.by, set_at = excluded.set_at;

-- name: delete_type_override
-- The declaration of a type counts again.
DELETE FROM millrace_type_override
WHERE type = :type;

-- name: delete_service_uses
-- Forgets the services of a type.
DELETE FROM millrace_service_use
WHERE type = :type;

-- name: insert_service_use
-- Stores a service of a type.
INSERT INTO millrace_service_use (service, type)
VALUES (:service, :type)
ON CONFLICT DO NOTHING;

-- name: put_worker_type
-- Stores the hash of a declaration of a worker, if the worker is registered.
INSERT INTO millrace_worker_type (worker, type, hash)
SELECT id, :type, :hash
FROM millrace_worker
WHERE id = :worker
ON CONFLICT (worker, type) DO UPDATE SET hash = :hash;

-- name: delete_worker_types
-- Removes the declarations of a worker that is removed.
DELETE FROM millrace_worker_type
WHERE worker = :worker;

-- name: list_types
-- The declared types by name, with their services, the number of living workers that have declared
-- the type, and the number of different declarations among them.
-- returns: TypeRow
SELECT setting.type, setting.lane, setting.priority, setting.max_attempts, setting.timeout_ms,
       setting.category, setting.payload_version, setting.payload_schema, setting.app_version,
       setting.flags, setting.declared_at,
       (
           SELECT json_group_array(service.text ORDER BY service.text)
           FROM millrace_service_use AS uses
           JOIN millrace_interned_name AS service ON service.id = uses.service
           WHERE uses.type = setting.type
       ) AS services,
       (
           SELECT count(*)
           FROM millrace_worker AS worker
           JOIN millrace_worker_type AS declared ON declared.worker = worker.id
           WHERE declared.type = setting.type AND worker.until > :now
       ) AS workers,
       (
           SELECT count(DISTINCT declared.hash)
           FROM millrace_worker AS worker
           JOIN millrace_worker_type AS declared ON declared.worker = worker.id
           WHERE declared.type = setting.type AND worker.until > :now
       ) AS hashes,
       own.lane AS own_lane, own.priority AS own_priority, own.max_attempts AS own_attempts,
       own.timeout_ms AS own_timeout_ms, own.by AS own_by, own.set_at AS own_set_at
FROM millrace_type_setting AS setting
JOIN millrace_interned_name AS name ON name.id = setting.type
LEFT JOIN millrace_type_override AS own ON own.type = setting.type
WHERE :only IS NULL OR setting.type = :only
ORDER BY name.text
LIMIT :limit;
