-- The tenants of an installation, and the removal of all data of one.

-- row RemovalRow: tenant text, reason text, by text?, removed bigint, begun_at bigint,
--   done_at bigint?

-- name: tenant_names
-- The names of tenants after a name, in their order.
-- returns: name text
SELECT name
FROM (
    SELECT text AS name FROM millrace.interned_name WHERE kind = :kind::integer
    UNION
    SELECT tenant FROM millrace.schedule
    UNION
    SELECT tenant FROM millrace.api_token WHERE tenant IS NOT NULL
) AS known
WHERE name COLLATE "C" > :after::text
ORDER BY name COLLATE "C"
LIMIT :limit::integer;

-- name: begin_removal
-- Notes a removal. A removal that is under way goes on as it is.
INSERT INTO millrace.tenant_removal AS known (tenant, reason, by, begun_at)
SELECT :tenant::text, :reason::text, :by::text, millrace.clock_at(:now::timestamptz)
ON CONFLICT (tenant) DO UPDATE
SET reason = excluded.reason, by = excluded.by, begun_at = excluded.begun_at, removed = 0,
    done_at = NULL
WHERE known.done_at IS NOT NULL;

-- name: removal_of
-- The removal of a tenant.
-- returns: RemovalRow
SELECT tenant, reason, by, removed, millrace.ms_of(begun_at) AS begun_at,
       millrace.ms_of(done_at) AS done_at
FROM millrace.tenant_removal
WHERE tenant = :tenant::text;

-- name: open_removals
-- The removals that are under way, the oldest first.
-- returns: RemovalRow
SELECT tenant, reason, by, removed, millrace.ms_of(begun_at) AS begun_at,
       millrace.ms_of(done_at) AS done_at
FROM millrace.tenant_removal
WHERE done_at IS NULL
ORDER BY tenant_removal.begun_at, tenant COLLATE "C"
LIMIT :limit::integer;

-- name: lock_open_removal
-- Locks a removal that is under way: its steps follow each other.
-- only: postgres, because a transaction of SQLite is the only one that writes.
-- returns: tenant text
SELECT tenant
FROM millrace.tenant_removal
WHERE tenant = :tenant::text AND done_at IS NULL
FOR UPDATE;

-- name: note_removed
-- Adds to what a removal has deleted.
UPDATE millrace.tenant_removal
SET removed = removed + :count::bigint
WHERE tenant = :tenant::text AND done_at IS NULL;

-- name: end_removal
-- Ends a removal.
UPDATE millrace.tenant_removal
SET done_at = millrace.clock_at(:now::timestamptz)
WHERE tenant = :tenant::text AND done_at IS NULL;

-- name: keys_to_remove
-- Jobs of a tenant, oldest first.
-- returns: key bigint
SELECT key
FROM millrace.job
WHERE tenant = :tenant::integer
ORDER BY key
LIMIT :limit::integer;

-- name: clear_idempotency
-- Removes idempotency keys of a tenant, up to a limit.
DELETE FROM millrace.idempotency
WHERE (tenant, key) IN (
    SELECT tenant, key
    FROM millrace.idempotency
    WHERE tenant = :tenant::integer
    LIMIT :limit::integer
);

-- name: clear_dead_letters
-- Removes dead letters of a tenant, up to a limit.
DELETE FROM millrace.dead_letter
WHERE id IN (
    SELECT id
    FROM millrace.dead_letter
    WHERE tenant = :tenant::integer
    LIMIT :limit::integer
);

-- name: clear_permits
-- Removes the permits of the limit of a tenant.
DELETE FROM millrace.permit
WHERE limit_id IN (SELECT id FROM millrace.limit_setting WHERE name = :tenant::integer);

-- name: clear_limits
-- Removes the limit of a tenant.
DELETE FROM millrace.limit_setting
WHERE name = :tenant::integer;

-- name: clear_ticks
-- Removes the ticks of the schedules of a tenant.
DELETE FROM millrace.schedule_tick
WHERE schedule IN (SELECT name FROM millrace.schedule WHERE tenant = :name::text);

-- name: clear_schedules
-- Removes the schedules of a tenant.
DELETE FROM millrace.schedule
WHERE tenant = :name::text;

-- name: clear_tokens
-- Removes the tokens of a tenant.
DELETE FROM millrace.api_token
WHERE tenant = :name::text;

-- name: stop_operations_of
-- Stops the operations of a tenant, and those of the installation whose filter names the tenant.
UPDATE millrace.operation
SET status = 4, stopped_by = 'removal of the tenant', runner = NULL, lease_until = NULL,
    finished_at = millrace.clock_at(:now::timestamptz)
WHERE status <= 2
  AND (
      tenant = :name::text
      OR plan #>> '{jobs,tenant}' = :name::text
      OR plan #>> '{deadLetters,tenant}' = :name::text
  );

