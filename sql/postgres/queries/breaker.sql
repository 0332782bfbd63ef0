-- apart: PostgreSQL locks the breakers of a whole batch, SQLite goes service by service.

-- name: find_breakers
-- The breakers of services, whether the run of each probe is over, and until when an operator has
-- paused each service or it has asked for a pause, also for some tenants alone; and the clock. A
-- service whose breaker was never changed is closed.
-- returns: service integer, now bigint, ended boolean, is_paused boolean, paused_until bigint?,
--   pause_reason text?, parks json, state smallint, failure_count integer,
--   success_count bigint, last_failure_at bigint?, opened_at bigint?, half_opened_at bigint?,
--   probe_at bigint?, probe_key bigint?, probe_n integer?, reason text?, by text?
SELECT named.service, millrace.ms_of(moment.at) AS now,
       EXISTS (
           SELECT 1
           FROM millrace.attempt AS ended
           WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n
       ) OR (breaker.state = 3 AND NOT EXISTS (
           SELECT 1 FROM millrace.job AS job WHERE job.key = breaker.probe_key
       )) IS TRUE AS ended,
       gate.name IS NOT NULL AS is_paused, millrace.ms_of(gate.until) AS paused_until,
       gate.reason AS pause_reason,
       (
           SELECT coalesce(
               json_agg(json_build_array(park.tenant, millrace.ms_of(park.until))), '[]'
           )
           FROM millrace.service_park AS park
           WHERE park.service = named.service
             AND park.until > moment.at
             AND park.asked_at <= moment.at
       ) AS parks,
       coalesce(breaker.state, 1::smallint) AS state,
       coalesce(breaker.failure_count, 0) AS failure_count,
       coalesce(breaker.success_count, 0) AS success_count,
       millrace.ms_of(breaker.last_failure_at) AS last_failure_at,
       millrace.ms_of(breaker.opened_at) AS opened_at,
       millrace.ms_of(breaker.half_opened_at) AS half_opened_at,
       millrace.ms_of(breaker.probe_at) AS probe_at, breaker.probe_key, breaker.probe_n,
       breaker.reason, breaker.by
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN unnest(:services::integer[]) AS named (service)
LEFT JOIN millrace.breaker AS breaker ON breaker.service = named.service
LEFT JOIN millrace.gate AS gate
    ON gate.name = named.service AND (gate.until IS NULL OR gate.until > moment.at);

-- name: ended_runs
-- The runs that are over: the ledger has their end, or the job is gone.
-- only: postgres, because SQLite asks run by run.
-- returns: key bigint, n integer
SELECT asked.key, asked.n
FROM unnest(:keys::bigint[], :ns::integer[]) AS asked (key, n)
WHERE EXISTS (
          SELECT 1
          FROM millrace.attempt AS ended
          WHERE ended.key = asked.key AND ended.n = asked.n
      )
   OR NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = asked.key);

-- name: insert_breakers
-- Makes sure that services have a breaker, in one order for all callers.
INSERT INTO millrace.breaker (service, state, failure_count, success_count, updated_at)
SELECT named.service, 1, 0, 0, millrace.clock_at(:now::timestamptz)
FROM unnest(:services::integer[]) AS named (service)
ORDER BY named.service
ON CONFLICT DO NOTHING;

-- name: lock_breakers
-- Locks the breakers of services, in one order for all callers. A later statement reads them.
-- returns: service integer
SELECT service
FROM millrace.breaker
WHERE service = ANY (:services::integer[])
ORDER BY service
FOR UPDATE;

-- name: keep_breakers
-- Keeps the breakers of services from changing until the commit, in one order for all callers. A
-- later statement reads them.
-- only: postgres, because SQLite has one writer.
-- returns: service integer
SELECT breaker.service
FROM millrace.interned_name AS name
JOIN millrace.breaker AS breaker ON breaker.service = name.id
WHERE name.kind = 5
  AND name.text = ANY (:services::text[])
ORDER BY breaker.service
FOR SHARE OF breaker;

