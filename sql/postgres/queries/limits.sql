-- apart: the function `take_permits` does in one call what SQLite does step by step.

-- row LimitRow: id integer, name integer, cap integer?, rate_count integer?, rate_ms bigint?,
--   burst integer?, tokens double precision, refilled_at bigint, used integer, code_rule text?,
--   owner integer, by text?, set_at bigint, now bigint

-- name: all_limits
-- All limits.
-- returns: LimitRow
SELECT id, name, cap, rate_count, rate_ms, burst, tokens,
       millrace.ms_of(refilled_at) AS refilled_at, used, code_rule, owner::integer AS owner, by,
       millrace.ms_of(set_at) AS set_at,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now
FROM millrace.limit_setting
ORDER BY id;

-- name: lock_limit
-- The limit of a type, a tenant, a service or the installation, locked.
-- returns: LimitRow
SELECT id, name, cap, rate_count, rate_ms, burst, tokens,
       millrace.ms_of(refilled_at) AS refilled_at, used, code_rule, owner::integer AS owner, by,
       millrace.ms_of(set_at) AS set_at,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now
FROM millrace.limit_setting
WHERE name = :name::integer
FOR UPDATE;

-- name: count_limits
-- How many limits there are.
-- returns: limits bigint
SELECT count(*) AS limits FROM millrace.limit_setting;

-- name: limit_targets
-- The types and tenants that each limit applies to.
-- returns: limit_id integer, target integer
SELECT limit_id, target
FROM millrace.limit_target
ORDER BY limit_id, target;

-- name: put_limit
-- Sets a limit. A rate begins with all its tokens, unless the same rate was set before.
INSERT INTO millrace.limit_setting AS known (
    name, cap, rate_count, rate_ms, burst, tokens, refilled_at, code_rule, owner, by, set_at
)
SELECT :name::integer, :cap::integer, :rate_count::integer, :rate_ms::bigint, :burst::integer,
       coalesce(:burst::integer, 0), moment.at, :code_rule::text, :owner::smallint, :by::text,
       moment.at
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT (name) DO UPDATE
SET cap = excluded.cap,
    tokens = CASE
        WHEN (known.rate_count, known.rate_ms, known.burst)
                IS NOT DISTINCT FROM (excluded.rate_count, excluded.rate_ms, excluded.burst)
            THEN known.tokens
        ELSE excluded.tokens
    END,
    refilled_at = CASE
        WHEN (known.rate_count, known.rate_ms, known.burst)
                IS NOT DISTINCT FROM (excluded.rate_count, excluded.rate_ms, excluded.burst)
            THEN known.refilled_at
        ELSE excluded.refilled_at
    END,
    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,
    code_rule = excluded.code_rule, owner = excluded.owner, by = excluded.by,
    set_at = excluded.set_at;

-- name: set_code_rule
-- Stores what the code of a type states, beside the limit that an operator has set.
UPDATE millrace.limit_setting
SET code_rule = :code_rule::text
WHERE id = :id::integer;

-- name: delete_limit
-- Removes a limit and its permits. `release` moves the jobs in its queue back to `ready`.
WITH gone AS (
    DELETE FROM millrace.permit
    WHERE limit_id = :id::integer
)
DELETE FROM millrace.limit_setting
WHERE id = :id::integer;

-- name: lock_permits
-- Locks the limits of which a worker returns permits, in their order.
-- returns: id integer
SELECT setting.id
FROM millrace.limit_setting AS setting
WHERE setting.id = ANY (ARRAY(
    SELECT permit.limit_id
    FROM millrace.permit AS permit
    LEFT JOIN unnest(:limits::integer[], :counts::integer[]) AS kept (id, count)
        ON kept.id = permit.limit_id
    WHERE permit.worker = :worker::uuid
      AND permit.held > coalesce(kept.count, 0)
))
ORDER BY setting.id
FOR UPDATE;

