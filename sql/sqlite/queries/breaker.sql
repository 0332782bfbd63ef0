-- apart: PostgreSQL locks the breakers of a whole batch, SQLite goes service by service.

-- name: find_breaker
-- The breaker of a service, if calls or an operator have changed it before.
-- returns: state integer, failure_count integer, success_count integer, last_failure_at integer?,
--   opened_at integer?, half_opened_at integer?, probe_at integer?, probe_key integer?,
--   probe_n integer?, reason text?, by text?
SELECT state, failure_count, success_count, last_failure_at, opened_at, half_opened_at, probe_at,
       probe_key, probe_n, reason, by
FROM millrace_breaker
WHERE service = :service;

-- name: put_breaker
-- Stores the state of a breaker.
INSERT INTO millrace_breaker (
    service, state, failure_count, success_count, last_failure_at, opened_at, half_opened_at,
    updated_at, probe_at, probe_key, probe_n, reason, by
)
VALUES (
    :service, :state, :failure_count, :success_count, :last_failure_at, :opened_at,
    :half_opened_at, :now, :probe_at, :probe_key, :probe_n, :reason, :by
)
ON CONFLICT (service) DO UPDATE
SET state = :state, failure_count = :failure_count, success_count = :success_count,
    last_failure_at = :last_failure_at, opened_at = :opened_at, half_opened_at = :half_opened_at,
    updated_at = :now, probe_at = :probe_at, probe_key = :probe_key, probe_n = :probe_n,
    reason = :reason, by = :by;

-- name: insert_breaker_change
-- Stores that a breaker has changed its state.
INSERT INTO millrace_breaker_change (service, n, at, state, failure_count, reason, by)
SELECT :service, coalesce(max(n), 0) + 1, :now, :state, :failure_count, :reason, :by
FROM millrace_breaker_change
WHERE service = :service;

-- name: run_has_ended
-- Whether a run is over: the ledger has its end, or the job is gone.
-- only: sqlite, because PostgreSQL asks for the runs of a whole batch.
-- returns: ended boolean
SELECT EXISTS (SELECT 1 FROM millrace_attempt WHERE key = :key AND n = :n)
           OR NOT EXISTS (SELECT 1 FROM millrace_job WHERE key = :key) AS ended;

-- name: paused_until
-- Until when a service is paused by an operator. No row: it is not.
-- returns: until integer?, reason text
SELECT until, reason
FROM millrace_gate
WHERE name = :service
  AND (until IS NULL OR until > :now);

-- name: parked_until
-- Until when a service has asked for a pause, for all tenants or for one of them.
-- returns: until integer?
SELECT max(until) AS until
FROM millrace_service_park
WHERE service = :service
  AND (tenant IS NULL OR tenant = :tenant)
  AND until > :now
  AND asked_at <= :now;

-- name: put_park
-- A service has asked for a pause. The latest end counts, unless the clock was ahead and went back.
INSERT INTO millrace_service_park (gate, service, tenant, asked_at, until, reason)
VALUES (:gate, :service, :tenant, :now, :until, :reason)
ON CONFLICT (gate) DO UPDATE
SET reason = CASE WHEN :until > until OR asked_at > :now THEN :reason ELSE reason END,
    until = CASE WHEN :until > until OR asked_at > :now THEN :until ELSE until END,
    asked_at = :now;

-- name: end_parks
-- Ends the pauses that a service has asked for. `release` moves their jobs back.
UPDATE millrace_service_park
SET until = :now
WHERE service = :service
  AND until > :now;

-- name: sent_back_keys
-- Scheduled jobs, among so many that are due first, whose last run ended with an error of a
-- service.
-- only: sqlite, because one statement of PostgreSQL makes these jobs due.
-- returns: key integer
SELECT waiting.key
FROM (
    SELECT key, n FROM millrace_scheduled WHERE run_at > :now ORDER BY run_at, key LIMIT :depth
) AS waiting
CROSS JOIN millrace_attempt AS last ON last.key = waiting.key AND last.n = waiting.n - 1
WHERE last.error ->> '$.service' = :service
LIMIT :limit;

-- name: mark_opened
-- The gate of a service has opened: `release` moves its jobs back, and removes the row.
INSERT INTO millrace_service_park (gate, service, tenant, asked_at, until, reason)
VALUES (:service, :service, NULL, :now, :now, '')
ON CONFLICT DO NOTHING;

-- name: any_park_ahead
-- Whether a service has asked for a pause while the clock was ahead.
-- only: sqlite, because `promote` of PostgreSQL ends such pauses.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_service_park
WHERE asked_at > :now
LIMIT 1;

-- name: end_parks_ahead
-- Ends the pauses that services have asked for while the clock was ahead.
-- only: sqlite, because `promote` of PostgreSQL ends such pauses.
UPDATE millrace_service_park
SET asked_at = :now, until = :now
WHERE asked_at > :now;

-- name: delete_park
-- Removes an expired pause that has no jobs behind it.
DELETE FROM millrace_service_park
WHERE gate = :gate;

-- name: due_breakers
-- The services whose probe may begin: nothing but their breaker holds their jobs back.
-- returns: service integer
SELECT breaker.service
FROM millrace_breaker AS breaker
WHERE breaker.state <> 1
  AND (
      breaker.probe_at <= :now
      -- As in probeAt: the clock was ahead and went back.
      OR (breaker.probe_at IS NOT NULL AND breaker.opened_at > :now)
      OR EXISTS (
          SELECT 1
          FROM millrace_attempt AS ended
          WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n
      )
      OR (breaker.state = 3 AND NOT EXISTS (
          SELECT 1 FROM millrace_job AS job WHERE job.key = breaker.probe_key
      ))
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_gate AS gate
      WHERE gate.name = breaker.service AND (gate.until IS NULL OR gate.until > :now)
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_service_park AS park
      WHERE park.gate = breaker.service AND park.until > :now
  )
