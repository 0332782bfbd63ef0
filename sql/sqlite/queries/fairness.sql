-- row FairLaneRow: lane integer, weights text, code_weights text?, owner integer, by text?,
--   set_at integer

-- row FairJobRow: key integer, priority integer, rank integer, tenant integer, queue integer

-- row LaterJobRow: key integer, priority integer, rank integer, tenant integer, queue integer,
--   place integer

-- name: all_fair_lanes
-- All fair lanes.
-- returns: FairLaneRow
SELECT lane, weights, code_weights, owner, by, set_at
FROM millrace_fair_lane
ORDER BY lane;

-- name: find_fair_lane
-- A fair lane, for a change.
-- returns: FairLaneRow
SELECT lane, weights, code_weights, owner, by, set_at
FROM millrace_fair_lane
WHERE lane = :lane;

-- name: fair_lane_for_turns
-- A fair lane, unless another process gives turns in it.
-- The transaction has the only write lock, so no other process can.
-- returns: FairLaneRow
SELECT lane, weights, code_weights, owner, by, set_at
FROM millrace_fair_lane
WHERE lane = :lane;

-- name: put_fair_lane
-- Makes a lane fair, or changes its weights.
INSERT INTO millrace_fair_lane (lane, weights, code_weights, owner, by, set_at)
VALUES (:lane, :weights, :code_weights, :owner, :by, :now)
ON CONFLICT (lane) DO UPDATE
SET weights = excluded.weights, code_weights = excluded.code_weights, owner = excluded.owner,
    by = excluded.by, set_at = excluded.set_at;

-- name: set_code_weights
-- Stores what the code of a worker states, beside what an operator has set.
UPDATE millrace_fair_lane
SET code_weights = :code_weights
WHERE lane = :lane;

-- name: delete_fair_lane
-- A lane is fair no more.
DELETE FROM millrace_fair_lane
WHERE lane = :lane;

-- name: lanes_without_turns
-- The fair lanes in which jobs wait that have no turn.
-- returns: lane integer
SELECT lane FROM millrace_lane_without_turns ORDER BY lane;

