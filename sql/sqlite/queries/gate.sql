-- name: close_gate
-- Closes a gate, for a time or until an operator opens it. A gate that is closed already stays
-- closed since the same time.
INSERT INTO millrace_gate (name, closed_at, until, reason, by)
VALUES (:name, :now, :until, :reason, :by)
ON CONFLICT (name) DO UPDATE
SET closed_at = CASE WHEN until <= :now THEN :now ELSE closed_at END,
    until = :until, reason = :reason, by = :by;

-- name: open_gate
-- Opens a gate. The row stays until `release` has moved its jobs back to `ready`.
UPDATE millrace_gate
SET until = 0
WHERE name = :name;

-- name: closed_gates
-- The gates that are closed now.
-- returns: name integer, closed_at integer, until integer?, reason text, by text?
SELECT name, closed_at, until, reason, by
FROM millrace_gate
WHERE until IS NULL OR until > :now
ORDER BY name;

-- name: closed_targets
-- The lanes, types and tenants that closed gates hold back, and types of one tenant, with the gate.
-- returns: name integer, tenant integer?, gate integer
SELECT target AS name, NULL AS tenant, gate
FROM millrace_barrier
WHERE until IS NULL OR until > :now
UNION ALL
SELECT type, tenant, gate
FROM millrace_tenant_barrier
WHERE until > :now;

-- name: any_closed_gate
-- Whether a gate is closed: by a pause, by a breaker, or because a service has asked for it.
-- returns: gate integer
SELECT gate
FROM millrace_closed_gate
WHERE until IS NULL OR until > :now
LIMIT 1;

-- name: count_behind_gate
-- How many queued jobs a gate alone holds back, or would, and how many it shares with another
-- closed gate, among so many rows of each place; and whether there are no more rows. Gate -2 holds
-- back all jobs.
-- returns: jobs integer, shared integer, exact boolean, shared_exact boolean
WITH own (name) AS MATERIALIZED (
    VALUES (:name)
    UNION ALL
    SELECT type FROM millrace_service_use WHERE service = :name
),
other (name, gate) AS MATERIALIZED (
    SELECT target, gate
    FROM millrace_barrier
    WHERE gate <> :name AND (until IS NULL OR until > :now)
),
waiting (lane, type, tenant) AS (
    SELECT lane, type, tenant
    FROM (SELECT lane, type, tenant FROM millrace_blocked WHERE gate = :name LIMIT :rows)
    UNION ALL
    SELECT lane, type, tenant
    FROM (SELECT lane, type, tenant FROM millrace_ready LIMIT :rows)
    UNION ALL
    SELECT lane, type, tenant
    FROM (SELECT lane, type, tenant FROM millrace_blocked WHERE gate < -2 LIMIT :rows)
    UNION ALL
    SELECT lane, type, tenant
    FROM (
        SELECT lane, type, tenant
        FROM millrace_blocked
        WHERE gate IN (SELECT gate FROM other)
        LIMIT :rows
    )
),
behind (shared) AS (
    SELECT EXISTS (
        SELECT 1
        FROM other
        WHERE other.name IN (waiting.lane, waiting.type, waiting.tenant, -2)
    )
    FROM waiting
    WHERE EXISTS (
        SELECT 1 FROM own WHERE own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)
    )
      AND (:tenant IS NULL OR waiting.tenant = :tenant)
),
place (exact, shared_exact) AS (
    SELECT NOT EXISTS (SELECT 1 FROM millrace_blocked WHERE gate = :name LIMIT 1 OFFSET :rows)
               AND NOT EXISTS (SELECT 1 FROM millrace_ready LIMIT 1 OFFSET :rows)
               AND NOT EXISTS (
                   SELECT 1 FROM millrace_blocked WHERE gate < -2 LIMIT 1 OFFSET :rows
               ),
           NOT EXISTS (
               SELECT 1
               FROM millrace_blocked
               WHERE gate IN (SELECT gate FROM other)
               LIMIT 1 OFFSET :rows
           )
)
SELECT count(*) FILTER (WHERE NOT shared) AS jobs,
       count(*) FILTER (WHERE shared) AS shared,
       (SELECT exact FROM place) AS exact,
       (SELECT exact AND shared_exact FROM place) AS shared_exact