-- name: keep_permits
-- Notes that a worker holds these permits at most. The limits are locked. Returns how many permits
-- of limits that were used up are free: claims may have left out jobs for lack of them.
-- returns: freed bigint
WITH own AS MATERIALIZED (
    SELECT permit.limit_id, permit.held,
           greatest(0, least(permit.held, coalesce(kept.count, 0))) AS rest,
           setting.used >= setting.cap AS was_full
    FROM millrace.permit AS permit
    JOIN millrace.limit_setting AS setting ON setting.id = permit.limit_id
    LEFT JOIN unnest(:limits::integer[], :counts::integer[]) AS kept (id, count)
        ON kept.id = permit.limit_id
    WHERE permit.worker = :worker::uuid
),
lowered AS (
    UPDATE millrace.limit_setting AS setting
    SET used = greatest(0, setting.used - (own.held - own.rest))
    FROM own
    WHERE setting.id = own.limit_id
      AND own.rest < own.held
),
gone AS (
    DELETE FROM millrace.permit AS permit
    USING own
    WHERE permit.worker = :worker::uuid
      AND permit.limit_id = own.limit_id
      AND own.rest = 0
),
changed AS (
    UPDATE millrace.permit AS permit
    SET held = own.rest
    FROM own
    WHERE permit.worker = :worker::uuid
      AND permit.limit_id = own.limit_id
      AND own.rest > 0
      AND own.rest < own.held
)
SELECT coalesce(sum(held - rest) FILTER (WHERE was_full), 0)::bigint AS freed FROM own;

-- name: note_permits
-- Notes that a worker holds so many permits more, for the jobs of a claim whose answer was lost.
-- only: postgres, because SQLite notes them limit by limit.
WITH claimer AS MATERIALIZED (
    SELECT id FROM millrace.worker WHERE id = :worker::uuid FOR KEY SHARE
),
given AS MATERIALIZED (
    SELECT setting.id, noted.count
    FROM millrace.limit_setting AS setting
    JOIN unnest(:limits::integer[], :counts::integer[]) AS noted (id, count)
        ON noted.id = setting.id
    WHERE EXISTS (SELECT 1 FROM claimer)
    ORDER BY setting.id
    FOR UPDATE OF setting
),
raised AS (
    UPDATE millrace.limit_setting AS setting
    SET used = setting.used + given.count
    FROM given
    WHERE setting.id = given.id
)
INSERT INTO millrace.permit AS permit (worker, limit_id, held)
SELECT claimer.id, given.id, given.count
FROM given
CROSS JOIN claimer
ON CONFLICT (worker, limit_id) DO UPDATE SET held = permit.held + excluded.held;