-- name: clear_operation_items
-- Removes items of the operations of a tenant, up to a limit.
DELETE FROM millrace.operation_item AS item
USING (
    SELECT own.operation, own.n
    FROM millrace.operation AS held
    JOIN millrace.operation_item AS own ON own.operation = held.id
    WHERE held.tenant = :name::text
       OR held.plan #>> '{jobs,tenant}' = :name::text
       OR held.plan #>> '{deadLetters,tenant}' = :name::text
    LIMIT :limit::integer
) AS old
WHERE item.operation = old.operation AND item.n = old.n;

-- name: clear_operations
-- Removes the stopped and ended operations of a tenant that have no items left.
DELETE FROM millrace.operation
WHERE status >= 3
  AND (
      tenant = :name::text
      OR plan #>> '{jobs,tenant}' = :name::text
      OR plan #>> '{deadLetters,tenant}' = :name::text
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace.operation_item AS item WHERE item.operation = millrace.operation.id
  );

-- name: clear_views
-- Removes the saved views of a tenant.
DELETE FROM millrace.saved_view
WHERE tenant = :name::text;

-- name: clear_dedup
-- Removes what `dedup` has about a tenant.
DELETE FROM millrace.dedup
WHERE tenant = :tenant::integer;

-- name: clear_failure_group
-- Removes what `failure_group` has about a tenant.
DELETE FROM millrace.failure_group
WHERE tenant = :tenant::integer;

-- name: clear_lock
-- Removes what `lock` has about a tenant.
DELETE FROM millrace.lock
WHERE tenant = :tenant::integer;

-- name: clear_key_rate
-- Removes what `key_rate` has about a tenant.
DELETE FROM millrace.key_rate
WHERE tenant = :tenant::integer;

-- name: clear_fair_turn
-- Removes what `fair_turn` has about a tenant.
DELETE FROM millrace.fair_turn
WHERE tenant = :tenant::integer;

-- name: clear_service_park
-- Removes what `service_park` has about a tenant.
DELETE FROM millrace.service_park
WHERE tenant = :tenant::integer;

-- name: clear_quota
-- Removes what `quota` has about a tenant.
DELETE FROM millrace.quota
WHERE tenant = :tenant::integer;

-- name: clear_quota_use
-- Removes what `quota_use` has about a tenant.
DELETE FROM millrace.quota_use
WHERE tenant = :tenant::integer;

-- name: clear_gate
-- Removes what `gate` has about a tenant.
DELETE FROM millrace.gate
WHERE name = :tenant::integer;

-- name: clear_weights
-- Removes the weights of a tenant in fair lanes.
UPDATE millrace.fair_lane
SET weights = (weights::jsonb - :tenant::integer::text)::json,
    code_weights = (code_weights::jsonb - :tenant::integer::text)::json
WHERE weights::jsonb ? (:tenant::integer)::text OR code_weights::jsonb ? (:tenant::integer)::text;

-- name: rows_of_tenant
-- The rows of each table that mention a tenant, up to a limit.
-- returns: job_rows bigint, ready_rows bigint, scheduled_rows bigint, blocked_rows bigint,
--   idempotency_rows bigint, dead_letter_rows bigint, dedup_rows bigint,
--   failure_group_rows bigint, lock_rows bigint, key_rate_rows bigint, fair_turn_rows bigint,
--   service_park_rows bigint, quota_rows bigint, quota_use_rows bigint, gate_rows bigint,
--   limit_setting_rows bigint, schedule_rows bigint, api_token_rows bigint,
--   operation_rows bigint, operation_item_rows bigint,
--   saved_view_rows bigint
SELECT
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.job WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS job_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.ready WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS ready_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.scheduled WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS scheduled_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.blocked WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS blocked_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.idempotency WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS idempotency_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.dead_letter WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS dead_letter_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.dedup WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS dedup_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.failure_group WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS failure_group_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.lock WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS lock_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.key_rate WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS key_rate_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.fair_turn WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS fair_turn_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.service_park WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS service_park_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.quota WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS quota_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.quota_use WHERE tenant = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS quota_use_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.gate WHERE name = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS gate_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.limit_setting WHERE name = :tenant::integer LIMIT :max::integer
        ) AS own
    ) AS limit_setting_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.schedule WHERE tenant = :name::text LIMIT :max::integer
        ) AS own
    ) AS schedule_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.api_token WHERE tenant = :name::text LIMIT :max::integer
        ) AS own
    ) AS api_token_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM millrace.operation
            WHERE tenant = :name::text
               OR plan #>> '{jobs,tenant}' = :name::text
               OR plan #>> '{deadLetters,tenant}' = :name::text
            LIMIT :max::integer
        ) AS own
    ) AS operation_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM millrace.operation AS held
            JOIN millrace.operation_item AS item ON item.operation = held.id
            WHERE held.tenant = :name::text
               OR held.plan #>> '{jobs,tenant}' = :name::text
               OR held.plan #>> '{deadLetters,tenant}' = :name::text
            LIMIT :max::integer
        ) AS own
    ) AS operation_item_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace.saved_view WHERE tenant = :name::text LIMIT :max::integer
        ) AS own
    ) AS saved_view_rows;
