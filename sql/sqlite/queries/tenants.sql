-- The tenants of an installation, and the removal of all data of one.

-- row RemovalRow: tenant text, reason text, by text?, removed integer, begun_at integer,
--   done_at integer?

-- name: tenant_names
-- The names of tenants after a name, in their order.
-- returns: name text
SELECT name
FROM (
    SELECT text AS name FROM millrace_interned_name WHERE kind = :kind
    UNION
    SELECT tenant FROM millrace_schedule
    UNION
    SELECT tenant FROM millrace_api_token WHERE tenant IS NOT NULL
) AS known
WHERE name > :after
ORDER BY name
LIMIT :limit;

-- name: begin_removal
-- Notes a removal. A removal that is under way goes on as it is.
INSERT INTO millrace_tenant_removal AS known (tenant, reason, by, begun_at)
VALUES (:tenant, :reason, :by, :now)
ON CONFLICT (tenant) DO UPDATE
SET reason = excluded.reason, by = excluded.by, begun_at = excluded.begun_at, removed = 0,
    done_at = NULL
WHERE known.done_at IS NOT NULL;

-- name: removal_of
-- The removal of a tenant.
-- returns: RemovalRow
SELECT tenant, reason, by, removed, begun_at,
       done_at
FROM millrace_tenant_removal
WHERE tenant = :tenant;

-- name: open_removals
-- The removals that are under way, the oldest first.
-- returns: RemovalRow
SELECT tenant, reason, by, removed, begun_at, done_at
FROM millrace_tenant_removal
WHERE done_at IS NULL
ORDER BY begun_at, tenant
LIMIT :limit;

-- name: note_removed
-- Adds to what a removal has deleted.
UPDATE millrace_tenant_removal
SET removed = removed + :count
WHERE tenant = :tenant AND done_at IS NULL;

-- name: end_removal
-- Ends a removal.
UPDATE millrace_tenant_removal
SET done_at = :now
WHERE tenant = :tenant AND done_at IS NULL;

-- name: keys_to_remove
-- Jobs of a tenant, oldest first.
-- returns: key integer
SELECT key
FROM millrace_job
WHERE tenant = :tenant
ORDER BY key
LIMIT :limit;

-- name: clear_idempotency
-- Removes idempotency keys of a tenant, up to a limit.
DELETE FROM millrace_idempotency
WHERE (tenant, key) IN (
    SELECT tenant, key
    FROM millrace_idempotency
    WHERE tenant = :tenant
    LIMIT :limit
);

-- name: clear_dead_letters
-- Removes dead letters of a tenant, up to a limit.
DELETE FROM millrace_dead_letter
WHERE id IN (
    SELECT id
    FROM millrace_dead_letter
    WHERE tenant = :tenant
    LIMIT :limit
);

-- name: clear_permits
-- Removes the permits of the limit of a tenant.
DELETE FROM millrace_permit
WHERE limit_id IN (SELECT id FROM millrace_limit_setting WHERE name = :tenant);

-- name: clear_limits
-- Removes the limit of a tenant.
DELETE FROM millrace_limit_setting
WHERE name = :tenant;

-- name: clear_ticks
-- Removes the ticks of the schedules of a tenant.
DELETE FROM millrace_schedule_tick
WHERE schedule IN (SELECT name FROM millrace_schedule WHERE tenant = :name);

-- name: clear_schedules
-- Removes the schedules of a tenant.
DELETE FROM millrace_schedule
WHERE tenant = :name;

-- name: clear_tokens
-- Removes the tokens of a tenant.
DELETE FROM millrace_api_token
WHERE tenant = :name;

-- name: stop_operations_of
-- Stops the operations of a tenant, and those of the installation whose filter names the tenant.
UPDATE millrace_operation
SET status = 4, stopped_by = 'removal of the tenant', runner = NULL, lease_until = NULL,
    finished_at = :now
WHERE status <= 2
  AND (
      tenant = :name
      OR plan ->> '$.jobs.tenant' = :name
      OR plan ->> '$.deadLetters.tenant' = :name
  );

-- name: clear_operation_items
-- Removes items of the operations of a tenant, up to a limit.
DELETE FROM millrace_operation_item
WHERE (operation, n) IN (
    SELECT own.operation, own.n
    FROM millrace_operation AS held
    JOIN millrace_operation_item AS own ON own.operation = held.id
    WHERE held.tenant = :name
       OR held.plan ->> '$.jobs.tenant' = :name
       OR held.plan ->> '$.deadLetters.tenant' = :name
    LIMIT :limit
);

