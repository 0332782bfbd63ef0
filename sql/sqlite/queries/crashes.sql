-- apart: SQLite goes job by job under its one write lock, PostgreSQL takes a lone job in one call.

-- name: set_died_with
-- Stores how many runs the workers of a dead process had begun. A worker that has renewed since an
-- earlier verdict gets the new one, the others keep theirs.
UPDATE millrace_worker
SET died_with = :begun
WHERE process = :process
  AND died_with IS NULL;

-- name: leases_of_process
-- The leases of all workers of a process.
-- returns: LeaseRow
SELECT lease.number, lease.worker, lease.keys, lease.ns, lease.ranks, lease.starts,
       lease.claimed_at
FROM millrace_worker AS worker
CROSS JOIN millrace_lease AS lease ON lease.worker = worker.id
WHERE worker.process = :process
ORDER BY lease.number;

-- name: look_for_crashed
-- Whether these lanes have due jobs that have crashed before, and whether crashes have closed the
-- gate of a type. The usual answer is no, and costs one look at an index per lane.
-- returns: has_crashed boolean, has_closed boolean
SELECT EXISTS (
           SELECT 1
           FROM json_each(:lanes) AS named
           CROSS JOIN millrace_ready AS ready
               ON ready.lane = named.value AND ready.crashes > 0
       ) AS has_crashed,
       EXISTS (SELECT 1 FROM millrace_crash_streak WHERE probe_at IS NOT NULL) AS has_closed;

-- name: crash_numbers
-- The numbers of crashes of due jobs that have crashed before. A recursive hop over the index finds
-- them, however many jobs there are.
-- returns: crashes integer
WITH RECURSIVE hop (lane, crashes) AS (
    SELECT named.value, (
        SELECT min(ready.crashes)
        FROM millrace_ready AS ready
        WHERE ready.lane = named.value AND ready.crashes > 0
    )
    FROM json_each(:lanes) AS named
    UNION ALL
    SELECT hop.lane, (
        SELECT min(ready.crashes)
        FROM millrace_ready AS ready
        WHERE ready.lane = hop.lane AND ready.crashes > hop.crashes
    )
    FROM hop
    WHERE hop.crashes IS NOT NULL
)
SELECT DISTINCT crashes FROM hop WHERE crashes IS NOT NULL;

-- name: lone_lease
-- The lease of the job that runs alone, or will.
-- returns: number integer
SELECT number
FROM millrace_lease
WHERE alone = 1;

-- name: due_probes
-- The types whose gate is closed because of crashes and of which a job may be tried, longest due
-- first. The limits of the types in `full` are used up.
-- returns: type integer, probe_ms integer
SELECT streak.type, streak.probe_ms
FROM millrace_crash_streak AS streak
JOIN millrace_gate AS gate ON gate.name = streak.type
WHERE (
      streak.probe_at <= :now
      -- The wait began while the clock was ahead, which went back.
      OR streak.probe_at - streak.probe_ms > :now
  )
  AND (gate.until IS NULL OR gate.until > :now)
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_barrier AS barrier
      WHERE barrier.target = streak.type
        AND barrier.gate <> streak.type
        AND (barrier.until IS NULL OR barrier.until > :now)
  )
  AND (:types IS NULL OR streak.type IN (SELECT value FROM json_each(:types)))
  AND streak.type NOT IN (SELECT value FROM json_each(:full))
ORDER BY streak.probe_at, streak.type;

-- name: probe_in_blocked
-- The most urgent job behind the closed gate of its type that nothing else blocks. The limits of
-- the tenants in `full` are used up.
-- returns: key integer, priority integer, rank integer, tenant integer, concurrency text?
SELECT key, priority, rank, tenant, concurrency
FROM millrace_blocked
WHERE gate = :type
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
  AND (:tenants IS NULL OR tenant IN (SELECT value FROM json_each(:tenants)))
  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND tenant NOT IN (SELECT value FROM json_each(:full))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_lock AS lock
      WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency
  )
ORDER BY priority, rank, key
LIMIT 1;

-- name: probe_in_ready
-- The most urgent job of a type in a part of one lane that nothing but the gate of the type blocks.
-- Only the front is scanned: `hold` moves jobs from there behind the gate.
-- returns: key integer, priority integer, rank integer, tenant integer, concurrency text?
SELECT front.key, front.priority, front.rank, front.tenant, front.concurrency
FROM (
    SELECT key, lane, priority, rank, type, tenant, concurrency
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = :crashes
    ORDER BY priority, rank, key
    LIMIT :depth
) AS front
WHERE front.type = :type
  AND (:tenants IS NULL OR front.tenant IN (SELECT value FROM json_each(:tenants)))
  AND front.lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND front.tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND front.tenant NOT IN (SELECT value FROM json_each(:full))
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_lock AS lock
      WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
  )
ORDER BY front.priority, front.rank, front.key
LIMIT 1;

-- name: set_next_probe
-- A job of a type is tried: the next one has to wait.
UPDATE millrace_crash_streak
SET probe_at = :probe_at,
    probe_ms = :probe_ms
WHERE type = :type;

-- name: find_streak
-- The jobs of a type that have died alone since its last success.
-- returns: ended integer, probe_at integer?, probe_ms integer
SELECT ended, probe_at, probe_ms
FROM millrace_crash_streak
WHERE type = :type;

-- name: put_streak
-- Stores that another job of a type has died alone.
INSERT INTO millrace_crash_streak (type, ended, probe_at, probe_ms)
VALUES (:type, :ended, :probe_at, :probe_ms)
ON CONFLICT (type) DO UPDATE SET ended = :ended, probe_at = :probe_at, probe_ms = :probe_ms;

-- name: delete_streak
-- Ends the count of a type. Returns when its next probe was due; null: its gate was not closed.
-- returns: probe_at integer?
DELETE FROM millrace_crash_streak
WHERE type = :type
RETURNING probe_at;

-- name: reset_streaks
-- Jobs have succeeded: the count of each of their types begins anew. The usual answer finds no row.
UPDATE millrace_crash_streak
SET ended = 0
WHERE ended > 0
  AND type IN (
      SELECT job.type
      FROM json_each(:keys) AS succeeded
      CROSS JOIN millrace_job AS job ON job.key = succeeded.value
  );

-- name: gate_is_closed
-- Whether a gate is closed now.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_gate
WHERE name = :name
  AND (until IS NULL OR until > :now);
