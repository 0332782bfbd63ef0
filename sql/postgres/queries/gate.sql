-- apart: one statement moves many jobs, where SQLite goes job by job.

-- row Barriers: gates boolean, held boolean, names boolean, wanted boolean, full boolean,
--   queued boolean, spent boolean

-- name: promote_due
-- Moves due jobs from `scheduled` to `ready`, longest overdue first, and returns when the next one
-- is due, or a key without a token gets one. Rows that another process has locked are skipped. Also
-- returns whether jobs may be claimable, whether jobs are behind an open gate, whether there are
-- gates, locks or dependencies at all, whether a slot is due of a schedule that living workers
-- tick, whether jobs of fair lanes have no turn, and when the next probe of a service is due, so
-- that a poll of an idle store is one statement. Without `look` the first of these is not searched
-- for, because dead rows may make that slow. Jobs that this statement moves may have no turn
-- either. Pauses that services have asked for while the clock was ahead are ended.
-- returns: moved bigint, next_due_ms bigint?, ready boolean, released boolean, blocked boolean,
--   slot_due boolean, fair boolean, probe_ms bigint?
WITH RECURSIVE moment AS MATERIALIZED (
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
    ON CONFLICT DO NOTHING
),
ended_parks AS (
    UPDATE millrace.service_park AS park
    SET asked_at = moment.at, until = moment.at
    FROM moment
    WHERE park.asked_at > moment.at
    RETURNING park.gate
),
gate (id) AS (
    SELECT min(gate)
    FROM millrace.blocked
    UNION ALL
    SELECT (SELECT min(blocked.gate) FROM millrace.blocked AS blocked WHERE blocked.gate > gate.id)
    FROM gate
    WHERE gate.id IS NOT NULL
)
SELECT (SELECT count(*) FROM due) AS moved,
       least(
           (
               SELECT greatest(0, millrace.ms_of(scheduled.run_at) - millrace.ms_of(moment.at))
               FROM millrace.scheduled AS scheduled
               WHERE NOT EXISTS (SELECT 1 FROM due WHERE due.key = scheduled.key)
               ORDER BY scheduled.run_at, scheduled.key
               LIMIT 1
           ),
           (
               SELECT millrace.ms_of(min(rate.held_until)) - millrace.ms_of(moment.at)
               FROM millrace.key_rate AS rate
               WHERE rate.held_until > moment.at
           )
       ) AS next_due_ms,
       NOT :look::boolean
           OR EXISTS (SELECT 1 FROM due)
           OR EXISTS (SELECT 1 FROM millrace.ready)
           OR EXISTS (SELECT 1 FROM millrace.blocked WHERE gate < -2)
           OR EXISTS (SELECT 1 FROM millrace.crash_streak WHERE probe_at IS NOT NULL) AS ready,
       EXISTS (
           SELECT 1
           FROM gate
           WHERE gate.id NOT IN (-1, 0)
             AND NOT EXISTS (
                 SELECT 1
                 FROM millrace.closed_gate AS closed
                 WHERE closed.gate = gate.id
                   AND (closed.until IS NULL OR closed.until > moment.at)
             )
             AND NOT EXISTS (
                 SELECT 1 FROM millrace.limit_target AS limited WHERE limited.target = -3 - gate.id
             )
       )
           OR EXISTS (
               SELECT 1
               FROM millrace.key_rate AS rate
               WHERE rate.held_until IS NOT NULL AND millrace.is_refilled(rate, moment.at)
           )
           OR EXISTS (SELECT 1 FROM ended_parks) AS released,
       EXISTS (SELECT 1 FROM millrace.closed_gate)
           OR EXISTS (SELECT 1 FROM millrace.limit_setting)
           OR EXISTS (SELECT 1 FROM millrace.lock)
           OR EXISTS (SELECT 1 FROM millrace.blocked)
           OR EXISTS (SELECT 1 FROM millrace.finished_dependency) AS blocked,
       EXISTS (
           SELECT 1
           FROM millrace.schedule AS schedule
           WHERE schedule.paused_at IS NULL
             AND schedule.next_slot IS NOT NULL
             AND schedule.next_slot <= moment.at
             AND (
                 schedule.owner = 2
                 OR schedule.declared_at
                     > moment.at - :declared_ms::bigint * interval '1 millisecond'
             )
       ) AS slot_due,
       EXISTS (SELECT 1 FROM millrace.lane_without_turns)
           OR EXISTS (
               SELECT 1 FROM taken JOIN millrace.fair_lane AS fair ON fair.lane = taken.lane
           ) AS fair,
       (
           -- As in probeAt: an open breaker that was opened in the future is due.
           SELECT min(CASE
               WHEN breaker.opened_at > moment.at THEN 0
               ELSE greatest(
                   0, coalesce(millrace.ms_of(breaker.probe_at) - millrace.ms_of(moment.at), 0)
               )
           END)
           FROM millrace.breaker AS breaker
           WHERE breaker.state <> 1
             AND (
                 breaker.probe_at IS NOT NULL
                 OR EXISTS (
                     SELECT 1
                     FROM millrace.attempt AS ended
                     WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n
                 )
                 OR (breaker.state = 3 AND NOT EXISTS (
                     SELECT 1 FROM millrace.job AS job WHERE job.key = breaker.probe_key
                 ))
             )
       ) AS probe_ms
