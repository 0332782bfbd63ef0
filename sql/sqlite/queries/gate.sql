-- name: close_gate
-- Holds back what stands behind a name.
INSERT INTO millrace_gate (name, until, reason, by)
VALUES (:name, :until, :reason, :by)
ON CONFLICT (name) DO UPDATE SET until = :until, reason = :reason, by = :by;

-- name: open_gate
-- Lets go. The row stays until `release` has brought back what was moved away.
UPDATE millrace_gate
SET until = 0
WHERE name = :name;

-- name: closed_gates
-- What holds jobs back now.
-- returns: name integer, until integer?, reason text, by text?
SELECT name, until, reason, by
FROM millrace_gate
WHERE until IS NULL OR until > :now
ORDER BY name;

-- name: open_gates
-- Gates that have opened, by hand or by time, and may have left jobs behind.
-- returns: name integer
SELECT name
FROM millrace_gate
WHERE until <= :now
ORDER BY name;

-- name: delete_gate
-- Nothing waits behind it any more.
DELETE FROM millrace_gate
WHERE name = :name;

-- name: jobs_behind_gates
-- Due jobs in front of a lane that a closed gate holds back. Only the front is looked at: what lies
-- deeper is in nobody's way.
-- returns: key integer, gate integer
SELECT front.key, min(gate.name) AS gate
FROM (
    SELECT key, lane, type, tenant
    FROM millrace_ready
    WHERE lane = :lane
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
JOIN millrace_gate AS gate ON gate.name IN (front.lane, front.type, front.tenant)
WHERE gate.until IS NULL OR gate.until > :now
GROUP BY front.key
LIMIT :limit;

-- name: insert_blocked
-- Puts a job behind the gate that holds it.
INSERT INTO millrace_blocked (
    key, gate, lane, priority, rank, type, tenant, concurrency, n, tries, crashes
)
VALUES (
    :key, :gate, :lane, :priority, :rank, :type, :tenant, :concurrency, :n, :tries, :crashes
);

-- name: blocked_keys
-- What waits behind one gate, most urgent first.
-- returns: key integer
SELECT key
FROM millrace_blocked
WHERE gate = :gate
ORDER BY priority, rank, key
LIMIT :limit;