FROM behind;

-- name: ready_place
-- Where a due job stands in the order of the claim. No row: the job is not due.
-- only: sqlite, because `count_ahead` of PostgreSQL finds the job by itself: here only parameters
-- bound all three columns of a range.
-- returns: key integer, lane integer, priority integer, rank integer
SELECT key, lane, priority, rank
FROM millrace_ready
WHERE key = (SELECT key FROM millrace_job_name WHERE id = :id);

-- name: count_ahead
-- How many due jobs of the lane of a due job come before it in the order of the claim, among so
-- many rows of jobs without crashes and so many of others; and whether there are no more rows.
-- Jobs behind a closed gate and jobs whose key is locked do not count.
-- returns: jobs integer, exact boolean
WITH closed (name) AS MATERIALIZED (
    SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now
),
front (before, lane, type, tenant, concurrency) AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT 1, lane, type, tenant, concurrency
        FROM millrace_ready AS ready
        WHERE lane = :lane
          AND crashes = 0
          AND (priority, rank, key) < (:priority, :rank, :key)
        LIMIT :rows
    )
    UNION ALL
    SELECT *
    FROM (
        SELECT (priority, rank, key) < (:priority, :rank, :key), lane, type, tenant, concurrency
        FROM millrace_ready AS ready
        WHERE lane = :lane AND crashes > 0
        LIMIT :rows
    )
)
SELECT count(*) FILTER (
           WHERE front.before
             AND (:tenant IS NULL OR front.tenant = :tenant)
             AND NOT EXISTS (
                 SELECT 1
                 FROM closed
                 WHERE closed.name IN (front.lane, front.type, front.tenant, -2)
             )
             AND (front.tenant, front.type) NOT IN (
                 SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now
             )
             AND NOT EXISTS (
                 SELECT 1
                 FROM millrace_lock AS lock
                 WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
             )
       ) AS jobs,
       count(*) < :rows AS exact
FROM front;

-- name: open_gates
-- Gates that were opened, by an operator, by a breaker or by time, and may still have jobs behind
-- them.
-- returns: name integer
SELECT name
FROM (
    SELECT name FROM millrace_gate WHERE until <= :now
    UNION
    SELECT gate FROM millrace_service_park WHERE until <= :now
)
WHERE name NOT IN (SELECT gate FROM millrace_closed_gate WHERE until IS NULL OR until > :now)
ORDER BY name;

-- name: misplaced_types
-- Gates of services, and types that do not use the service any more and have jobs behind the gate.
-- only: sqlite, because one statement of PostgreSQL releases the jobs of all gates.
-- returns: gate integer, type integer
SELECT gate, type
FROM millrace_misplaced
ORDER BY gate, type;

-- name: misplaced_keys
-- The jobs of one type behind one gate.
-- only: sqlite, because one statement of PostgreSQL releases the jobs of all gates.
-- returns: key integer
SELECT key
FROM millrace_blocked
WHERE gate = :gate
  AND gate > 0
  AND type = :type
LIMIT :limit;

