-- apart: the function `take_permits` of PostgreSQL does in one call what SQLite does step by step.

-- row LimitRow: id integer, name integer, cap integer?, rate_count integer?, rate_ms integer?,
--   burst integer?, tokens real, refilled_at integer, used integer, wanted_at integer?,
--   code_rule text?, owner integer, by text?, set_at integer

-- name: any_limit
-- Whether there is a limit.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_limit_setting
LIMIT 1;

-- name: all_limits
-- All limits.
-- returns: LimitRow
SELECT id, name, cap, rate_count, rate_ms, burst, tokens, refilled_at, used, wanted_at, code_rule,
       owner, by, set_at
FROM millrace_limit_setting
ORDER BY id;

-- name: limit_of_name
-- The limit of a type, a tenant, a service or the installation.
-- returns: LimitRow
SELECT id, name, cap, rate_count, rate_ms, burst, tokens, refilled_at, used, wanted_at, code_rule,
       owner, by, set_at
FROM millrace_limit_setting
WHERE name = :name;

-- name: limit_targets
-- The types and tenants that each limit applies to.
-- returns: limit_id integer, target integer
SELECT limit_id, target
FROM millrace_limit_target
ORDER BY limit_id, target;

-- name: targets_of_limit
-- The types or the tenant that a limit applies to.
-- only: sqlite, because here `release` has to be told which queues no limit has any more.
-- returns: target integer
SELECT target
FROM millrace_limit_target
WHERE limit_id = :id;

-- name: target_is_limited
-- Whether a limit applies to a type or a tenant.
-- only: sqlite, because here `release` has to be told which queues no limit has any more.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_limit_target
WHERE target = :target
LIMIT 1;

-- name: put_limit
-- Sets a limit. A rate begins with all its tokens, unless the same rate was set before.
INSERT INTO millrace_limit_setting (
    name, cap, rate_count, rate_ms, burst, tokens, refilled_at, code_rule, owner, by, set_at
)
VALUES (
    :name, :cap, :rate_count, :rate_ms, :burst, coalesce(:burst, 0), :now, :code_rule, :owner, :by,
    :now
)
ON CONFLICT (name) DO UPDATE
SET cap = excluded.cap,
    tokens = CASE
        WHEN (rate_count, rate_ms, burst) IS (:rate_count, :rate_ms, :burst) THEN tokens
        ELSE excluded.tokens
    END,
    refilled_at = CASE
        WHEN (rate_count, rate_ms, burst) IS (:rate_count, :rate_ms, :burst) THEN refilled_at
        ELSE excluded.refilled_at
    END,
    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,
    code_rule = excluded.code_rule, owner = excluded.owner, by = excluded.by,
    set_at = excluded.set_at;

-- name: set_code_rule
-- Stores what the code of a type states, beside the limit that an operator has set.
UPDATE millrace_limit_setting
SET code_rule = :code_rule
WHERE id = :id;

-- name: delete_limit
-- Removes a limit.
DELETE FROM millrace_limit_setting
WHERE id = :id;

-- name: delete_permits_of_limit
-- Removes the permits of a limit that is removed.
DELETE FROM millrace_permit
WHERE limit_id = :id;

-- name: open_limit_gate
-- Jobs behind this gate of a removed limit are moved back to `ready` by `release`.
INSERT INTO millrace_gate (name, closed_at, until, reason, by)
VALUES (:gate, 0, 0, 'limit removed', NULL)
ON CONFLICT (name) DO NOTHING;

-- name: permits_of_worker
-- The permits that a worker holds, and whether their limits are used up.
-- returns: limit_id integer, held integer, full boolean
SELECT permit.limit_id, permit.held, coalesce(setting.used >= setting.cap, 0) AS full
FROM millrace_permit AS permit
JOIN millrace_limit_setting AS setting ON setting.id = permit.limit_id
WHERE permit.worker = :worker;

-- name: set_permit
-- Notes how many permits of a limit a worker holds.
INSERT INTO millrace_permit (worker, limit_id, held)
VALUES (:worker, :limit_id, :held)
ON CONFLICT (worker, limit_id) DO UPDATE SET held = excluded.held;

-- name: delete_permit
-- A worker holds no permit of a limit any more.
DELETE FROM millrace_permit
WHERE worker = :worker AND limit_id = :limit_id;

-- name: delete_permits
-- Removes the permits of a worker that is removed.
DELETE FROM millrace_permit
WHERE worker = :worker;

-- name: add_used
-- Workers hold so many permits more, or fewer. A jump of the clock may have made the number wrong
-- by a repair, so it never goes below zero.
UPDATE millrace_limit_setting
SET used = max(0, used + :count)
WHERE id = :id;

-- name: take_tokens
-- Stores the tokens of a rate that are left.
UPDATE millrace_limit_setting
SET tokens = :tokens, refilled_at = :now
WHERE id = :id;

-- name: want_limit
-- A claim has found all permits of a limit taken.
UPDATE millrace_limit_setting
SET wanted_at = :now
WHERE id = :id;