-- name: jobs_without_turn
-- The first jobs of a fair lane that have no turn, by priority and due time.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace_ready WHERE lane = :lane AND crashes = 0
    UNION ALL
    SELECT (
        SELECT min(ready.priority)
        FROM millrace_ready AS ready
        WHERE ready.lane = :lane AND ready.crashes = 0 AND ready.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT first.key, first.priority, first.rank, first.tenant, 0 AS queue
FROM class
JOIN millrace_ready AS first ON first.key IN (
    SELECT ready.key
    FROM millrace_ready AS ready
    WHERE ready.lane = :lane
      AND ready.crashes = 0
      AND ready.priority = class.priority
      AND ready.rank >= 0
    ORDER BY ready.rank, ready.key
    LIMIT :limit
)
ORDER BY first.priority, first.rank, first.key
LIMIT :limit;

-- name: newest_without_turn
-- Of the last jobs of each priority of a fair lane that have no turn, those of other tenants.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace_ready WHERE lane = :lane AND crashes = 0
    UNION ALL
    SELECT (
        SELECT min(ready.priority)
        FROM millrace_ready AS ready
        WHERE ready.lane = :lane AND ready.crashes = 0 AND ready.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT last.key, last.priority, last.rank, last.tenant, 0 AS queue
FROM class
JOIN millrace_ready AS last ON last.key IN (
    SELECT ready.key
    FROM millrace_ready AS ready
    WHERE ready.lane = :lane
      AND ready.crashes = 0
      AND ready.priority = class.priority
      AND ready.rank >= 0
    ORDER BY ready.rank DESC, ready.key DESC
    LIMIT :limit
)
WHERE last.tenant NOT IN (SELECT value FROM json_each(:tenants))
ORDER BY last.priority, last.rank, last.key
LIMIT :limit;

-- name: later_without_turn
-- Of the next jobs of a fair lane without a turn behind a position, those of other tenants, and the
-- last one if there are as many as the limit.
-- The last one is looked up by itself: to number all jobs would cost more than to read them twice.
-- returns: LaterJobRow
SELECT key, priority, rank, tenant, 0 AS queue, 0 AS place
FROM (
    SELECT key, priority, rank, tenant
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = 0
      AND (priority, rank, key) > (:priority, :rank, :key)
      AND rank >= 0
    ORDER BY priority, rank, key
    LIMIT :limit
)
WHERE tenant NOT IN (SELECT value FROM json_each(:tenants))
UNION ALL
SELECT *
FROM (
    SELECT key, priority, rank, tenant, 0 AS queue, :limit AS place
    FROM millrace_ready
    WHERE lane = :lane
      AND crashes = 0
      AND (priority, rank, key) > (:priority, :rank, :key)
      AND rank >= 0
    ORDER BY priority, rank, key
    LIMIT 1 OFFSET :limit - 1
)
ORDER BY place;

-- name: queued_without_turn
-- The first jobs of a fair lane in queues of limits that have no turn, by priority and due time.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace_blocked WHERE lane = :lane AND gate < -2
    UNION ALL
    SELECT (
        SELECT min(blocked.priority)
        FROM millrace_blocked AS blocked
        WHERE blocked.lane = :lane AND blocked.gate < -2 AND blocked.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT first.key, first.priority, first.rank, first.tenant, first.gate AS queue
FROM class
JOIN millrace_blocked AS first ON first.key IN (
    SELECT blocked.key
    FROM millrace_blocked AS blocked
    WHERE blocked.lane = :lane
      AND blocked.gate < -2
      AND blocked.priority = class.priority
      AND blocked.turn_or_rank >= 0
    ORDER BY blocked.turn_or_rank, blocked.key
    LIMIT :limit
)
ORDER BY first.priority, first.rank, first.key
LIMIT :limit;

-- name: newest_queued
-- Of the last jobs of each priority of a fair lane in queues of limits that have no turn, those of
-- other tenants.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace_blocked WHERE lane = :lane AND gate < -2
    UNION ALL
    SELECT (
        SELECT min(blocked.priority)
        FROM millrace_blocked AS blocked
        WHERE blocked.lane = :lane AND blocked.gate < -2 AND blocked.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT last.key, last.priority, last.rank, last.tenant, last.gate AS queue
FROM class
JOIN millrace_blocked AS last ON last.key IN (
    SELECT blocked.key
    FROM millrace_blocked AS blocked
    WHERE blocked.lane = :lane
      AND blocked.gate < -2
      AND blocked.priority = class.priority
      AND blocked.turn_or_rank >= 0
    ORDER BY blocked.turn_or_rank DESC, blocked.key DESC
    LIMIT :limit
)
WHERE last.tenant NOT IN (SELECT value FROM json_each(:tenants))
ORDER BY last.priority, last.rank, last.key
LIMIT :limit;

-- name: later_queued
-- Of the next jobs of a fair lane in queues of limits without a turn behind a position, those of
-- other tenants, and the last one if there are as many as the limit.
-- A comparison of rows would sort all jobs of a priority.
-- returns: LaterJobRow
WITH RECURSIVE class (priority, rank, key) AS (
    SELECT :priority, :rank, :key
    UNION ALL
    SELECT (
               SELECT min(blocked.priority)
               FROM millrace_blocked AS blocked
               WHERE blocked.lane = :lane
                 AND blocked.gate < -2
                 AND blocked.priority > class.priority
           ),
           0, 0
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT key, priority, rank, tenant, gate AS queue, place
FROM (
    SELECT key, priority, rank, tenant, gate,
           row_number() OVER (ORDER BY priority, rank, key) AS place
    FROM (
        SELECT later.key, later.priority, later.rank, later.tenant, later.gate
        FROM class
        JOIN millrace_blocked AS later ON later.key IN (
            SELECT blocked.key
            FROM millrace_blocked AS blocked
            WHERE blocked.lane = :lane
              AND blocked.gate < -2
              AND blocked.priority = class.priority
              AND blocked.turn_or_rank >= class.rank
              AND (blocked.turn_or_rank > class.rank OR blocked.key > class.key)
            ORDER BY blocked.turn_or_rank, blocked.key
            LIMIT :limit
        )
        ORDER BY later.priority, later.rank, later.key
        LIMIT :limit
    )
)
WHERE place = :limit
   OR tenant NOT IN (SELECT value FROM json_each(:tenants))
ORDER BY place;

-- name: first_turns
-- The first turn of each of these priorities of a lane.
-- returns: priority integer, queue integer, rank integer?
SELECT class.value AS priority, 0 AS queue,
       (
           SELECT min(ready.rank)
           FROM millrace_ready AS ready
           WHERE ready.lane = :lane
             AND ready.crashes = 0
             AND ready.priority = class.value
             AND ready.rank < 0
       ) AS rank
FROM json_each(:priorities) AS class;

-- name: first_queue_turns
-- The first turn of each of these priorities of a lane, in each of these queues of limits, and in
-- any queue (-1).
-- returns: priority integer, queue integer, rank integer?
SELECT class.value AS priority, own.value AS queue,
       (
           SELECT min(blocked.turn_or_rank)
           FROM millrace_blocked AS blocked
           WHERE blocked.gate = own.value
             AND blocked.gate < -2
             AND blocked.lane = :lane
             AND blocked.priority = class.value
             AND blocked.turn_or_rank < 0
       ) AS rank
FROM json_each(:priorities) AS class
CROSS JOIN json_each(:queues) AS own
UNION ALL
SELECT class.value, -1,
       (
           SELECT min(blocked.turn_or_rank)
           FROM millrace_blocked AS blocked
           WHERE blocked.gate < -2
             AND blocked.lane = :lane
             AND blocked.priority = class.value
             AND blocked.turn_or_rank < 0
       )
FROM json_each(:priorities) AS class;

-- name: fair_turns
-- The last turns of the tenants in these priorities of a lane.
-- returns: priority integer, queue integer, tenant integer, tag integer, due integer,
--   back_tag integer
SELECT priority, queue, tenant, tag, due, back_tag
FROM millrace_fair_turn
WHERE lane = :lane
  AND priority IN (SELECT value FROM json_each(:priorities));

-- name: delete_fair_turns
-- Removes the last turns of the tenants in these priorities of a lane.
DELETE FROM millrace_fair_turn
WHERE lane = :lane
  AND priority IN (SELECT value FROM json_each(:priorities));

-- name: delete_turns_of_lane
-- Removes the last turns of the tenants in a lane.
DELETE FROM millrace_fair_turn
WHERE lane = :lane;

-- name: put_fair_turns
-- Stores the last turns of tenants, which have no rows.
INSERT INTO millrace_fair_turn (lane, priority, queue, tenant, tag, due, back_tag)
SELECT :lane, turn.value ->> 0, turn.value ->> 1, turn.value ->> 2, turn.value ->> 3,
       turn.value ->> 4, turn.value ->> 5
FROM json_each(:turns) AS turn;

-- name: set_turns
-- Gives jobs their turns.
UPDATE millrace_ready
SET rank = turn.value ->> 1,
    due = turn.value ->> 2
FROM json_each(:turns) AS turn
WHERE millrace_ready.key = turn.value ->> 0;

-- name: set_queue_turns
-- Gives jobs in queues of limits their turns.
-- only: sqlite, because the function `set_turns` of PostgreSQL does both.
UPDATE millrace_blocked
SET turn = turn.value ->> 1
FROM json_each(:turns) AS turn
WHERE millrace_blocked.key = turn.value ->> 0;

-- name: longest_due_classes
-- The lanes and priorities with jobs that have been due for longer, longest first, of the jobs
-- without a crash in these lanes, or in any lane, and of those in the queues of limits. A recursive
-- hop over the index finds the first job of each.
-- returns: lane integer, priority integer, ms integer
WITH RECURSIVE lane (id) AS (
    SELECT min(lane) FROM millrace_ready
    UNION ALL
    SELECT (
        SELECT min(next.lane)
        FROM millrace_ready AS next
        WHERE next.lane > lane.id
    )
    FROM lane
    WHERE lane.id IS NOT NULL
),
class (lane, priority) AS (
    SELECT lane.id,
           (
               SELECT min(first.priority)
               FROM millrace_ready AS first
               WHERE first.lane = lane.id AND first.crashes = 0
           )
    FROM lane
    WHERE lane.id IS NOT NULL
      AND (:lanes IS NULL OR lane.id IN (SELECT value FROM json_each(:lanes)))
    UNION ALL
    SELECT class.lane,
           (
               SELECT min(next.priority)
               FROM millrace_ready AS next
               WHERE next.lane = class.lane
                 AND next.crashes = 0
                 AND next.priority > class.priority
           )
    FROM class
    WHERE class.priority IS NOT NULL
    LIMIT :hops
),
queue_lane (id) AS (
    SELECT min(lane) FROM millrace_blocked WHERE gate < -2
    UNION ALL
    SELECT (
        SELECT min(next.lane)
        FROM millrace_blocked AS next
        WHERE next.lane > queue_lane.id AND next.gate < -2
    )
    FROM queue_lane
    WHERE queue_lane.id IS NOT NULL
),
queued (lane, priority) AS (
    SELECT queue_lane.id,
           (
               SELECT min(first.priority)
               FROM millrace_blocked AS first
               WHERE first.lane = queue_lane.id AND first.gate < -2
           )
    FROM queue_lane
    WHERE queue_lane.id IS NOT NULL
      AND (:lanes IS NULL OR queue_lane.id IN (SELECT value FROM json_each(:lanes)))
    UNION ALL
    SELECT queued.lane,
           (
               SELECT min(next.priority)
               FROM millrace_blocked AS next
               WHERE next.lane = queued.lane
                 AND next.gate < -2
                 AND next.priority > queued.priority
           )
    FROM queued
    WHERE queued.priority IS NOT NULL
    LIMIT :hops
),
waiting (lane, priority, due) AS (
    SELECT class.lane, class.priority,
           min(
               coalesce((
                   SELECT min(turn.due)
                   FROM millrace_ready AS turn
                   WHERE turn.lane = class.lane
                     AND turn.priority = class.priority
                     AND turn.due IS NOT NULL
               ), 9000000000000),
               coalesce((
                   SELECT min(ready.rank)
                   FROM millrace_ready AS ready
                   WHERE ready.lane = class.lane
                     AND ready.crashes = 0
                     AND ready.priority = class.priority
                     AND ready.rank >= 0
               ) / 1000, 9000000000000)
           )
    FROM class
    WHERE class.priority IS NOT NULL
    UNION ALL
    SELECT queued.lane, queued.priority,
           min(
               coalesce((
                   SELECT min(turn.rank)
                   FROM millrace_blocked AS turn
                   WHERE turn.lane = queued.lane
                     AND turn.priority = queued.priority
                     AND turn.turn IS NOT NULL
               ) / 1000, 9000000000000),
               coalesce((
                   SELECT min(blocked.turn_or_rank)
                   FROM millrace_blocked AS blocked
                   WHERE blocked.lane = queued.lane
                     AND blocked.gate < -2
                     AND blocked.priority = queued.priority
                     AND blocked.turn_or_rank >= 0
               ) / 1000, 9000000000000)
           )
    FROM queued
    WHERE queued.priority IS NOT NULL
)
SELECT lane, priority, :now - min(due) AS ms
FROM waiting
GROUP BY lane, priority
HAVING :now - min(due) > :older
ORDER BY ms DESC, priority, lane
LIMIT :classes;