-- name: jobs_of_open_services
-- The jobs whose service is open to them: its breaker is closed, and neither an operator nor the
-- service itself has paused it.
-- only: postgres, because SQLite asks job by job.
-- returns: key bigint
SELECT asked.key
FROM unnest(:keys::bigint[], :services::text[]) AS asked (key, service)
JOIN millrace.job AS job ON job.key = asked.key
LEFT JOIN millrace.interned_name AS name ON name.kind = 5 AND name.text = asked.service
CROSS JOIN (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
WHERE NOT EXISTS (
          SELECT 1
          FROM millrace.breaker AS breaker
          WHERE breaker.service = name.id AND breaker.state <> 1
      )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.gate AS gate
      WHERE gate.name = name.id AND (gate.until IS NULL OR gate.until > moment.at)
  )
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.service_park AS park
      WHERE park.service = name.id
        AND (park.tenant IS NULL OR park.tenant = job.tenant)
        AND park.until > moment.at
        AND park.asked_at <= moment.at
  );

-- name: put_breakers
-- Stores the states of locked breakers.
UPDATE millrace.breaker AS breaker
SET state = given.state, failure_count = given.failure_count, success_count = given.success_count,
    last_failure_at = millrace.at_ms(given.last_failure_at),
    opened_at = millrace.at_ms(given.opened_at),
    half_opened_at = millrace.at_ms(given.half_opened_at),
    probe_at = millrace.at_ms(given.probe_at), probe_key = given.probe_key,
    probe_n = given.probe_n, reason = given.reason, by = given.by,
    updated_at = millrace.clock_at(:now::timestamptz)
FROM json_to_recordset(:breakers::json) AS given (
    service integer, state smallint, failure_count integer, success_count bigint,
    last_failure_at bigint, opened_at bigint, half_opened_at bigint, probe_at bigint,
    probe_key bigint, probe_n integer, reason text, by text
)
WHERE breaker.service = given.service;

-- name: insert_breaker_changes
-- Stores that locked breakers have changed their states.
INSERT INTO millrace.breaker_change (service, n, at, state, failure_count, reason, by)
SELECT given.service,
       (
           SELECT coalesce(max(n), 0) + 1
           FROM millrace.breaker_change AS known
           WHERE known.service = given.service
       ),
       millrace.clock_at(:now::timestamptz), given.state, given.failure_count, given.reason,
       given.by
FROM json_to_recordset(:changes::json) AS given (
    service integer, state smallint, failure_count integer, reason text, by text
);

-- name: put_parks
-- Services have asked for a pause. The latest end counts, unless the clock was ahead and went back.
INSERT INTO millrace.service_park AS known (gate, service, tenant, asked_at, until, reason)
SELECT given.gate, given.service, given.tenant, millrace.clock_at(:now::timestamptz),
       millrace.at_ms(given.until), given.reason
FROM json_to_recordset(:parks::json) AS given (
    gate integer, service integer, tenant integer, until bigint, reason text
)
ORDER BY given.gate
ON CONFLICT (gate) DO UPDATE
SET reason = CASE
        WHEN excluded.until > known.until OR known.asked_at > excluded.asked_at
            THEN excluded.reason
        ELSE known.reason
    END,
    until = CASE
        WHEN known.asked_at > excluded.asked_at THEN excluded.until
        ELSE greatest(known.until, excluded.until)
    END,
    asked_at = excluded.asked_at;

-- name: delete_parks
-- Ends the pauses that a service has asked for.
DELETE FROM millrace.service_park
WHERE service = :service::integer;