-- name: any_limited
-- Whether a job waits for the limit with this gate.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_blocked
WHERE gate = :gate
LIMIT 1;

-- name: queue_lanes
-- The lanes of the jobs that wait for the limit with this gate, of these lanes or of all. A
-- recursive hop over the index finds them, however many jobs there are.
-- only: sqlite, because functions and statements of PostgreSQL look by themselves.
-- returns: lane integer
WITH RECURSIVE hop (lane) AS (
    SELECT min(lane) FROM millrace_blocked WHERE gate = :gate AND gate < -2
    UNION ALL
    SELECT (
        SELECT min(blocked.lane)
        FROM millrace_blocked AS blocked
        WHERE blocked.gate = :gate AND blocked.gate < -2 AND blocked.lane > hop.lane
    )
    FROM hop
    WHERE hop.lane IS NOT NULL
)
SELECT lane
FROM hop
WHERE lane IS NOT NULL
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)));

-- name: claim_limited
-- The most urgent jobs of a lane that wait for a limit and that nothing else blocks, of all
-- priorities or of one. Jobs that
-- another gate, another limit or a key blocks are few here: `hold` moves them from the front.
-- returns tuples: key integer, priority integer, rank integer, n integer, tries integer,
--   crashes integer, tenant integer, concurrency text?, type integer, due integer?
SELECT key, priority, turn_or_rank AS rank, n, tries, crashes, tenant, concurrency, type,
       CASE WHEN turn IS NOT NULL THEN rank / 1000 END AS due
FROM millrace_blocked AS front
WHERE gate = :gate
  AND gate < -2
  AND lane = :lane
  AND priority BETWEEN :first_priority AND :last_priority
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
  AND (:tenants IS NULL OR tenant IN (SELECT value FROM json_each(:tenants)))
  AND (:prefetch = 0 OR concurrency IS NULL)
  AND type NOT IN (SELECT value FROM json_each(:full))
  AND tenant NOT IN (SELECT value FROM json_each(:full))
  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now)
  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now)
  AND (
      concurrency IS NULL
      OR (
          NOT EXISTS (
              SELECT 1
              FROM millrace_lock AS lock
              WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
          )
          AND (
              :awaited IS NULL
              OR concurrency <> :awaited
              OR tenant <> :awaited_tenant
              OR priority < :awaited_priority
          )
      )
  )
ORDER BY priority, turn_or_rank, key
LIMIT :limit;

-- name: delete_limited
-- Removes a batch from `blocked`.
DELETE FROM millrace_blocked
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: jobs_of_full_limits
-- Due jobs at the front of a lane of which a limit is used up.
-- returns: key integer, name integer
SELECT front.key, min(used_up.value) AS name
FROM (
    SELECT key, type, tenant
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = 0
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
JOIN json_each(:full) AS used_up ON used_up.value IN (front.type, front.tenant)
GROUP BY front.key
LIMIT :limit;

-- name: rehome_limited
-- Moves jobs at the front of a lane of the queue of a limit behind what else blocks them: a closed
-- gate, a taken key, or another limit that is used up. Their turns end.
UPDATE millrace_blocked
SET turn = NULL, gate = (
    SELECT other.gate
    FROM (
        SELECT gate, target AS name, NULL AS tenant
        FROM millrace_barrier
        WHERE until IS NULL OR until > :now
        UNION ALL
        SELECT gate, type, tenant FROM millrace_tenant_barrier WHERE until > :now
        UNION ALL
        SELECT -1, millrace_blocked.lane, NULL
        FROM millrace_lock AS lock
        WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency
        UNION ALL
        SELECT -3 - used_up.value, used_up.value, NULL FROM json_each(:full) AS used_up
    ) AS other
    WHERE other.name IN (millrace_blocked.lane, millrace_blocked.type, millrace_blocked.tenant)
      AND (other.tenant IS NULL OR other.tenant = millrace_blocked.tenant)
    ORDER BY other.gate DESC
    LIMIT 1
)
WHERE key IN (
    SELECT front.key
    FROM (
        SELECT key, lane, type, tenant, concurrency
        FROM millrace_blocked
        WHERE gate = :gate
          AND gate < -2
          AND lane = :lane
        ORDER BY priority, turn_or_rank, key
        LIMIT :depth
    ) AS front
    WHERE EXISTS (
        SELECT 1
        FROM millrace_barrier AS barrier
        WHERE barrier.target IN (front.lane, front.type, front.tenant)
          AND (barrier.until IS NULL OR barrier.until > :now)
    )
       OR (front.tenant, front.type) IN (
        SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now
    )
       OR EXISTS (
        SELECT 1
        FROM millrace_lock AS lock
        WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
    )
       OR EXISTS (
        SELECT 1
        FROM json_each(:full) AS used_up
        WHERE used_up.value IN (front.type, front.tenant)
    )
    LIMIT :limit
);
