-- apart: the functions `hold_spent_keys` and `take_key_tokens` do in one call what SQLite does key
-- by key.

-- name: all_key_rates
-- The rates of keys, with the number of jobs that wait for each key, among so many. The collation
-- is that of the index of `blocked`: otherwise each key is compared with all jobs.
-- returns: tenant integer, name text, rate_count integer, rate_ms bigint, burst integer,
--   tokens double precision, refilled_at bigint, by text?, set_at bigint, waiting bigint,
--   now bigint
SELECT rate.tenant, rate.name, rate.rate_count, rate.rate_ms, rate.burst, rate.tokens,
       millrace.ms_of(rate.refilled_at) AS refilled_at, rate.by,
       millrace.ms_of(rate.set_at) AS set_at,
       (
           SELECT count(*)
           FROM (
               SELECT 1
               FROM millrace.blocked AS blocked
               WHERE blocked.gate = -1
                 AND blocked.tenant = rate.tenant
                 AND blocked.concurrency = rate.name COLLATE "default"
               LIMIT :waiting::bigint
           ) AS few
       ) AS waiting,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now
FROM millrace.key_rate AS rate
ORDER BY rate.tenant, rate.name;

-- name: find_key_rate
-- The same for one key.
-- returns: tenant integer, name text, rate_count integer, rate_ms bigint, burst integer,
--   tokens double precision, refilled_at bigint, by text?, set_at bigint, waiting bigint,
--   now bigint
SELECT rate.tenant, rate.name, rate.rate_count, rate.rate_ms, rate.burst, rate.tokens,
       millrace.ms_of(rate.refilled_at) AS refilled_at, rate.by,
       millrace.ms_of(rate.set_at) AS set_at,
       (
           SELECT count(*)
           FROM (
               SELECT 1
               FROM millrace.blocked AS blocked
               WHERE blocked.gate = -1
                 AND blocked.tenant = rate.tenant
                 AND blocked.concurrency = rate.name COLLATE "default"
               LIMIT :waiting::bigint
           ) AS few
       ) AS waiting,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now
FROM millrace.key_rate AS rate
WHERE rate.tenant = :tenant::integer
  AND rate.name = :name::text;

-- name: count_key_rates
-- How many keys have a rate.
-- returns: rates bigint
SELECT count(*) AS rates FROM millrace.key_rate;

-- name: lock_key_rate
-- The rate of a key, which is locked.
-- returns: rate_count integer, rate_ms bigint, burst integer
SELECT rate_count, rate_ms, burst
FROM millrace.key_rate
WHERE tenant = :tenant::integer
  AND name = :name::text
FOR UPDATE;

-- name: put_key_rate
-- Sets the rate of a key. It begins with all its tokens, unless the same rate was set before.
INSERT INTO millrace.key_rate AS known (
    tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at
)
SELECT :tenant::integer, :name::text, :rate_count::integer, :rate_ms::bigint, :burst::integer,
       :burst::integer, moment.at, :by::text, moment.at
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT (tenant, name) DO UPDATE
SET tokens = CASE
        WHEN (known.rate_count, known.rate_ms, known.burst)
                = (excluded.rate_count, excluded.rate_ms, excluded.burst)
            THEN known.tokens
        ELSE excluded.tokens
    END,
    refilled_at = CASE
        WHEN (known.rate_count, known.rate_ms, known.burst)
                = (excluded.rate_count, excluded.rate_ms, excluded.burst)
            THEN known.refilled_at
        ELSE excluded.refilled_at
    END,
    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,
    held_until = NULL, by = excluded.by, set_at = excluded.set_at;

-- name: delete_key_rate
-- Removes the rate of a key.
DELETE FROM millrace.key_rate
WHERE tenant = :tenant::integer
  AND name = :name::text;

-- name: free_spent_key
-- Releases the lock of a key, unless a run is the holder. Returns how many locks.
-- returns: count bigint, done text?
WITH own AS MATERIALIZED (
    SELECT lock.tenant, lock.name
    FROM millrace.lock AS lock
    WHERE lock.tenant = :tenant::integer
      AND lock.name = :name::text
      AND lock.job = 0
    FOR UPDATE
)
SELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done
FROM own;

-- name: free_refilled_keys
-- Releases the locks of keys that had no token and have one now, also where the clock was ahead and
-- went back. Returns how many locks.
-- returns: count bigint, done text?
WITH due AS MATERIALIZED (
    SELECT rate.tenant, rate.name
    FROM millrace.key_rate AS rate
    WHERE rate.held_until IS NOT NULL
      AND millrace.is_refilled(rate, millrace.clock_at(:now::timestamptz))
    ORDER BY rate.tenant, rate.name
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
),
cleared AS (
    UPDATE millrace.key_rate AS rate
    SET held_until = NULL
    FROM due
    WHERE rate.tenant = due.tenant AND rate.name = due.name
),
own AS MATERIALIZED (
    SELECT lock.tenant, lock.name
    FROM due
    JOIN millrace.lock AS lock ON lock.tenant = due.tenant AND lock.name = due.name
    WHERE lock.job = 0
    ORDER BY lock.tenant, lock.name
    FOR UPDATE OF lock
)
SELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done
FROM own;
