-- row FairLaneRow: lane integer, weights text, code_weights text?, owner integer, by text?,
--   set_at bigint

-- row FairJobRow: key bigint, priority integer, rank bigint, tenant integer, queue integer

-- row LaterJobRow: key bigint, priority integer, rank bigint, tenant integer, queue integer,
--   place integer

-- name: all_fair_lanes
-- All fair lanes.
-- returns: FairLaneRow
SELECT lane, weights::text AS weights, code_weights::text AS code_weights,
       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at
FROM millrace.fair_lane
ORDER BY lane;

-- name: find_fair_lane
-- A fair lane, for a change.
-- returns: FairLaneRow
SELECT lane, weights::text AS weights, code_weights::text AS code_weights,
       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at
FROM millrace.fair_lane
WHERE lane = :lane::integer
FOR UPDATE;

-- name: fair_lane_for_turns
-- A fair lane, unless another process gives turns in it.
-- returns: FairLaneRow
SELECT lane, weights::text AS weights, code_weights::text AS code_weights,
       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at
FROM millrace.fair_lane
WHERE lane = :lane::integer
FOR UPDATE SKIP LOCKED;

-- name: put_fair_lane
-- Makes a lane fair, or changes its weights.
INSERT INTO millrace.fair_lane (lane, weights, code_weights, owner, by, set_at)
VALUES (
    :lane::integer, :weights::json, :code_weights::json, :owner::smallint, :by::text,
    millrace.clock_at(:now::timestamptz)
)
ON CONFLICT (lane) DO UPDATE
SET weights = excluded.weights, code_weights = excluded.code_weights, owner = excluded.owner,
    by = excluded.by, set_at = excluded.set_at;

-- name: set_code_weights
-- Stores what the code of a worker states, beside what an operator has set.
UPDATE millrace.fair_lane
SET code_weights = :code_weights::json
WHERE lane = :lane::integer;

-- name: delete_fair_lane
-- A lane is fair no more.
DELETE FROM millrace.fair_lane
WHERE lane = :lane::integer;

-- name: lanes_without_turns
-- The fair lanes in which jobs wait that have no turn.
-- returns: lane integer
SELECT lane FROM millrace.lane_without_turns ORDER BY lane;

