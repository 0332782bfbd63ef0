-- row OperationRow: id blob, status integer, tenant text?, plan text, actor text, reason text,
--   rate real, chunk integer, expected integer, expected_at_least integer, cursor text,
--   done integer, failed integer, skipped text, items integer, created_at integer,
--   started_at integer?, finished_at integer?, next_ms integer, runner text?, stopped_by text?,
--   error text?

-- name: insert_operation
-- Stores an operation, unless its id exists. A walk over jobs begins below the next key, and
-- one over letters behind the newest letter, which may be later than now if the clock was set back.
-- The items of the first second are paid for.
INSERT INTO millrace_operation (
    id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
    created_at, next_at
)
VALUES (
    :id, 1, :tenant, :plan, :actor, :reason, :rate, :chunk, :expected, :expected_at_least,
    CASE
        WHEN :walks_jobs
            THEN (SELECT CAST(coalesce(max(key), 0) + 1 AS TEXT) FROM millrace_job)
        WHEN :walks_letters
            THEN CAST(
                1 + max(
                    CAST(:now AS INTEGER),
                    coalesce((SELECT max(died_at) FROM millrace_dead_letter), 0)
                ) AS TEXT
            )
        ELSE ''
    END,
    :now, :now - 1000
)
ON CONFLICT (id) DO NOTHING;

-- name: count_open_operations
-- How many operations of a tenant have not ended, or of none, up to a maximum.
-- returns: count integer
SELECT count(*) AS count
FROM (
    SELECT 1
    FROM millrace_operation
    WHERE status <= 2 AND tenant IS :tenant
    LIMIT :max
) AS open;

-- name: claimable_operations
-- Of the open operations whose next chunk is due first, those that this runner holds, or no living
-- runner. An operation that waits for its rate is in the way of none.
-- returns: id blob
SELECT id
FROM (
    SELECT id, runner, lease_until, next_at
    FROM millrace_operation
    WHERE status <= 2
    ORDER BY next_at, id
    LIMIT :max
) AS due_first
WHERE runner IS NULL OR runner = :runner OR lease_until <= :now
ORDER BY next_at, id;

-- name: hold_operations
-- Gives operations to a runner. Those that are pending begin.
UPDATE millrace_operation
SET status = 2, runner = :runner, lease_until = max(:now, next_at) + :lease_ms,
    started_at = coalesce(started_at, :now)
WHERE id IN (SELECT unhex(value) FROM json_each(:ids));

-- name: find_operation
-- One operation.
-- returns: OperationRow
SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
       done, failed, skipped, items, created_at, started_at, finished_at,
       max(0, next_at - :now) AS next_ms, runner, stopped_by, error
FROM millrace_operation
WHERE id = :id;

-- name: list_operations
-- A page of operations, newest first.
-- returns: OperationRow
SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
       done, failed, skipped, items, created_at, started_at, finished_at,
       max(0, next_at - :now) AS next_ms, runner, stopped_by, error
FROM millrace_operation
WHERE id < :before
  AND (:status IS NULL OR status = :status)
  AND (:tenant IS NULL OR tenant = :tenant)
ORDER BY millrace_operation.id DESC
LIMIT :limit;

-- name: advance_operation
-- Stores what a chunk has done, and where the next one begins. The next chunk may begin when the
-- items of this one are paid for by the rate.
UPDATE millrace_operation
SET cursor = :cursor, done = :done, failed = :failed, skipped = :skipped, items = :items,
    next_at = max(next_at, :now - 1000) + :cost_ms,
    lease_until = iif(:is_last, NULL, max(:now, max(next_at, :now - 1000) + :cost_ms) + :lease_ms),
    runner = iif(:is_last, NULL, runner),
    status = iif(:is_last, 3, status),
    finished_at = iif(:is_last, :now, NULL)
WHERE id = :id;

-- name: stop_operation
-- Ends an operation that has not ended.
UPDATE millrace_operation
SET status = 4, stopped_by = :by, finished_at = :now, runner = NULL, lease_until = NULL
WHERE id = :id AND status <= 2;

-- name: fail_operation
-- Ends an operation that its runner cannot continue.
UPDATE millrace_operation
SET status = 5, error = :error, finished_at = :now, runner = NULL, lease_until = NULL
WHERE id = :id AND status = 2 AND runner = :runner;

-- name: insert_operation_items
-- What became of the items of a chunk.
INSERT INTO millrace_operation_item (operation, n, job_id, outcome, code, successor)
SELECT :id, item.value ->> 'n', unhex(item.value ->> 'id'), item.value ->> 'outcome',
       item.value ->> 'code', unhex(item.value ->> 'successor')
FROM json_each(:items) AS item;

-- name: list_operation_items
-- A page of the items of an operation.
-- returns: n integer, job_id blob, outcome integer, code text?, successor blob?
SELECT n, job_id, outcome, code, successor
FROM millrace_operation_item
WHERE operation = :id AND n > :after AND (:outcome IS NULL OR outcome = :outcome)
ORDER BY millrace_operation_item.n
LIMIT :limit;

-- name: delete_operation_items
-- Removes items of operations that ended a while ago.
DELETE FROM millrace_operation_item
WHERE (operation, n) IN (
    SELECT item.operation, item.n
    FROM millrace_operation AS ended
    CROSS JOIN millrace_operation_item AS item ON item.operation = ended.id
    WHERE ended.status >= 3 AND ended.finished_at < :now - :age
    LIMIT :limit
);

-- name: delete_operations
-- Removes operations that ended a while ago and have no items left.
DELETE FROM millrace_operation
WHERE id IN (
    SELECT ended.id
    FROM millrace_operation AS ended
    WHERE ended.status >= 3 AND ended.finished_at < :now - :age
      AND NOT EXISTS (
          SELECT 1 FROM millrace_operation_item AS item WHERE item.operation = ended.id
      )
    LIMIT :limit
);

-- name: other_successors
-- Of these final jobs, those that a successor stands for: one that has not failed, or that is one
-- of these jobs. Successors of successors count.
-- returns: id blob, successor blob
SELECT named.id, (
    WITH RECURSIVE line (id, key, depth) AS (
        SELECT job.id, job.key, 1 FROM millrace_job AS job WHERE job.retry_of = named.id
        UNION ALL
        SELECT job.id, job.key, line.depth + 1
        FROM line
        CROSS JOIN millrace_job AS job ON job.retry_of = line.id
        WHERE line.depth < :depth
    )
    SELECT line.id
    FROM line
    WHERE line.id IN (SELECT unhex(value) FROM json_each(:ids))
       OR NOT EXISTS (
           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = line.key AND ended.state = 6
       )
    ORDER BY line.key DESC
    LIMIT 1
) AS successor
FROM (SELECT unhex(value) AS id FROM json_each(:ids)) AS named
WHERE successor IS NOT NULL;

-- name: set_priority_of_ready
-- Gives a ready job another priority. Its rank stays.
-- only: sqlite, because PostgreSQL changes all places in one statement.
UPDATE millrace_ready SET priority = :priority WHERE key = :key;

-- name: set_priority_of_scheduled
-- Gives a scheduled job another priority.
-- only: sqlite, because PostgreSQL changes all places in one statement.
UPDATE millrace_scheduled SET priority = :priority WHERE key = :key;

-- name: set_priority_of_blocked
-- Gives a held job another priority.
-- only: sqlite, because PostgreSQL changes all places in one statement.
UPDATE millrace_blocked SET priority = :priority WHERE key = :key;