-- name: clear_operations
-- Removes the stopped and ended operations of a tenant that have no items left.
DELETE FROM millrace_operation
WHERE status >= 3
  AND (
      tenant = :name
      OR plan ->> '$.jobs.tenant' = :name
      OR plan ->> '$.deadLetters.tenant' = :name
  )
  AND NOT EXISTS (
      SELECT 1 FROM millrace_operation_item AS item WHERE item.operation = millrace_operation.id
  );

-- name: clear_views
-- Removes the saved views of a tenant.
DELETE FROM millrace_saved_view
WHERE tenant = :name;

-- name: clear_dedup
-- Removes what `dedup` has about a tenant.
DELETE FROM millrace_dedup
WHERE tenant = :tenant;

-- name: clear_failure_group
-- Removes what `failure_group` has about a tenant.
DELETE FROM millrace_failure_group
WHERE tenant = :tenant;

-- name: clear_lock
-- Removes what `lock` has about a tenant.
DELETE FROM millrace_lock
WHERE tenant = :tenant;

-- name: clear_key_rate
-- Removes what `key_rate` has about a tenant.
DELETE FROM millrace_key_rate
WHERE tenant = :tenant;

-- name: clear_fair_turn
-- Removes what `fair_turn` has about a tenant.
DELETE FROM millrace_fair_turn
WHERE tenant = :tenant;

-- name: clear_service_park
-- Removes what `service_park` has about a tenant.
DELETE FROM millrace_service_park
WHERE tenant = :tenant;

-- name: clear_quota
-- Removes what `quota` has about a tenant.
DELETE FROM millrace_quota
WHERE tenant = :tenant;

-- name: clear_quota_use
-- Removes what `quota_use` has about a tenant.
DELETE FROM millrace_quota_use
WHERE tenant = :tenant;

-- name: clear_gate
-- Removes what `gate` has about a tenant.
DELETE FROM millrace_gate
WHERE name = :tenant;

-- name: clear_weights
-- Removes the weights of a tenant in fair lanes.
UPDATE millrace_fair_lane
SET weights = json_remove(weights, printf('$."%d"', :tenant)),
    code_weights = json_remove(code_weights, printf('$."%d"', :tenant))
WHERE json_extract(weights, printf('$."%d"', :tenant)) IS NOT NULL
   OR json_extract(code_weights, printf('$."%d"', :tenant)) IS NOT NULL;

-- name: rows_of_tenant
-- The rows of each table that mention a tenant, up to a limit.
-- returns: job_rows integer, ready_rows integer, scheduled_rows integer, blocked_rows integer,
--   idempotency_rows integer, dead_letter_rows integer, dedup_rows integer,
--   failure_group_rows integer, lock_rows integer, key_rate_rows integer,
--   fair_turn_rows integer, service_park_rows integer, quota_rows integer,
--   quota_use_rows integer, gate_rows integer, limit_setting_rows integer,
--   schedule_rows integer, api_token_rows integer,
--   operation_rows integer, operation_item_rows integer,
--   saved_view_rows integer
SELECT
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_job WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS job_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_ready WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS ready_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_scheduled WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS scheduled_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_blocked WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS blocked_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_idempotency WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS idempotency_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_dead_letter WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS dead_letter_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_dedup WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS dedup_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_failure_group WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS failure_group_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_lock WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS lock_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_key_rate WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS key_rate_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_fair_turn WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS fair_turn_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_service_park WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS service_park_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_quota WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS quota_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_quota_use WHERE tenant = :tenant LIMIT :max
        ) AS own
    ) AS quota_use_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_gate WHERE name = :tenant LIMIT :max
        ) AS own
    ) AS gate_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_limit_setting WHERE name = :tenant LIMIT :max
        ) AS own
    ) AS limit_setting_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_schedule WHERE tenant = :name LIMIT :max
        ) AS own
    ) AS schedule_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_api_token WHERE tenant = :name LIMIT :max
        ) AS own
    ) AS api_token_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM millrace_operation
            WHERE tenant = :name
               OR plan ->> '$.jobs.tenant' = :name
               OR plan ->> '$.deadLetters.tenant' = :name
            LIMIT :max
        ) AS own
    ) AS operation_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM millrace_operation AS held
            JOIN millrace_operation_item AS item ON item.operation = held.id
            WHERE held.tenant = :name
               OR held.plan ->> '$.jobs.tenant' = :name
               OR held.plan ->> '$.deadLetters.tenant' = :name
            LIMIT :max
        ) AS own
    ) AS operation_item_rows,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM millrace_saved_view WHERE tenant = :name LIMIT :max
        ) AS own
    ) AS saved_view_rows;