-- name: hurry_sent_back
-- Makes scheduled jobs due now, among so many that are due first, whose last run ended with an
-- error of a service.
-- only: postgres, because SQLite goes job by job.
WITH waiting AS MATERIALIZED (
    SELECT key, n
    FROM millrace.scheduled
    WHERE run_at > millrace.clock_at(:now::timestamptz)
    ORDER BY run_at, key
    LIMIT :depth::integer
),
sent_back AS MATERIALIZED (
    SELECT waiting.key
    FROM waiting
    JOIN millrace.attempt AS last ON last.key = waiting.key AND last.n = waiting.n - 1
    WHERE last.error ->> 'service' = :service::text
    LIMIT :limit::integer
),
locked AS MATERIALIZED (
    SELECT scheduled.key
    FROM millrace.scheduled AS scheduled
    WHERE scheduled.key = ANY (ARRAY(SELECT key FROM sent_back))
    ORDER BY scheduled.key
    FOR UPDATE SKIP LOCKED
),
taken AS (
    DELETE FROM millrace.scheduled AS scheduled
    WHERE scheduled.key = ANY (ARRAY(SELECT key FROM locked))
    RETURNING scheduled.*
)
INSERT INTO millrace.ready (
    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT key, millrace.ms_of(millrace.clock_at(:now::timestamptz)) * 1000, lane, priority, type,
       tenant, n, tries, crashes, concurrency
FROM taken;

-- name: claim_probe
-- Takes a job as the probe of services whose breaker is due. The rows are those of `claim`; in the
-- first one `kind` has the ids of the services.
-- returns tuples: ClaimTuple
SELECT *
FROM millrace.claim_probe(
    :worker::uuid, :secret::text, :lanes::integer[], :types::integer[], :tenants::integer[],
    :cap::integer, :lent::integer[], :lent_counts::integer[], :now::timestamptz
);

-- name: list_breakers
-- All services that types use or whose breaker was ever changed, with the types; and the clock.
-- returns: service integer, now bigint, types json, updated_at bigint?, probe_id uuid?,
--   state smallint?, failure_count integer?, success_count bigint?, last_failure_at bigint?,
--   opened_at bigint?, half_opened_at bigint?, probe_at bigint?, probe_n integer?, reason text?,
--   by text?
SELECT known.service, millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now,
       (
           SELECT coalesce(json_agg(name.text ORDER BY name.text COLLATE "C"), '[]')
           FROM millrace.service_use AS uses
           JOIN millrace.interned_name AS name ON name.id = uses.type
           WHERE uses.service = known.service
       ) AS types,
       millrace.ms_of(breaker.updated_at) AS updated_at,
       (SELECT id FROM millrace.job WHERE key = breaker.probe_key) AS probe_id, breaker.state,
       breaker.failure_count, breaker.success_count,
       millrace.ms_of(breaker.last_failure_at) AS last_failure_at,
       millrace.ms_of(breaker.opened_at) AS opened_at,
       millrace.ms_of(breaker.half_opened_at) AS half_opened_at,
       millrace.ms_of(breaker.probe_at) AS probe_at, breaker.probe_n, breaker.reason, breaker.by
FROM (
    SELECT service FROM millrace.breaker
    UNION
    SELECT service FROM millrace.service_use
    UNION
    SELECT service
    FROM millrace.service_park
    WHERE until > millrace.clock_at(:now::timestamptz)
) AS known
JOIN millrace.interned_name AS name ON name.id = known.service
LEFT JOIN millrace.breaker AS breaker ON breaker.service = known.service
ORDER BY name.text COLLATE "C"
LIMIT :limit::bigint;

-- name: list_parks
-- The pauses that services have asked for, the first to end first.
-- returns: service integer, tenant integer?, until bigint, reason text
SELECT service, tenant, millrace.ms_of(until) AS until, reason
FROM millrace.service_park
WHERE until > millrace.clock_at(:now::timestamptz)
  AND asked_at <= millrace.clock_at(:now::timestamptz)
ORDER BY until, gate
LIMIT :limit::bigint;

-- name: list_breaker_changes
-- What has happened to the breaker of a service, newest first.
-- returns: at bigint, state smallint, failure_count integer, reason text?, by text?
SELECT millrace.ms_of(at) AS at, state, failure_count, reason, by
FROM millrace.breaker_change
WHERE service = :service::integer
ORDER BY n DESC
LIMIT :limit::bigint;

-- name: delete_breaker_changes
-- Removes changes of breakers past their retention.
DELETE FROM millrace.breaker_change
WHERE (service, n) IN (
    SELECT service, n
    FROM millrace.breaker_change
    WHERE at <= millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
    LIMIT :limit::integer
);
