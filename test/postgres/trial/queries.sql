-- name: claim
-- Takes a batch and writes its lease in one statement. The candidates are locked in a materialized
-- CTE per lane, so that no plan can lock or return more than asked; SKIP LOCKED lets workers claim
-- side by side. A lane's surplus rows are unlocked at commit, untouched.
WITH closed AS MATERIALIZED (
    SELECT name FROM millrace.gate WHERE until IS NULL OR until > clock_timestamp()
),
candidate AS MATERIALIZED (
    SELECT found.*
    FROM unnest(:lanes::integer[]) AS wanted (lane)
    CROSS JOIN LATERAL (
        SELECT key, priority, rank, n, tries, crashes
        FROM millrace.ready
        WHERE lane = wanted.lane
          AND (:types::integer[] IS NULL OR type = ANY (:types))
          AND (NOT :buffer::boolean OR crashes = 0)
          AND lane <> ALL (ARRAY(SELECT name FROM closed))
          AND type <> ALL (ARRAY(SELECT name FROM closed))
          AND tenant <> ALL (ARRAY(SELECT name FROM closed))
        ORDER BY priority, rank, key
        LIMIT :limit::integer
        FOR UPDATE SKIP LOCKED
    ) AS found
    WHERE EXISTS (
        SELECT 1 FROM millrace.worker WHERE id = :worker::uuid AND until > clock_timestamp()
    )
),
due AS MATERIALIZED (
    SELECT * FROM candidate ORDER BY priority, rank, key LIMIT :limit
),
taken AS (
    DELETE FROM millrace.ready AS ready USING due WHERE ready.key = due.key
    RETURNING due.key, due.priority, due.rank, due.n, due.tries, due.crashes
),
leased AS (
    INSERT INTO millrace.lease (secret, worker, keys, ns, claimed_at, started_at)
    SELECT :secret, :worker, array_agg(key ORDER BY priority, rank, key),
           array_agg(n ORDER BY priority, rank, key), clock_timestamp(),
           CASE WHEN :buffer THEN NULL ELSE clock_timestamp() END
    FROM taken
    HAVING count(*) > 0
    RETURNING number
)
SELECT leased.number, taken.key, taken.n, taken.tries, taken.crashes, job.id, job.payload::text
FROM taken
CROSS JOIN leased
JOIN millrace.job AS job ON job.key = taken.key
ORDER BY taken.priority, taken.rank, taken.key;

-- name: settle
-- Writes the ledger and moves jobs on, fenced by a share lock on the lease. A rescuer that holds
-- the lease is waited for and then found to have deleted it. The lease goes with its last job; of
-- two settlers that finish it at the same moment neither sees the other, and the sweep takes it
-- away.
WITH item AS (
    SELECT *
    FROM jsonb_to_recordset(:items::jsonb) AS item (
        number bigint, secret text, key bigint, n integer, tries integer, crashes integer,
        outcome smallint, state smallint, delay_ms bigint
    )
),
held AS MATERIALIZED (
    SELECT number, secret, keys, ns, started_at
    FROM millrace.lease
    WHERE started_at IS NOT NULL
      AND (number, secret) IN (SELECT number, secret FROM item)
    ORDER BY number
    FOR KEY SHARE
),
valid AS (
    SELECT item.*, held.started_at
    FROM item
    JOIN held ON held.number = item.number AND held.secret = item.secret
    WHERE held.ns[array_position(held.keys, item.key)] = item.n
),
ended AS (
    INSERT INTO millrace.attempt (
        key, n, tries, crashes, fence, started_at, finished_at, outcome, state, next_run_at
    )
    SELECT key, n, tries, crashes, number, started_at, clock_timestamp(), outcome, state,
           CASE WHEN state IS NULL
                THEN clock_timestamp() + delay_ms * interval '1 millisecond' END
    FROM valid
    ON CONFLICT (key, n) DO NOTHING
    RETURNING key, n, tries, crashes, next_run_at
),
waits AS (
    INSERT INTO millrace.scheduled (
        key, run_at, lane, priority, type, tenant, n, tries, crashes
    )
    SELECT ended.key, ended.next_run_at, job.lane, job.priority, job.type, job.tenant, ended.n + 1,
           ended.tries, ended.crashes
    FROM ended
    JOIN millrace.job AS job ON job.key = ended.key
    WHERE ended.next_run_at IS NOT NULL
),
closed AS (
    DELETE FROM millrace.lease AS lease
    USING held
    WHERE lease.number = held.number
      AND NOT EXISTS (
          SELECT 1
          FROM unnest(held.keys, held.ns) AS run (key, n)
          WHERE NOT EXISTS (
                  SELECT 1 FROM millrace.attempt AS done
                  WHERE done.key = run.key AND done.n = run.n
              )
            AND NOT EXISTS (
                  SELECT 1 FROM ended WHERE ended.key = run.key AND ended.n = run.n
              )
      )
)
SELECT key FROM ended;

-- name: rescue_lock
-- First step of a rescue: the worker's row is locked and looked at again, then its leases.
SELECT lease.number, lease.keys, lease.ns, lease.started_at
FROM (
    SELECT id FROM millrace.worker
    WHERE id = :worker::uuid AND beats = :beats::bigint AND until <= clock_timestamp()
    FOR UPDATE
) AS silent
JOIN millrace.lease AS lease ON lease.worker = silent.id
ORDER BY lease.number
FOR UPDATE OF lease;

-- name: rescue_unfinished
-- Second step, a statement of its own: its snapshot is younger than the locks, so that a settle
-- that committed while they were waited for is seen.
SELECT run.key, run.n, lease.started_at IS NOT NULL AS started,
       coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes, job.max_attempts
FROM millrace.lease AS lease
CROSS JOIN unnest(lease.keys, lease.ns) AS run (key, n)
JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1
WHERE lease.number = ANY (:numbers::bigint[])
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
  );

-- name: rescue_apply
-- Third step: what the core decided. Started jobs get their ledger row, all go back.
WITH item AS (
    SELECT *
    FROM jsonb_to_recordset(:items::jsonb) AS item (
        key bigint, n integer, tries integer, crashes integer, started boolean
    )
),
ended AS (
    INSERT INTO millrace.attempt (
        key, n, tries, crashes, started_at, finished_at, outcome, next_run_at
    )
    SELECT key, n, tries, crashes, clock_timestamp(), clock_timestamp(), 4, clock_timestamp()
    FROM item
    WHERE started
    ON CONFLICT (key, n) DO NOTHING
),
back AS (
    INSERT INTO millrace.ready (key, lane, priority, rank, type, tenant, n, tries, crashes)
    SELECT item.key, job.lane, job.priority, (extract(epoch FROM job.run_at) * 1000000)::bigint,
           job.type, job.tenant, item.n + (CASE WHEN item.started THEN 1 ELSE 0 END), item.tries,
           item.crashes
    FROM item
    JOIN millrace.job AS job ON job.key = item.key
)
DELETE FROM millrace.lease WHERE number = ANY (:numbers::bigint[]);
