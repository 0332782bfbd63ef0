-- row OperationRow: id uuid, status smallint, tenant text?, plan json, actor text, reason text,
--   rate double precision, chunk smallint, expected bigint, expected_at_least smallint,
--   cursor text, done bigint, failed bigint, skipped json, items bigint, created_at bigint,
--   started_at bigint?, finished_at bigint?, next_ms bigint, runner text?, stopped_by text?,
--   error json?

-- name: insert_operation
-- Stores an operation, unless its id exists. A walk over jobs begins below the next key, and
-- one over letters behind the newest letter, which may be later than now if the clock was set back.
-- The items of the first second are paid for.
INSERT INTO millrace.operation (
    id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
    created_at, next_at
)
SELECT :id::uuid, 1, :tenant::text, :plan::json, :actor::text, :reason::text,
       :rate::double precision, :chunk::smallint, :expected::bigint, :expected_at_least::smallint,
       CASE
           WHEN :walks_jobs::boolean
               THEN (SELECT (coalesce(max(key), 0) + 1)::text FROM millrace.job)
           WHEN :walks_letters::boolean
               THEN (1 + millrace.ms_of(
                   greatest(moment.at, (SELECT max(died_at) FROM millrace.dead_letter))
               ))::text
           ELSE ''
       END,
       moment.at, moment.at - interval '1 second'
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT (id) DO NOTHING;

-- name: count_open_operations
-- How many operations of a tenant have not ended, or of none, up to a maximum.
-- returns: count bigint
SELECT count(*) AS count
FROM (
    SELECT 1
    FROM millrace.operation
    WHERE status <= 2 AND tenant IS NOT DISTINCT FROM :tenant::text
    LIMIT :max::integer
) AS open;

-- name: claimable_operations
-- Of the open operations whose next chunk is due first, those that this runner holds, or no living
-- runner. An operation that waits for its rate is in the way of none.
-- returns: id uuid
SELECT id
FROM (
    SELECT id, runner, lease_until, next_at
    FROM millrace.operation
    WHERE status <= 2
    ORDER BY next_at, id
    LIMIT :max::integer
) AS due_first
WHERE runner IS NULL OR runner = :runner::text
   OR lease_until <= millrace.clock_at(:now::timestamptz)
ORDER BY next_at, id;

-- name: hold_operations
-- Gives operations to a runner. Those that are pending begin. An operation that another runner has
-- taken meanwhile stays with that runner.
-- returns: OperationRow
UPDATE millrace.operation AS held
SET status = 2, runner = :runner::text,
    lease_until = greatest(moment.at, next_at) + :lease_ms::bigint * interval '1 millisecond',
    started_at = coalesce(started_at, moment.at)
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
WHERE held.id = ANY (:ids::uuid[])
  AND held.status <= 2
  AND (held.runner IS NULL OR held.runner = :runner::text OR held.lease_until <= moment.at)
RETURNING held.id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least,
          cursor, done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,
          millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,
          greatest(0, millrace.ms_of(next_at) - millrace.ms_of(moment.at)) AS next_ms, runner,
          stopped_by, error;

-- name: find_operation
-- One operation.
-- returns: OperationRow
SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
       done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,
       millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,
       greatest(
           0, millrace.ms_of(next_at) - millrace.ms_of(millrace.clock_at(:now::timestamptz))
       ) AS next_ms, runner, stopped_by, error
FROM millrace.operation
WHERE id = :id::uuid;

-- name: lock_operation
-- Locks the row of an operation, so that one chunk at a time is applied.
-- only: postgres, because SQLite has one writer.
-- returns: id uuid
SELECT id FROM millrace.operation WHERE id = :id::uuid FOR UPDATE;

-- name: list_operations
-- A page of operations, newest first.
-- returns: OperationRow
-- timeout: reader
SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,
       done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,
       millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,
       greatest(
           0, millrace.ms_of(next_at) - millrace.ms_of(millrace.clock_at(:now::timestamptz))
       ) AS next_ms, runner, stopped_by, error
FROM millrace.operation
WHERE id < :before::uuid
  AND (:status::smallint IS NULL OR status = :status::smallint)
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
ORDER BY id DESC
LIMIT :limit::integer;

-- name: advance_operation
-- Stores what a chunk has done, and where the next one begins. The next chunk may begin when the
-- items of this one are paid for by the rate.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
paid AS MATERIALIZED (
    SELECT greatest(operation.next_at, moment.at - interval '1 second')
               + :cost_ms::bigint * interval '1 millisecond' AS until
    FROM millrace.operation AS operation
    CROSS JOIN moment
    WHERE operation.id = :id::uuid
)
UPDATE millrace.operation
SET cursor = :cursor::text, done = :done::bigint, failed = :failed::bigint,
    skipped = :skipped::json, items = :items::bigint,
    next_at = paid.until,
    lease_until = CASE
        WHEN NOT :is_last::boolean
            THEN greatest(moment.at, paid.until) + :lease_ms::bigint * interval '1 millisecond'
    END,
    runner = CASE WHEN NOT :is_last::boolean THEN runner END,
    status = CASE WHEN :is_last::boolean THEN 3 ELSE status END,
    finished_at = CASE WHEN :is_last::boolean THEN moment.at END