-- name: jobs_without_turn
-- The first jobs of a fair lane that have no turn, by priority and due time.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace.ready WHERE lane = :lane::integer AND crashes = 0
    UNION ALL
    SELECT (
        SELECT min(ready.priority)
        FROM millrace.ready AS ready
        WHERE ready.lane = :lane::integer
          AND ready.crashes = 0
          AND ready.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT first.key, first.priority, first.rank, first.tenant, 0 AS queue
FROM class
CROSS JOIN LATERAL (
    SELECT ready.key, ready.priority, ready.rank, ready.tenant
    FROM millrace.ready AS ready
    WHERE ready.lane = :lane::integer
      AND ready.crashes = 0
      AND ready.priority = class.priority
      AND ready.rank >= 0
    ORDER BY ready.rank, ready.key
    LIMIT :limit::integer
) AS first
LIMIT :limit::integer;

-- name: newest_without_turn
-- Of the last jobs of each priority of a fair lane that have no turn, those of other tenants.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace.ready WHERE lane = :lane::integer AND crashes = 0
    UNION ALL
    SELECT (
        SELECT min(ready.priority)
        FROM millrace.ready AS ready
        WHERE ready.lane = :lane::integer
          AND ready.crashes = 0
          AND ready.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT last.key, last.priority, last.rank, last.tenant, 0 AS queue
FROM class
CROSS JOIN LATERAL (
    SELECT ready.key, ready.priority, ready.rank, ready.tenant
    FROM millrace.ready AS ready
    WHERE ready.lane = :lane::integer
      AND ready.crashes = 0
      AND ready.priority = class.priority
      AND ready.rank >= 0
    ORDER BY ready.rank DESC, ready.key DESC
    LIMIT :limit::integer
) AS last
WHERE last.tenant <> ALL (:tenants::integer[])
ORDER BY last.priority, last.rank, last.key
LIMIT :limit::integer;

-- name: later_without_turn
-- Of the next jobs of a fair lane without a turn behind a position, those of other tenants, and the
-- last one if there are as many as the limit.
-- returns: LaterJobRow
SELECT key, priority, rank, tenant, 0 AS queue, place::integer AS place
FROM (
    SELECT key, priority, rank, tenant,
           row_number() OVER (ORDER BY priority, rank, key) AS place
    FROM (
        SELECT key, priority, rank, tenant
        FROM millrace.ready
        WHERE lane = :lane::integer
          AND crashes = 0
          AND (priority, rank, key) > (:priority::integer, :rank::bigint, :key::bigint)
          AND rank >= 0
        ORDER BY priority, rank, key
        LIMIT :limit::integer
    ) AS later
) AS later
WHERE place = :limit::integer
   OR tenant <> ALL (:tenants::integer[])
ORDER BY place;

-- name: queued_without_turn
-- The first jobs of a fair lane in queues of limits that have no turn, by priority and due time.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace.blocked WHERE lane = :lane::integer AND gate < -2
    UNION ALL
    SELECT (
        SELECT min(blocked.priority)
        FROM millrace.blocked AS blocked
        WHERE blocked.lane = :lane::integer
          AND blocked.gate < -2
          AND blocked.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT first.key, first.priority, first.rank, first.tenant, first.gate AS queue
FROM class
CROSS JOIN LATERAL (
    SELECT blocked.key, blocked.priority, blocked.rank, blocked.tenant, blocked.gate
    FROM millrace.blocked AS blocked
    WHERE blocked.lane = :lane::integer
      AND blocked.gate < -2
      AND blocked.priority = class.priority
      AND blocked.turn_or_rank >= 0
    ORDER BY blocked.turn_or_rank, blocked.key
    LIMIT :limit::integer
) AS first
LIMIT :limit::integer;

-- name: newest_queued
-- Of the last jobs of each priority of a fair lane in queues of limits that have no turn, those of
-- other tenants.
-- returns: FairJobRow
WITH RECURSIVE class (priority) AS (
    SELECT min(priority) FROM millrace.blocked WHERE lane = :lane::integer AND gate < -2
    UNION ALL
    SELECT (
        SELECT min(blocked.priority)
        FROM millrace.blocked AS blocked
        WHERE blocked.lane = :lane::integer
          AND blocked.gate < -2
          AND blocked.priority > class.priority
    )
    FROM class
    WHERE class.priority IS NOT NULL
)
SELECT last.key, last.priority, last.rank, last.tenant, last.gate AS queue
FROM class
CROSS JOIN LATERAL (
    SELECT blocked.key, blocked.priority, blocked.rank, blocked.tenant, blocked.gate
    FROM millrace.blocked AS blocked
    WHERE blocked.lane = :lane::integer
      AND blocked.gate < -2
      AND blocked.priority = class.priority
      AND blocked.turn_or_rank >= 0
    ORDER BY blocked.turn_or_rank DESC, blocked.key DESC
    LIMIT :limit::integer
) AS last
WHERE last.tenant <> ALL (:tenants::integer[])
ORDER BY last.priority, last.rank, last.key
LIMIT :limit::integer;

-- name: later_queued
-- Of the next jobs of a fair lane in queues of limits without a turn behind a position, those of
-- other tenants, and the last one if there are as many as the limit.
-- returns: LaterJobRow
SELECT key, priority, rank, tenant, gate AS queue, place::integer AS place
FROM (
    SELECT key, priority, rank, tenant, gate,
           row_number() OVER (ORDER BY priority, rank, key) AS place
    FROM (
        SELECT key, priority, rank, tenant, gate
        FROM millrace.blocked
        WHERE lane = :lane::integer
          AND gate < -2
          AND (priority, turn_or_rank, key)
              > (:priority::integer, :rank::bigint, :key::bigint)
          AND turn_or_rank >= 0
        ORDER BY priority, turn_or_rank, key
        LIMIT :limit::integer
    ) AS later
) AS later
WHERE place = :limit::integer
   OR tenant <> ALL (:tenants::integer[])
ORDER BY place;

-- name: first_turns
-- The first turn of each of these priorities of a lane.
-- returns: priority integer, queue integer, rank bigint?
SELECT class.priority, 0 AS queue,
       (
           SELECT min(ready.rank)
           FROM millrace.ready AS ready
           WHERE ready.lane = :lane::integer
             AND ready.crashes = 0
             AND ready.priority = class.priority
             AND ready.rank < 0
       ) AS rank
FROM unnest(:priorities::integer[]) AS class (priority);

-- name: first_queue_turns
-- The first turn of each of these priorities of a lane, in each of these queues of limits, and in
-- any queue (-1).
-- returns: priority integer, queue integer, rank bigint?
SELECT class.priority, own.queue,
       (
           SELECT min(blocked.turn_or_rank)
           FROM millrace.blocked AS blocked
           WHERE blocked.gate = own.queue
             AND blocked.gate < -2
             AND blocked.lane = :lane::integer
             AND blocked.priority = class.priority
             AND blocked.turn_or_rank < 0
       ) AS rank
FROM unnest(:priorities::integer[]) AS class (priority)
CROSS JOIN unnest(:queues::integer[]) AS own (queue)
UNION ALL
SELECT class.priority, -1,
       (
           SELECT min(blocked.turn_or_rank)
           FROM millrace.blocked AS blocked
           WHERE blocked.gate < -2
             AND blocked.lane = :lane::integer
             AND blocked.priority = class.priority
             AND blocked.turn_or_rank < 0
       )
FROM unnest(:priorities::integer[]) AS class (priority);

-- name: fair_turns
-- The last turns of the tenants in these priorities of a lane.
-- returns: priority integer, queue integer, tenant integer, tag bigint, due bigint,
--   back_tag bigint
SELECT priority, queue, tenant, tag, due, back_tag
FROM millrace.fair_turn
WHERE lane = :lane::integer
  AND priority = ANY (:priorities::integer[]);

-- name: delete_fair_turns
-- Removes the last turns of the tenants in these priorities of a lane.
DELETE FROM millrace.fair_turn
WHERE lane = :lane::integer
  AND priority = ANY (:priorities::integer[]);

-- name: delete_turns_of_lane
-- Removes the last turns of the tenants in a lane.
DELETE FROM millrace.fair_turn
WHERE lane = :lane::integer;

-- name: put_fair_turns
-- Stores the last turns of tenants, which have no rows.
INSERT INTO millrace.fair_turn (lane, priority, queue, tenant, tag, due, back_tag)
SELECT :lane::integer, (turn.value ->> 0)::integer, (turn.value ->> 1)::integer,
       (turn.value ->> 2)::integer, (turn.value ->> 3)::bigint, (turn.value ->> 4)::bigint,
       (turn.value ->> 5)::bigint
FROM json_array_elements(:turns::json) AS turn (value);

-- name: set_turns
-- Gives jobs their turns.
-- returns: given text
SELECT millrace.set_turns(:turns::json)::text AS given;

-- name: longest_due_classes
-- The lanes and priorities with jobs that have been due for longer, longest first, of the jobs
-- without a crash in these lanes, or in any lane, and of those in the queues of limits. A recursive
-- hop over the index finds the first job of each.
-- returns: lane integer, priority integer, ms bigint
-- timeout: reader
WITH RECURSIVE lane (id) AS (
    SELECT min(lane) FROM millrace.ready
    UNION ALL
    SELECT (
        SELECT min(next.lane)
        FROM millrace.ready AS next
        WHERE next.lane > lane.id
    )
    FROM lane
    WHERE lane.id IS NOT NULL
),
class (lane, priority) AS (
    SELECT lane.id,
           (
               SELECT min(first.priority)
               FROM millrace.ready AS first
               WHERE first.lane = lane.id AND first.crashes = 0
           )
    FROM lane
    WHERE lane.id IS NOT NULL
      AND (:lanes::integer[] IS NULL OR lane.id = ANY (:lanes::integer[]))
    UNION ALL
    SELECT class.lane,
           (
               SELECT min(next.priority)
               FROM millrace.ready AS next
               WHERE next.lane = class.lane
                 AND next.crashes = 0
                 AND next.priority > class.priority
           )
    FROM class
    WHERE class.priority IS NOT NULL
),
queue_lane (id) AS (
    SELECT min(lane) FROM millrace.blocked WHERE gate < -2
    UNION ALL
    SELECT (
        SELECT min(next.lane)
        FROM millrace.blocked AS next
        WHERE next.lane > queue_lane.id AND next.gate < -2
    )
    FROM queue_lane
    WHERE queue_lane.id IS NOT NULL
),
queued (lane, priority) AS (
    SELECT queue_lane.id,
           (
               SELECT min(first.priority)
               FROM millrace.blocked AS first
               WHERE first.lane = queue_lane.id AND first.gate < -2
           )
    FROM queue_lane
    WHERE queue_lane.id IS NOT NULL
      AND (:lanes::integer[] IS NULL OR queue_lane.id = ANY (:lanes::integer[]))
    UNION ALL
    SELECT queued.lane,
           (
               SELECT min(next.priority)
               FROM millrace.blocked AS next
               WHERE next.lane = queued.lane
                 AND next.gate < -2
                 AND next.priority > queued.priority
           )
    FROM queued
    WHERE queued.priority IS NOT NULL
),
waiting (lane, priority, due) AS (
    SELECT class.lane, class.priority,
           least(
               (
                   SELECT min(turn.due)
                   FROM millrace.ready AS turn
                   WHERE turn.lane = class.lane
                     AND turn.priority = class.priority
                     AND turn.due IS NOT NULL
               ),
               (
                   SELECT min(ready.rank)
                   FROM millrace.ready AS ready
                   WHERE ready.lane = class.lane
                     AND ready.crashes = 0
                     AND ready.priority = class.priority
                     AND ready.rank >= 0
               ) / 1000
           )
    FROM (SELECT * FROM class LIMIT :hops::integer) AS class
    WHERE class.priority IS NOT NULL
    UNION ALL
    SELECT queued.lane, queued.priority,
           least(
               (
                   SELECT min(turn.rank)
                   FROM millrace.blocked AS turn
                   WHERE turn.lane = queued.lane
                     AND turn.priority = queued.priority
                     AND turn.turn IS NOT NULL
               ) / 1000,
               (
                   SELECT min(blocked.turn_or_rank)
                   FROM millrace.blocked AS blocked
                   WHERE blocked.lane = queued.lane
                     AND blocked.gate < -2
                     AND blocked.priority = queued.priority
                     AND blocked.turn_or_rank >= 0
               ) / 1000
           )
    FROM (SELECT * FROM queued LIMIT :hops::integer) AS queued
    WHERE queued.priority IS NOT NULL
)
SELECT lane, priority, millrace.ms_of(millrace.clock_at(:now::timestamptz)) - min(due) AS ms
FROM waiting
GROUP BY lane, priority
HAVING millrace.ms_of(millrace.clock_at(:now::timestamptz)) - min(due) > :older::bigint
ORDER BY ms DESC, priority, lane
LIMIT :classes::integer;
