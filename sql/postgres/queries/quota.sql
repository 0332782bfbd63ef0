-- Quotas of tenants. 0 stands for all tenants without a quota of their own.

-- row QuotaRow: tenant integer, waiting bigint?, rate_count integer?, rate_ms bigint?,
--   burst integer?, payload_bytes integer?, reason text, by text?, set_at bigint, revision bigint

-- name: put_quota
-- Sets a quota in place of the one before.
INSERT INTO millrace.quota (
    tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at
)
SELECT :tenant::integer, :waiting::bigint, :rate_count::integer, :rate_ms::bigint, :burst::integer,
       :payload_bytes::integer, :reason::text, :by::text, millrace.clock_at(:now::timestamptz)
ON CONFLICT (tenant) DO UPDATE
SET waiting = excluded.waiting, rate_count = excluded.rate_count, rate_ms = excluded.rate_ms,
    burst = excluded.burst, payload_bytes = excluded.payload_bytes, reason = excluded.reason,
    by = excluded.by, set_at = excluded.set_at, revision = excluded.revision;

-- name: delete_quota
-- Removes a quota.
DELETE FROM millrace.quota
WHERE tenant = :tenant::integer;

-- name: delete_quota_use
-- Forgets the tokens of a tenant, or of all tenants (0).
DELETE FROM millrace.quota_use
WHERE :tenant::integer = 0 OR tenant = :tenant::integer;

-- name: all_quotas
-- The quotas, in the order of their tenants.
-- returns: QuotaRow
SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by,
       millrace.ms_of(set_at) AS set_at, revision
FROM millrace.quota
ORDER BY tenant
LIMIT :limit::integer;

-- name: find_quotas
-- The quotas of these tenants, and the quota of all others.
-- returns: QuotaRow
SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by,
       millrace.ms_of(set_at) AS set_at, revision
FROM millrace.quota
WHERE tenant = ANY (:tenants::integer[]);

-- name: quota_uses
-- What is left of the rates of these tenants.
-- returns: tenant integer, tokens double precision, refilled_at bigint
SELECT tenant, tokens, millrace.ms_of(refilled_at) AS refilled_at
FROM millrace.quota_use
WHERE tenant = ANY (:tenants::integer[]);

-- name: take_quota_tokens
-- only: postgres. On SQLite, the transaction of the enqueue reads and writes the row.
-- Takes whole tokens of the rate of a tenant. Returns how many, and what is left.
-- returns: granted integer, tokens double precision, at bigint
SELECT granted, tokens, at
FROM millrace.take_quota_tokens(
    :tenant::integer, :wanted::integer, :rate_count::integer, :rate_ms::bigint, :burst::integer,
    :now::timestamptz
);

-- name: count_of_tenant
-- The waiting jobs of a tenant: up to `max`, among so many rows of each place.
-- returns: count bigint
-- timeout: reader
SELECT (
    SELECT count(*)
    FROM (
        SELECT 1
        FROM (SELECT tenant FROM millrace.ready LIMIT :rows::bigint) AS place
        WHERE tenant = :tenant::integer
        LIMIT :max::bigint
    ) AS own
) + (
    SELECT count(*)
    FROM (
        SELECT 1
        FROM (SELECT tenant FROM millrace.scheduled LIMIT :rows::bigint) AS place
        WHERE tenant = :tenant::integer
        LIMIT :max::bigint
    ) AS own
) + (
    SELECT count(*)
    FROM (
        SELECT 1
        FROM (SELECT tenant FROM millrace.blocked LIMIT :rows::bigint) AS place
        WHERE tenant = :tenant::integer
        LIMIT :max::bigint
    ) AS own
) AS count;