ORDER BY breaker.service;

-- name: probe_types
-- The types that use a due service, and no service that is closed and not due, and whose limit is
-- not used up.
-- returns: type integer
SELECT DISTINCT uses.type
FROM json_each(:due) AS due
CROSS JOIN millrace_service_use AS uses ON uses.service = due.value
WHERE (:types IS NULL OR uses.type IN (SELECT value FROM json_each(:types)))
  AND uses.type NOT IN (SELECT value FROM json_each(:full))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_barrier AS barrier
      WHERE barrier.target = uses.type
        AND (barrier.until IS NULL OR barrier.until > :now)
        AND barrier.gate NOT IN (SELECT value FROM json_each(:due))
  )
ORDER BY uses.type;

-- name: service_probe_in_blocked
-- The most urgent job of these types behind the gate of a due service that nothing else blocks, and
-- whose key has a token. The limits of the tenants in `full` are used up.
-- returns: key integer, priority integer, rank integer, type integer, tenant integer,
--   concurrency text?
SELECT key, priority, rank, type, tenant, concurrency
FROM millrace_blocked
WHERE gate IN (SELECT value FROM json_each(:due))
  AND type IN (SELECT value FROM json_each(:types))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
  AND (:tenants IS NULL OR tenant IN (SELECT value FROM json_each(:tenants)))
  AND crashes < :cap
  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now)
  AND tenant NOT IN (SELECT value FROM json_each(:full))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_lock AS lock
      WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_key_rate AS rate
      WHERE rate.tenant = millrace_blocked.tenant
        AND rate.name = millrace_blocked.concurrency
        -- As in tokensAt.
        AND (rate.refilled_at - :now) * rate.rate_count <= rate.burst * rate.rate_ms
        AND rate.tokens
            + max(0, :now - rate.refilled_at) * 1.0 * rate.rate_count / rate.rate_ms < 1
  )
ORDER BY priority, rank, key
LIMIT 1;

-- name: service_probe_in_ready
-- The same in a part of one lane. Only the front is scanned: `hold` moves jobs from there behind
-- the gate.
-- returns: key integer, priority integer, rank integer, type integer, tenant integer,
--   concurrency text?
SELECT front.key, front.priority, front.rank, front.type, front.tenant, front.concurrency
FROM (
    SELECT key, lane, priority, rank, type, tenant, concurrency
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = :crashes
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
WHERE front.type IN (SELECT value FROM json_each(:types))
  AND (:tenants IS NULL OR front.tenant IN (SELECT value FROM json_each(:tenants)))
  AND front.lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND front.tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND (front.tenant, front.type) NOT IN (
      SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now
  )
  AND front.tenant NOT IN (SELECT value FROM json_each(:full))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_lock AS lock
      WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_key_rate AS rate
      WHERE rate.tenant = front.tenant
        AND rate.name = front.concurrency
        -- As in tokensAt.
        AND (rate.refilled_at - :now) * rate.rate_count <= rate.burst * rate.rate_ms
        AND rate.tokens
            + max(0, :now - rate.refilled_at) * 1.0 * rate.rate_count / rate.rate_ms < 1
  )
ORDER BY front.priority, front.rank, front.key
LIMIT 1;

-- name: services_of_type
-- The services that a type uses.
-- returns: service integer
SELECT service
FROM millrace_service_use
WHERE type = :type
ORDER BY service;

-- name: list_breakers
-- All services that types use or whose breaker was ever changed, with the types; and the clock.
-- returns: service integer, now integer, types text, updated_at integer?, probe_id blob?,
--   state integer?, failure_count integer?, success_count integer?, last_failure_at integer?,
--   opened_at integer?, half_opened_at integer?, probe_at integer?, probe_n integer?,
--   reason text?, by text?
SELECT known.service, :now AS now,
       (
           SELECT json_group_array(name.text ORDER BY name.text)
           FROM millrace_service_use AS uses
           JOIN millrace_interned_name AS name ON name.id = uses.type
           WHERE uses.service = known.service
       ) AS types,
       breaker.updated_at, (SELECT id FROM millrace_job WHERE key = breaker.probe_key) AS probe_id,
       breaker.state, breaker.failure_count, breaker.success_count, breaker.last_failure_at,
       breaker.opened_at, breaker.half_opened_at, breaker.probe_at, breaker.probe_n,
       breaker.reason, breaker.by
FROM (
    SELECT service FROM millrace_breaker
    UNION
    SELECT service FROM millrace_service_use
    UNION
    SELECT service FROM millrace_service_park WHERE until > :now
) AS known
JOIN millrace_interned_name AS name ON name.id = known.service
LEFT JOIN millrace_breaker AS breaker ON breaker.service = known.service
ORDER BY name.text
LIMIT :limit;

-- name: list_parks
-- The pauses that services have asked for, the first to end first.
-- returns: service integer, tenant integer?, until integer, reason text
SELECT service, tenant, until, reason
FROM millrace_service_park
WHERE until > :now
  AND asked_at <= :now
ORDER BY until, gate
LIMIT :limit;

-- name: list_breaker_changes
-- What has happened to the breaker of a service, newest first.
-- returns: at integer, state integer, failure_count integer, reason text?, by text?
SELECT at, state, failure_count, reason, by
FROM millrace_breaker_change
WHERE service = :service
ORDER BY n DESC
LIMIT :limit;

-- name: delete_breaker_changes
-- Removes changes of breakers past their retention.
DELETE FROM millrace_breaker_change
WHERE (service, n) IN (
    SELECT service, n FROM millrace_breaker_change WHERE at <= :before LIMIT :limit
);