-- name: waiting_jobs
-- Whether jobs may be claimable, whether a gate has opened, whether there are gates, locks or
-- dependencies at all, whether a slot is due of a schedule that living workers tick, whether jobs
-- of fair lanes have no turn, and when the next probe of a service is due: 0 where the run of a
-- probe has ended without a verdict.
-- only: sqlite, because on PostgreSQL this is a part of `promote_due`.
-- returns: ready boolean, released boolean, blocked boolean, slot_due boolean, fair boolean,
--   probe_at integer?
SELECT EXISTS (SELECT 1 FROM millrace_ready)
           OR EXISTS (SELECT 1 FROM millrace_blocked WHERE gate < -2)
           OR EXISTS (SELECT 1 FROM millrace_crash_streak WHERE probe_at IS NOT NULL) AS ready,
       EXISTS (SELECT 1 FROM millrace_gate WHERE until <= :now)
           OR EXISTS (
               SELECT 1 FROM millrace_service_park WHERE until <= :now OR asked_at > :now
           )
           OR EXISTS (
               SELECT 1
               FROM millrace_key_rate
               WHERE held_until IS NOT NULL
                 -- As in refilled_keys: the clock was ahead and went back.
                 AND (held_until <= :now OR (held_until - :now - 1) * rate_count >= rate_ms)
           ) AS released,
       EXISTS (SELECT 1 FROM millrace_closed_gate)
           OR EXISTS (SELECT 1 FROM millrace_limit_setting)
           OR EXISTS (SELECT 1 FROM millrace_lock)
           OR EXISTS (SELECT 1 FROM millrace_blocked)
           OR EXISTS (SELECT 1 FROM millrace_finished_dependency) AS blocked,
       EXISTS (
           SELECT 1
           FROM millrace_schedule
           WHERE paused_at IS NULL
             AND next_slot IS NOT NULL
             AND next_slot <= :now
             AND (owner = 2 OR declared_at > :declared_since)
       ) AS slot_due,
       EXISTS (SELECT 1 FROM millrace_lane_without_turns) AS fair,
       (
           -- As in probeAt: an open breaker that was opened in the future is due.
           SELECT min(CASE
               WHEN breaker.opened_at > :now THEN 0
               ELSE coalesce(breaker.probe_at, 0)
           END)
           FROM millrace_breaker AS breaker
           WHERE breaker.state <> 1
             AND (
                 breaker.probe_at IS NOT NULL
                 OR EXISTS (
                     SELECT 1
                     FROM millrace_attempt AS ended
                     WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n
                 )
                 OR (breaker.state = 3 AND NOT EXISTS (
                     SELECT 1 FROM millrace_job AS job WHERE job.key = breaker.probe_key
                 ))
             )
       ) AS probe_at;

-- name: delete_gate
-- Removes an open gate that has no jobs behind it.
DELETE FROM millrace_gate
WHERE name = :name
  AND until <= :now;

-- name: jobs_behind_gates
-- Due jobs at the front of a lane, with so many crashes, that are behind a closed gate. Only the
-- front is scanned: jobs further back do not slow down a claim. Most jobs are behind no gate, so
-- each is looked up in a list first.
-- returns: key integer, gate integer
WITH closed (target, tenant, gate) AS MATERIALIZED (
    SELECT target, NULL, gate FROM millrace_barrier WHERE until IS NULL OR until > :now
    UNION ALL
    SELECT type, tenant, gate FROM millrace_tenant_barrier WHERE until > :now
)
SELECT key, gate
FROM (
    SELECT front.key, (
               SELECT min(closed.gate)
               FROM closed
               WHERE closed.target IN (front.lane, front.type, front.tenant)
                 AND (closed.tenant IS NULL OR closed.tenant = front.tenant)
           ) AS gate
    FROM (
        SELECT key, lane, type, tenant
        FROM millrace_ready
        WHERE lane = :lane
          AND crashes = :crashes
        ORDER BY priority, rank, key
        LIMIT :depth
    ) AS front
    WHERE front.type IN (SELECT target FROM closed)
       OR front.tenant IN (SELECT target FROM closed)
       OR front.lane IN (SELECT target FROM closed)
)
WHERE gate IS NOT NULL
LIMIT :limit;

-- name: insert_blocked
-- Puts a job behind a gate, unless it is behind one.
INSERT INTO millrace_blocked (
    key, gate, lane, priority, rank, type, tenant, concurrency, n, tries, crashes
)
VALUES (
    :key, :gate, :lane, :priority, :rank, :type, :tenant, :concurrency, :n, :tries, :crashes
)
ON CONFLICT DO NOTHING;

-- name: blocked_keys
-- The jobs behind one gate, most urgent first.
-- returns: key integer
SELECT key
FROM millrace_blocked
WHERE gate = :gate
ORDER BY priority, rank, key
LIMIT :limit;
