-- row FairLaneRow: lane integer, weights text, code_weights text?, owner integer, by text?,
--   set_at integer

-- row FairJobRow: key integer, priority integer, rank integer, tenant integer

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
SELECT ready.key, ready.priority, ready.rank, ready.tenant
FROM class
CROSS JOIN millrace_ready AS ready
WHERE ready.lane = :lane
  AND ready.crashes = 0
  AND ready.priority = class.priority
  AND ready.rank >= 0
ORDER BY ready.priority, ready.rank, ready.key
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
SELECT last.key, last.priority, last.rank, last.tenant
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
-- returns: key integer, priority integer, rank integer, tenant integer, place integer
SELECT key, priority, rank, tenant, place
FROM (
    SELECT key, priority, rank, tenant,
           row_number() OVER (ORDER BY priority, rank, key) AS place
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
)
WHERE place = :limit
   OR tenant NOT IN (SELECT value FROM json_each(:tenants))
ORDER BY place;

-- name: first_turns
-- The first turn of each of these priorities of a lane.
-- returns: priority integer, rank integer?
SELECT class.value AS priority,
       (
           SELECT min(ready.rank)
           FROM millrace_ready AS ready
           WHERE ready.lane = :lane
             AND ready.crashes = 0
             AND ready.priority = class.value
             AND ready.rank < 0
       ) AS rank
FROM json_each(:priorities) AS class;

-- name: fair_turns
-- The last turns of the tenants in these priorities of a lane.
-- returns: priority integer, tenant integer, tag integer, due integer, back_tag integer
SELECT priority, tenant, tag, due, back_tag
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
INSERT INTO millrace_fair_turn (lane, priority, tenant, tag, due, back_tag)
SELECT :lane, turn.value ->> 0, turn.value ->> 1, turn.value ->> 2, turn.value ->> 3,
       turn.value ->> 4
FROM json_each(:turns) AS turn;

-- name: set_turns
-- Gives jobs their turns.
UPDATE millrace_ready
SET rank = turn.value ->> 1,
    due = turn.value ->> 2
FROM json_each(:turns) AS turn
WHERE millrace_ready.key = turn.value ->> 0;

-- name: longest_due_class
-- The lane and priority of the job that has been due longest, of the jobs without a crash in these
-- lanes, or in any lane. A recursive hop over the index finds the first job of each.
-- returns: lane integer, priority integer, ms integer
WITH RECURSIVE class (lane, priority) AS (
    SELECT lane, priority
    FROM (
        SELECT lane, priority
        FROM millrace_ready
        WHERE crashes = 0
          AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
        ORDER BY lane, priority
        LIMIT 1
    )
    UNION ALL
    SELECT ready.lane, ready.priority
    FROM class
    JOIN millrace_ready AS ready ON ready.key = coalesce(
        (
            SELECT next.key
            FROM millrace_ready AS next
            WHERE next.lane = class.lane
              AND next.crashes = 0
              AND next.priority > class.priority
            ORDER BY next.priority
            LIMIT 1
        ),
        (
            SELECT next.key
            FROM millrace_ready AS next
            WHERE next.lane > class.lane
              AND next.crashes = 0
              AND (:lanes IS NULL OR next.lane IN (SELECT value FROM json_each(:lanes)))
            ORDER BY next.lane, next.priority
            LIMIT 1
        )
    )
    LIMIT :hops
)
SELECT class.lane, class.priority,
       :now - min(
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
       ) AS ms
FROM class
ORDER BY ms DESC, class.priority, class.lane
LIMIT 1;
