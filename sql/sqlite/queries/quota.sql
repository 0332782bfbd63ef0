-- Quotas of tenants. 0 stands for all tenants without a quota of their own.

-- row QuotaRow: tenant integer, waiting integer?, rate_count integer?, rate_ms integer?,
--   burst integer?, payload_bytes integer?, reason text, by text?, set_at integer

-- name: put_quota
-- Sets a quota in place of the one before.
INSERT INTO millrace_quota (
    tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at
)
VALUES (
    :tenant, :waiting, :rate_count, :rate_ms, :burst, :payload_bytes, :reason, :by, :now
)
ON CONFLICT (tenant) DO UPDATE
SET waiting = excluded.waiting, rate_count = excluded.rate_count, rate_ms = excluded.rate_ms,
    burst = excluded.burst, payload_bytes = excluded.payload_bytes, reason = excluded.reason,
    by = excluded.by, set_at = excluded.set_at;

-- name: delete_quota
-- Removes a quota.
DELETE FROM millrace_quota
WHERE tenant = :tenant;

-- name: delete_quota_use
-- Forgets the tokens of a tenant, or of all tenants (0).
DELETE FROM millrace_quota_use
WHERE :tenant = 0 OR tenant = :tenant;

-- name: all_quotas
-- The quotas, in the order of their tenants.
-- returns: QuotaRow
SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at
FROM millrace_quota
ORDER BY tenant
LIMIT :limit;

-- name: find_quotas
-- The quotas of these tenants, and the quota of all others.
-- returns: QuotaRow
SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at
FROM millrace_quota
WHERE tenant IN (SELECT value FROM json_each(:tenants));

-- name: quota_uses
-- What is left of the rates of these tenants.
-- returns: tenant integer, tokens real, refilled_at integer
SELECT tenant, tokens, refilled_at
FROM millrace_quota_use
WHERE tenant IN (SELECT value FROM json_each(:tenants));

-- name: put_quota_use
-- only: sqlite. On PostgreSQL, the function `take_quota_tokens` reads and writes the row.
-- Stores what is left of the rate of a tenant.
INSERT INTO millrace_quota_use (tenant, tokens, refilled_at)
VALUES (:tenant, :tokens, :now)
ON CONFLICT (tenant) DO UPDATE
SET tokens = excluded.tokens, refilled_at = excluded.refilled_at;

-- name: count_of_tenant
-- The waiting jobs of a tenant: up to `max`, among so many rows of each place.
-- returns: count integer
SELECT (
    SELECT count(*)
    FROM (
        SELECT 1 FROM (SELECT tenant FROM millrace_ready LIMIT :rows)
        WHERE tenant = :tenant
        LIMIT :max
    )
) + (
    SELECT count(*)
    FROM (
        SELECT 1 FROM (SELECT tenant FROM millrace_scheduled LIMIT :rows)
        WHERE tenant = :tenant
        LIMIT :max
    )
) + (
    SELECT count(*)
    FROM (
        SELECT 1 FROM (SELECT tenant FROM millrace_blocked LIMIT :rows)
        WHERE tenant = :tenant
        LIMIT :max
    )
) AS count;