-- name: hold_limited
-- Moves due jobs of a limit that is used up from the front of `ready` to the queue of the limit, so
-- that claims need not skip them.
WITH RECURSIVE used_up AS MATERIALIZED (
    SELECT target
    FROM millrace.target_rooms(millrace.clock_at(:now::timestamptz))
    WHERE room = 0
),
lane (id) AS (
    SELECT min(lane)
    FROM millrace.ready
    WHERE crashes = 0
      AND EXISTS (SELECT 1 FROM used_up)
    UNION ALL
    SELECT (
        SELECT min(ready.lane)
        FROM millrace.ready AS ready
        WHERE ready.lane > lane.id AND ready.crashes = 0
    )
    FROM lane
    WHERE lane.id IS NOT NULL
),
front AS MATERIALIZED (
    SELECT front.key, front.type, front.tenant
    FROM lane
    CROSS JOIN LATERAL (
        SELECT ready.key, ready.type, ready.tenant
        FROM millrace.ready AS ready
        WHERE ready.lane = lane.id
          AND ready.crashes = 0
        ORDER BY ready.priority, ready.rank, ready.key
        LIMIT :depth::integer
    ) AS front
),
behind AS MATERIALIZED (
    SELECT front.key
    FROM front
    WHERE EXISTS (SELECT 1 FROM used_up WHERE used_up.target IN (front.type, front.tenant))
    LIMIT :limit::integer
),
locked AS MATERIALIZED (
    SELECT ready.key
    FROM millrace.ready AS ready
    WHERE ready.key = ANY (ARRAY(SELECT key FROM behind))
    ORDER BY ready.key
    FOR UPDATE SKIP LOCKED
),
taken AS (
    DELETE FROM millrace.ready AS ready
    WHERE ready.key = ANY (ARRAY(SELECT key FROM locked))
    RETURNING ready.*
)
INSERT INTO millrace.blocked (
    key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT taken.key, coalesce(taken.due * 1000, taken.rank),
       (
           SELECT -3 - min(used_up.target)
           FROM used_up
           WHERE used_up.target IN (taken.type, taken.tenant)
       ),
       taken.lane, taken.priority, taken.type, taken.tenant, taken.n, taken.tries, taken.crashes,
       taken.concurrency
FROM taken
ON CONFLICT DO NOTHING;

-- name: rehome_limited
-- Moves jobs at the front of each lane of a queue of which no limit is used up behind what else
-- blocks these jobs, which is a closed gate, a taken key or another limit that is used up.
-- Their turns end.
WITH other AS MATERIALIZED (
    SELECT target AS name, NULL::integer AS tenant, gate
    FROM millrace.barrier
    WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
    UNION ALL
    SELECT type, tenant, gate
    FROM millrace.tenant_barrier
    WHERE until > millrace.clock_at(:now::timestamptz)
    UNION ALL
    SELECT target, NULL, -3 - target
    FROM millrace.target_rooms(millrace.clock_at(:now::timestamptz))
    WHERE room = 0
),
front AS MATERIALIZED (
    SELECT front.key, front.lane, front.type, front.tenant, front.concurrency
    FROM millrace.target_rooms(millrace.clock_at(:now::timestamptz)) AS queue
    CROSS JOIN LATERAL (
        WITH RECURSIVE hop (lane) AS (
            SELECT min(lane)
            FROM millrace.blocked
            WHERE gate = -3 - queue.target AND gate < -2
            UNION ALL
            SELECT (
                SELECT min(next.lane)
                FROM millrace.blocked AS next
                WHERE next.gate = -3 - queue.target AND next.gate < -2 AND next.lane > hop.lane
            )
            FROM hop
            WHERE hop.lane IS NOT NULL
        )
        SELECT lane FROM hop WHERE lane IS NOT NULL
    ) AS own
    CROSS JOIN LATERAL (
        SELECT blocked.key, blocked.lane, blocked.type, blocked.tenant, blocked.concurrency
        FROM millrace.blocked AS blocked
        WHERE blocked.gate = -3 - queue.target
          AND blocked.gate < -2
          AND blocked.lane = own.lane
        ORDER BY blocked.priority, blocked.turn_or_rank, blocked.key
        LIMIT :depth::integer
    ) AS front
    WHERE queue.room > 0
      AND (EXISTS (SELECT 1 FROM other) OR EXISTS (SELECT 1 FROM millrace.lock))
),
behind AS MATERIALIZED (
    SELECT blocking.key, max(blocking.gate) AS gate
    FROM (
        SELECT front.key, other.gate
        FROM front
        JOIN other
            ON other.name IN (front.lane, front.type, front.tenant)
            AND (other.tenant IS NULL OR other.tenant = front.tenant)
        UNION ALL
        SELECT front.key, -1
        FROM front
        JOIN millrace.lock AS lock
            ON lock.tenant = front.tenant AND lock.name = front.concurrency
    ) AS blocking
    GROUP BY blocking.key
    LIMIT :limit::integer
),
locked AS MATERIALIZED (
    SELECT blocked.key
    FROM millrace.blocked AS blocked
    WHERE blocked.key = ANY (ARRAY(SELECT key FROM behind))
    ORDER BY blocked.key
    FOR UPDATE SKIP LOCKED
)
UPDATE millrace.blocked AS blocked
SET gate = behind.gate, turn = NULL
FROM behind
WHERE blocked.key = behind.key
  AND blocked.key = ANY (ARRAY(SELECT key FROM locked));