FROM moment;

-- name: close_gate
-- Closes a gate, for a time or until an operator opens it. A gate that is closed already stays
-- closed since the same time. A count of crashes ends, because a pause of an operator allows no
-- probes. The row of the count goes first, as in a rescue.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
ended AS (
    DELETE FROM millrace.crash_streak
    WHERE type = :name::integer
    RETURNING type
)
INSERT INTO millrace.gate AS known (name, closed_at, until, reason, by)
SELECT :name::integer, moment.at,
       moment.at + :for_ms::bigint * interval '1 millisecond',
       :reason::text, :by::text
FROM moment
CROSS JOIN (SELECT count(*) FROM ended) AS first
ON CONFLICT (name) DO UPDATE
SET closed_at = CASE
        WHEN known.until <= excluded.closed_at THEN excluded.closed_at
        ELSE known.closed_at
    END,
    until = excluded.until, reason = excluded.reason, by = excluded.by;

-- name: open_gate
-- Opens a gate. An open gate has no row. A count of crashes ends; its row goes first, as in a
-- rescue.
WITH ended AS (
    DELETE FROM millrace.crash_streak
    WHERE type = :name::integer
    RETURNING type
)
DELETE FROM millrace.gate
WHERE name = :name::integer
  AND (SELECT count(*) FROM ended) >= 0;

-- name: closed_gates
-- The gates that are closed now.
-- returns: name integer, closed_at bigint, until bigint?, reason text, by text?
SELECT name, millrace.ms_of(closed_at) AS closed_at, millrace.ms_of(until) AS until, reason, by
FROM millrace.gate
WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
ORDER BY name;

-- name: closed_targets
-- The lanes, types and tenants that closed gates hold back, and types of one tenant, with the gate.
-- returns: name integer, tenant integer?, gate integer
SELECT target AS name, NULL::integer AS tenant, gate
FROM millrace.barrier
WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
UNION ALL
SELECT type, tenant, gate
FROM millrace.tenant_barrier
WHERE until > millrace.clock_at(:now::timestamptz);

