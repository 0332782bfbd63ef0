-- row FairLaneRow: lane integer, weights text, code_weights text?, owner integer, by text?,
--   set_at bigint

-- row FairJobRow: key bigint, priority integer, rank bigint, tenant integer

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
SELECT first.key, first.priority, first.rank, first.tenant
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
SELECT last.key, last.priority, last.rank, last.tenant
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
-- returns: key bigint, priority integer, rank bigint, tenant integer, place integer
SELECT key, priority, rank, tenant, place::integer AS place
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

-- name: first_turns
-- The first turn of each of these priorities of a lane.
-- returns: priority integer, rank bigint?
SELECT class.priority,
       (
           SELECT min(ready.rank)
           FROM millrace.ready AS ready
           WHERE ready.lane = :lane::integer
             AND ready.crashes = 0
             AND ready.priority = class.priority
             AND ready.rank < 0
       ) AS rank
FROM unnest(:priorities::integer[]) AS class (priority);

-- name: fair_turns
-- The last turns of the tenants in these priorities of a lane.
-- returns: priority integer, tenant integer, tag bigint, due bigint, back_tag bigint
SELECT priority, tenant, tag, due, back_tag
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
INSERT INTO millrace.fair_turn (lane, priority, tenant, tag, due, back_tag)
SELECT :lane::integer, (turn.value ->> 0)::integer, (turn.value ->> 1)::integer,
       (turn.value ->> 2)::bigint, (turn.value ->> 3)::bigint, (turn.value ->> 4)::bigint
FROM json_array_elements(:turns::json) AS turn (value);

-- name: set_turns
-- Gives jobs their turns.
-- returns: given text
SELECT millrace.set_turns(:turns::json)::text AS given;

-- name: longest_due_class
-- The lane and priority of the job that has been due longest, of the jobs without a crash in these
-- lanes, or in any lane. A recursive hop over the index finds the first job of each.
-- returns: lane integer, priority integer, ms bigint
-- timeout: reader
WITH RECURSIVE class (lane, priority) AS (
    (
        SELECT lane, priority
        FROM millrace.ready
        WHERE crashes = 0
          AND (:lanes::integer[] IS NULL OR lane = ANY (:lanes::integer[]))
        ORDER BY lane, priority
        LIMIT 1
    )
    UNION ALL
    SELECT next.lane, next.priority
    FROM class
    CROSS JOIN LATERAL (
        SELECT ready.lane, ready.priority
        FROM millrace.ready AS ready
        WHERE ready.crashes = 0
          AND (ready.lane, ready.priority) > (class.lane, class.priority)
          AND (:lanes::integer[] IS NULL OR ready.lane = ANY (:lanes::integer[]))
        ORDER BY ready.lane, ready.priority
        LIMIT 1
    ) AS next
)
SELECT class.lane, class.priority,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) - least(
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
       ) AS ms
FROM (SELECT * FROM class LIMIT :hops::integer) AS class
ORDER BY ms DESC, class.priority, class.lane
LIMIT 1;