FROM moment
CROSS JOIN paid
WHERE id = :id::uuid;

-- name: stop_operation
-- Ends an operation that has not ended.
UPDATE millrace.operation
SET status = 4, stopped_by = :by::text, finished_at = millrace.clock_at(:now::timestamptz),
    runner = NULL, lease_until = NULL
WHERE id = :id::uuid AND status <= 2;

-- name: fail_operation
-- Ends an operation that its runner cannot continue.
UPDATE millrace.operation
SET status = 5, error = :error::json, finished_at = millrace.clock_at(:now::timestamptz),
    runner = NULL, lease_until = NULL
WHERE id = :id::uuid AND status = 2 AND runner = :runner::text;

-- name: insert_operation_items
-- What became of the items of a chunk.
INSERT INTO millrace.operation_item (operation, n, job_id, outcome, code, successor)
SELECT :id::uuid, item.n, item.id, item.outcome, item.code, item.successor
FROM json_to_recordset(:items::json) AS item (
    n bigint, id uuid, outcome smallint, code text, successor uuid
);

-- name: list_operation_items
-- A page of the items of an operation.
-- returns: n bigint, job_id uuid, outcome smallint, code text?, successor uuid?
-- timeout: reader
SELECT n, job_id, outcome, code, successor
FROM millrace.operation_item
WHERE operation = :id::uuid AND n > :after::bigint
  AND (:outcome::smallint IS NULL OR outcome = :outcome::smallint)
ORDER BY n
LIMIT :limit::integer;

-- name: delete_operation_items
-- Removes items of operations that ended a while ago.
-- timeout: reader
WITH old AS MATERIALIZED (
    SELECT item.operation, item.n
    FROM millrace.operation AS ended
    JOIN millrace.operation_item AS item ON item.operation = ended.id
    WHERE ended.status >= 3
      AND ended.finished_at
          < millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
    LIMIT :limit::integer
    FOR UPDATE OF item SKIP LOCKED
)
DELETE FROM millrace.operation_item AS item
USING old
WHERE item.operation = old.operation AND item.n = old.n;

-- name: delete_operations
-- Removes operations that ended a while ago and have no items left.
-- timeout: reader
DELETE FROM millrace.operation
WHERE id = ANY (ARRAY(
    SELECT ended.id
    FROM millrace.operation AS ended
    WHERE ended.status >= 3
      AND ended.finished_at
          < millrace.clock_at(:now::timestamptz) - :age::bigint * interval '1 millisecond'
      AND NOT EXISTS (
          SELECT 1 FROM millrace.operation_item AS item WHERE item.operation = ended.id
      )
    LIMIT :limit::integer
));

-- name: set_priorities
-- Gives waiting jobs another priority. Ranks stay.
-- only: postgres, because SQLite changes one place after the other.
-- returns: key bigint
WITH wanted AS MATERIALIZED (
    SELECT key FROM unnest(:keys::bigint[]) AS wanted (key) ORDER BY key
),
in_ready AS (
    UPDATE millrace.ready AS place
    SET priority = :priority::integer
    FROM wanted
    WHERE place.key = wanted.key
    RETURNING place.key
),
in_scheduled AS (
    UPDATE millrace.scheduled AS place
    SET priority = :priority::integer
    FROM wanted
    WHERE place.key = wanted.key
    RETURNING place.key
),
in_blocked AS (
    UPDATE millrace.blocked AS place
    SET priority = :priority::integer
    FROM wanted
    WHERE place.key = wanted.key
    RETURNING place.key
)
SELECT key FROM in_ready
UNION ALL
SELECT key FROM in_scheduled
UNION ALL
SELECT key FROM in_blocked;

-- name: other_successors
-- Of these final jobs, those that a successor stands for: one that has not failed, or that is one
-- of these jobs. Successors of successors count.
-- returns: id uuid, successor uuid
SELECT named.id, newest.id AS successor
FROM unnest(:ids::uuid[]) AS named (id)
CROSS JOIN LATERAL (
    WITH RECURSIVE line (id, key, depth) AS (
        SELECT job.id, job.key, 1 FROM millrace.job AS job WHERE job.retry_of = named.id
        UNION ALL
        SELECT job.id, job.key, line.depth + 1
        FROM line
        JOIN millrace.job AS job ON job.retry_of = line.id
        WHERE line.depth < :depth::integer
    )
    SELECT line.id
    FROM line
    WHERE line.id = ANY (:ids::uuid[])
       OR NOT EXISTS (
           SELECT 1 FROM millrace.attempt AS ended WHERE ended.key = line.key AND ended.state = 6
       )
    ORDER BY line.key DESC
    LIMIT 1
) AS newest;

-- name: states_of_jobs
-- The keys and states of jobs.
-- only: postgres, because SQLite reads one job after the other.
-- returns: id uuid, key bigint, state integer, tenant integer
SELECT asked.id, now.key, now.state, job.tenant
FROM unnest(:ids::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named
JOIN millrace.job_now AS now ON now.key = named.key
JOIN millrace.job AS job ON job.key = named.key;

-- name: jobs_left
-- Which of these jobs still exist.
-- only: postgres, because SQLite knows which jobs it has removed.
-- returns: key bigint
SELECT key FROM millrace.job WHERE key = ANY (:keys::bigint[]);