-- name: count_behind_gate
-- How many queued jobs a gate alone holds back, or would, and how many it shares with another
-- closed gate, among so many rows of each place; and whether there are no more rows. Gate -2 holds
-- back all jobs.
-- returns: jobs bigint, shared bigint, exact boolean, shared_exact boolean
-- timeout: reader
WITH own (name) AS MATERIALIZED (
    SELECT :name::integer
    UNION ALL
    SELECT type FROM millrace.service_use WHERE service = :name::integer
),
other (name, gate) AS MATERIALIZED (
    SELECT target, gate
    FROM millrace.barrier
    WHERE gate <> :name::integer
      AND (until IS NULL OR until > millrace.clock_at(:now::timestamptz))
),
waiting (lane, type, tenant) AS (
    (
        SELECT lane, type, tenant
        FROM millrace.blocked
        WHERE gate = :name::integer
        LIMIT :rows::bigint
    )
    UNION ALL
    (SELECT lane, type, tenant FROM millrace.ready LIMIT :rows::bigint)
    UNION ALL
    (SELECT lane, type, tenant FROM millrace.blocked WHERE gate < -2 LIMIT :rows::bigint)
    UNION ALL
    (
        SELECT lane, type, tenant
        FROM millrace.blocked
        WHERE gate = ANY (ARRAY(SELECT DISTINCT gate FROM other))
        LIMIT :rows::bigint
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
      AND (:tenant::integer IS NULL OR waiting.tenant = :tenant::integer)
),
place (exact, shared_exact) AS (
    SELECT NOT EXISTS (
               SELECT 1
               FROM millrace.blocked
               WHERE gate = :name::integer
               LIMIT 1 OFFSET :rows::bigint
           )
               AND NOT EXISTS (SELECT 1 FROM millrace.ready LIMIT 1 OFFSET :rows::bigint)
               AND NOT EXISTS (
                   SELECT 1 FROM millrace.blocked WHERE gate < -2 LIMIT 1 OFFSET :rows::bigint
               ),
           NOT EXISTS (
               SELECT 1
               FROM millrace.blocked
               WHERE gate = ANY (ARRAY(SELECT DISTINCT gate FROM other))
               LIMIT 1 OFFSET :rows::bigint
           )
)
SELECT count(*) FILTER (WHERE NOT shared) AS jobs,
       count(*) FILTER (WHERE shared) AS shared,
       (SELECT exact FROM place) AS exact,
       (SELECT exact AND shared_exact FROM place) AS shared_exact
FROM behind;

-- name: count_ahead
-- How many due jobs of the lane of a due job come before it in the order of the claim, among so
-- many rows of jobs without crashes and so many of others; and whether there are no more rows.
-- Jobs behind a closed gate and jobs whose key is locked do not count. No row: the job is not due.
-- returns: jobs bigint, exact boolean
-- timeout: reader
WITH own AS MATERIALIZED (
    SELECT key, lane, priority, rank
    FROM millrace.ready
    WHERE key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
),
closed (name) AS MATERIALIZED (
    SELECT target
    FROM millrace.barrier
    WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
),
front (before, lane, type, tenant, concurrency) AS MATERIALIZED (
    SELECT true, clean.*
    FROM own
    CROSS JOIN LATERAL (
        SELECT ready.lane, ready.type, ready.tenant, ready.concurrency
        FROM millrace.ready AS ready
        WHERE ready.lane = own.lane
          AND ready.crashes = 0
          AND (ready.priority, ready.rank, ready.key) < (own.priority, own.rank, own.key)
        ORDER BY ready.priority, ready.rank, ready.key
        LIMIT :rows::bigint
    ) AS clean
    UNION ALL
    SELECT crashed.*
    FROM own
    CROSS JOIN LATERAL (
        SELECT (ready.priority, ready.rank, ready.key) < (own.priority, own.rank, own.key),
               ready.lane, ready.type, ready.tenant, ready.concurrency
        FROM millrace.ready AS ready
        WHERE ready.lane = own.lane AND ready.crashes > 0
        ORDER BY ready.crashes, ready.priority, ready.rank, ready.key
        LIMIT :rows::bigint
    ) AS crashed
)
SELECT (
           SELECT count(*)
           FROM front
           WHERE front.before
             AND (:tenant::integer IS NULL OR front.tenant = :tenant::integer)
             AND NOT EXISTS (
                 SELECT 1
                 FROM closed
                 WHERE closed.name IN (front.lane, front.type, front.tenant, -2)
             )
             AND (front.tenant, front.type) NOT IN (
                 SELECT tenant, type
                 FROM millrace.tenant_barrier
                 WHERE until > millrace.clock_at(:now::timestamptz)
             )
             AND NOT EXISTS (
                 SELECT 1
                 FROM millrace.lock AS lock
                 WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
             )
       ) AS jobs,
       (SELECT count(*) FROM front) < :rows::bigint AS exact
FROM own;

-- name: barriers_in_use
-- Whether there are gates, locks and limits that may be used up, and whether jobs are in `blocked`
-- because of them. Mostly there are none, and the statements that deal with them need not be
-- planned. The first and the last gate come from the index: a search for one may scan the table.
-- returns: Barriers
SELECT EXISTS (SELECT 1 FROM millrace.closed_gate) AS gates,
       coalesce((SELECT max(gate) FROM millrace.blocked) > 0, false)
           OR coalesce((SELECT min(gate) FROM millrace.blocked) < -2, false) AS held,
       EXISTS (SELECT 1 FROM millrace.lock) AS names,
       EXISTS (SELECT 1 FROM millrace.blocked WHERE gate = -1) AS wanted,
       EXISTS (
           SELECT 1 FROM millrace.limit_setting WHERE rate_count IS NOT NULL OR used >= cap
       ) AS full,
       coalesce((SELECT min(gate) FROM millrace.blocked) < -2, false) AS queued,
       EXISTS (SELECT 1 FROM millrace.key_rate WHERE held_until IS NOT NULL) AS spent;

-- name: hold_jobs
-- Moves due jobs behind closed gates, and jobs whose lock is taken, from `ready` to `blocked`, so
-- that claims need not skip them. Only the front of each lane is scanned, of the jobs with
-- each number of crashes, and less of it for locks: `key_depth` is how many jobs without a closed
-- gate, and how many keys. Rows that others have locked are skipped.
-- The rows of taken locks are locked meanwhile: a run that ends waits, and then finds the jobs that
-- wait for its lock. A lock that is being released blocks no job. Keys are passed as a list: with a
-- join the planner might scan whole tables. Lists of what is closed filter the scan, so that a
-- front of jobs that may run is not written down, which took 40 ms for 10,000 jobs. The gate of a
-- job is looked up in the few closed ones once more, because a join with the list of jobs would
-- compare each job with each.
WITH RECURSIVE closed AS MATERIALIZED (
    SELECT target, NULL::integer AS tenant, gate
    FROM millrace.barrier
    WHERE until IS NULL OR until > millrace.clock_at(:now::timestamptz)
    UNION ALL
    SELECT type, tenant, gate
    FROM millrace.tenant_barrier
    WHERE until > millrace.clock_at(:now::timestamptz)
),
shut AS MATERIALIZED (
    SELECT ARRAY(SELECT target FROM closed WHERE tenant IS NULL) AS targets,
           ARRAY(
               SELECT (tenant::bigint << 32) + target FROM closed WHERE tenant IS NOT NULL
           ) AS parked
),
lane (id) AS (
    SELECT min(lane)
    FROM millrace.ready
    WHERE crashes = 0
      AND (EXISTS (SELECT 1 FROM closed) OR EXISTS (SELECT 1 FROM millrace.lock))
    UNION ALL
    SELECT (
        SELECT min(ready.lane)
        FROM millrace.ready AS ready
        WHERE ready.lane > lane.id AND ready.crashes = 0
    )
    FROM lane
    WHERE lane.id IS NOT NULL
),
crashed_part (lane, crashes) AS (
    SELECT first.lane, first.crashes
    FROM (
        SELECT lane, crashes
        FROM millrace.ready
        WHERE crashes > 0
          AND (EXISTS (SELECT 1 FROM closed) OR EXISTS (SELECT 1 FROM millrace.lock))
        ORDER BY lane, crashes
        LIMIT 1
    ) AS first
    UNION ALL
    SELECT next.lane, next.crashes
    FROM crashed_part AS part
    CROSS JOIN LATERAL (
        SELECT ready.lane, ready.crashes
        FROM millrace.ready AS ready
        WHERE (ready.lane, ready.crashes) > (part.lane, part.crashes)
          AND ready.crashes > 0
        ORDER BY ready.lane, ready.crashes
        LIMIT 1
    ) AS next
),
front AS MATERIALIZED (
    SELECT front.key, front.tenant, front.concurrency,
           front.lane = ANY (shut.targets)
               OR front.type = ANY (shut.targets)
               OR front.tenant = ANY (shut.targets)
               OR (front.tenant::bigint << 32) + front.type = ANY (shut.parked) AS is_gated
    FROM shut
    CROSS JOIN (
        SELECT front.*
        FROM lane
        CROSS JOIN LATERAL (
            SELECT ready.key, ready.lane, ready.type, ready.tenant, ready.concurrency
            FROM millrace.ready AS ready
            WHERE ready.lane = lane.id
              AND ready.crashes = 0
            ORDER BY ready.priority, ready.rank, ready.key
            LIMIT CASE
                WHEN EXISTS (SELECT 1 FROM closed) THEN :depth::integer
                ELSE :key_depth::integer
            END
        ) AS front
        UNION ALL
        SELECT front.*
        FROM crashed_part AS part
        CROSS JOIN LATERAL (
            SELECT ready.key, ready.lane, ready.type, ready.tenant, ready.concurrency
            FROM millrace.ready AS ready
            WHERE ready.lane = part.lane
              AND ready.crashes = part.crashes
              AND ready.crashes > 0
            ORDER BY ready.priority, ready.rank, ready.key
            LIMIT CASE
                WHEN EXISTS (SELECT 1 FROM closed) THEN :depth::integer
                ELSE :key_depth::integer
            END
        ) AS front
    ) AS front
    WHERE front.concurrency IS NOT NULL
       OR front.lane = ANY (shut.targets)
       OR front.type = ANY (shut.targets)
       OR front.tenant = ANY (shut.targets)
       OR (front.tenant::bigint << 32) + front.type = ANY (shut.parked)
),
taken_key AS MATERIALIZED (
    SELECT taken.tenant, taken.name
    FROM (
        SELECT DISTINCT keyed.tenant, keyed.concurrency
        FROM (
            SELECT front.tenant, front.concurrency
            FROM front
            WHERE front.concurrency IS NOT NULL
            LIMIT :key_depth::integer
        ) AS keyed
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT lock.tenant, lock.name
        FROM millrace.lock AS lock
        WHERE lock.tenant = wanted.tenant AND lock.name = wanted.concurrency
        FOR KEY SHARE SKIP LOCKED
    ) AS taken
),
behind AS MATERIALIZED (
    SELECT front.key
    FROM front
    WHERE front.is_gated
       OR (front.tenant, front.concurrency) IN (
           SELECT taken_key.tenant, taken_key.name FROM taken_key
       )
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
       -- A closed gate has a number above 0, and takes precedence over a taken lock.
       coalesce((
           SELECT min(closed.gate)
           FROM closed
           WHERE closed.target IN (taken.lane, taken.type, taken.tenant)
             AND (closed.tenant IS NULL OR closed.tenant = taken.tenant)
       ), -1),
       taken.lane, taken.priority, taken.type, taken.tenant, taken.n, taken.tries, taken.crashes,
       taken.concurrency
FROM taken
ON CONFLICT DO NOTHING;

-- name: release_jobs
-- Moves jobs from `blocked` back to `ready` if their gate is not closed, most urgent first, with
-- their old rank. The statement starts from the blocked jobs and not from the gates, so it finds a
-- job that was blocked at the moment in which its gate opened. Gates that have opened by time are
-- removed. The queue of a limit that was removed is emptied. Jobs behind the gate of a service that
-- their type does not use any more are moved as well. Jobs that wait for a limit, for a lock or for
-- other jobs are not touched.
WITH RECURSIVE gate (id) AS (
    SELECT min(gate)
    FROM millrace.blocked
    UNION ALL
    SELECT (SELECT min(blocked.gate) FROM millrace.blocked AS blocked WHERE blocked.gate > gate.id)
    FROM gate
    WHERE gate.id IS NOT NULL
),
open AS MATERIALIZED (
    SELECT gate.id
    FROM gate
    WHERE gate.id NOT IN (-1, 0)
      AND NOT EXISTS (
          SELECT 1
          FROM millrace.closed_gate AS closed
          WHERE closed.gate = gate.id
            AND (closed.until IS NULL OR closed.until > millrace.clock_at(:now::timestamptz))
      )
      AND NOT EXISTS (
          SELECT 1 FROM millrace.limit_target AS limited WHERE limited.target = -3 - gate.id
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
-- First, so that no job is locked that stays.
misplaced_type AS MATERIALIZED (
    SELECT misplaced.gate, misplaced.type FROM millrace.misplaced AS misplaced
),
misplaced AS MATERIALIZED (
    SELECT front.key
    FROM misplaced_type AS misplaced
    CROSS JOIN LATERAL (
        SELECT blocked.key
        FROM millrace.blocked AS blocked
        WHERE blocked.gate = misplaced.gate
          AND blocked.gate > 0
          AND blocked.type = misplaced.type
        LIMIT :limit::integer
        FOR UPDATE SKIP LOCKED
    ) AS front
    LIMIT :limit::integer
),
taken AS (
    DELETE FROM millrace.blocked AS blocked
    WHERE blocked.key = ANY (ARRAY(
        SELECT key FROM (SELECT key FROM free UNION SELECT key FROM misplaced) AS found
        LIMIT :limit::integer
    ))
    RETURNING blocked.*
),
deleted_gates AS (
    DELETE FROM millrace.gate
    WHERE until <= millrace.clock_at(:now::timestamptz)
),
deleted_parks AS (
    DELETE FROM millrace.service_park
    WHERE until <= millrace.clock_at(:now::timestamptz)
)
INSERT INTO millrace.ready (
    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
)
SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
FROM taken
ON CONFLICT DO NOTHING;
