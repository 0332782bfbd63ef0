-- apart: the functions `hold_spent_keys` and `take_key_tokens` of PostgreSQL do in one call what
-- SQLite does key by key.

-- row KeyRateRow: tenant integer, name text, rate_count integer, rate_ms integer, burst integer,
--   tokens real, refilled_at integer, by text?, set_at integer

-- name: any_key_rate
-- Whether a key has a rate.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_key_rate
LIMIT 1;

-- name: all_key_rates
-- The rates of keys, with the number of jobs that wait for each key, among so many.
-- returns: tenant integer, name text, rate_count integer, rate_ms integer, burst integer,
--   tokens real, refilled_at integer, by text?, set_at integer, waiting integer
SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at,
       (
           SELECT count(*)
           FROM (
               SELECT 1
               FROM millrace_blocked AS blocked
               WHERE blocked.gate = -1
                 AND blocked.tenant = rate.tenant
                 AND blocked.concurrency = rate.name
               LIMIT :waiting
           )
       ) AS waiting
FROM millrace_key_rate AS rate
ORDER BY tenant, name;

-- name: find_key_rate
-- The same for one key.
-- returns: tenant integer, name text, rate_count integer, rate_ms integer, burst integer,
--   tokens real, refilled_at integer, by text?, set_at integer, waiting integer
SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at,
       (
           SELECT count(*)
           FROM (
               SELECT 1
               FROM millrace_blocked AS blocked
               WHERE blocked.gate = -1
                 AND blocked.tenant = rate.tenant
                 AND blocked.concurrency = rate.name
               LIMIT :waiting
           )
       ) AS waiting
FROM millrace_key_rate AS rate
WHERE tenant = :tenant
  AND name = :name;

-- name: count_key_rates
-- How many keys have a rate.
-- returns: rates integer
SELECT count(*) AS rates FROM millrace_key_rate;

-- name: key_rate
-- The rate of a key.
-- returns: KeyRateRow
SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at
FROM millrace_key_rate
WHERE tenant = :tenant
  AND name = :name;

-- name: put_key_rate
-- Sets the rate of a key. It begins with all its tokens, unless the same rate was set before.
INSERT INTO millrace_key_rate (
    tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at
)
VALUES (:tenant, :name, :rate_count, :rate_ms, :burst, :burst, :now, :by, :now)
ON CONFLICT (tenant, name) DO UPDATE
SET tokens = CASE
        WHEN (rate_count, rate_ms, burst) IS (:rate_count, :rate_ms, :burst) THEN tokens
        ELSE excluded.tokens
    END,
    refilled_at = CASE
        WHEN (rate_count, rate_ms, burst) IS (:rate_count, :rate_ms, :burst) THEN refilled_at
        ELSE excluded.refilled_at
    END,
    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,
    held_until = NULL, by = excluded.by, set_at = excluded.set_at;

-- name: delete_key_rate
-- Removes the rate of a key.
DELETE FROM millrace_key_rate
WHERE tenant = :tenant
  AND name = :name;

-- name: take_key_token
-- Stores the tokens of a key that are left.
UPDATE millrace_key_rate
SET tokens = :tokens, refilled_at = :now
WHERE tenant = :tenant
  AND name = :name;

-- name: hold_key
-- A key has no token before this time.
UPDATE millrace_key_rate
SET held_until = :until
WHERE tenant = :tenant
  AND name = :name;

-- name: lock_spent_key
-- The lock of a key without a token, of which no run is the holder.
INSERT INTO millrace_lock (tenant, name, job, n)
VALUES (:tenant, :name, 0, 1)
ON CONFLICT (tenant, name) DO NOTHING;

-- name: free_spent_key
-- Releases the lock of a key, unless a run is the holder.
-- returns: LockRow
DELETE FROM millrace_lock
WHERE tenant = :tenant
  AND name = :name
  AND job = 0
RETURNING tenant, name;

-- name: refilled_keys
-- Keys that had no token, and have one now. No wait is longer than one token takes, so a longer one
-- began while the clock was ahead, which went back.
-- returns: LockRow
SELECT tenant, name
FROM millrace_key_rate
WHERE held_until IS NOT NULL
  AND (held_until <= :now OR (held_until - :now - 1) * rate_count >= rate_ms)
ORDER BY held_until
LIMIT :limit;

-- name: next_refill
-- When the next key has a token that has none.
-- returns: held_until integer?
SELECT min(held_until) AS held_until
FROM millrace_key_rate
WHERE held_until > :now;
