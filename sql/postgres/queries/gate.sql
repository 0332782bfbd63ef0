-- apart: one statement moves many jobs, where SQLite goes job by job.

-- row Barriers: gates boolean, held boolean, names boolean, wanted boolean

-- name: promote_due
-- Moves jobs whose time has come, longest overdue first, and says when the next one is due. Those
-- that another process is moving right now are left to it.
-- returns: moved bigint, next_due_ms bigint?
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
due AS MATERIALIZED (
    SELECT scheduled.key
    FROM millrace.scheduled AS scheduled
    WHERE scheduled.run_at <= (SELECT at FROM moment)
    ORDER BY scheduled.run_at, scheduled.key
    LIMIT :limit::integer
    FOR UPDATE SKIP LOCKED
),
taken AS (
    DELETE FROM millrace.scheduled AS scheduled
    USING due
    WHERE scheduled.key = due.key
    RETURNING scheduled.*
),
moved AS (
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, n, tries, crashes,
           concurrency
    FROM taken
)
SELECT (SELECT count(*) FROM due) AS moved,
       (
           SELECT greatest(0, millrace.ms_of(scheduled.run_at) - millrace.ms_of(moment.at))
           FROM millrace.scheduled AS scheduled
           WHERE NOT EXISTS (SELECT 1 FROM due WHERE due.key = scheduled.key)
           ORDER BY scheduled.run_at, scheduled.key
           LIMIT 1
       ) AS next_due_ms
FROM moment;

-- name: close_gate
-- Holds back what stands behind a name, for a while or until somebody opens it.
INSERT INTO millrace.gate (name, until, reason, by)
VALUES (
    :name::integer,
    millrace.clock_at(:now::timestamptz) + :for_ms::bigint * interval '1 millisecond',
    :reason::text,
    :by::text
)
ON CONFLICT (name) DO UPDATE
SET until = excluded.until, reason = excluded.reason, by = excluded.by;

-- name: open_gate
-- Lets go. An open gate is one without a row.
DELETE FROM millrace.gate
WHERE name = :name::integer;

-- name: closed_gates
-- What holds jobs back now.
-- returns: name integer, until bigint?, reason text, by text?
SELECT name, millrace.ms_of(until) AS until, reason, by
FROM millrace.gate
WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
ORDER BY name;

-- name: barriers_in_use
-- Whether there are gates and taken names, and whether jobs were moved away for the sake of either:
-- most often there is nothing, and what would be done about it need not even be planned.
-- returns: Barriers
SELECT EXISTS (SELECT 1 FROM millrace.gate) AS gates,
       EXISTS (SELECT 1 FROM millrace.blocked WHERE gate > 0) AS held,
       EXISTS (SELECT 1 FROM millrace.lock) AS names,
       EXISTS (SELECT 1 FROM millrace.blocked WHERE gate = -1) AS wanted;

-- name: hold_jobs
-- Moves due jobs behind closed gates, and those whose key is taken, out of the way of the claim.
-- Only the front of each lane is looked at, and not as far if it is only for the keys: what lies
-- deeper is in nobody's way. Jobs that somebody is taking are left to him. The rows of taken keys
-- are held meanwhile: whoever ends one waits, and then finds the jobs that waited for it. One that
-- is just ending holds nobody back. Keys as a list: a join would let the planner read whole tables.
WITH RECURSIVE closed AS MATERIALIZED (
    SELECT name
    FROM millrace.gate
    WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
),
lane (id) AS (
    SELECT min(lane)
    FROM millrace.ready
    WHERE EXISTS (SELECT 1 FROM closed) OR EXISTS (SELECT 1 FROM millrace.lock)
    UNION ALL
    SELECT (SELECT min(ready.lane) FROM millrace.ready AS ready WHERE ready.lane > lane.id)
    FROM lane
    WHERE lane.id IS NOT NULL
),
front AS MATERIALIZED (
    SELECT front.key, front.lane, front.type, front.tenant, front.concurrency
    FROM lane
    CROSS JOIN LATERAL (
        SELECT ready.key, ready.lane, ready.type, ready.tenant, ready.concurrency
        FROM millrace.ready AS ready
        WHERE ready.lane = lane.id
        ORDER BY ready.priority, ready.rank, ready.key
        LIMIT CASE
            WHEN EXISTS (SELECT 1 FROM closed) THEN :depth::integer
            ELSE :key_depth::integer
        END
    ) AS front
),
taken_key AS MATERIALIZED (
    SELECT taken.tenant, taken.name
    FROM (
        SELECT DISTINCT front.tenant, front.concurrency
        FROM front
        WHERE front.concurrency IS NOT NULL
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT lock.tenant, lock.name
        FROM millrace.lock AS lock
        WHERE lock.tenant = wanted.tenant AND lock.name = wanted.concurrency
        FOR KEY SHARE SKIP LOCKED
    ) AS taken
),
-- A closed gate has a number above 0, and comes before a taken key.
behind AS MATERIALIZED (
    SELECT front.key, coalesce(min(closed.name), -1) AS gate
    FROM front
    LEFT JOIN closed ON closed.name IN (front.lane, front.type, front.tenant)
    LEFT JOIN taken_key
        ON taken_key.tenant = front.tenant AND taken_key.name = front.concurrency
    WHERE closed.name IS NOT NULL OR taken_key.name IS NOT NULL
    GROUP BY front.key
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
SELECT taken.key, taken.rank, behind.gate, taken.lane, taken.priority, taken.type, taken.tenant,
       taken.n, taken.tries, taken.crashes, taken.concurrency
FROM taken
JOIN behind ON behind.key = taken.key;

-- name: release_jobs
-- Brings back what waits behind gates that are not closed, most urgent first, exactly as it lay. It
-- looks at what waits and not at the gates: a job that was held in the moment in which its gate
-- opened is found as well. Gates that have opened by themselves leave no row behind. What waits for
-- a key or for other jobs is behind no gate.
WITH RECURSIVE gate (id) AS (
    SELECT min(gate)
    FROM millrace.blocked
    WHERE gate > 0
    UNION ALL
    SELECT (SELECT min(blocked.gate) FROM millrace.blocked AS blocked WHERE blocked.gate > gate.id)
    FROM gate
    WHERE gate.id IS NOT NULL
),
open AS MATERIALIZED (
    SELECT gate.id
    FROM gate
    WHERE NOT EXISTS (
        SELECT 1
        FROM millrace.gate AS closed
        WHERE closed.name = gate.id
          AND (closed.until IS NULL OR closed.until > millrace.clock_at(:now::timestamptz))
    )
),
free AS MATERIALIZED (
    SELECT front.key
    FROM open
    CROSS JOIN LATERAL (
        SELECT blocked.key
        FROM millrace.blocked AS blocked
        WHERE blocked.gate = open.id
        ORDER BY blocked.priority, blocked.rank, blocked.key
        LIMIT :limit::integer
        FOR UPDATE SKIP LOCKED
    ) AS front
    LIMIT :limit::integer
),
taken AS (
    DELETE FROM millrace.blocked AS blocked
    USING free
    WHERE blocked.key = free.key
    RETURNING blocked.*
),
forgotten AS (
    DELETE FROM millrace.gate
    WHERE until <= millrace.clock_at(:now::timestamptz)
)
INSERT INTO millrace.ready (
    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
FROM taken;
