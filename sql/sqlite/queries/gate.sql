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

-- name: count_behind_gate
-- How many queued jobs a gate alone holds back, or would, and how many it shares with another
-- closed gate, among so many rows of each place; and whether there are no more rows.
-- returns: jobs integer, shared integer, exact boolean, shared_exact boolean
WITH other (name) AS MATERIALIZED (
    SELECT name
    FROM millrace_gate
    WHERE name <> :name AND (until IS NULL OR until > :now)
),
waiting (lane, type, tenant) AS (
    SELECT lane, type, tenant
    FROM (SELECT lane, type, tenant FROM millrace_blocked WHERE gate = :name LIMIT :rows)
    UNION ALL
    SELECT lane, type, tenant
    FROM (SELECT lane, type, tenant FROM millrace_ready LIMIT :rows)
    UNION ALL
    SELECT lane, type, tenant
    FROM (
        SELECT lane, type, tenant
        FROM millrace_blocked
        WHERE gate IN (SELECT name FROM other)
        LIMIT :rows
    )
),
behind (shared) AS (
    SELECT EXISTS (
        SELECT 1 FROM other WHERE other.name IN (waiting.lane, waiting.type, waiting.tenant)
    )
    FROM waiting
    WHERE :name IN (waiting.lane, waiting.type, waiting.tenant)
),
place (exact, shared_exact) AS (
    SELECT NOT EXISTS (SELECT 1 FROM millrace_blocked WHERE gate = :name LIMIT 1 OFFSET :rows)
               AND NOT EXISTS (SELECT 1 FROM millrace_ready LIMIT 1 OFFSET :rows),
           NOT EXISTS (
               SELECT 1
               FROM millrace_blocked
               WHERE gate IN (SELECT name FROM other)
               LIMIT 1 OFFSET :rows
           )
)
SELECT count(*) FILTER (WHERE NOT shared) AS jobs,
       count(*) FILTER (WHERE shared) AS shared,
       (SELECT exact FROM place) AS exact,
       (SELECT exact AND shared_exact FROM place) AS shared_exact
FROM behind;

-- name: open_gates
-- Gates that were opened, by an operator or by time, and may still have jobs behind them.
-- returns: name integer
SELECT name
FROM millrace_gate
WHERE until <= :now
ORDER BY name;

-- name: waiting_jobs
-- Whether jobs may be claimable, whether a gate has opened, and whether there are gates, locks or
-- dependencies at all.
-- only: sqlite, because on PostgreSQL this is a part of `promote_due`.
-- returns: ready boolean, released boolean, blocked boolean
SELECT EXISTS (SELECT 1 FROM millrace_ready)
           OR EXISTS (SELECT 1 FROM millrace_crash_streak WHERE probe_at IS NOT NULL) AS ready,
       EXISTS (SELECT 1 FROM millrace_gate WHERE until <= :now) AS released,
       EXISTS (SELECT 1 FROM millrace_gate)
           OR EXISTS (SELECT 1 FROM millrace_lock)
           OR EXISTS (SELECT 1 FROM millrace_blocked)
           OR EXISTS (SELECT 1 FROM millrace_finished_dependency) AS blocked;

-- name: delete_gate
-- Removes a gate that has no jobs behind it.
DELETE FROM millrace_gate
WHERE name = :name;

-- name: jobs_behind_gates
-- Due jobs at the front of a lane, with so many crashes, that are behind a closed gate. Only the
-- front is scanned: jobs further back do not slow down a claim.
-- returns: key integer, gate integer
SELECT front.key, min(gate.name) AS gate
FROM (
    SELECT key, lane, type, tenant
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = :crashes
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
JOIN millrace_gate AS gate ON gate.name IN (front.lane, front.type, front.tenant)
WHERE gate.until IS NULL OR gate.until > :now
GROUP BY front.key
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
