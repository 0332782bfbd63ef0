-- apart: arrays are lists of the database here, and JSON there.

-- row FactsRow: id uuid, type_name text, max_attempts integer, flags smallint, tries integer,
--   crashes integer
-- row RunRow: fence bigint, key bigint, n integer, rank bigint, claimed_at bigint,
--   started_at bigint?, ended boolean, missing boolean

-- name: lock_leases
-- Locks leases whose number and secret match, in the order of their numbers. Waits for a rescuer
-- and for a verb that narrows a lease, but not for a heartbeat.
-- returns: number bigint, secret text
SELECT number, secret
FROM millrace.lease
WHERE number = ANY (:numbers::bigint[])
ORDER BY number
FOR KEY SHARE;

-- name: own_lease
-- Locks one lease that is about to be narrowed. Waits for settles under way.
-- returns: number bigint
SELECT number
FROM millrace.lease
WHERE number = :number::bigint
  AND secret = :secret::text
FOR UPDATE;

-- name: own_lease_of_job
-- Locks the lease of a running job. The newest lease that names the job is the valid one. Waits for
-- settles under way.
-- returns: number bigint, worker uuid
SELECT lease.number, lease.worker
FROM millrace.lease AS lease
WHERE :key::bigint BETWEEN lease.low AND lease.high
  AND lease.keys @> ARRAY[:key::bigint]
ORDER BY lease.number DESC
LIMIT 1
FOR UPDATE;

-- name: own_leases_of_worker
-- Locks the leases of a worker, whose own row is locked already.
-- returns: number bigint
SELECT number
FROM millrace.lease
WHERE worker = :worker::uuid
ORDER BY number
LIMIT :limit::integer
FOR UPDATE;

-- name: runs_of_leases
-- Every run that these leases name, in their order. `rank` is the rank that the job had in `ready`;
-- `started_at` is null for a prefetched job; `ended` says that the run has a ledger row; `missing`
-- says that the job has no row, or the run no number, after a change by hand. This runs after the
-- leases were locked: only a later statement sees what others have committed meanwhile.
-- returns: RunRow
SELECT run.lease AS fence, coalesce(run.key, 0) AS key, coalesce(run.n, 0) AS n,
       coalesce(run.rank, millrace.ms_of(run.claimed_at) * 1000) AS rank,
       millrace.ms_of(run.claimed_at) AS claimed_at, millrace.ms_of(run.started_at) AS started_at,
       EXISTS (
           SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
       ) AS ended,
       run.n IS NULL OR NOT EXISTS (
           SELECT 1 FROM millrace.job AS job WHERE job.key = run.key
       ) AS missing
FROM millrace.leased_run AS run
WHERE run.lease = ANY (:numbers::bigint[])
ORDER BY run.lease, run.turn;

-- name: job_facts
-- The facts that are needed to return a job to its place or to decide about it. The last ledger row
-- has the charges before the present run.
-- returns: key bigint, lane integer, priority integer, type integer, tenant integer,
--   concurrency text?, FactsRow
SELECT job.key, job.lane, job.priority, job.type, job.tenant, job.concurrency,
       job.id, coalesce(name.text, 'unknown name ' || job.type) AS type_name, job.max_attempts,
       job.flags, coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes
FROM unnest(:keys::bigint[]) AS named (key)
JOIN millrace.job AS job ON job.key = named.key
LEFT JOIN millrace.interned_name AS name ON name.id = job.type
LEFT JOIN LATERAL (
    SELECT attempt.tries, attempt.crashes
    FROM millrace.attempt AS attempt
    WHERE attempt.key = job.key
    ORDER BY attempt.n DESC
    LIMIT 1
) AS last ON true;

-- name: own_leases
-- Locks leases that are about to be narrowed. Waits for settles under way.
-- returns: number bigint
SELECT number
FROM millrace.lease
WHERE number = ANY (:numbers::bigint[])
ORDER BY number
FOR UPDATE;

-- name: leases_to_repair
-- Leases that name a run which contradicts the table job or the ledger.
-- returns: number bigint
-- timeout: doctor
SELECT DISTINCT lease.number
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
LEFT JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN LATERAL (
    SELECT attempt.n, attempt.state
    FROM millrace.attempt AS attempt
    WHERE attempt.key = run.key
    ORDER BY attempt.n DESC
    LIMIT 1
) AS last ON true
WHERE run.n IS NULL
   OR job.key IS NULL
   OR (run.n > coalesce(last.n, 0) AND (last.state IS NOT NULL OR run.n > coalesce(last.n, 0) + 1))
ORDER BY lease.number
LIMIT :limit::integer;

-- name: unsound_runs
-- The runs of these leases that contradict the table job or the ledger.
-- returns: key bigint
SELECT coalesce(run.key, 0) AS key
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
LEFT JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN LATERAL (
    SELECT attempt.n, attempt.state
    FROM millrace.attempt AS attempt
    WHERE attempt.key = run.key
    ORDER BY attempt.n DESC
    LIMIT 1
) AS last ON true
WHERE lease.number = ANY (:numbers::bigint[])
  AND (
      run.n IS NULL
      OR job.key IS NULL
      OR last.state IS NOT NULL
      OR run.n <> coalesce(last.n, 0) + 1
  );

-- name: drop_missing_jobs
-- Removes the requests, keys, dependencies and locks of jobs without a row. Returns whether locks
-- were released.
-- returns: freed boolean
WITH deleted_requests AS (
    DELETE FROM millrace.cancel_request WHERE key = ANY (:keys::bigint[])
),
deleted_dedup AS (
    DELETE FROM millrace.dedup WHERE job = ANY (:keys::bigint[])
),
deleted_dependencies AS (
    DELETE FROM millrace.dependency WHERE job = ANY (:keys::bigint[])
)
SELECT millrace.release_job_locks(:keys::bigint[]) AS freed;

-- name: start_runs
-- Prefetched jobs start. Jobs with a cancel request do not start and are returned. This commit
-- waits for the disk: a worker survives a crash of its server, and a server that had lost the start
-- would refuse the end and never give the job to another worker.
-- returns: held boolean, begun bigint[], asked bigint[]
SELECT held, begun, asked
FROM millrace.start_runs(
    :number::bigint, :secret::text, :keys::bigint[], :now::timestamptz
);

-- name: narrow_lease
-- Some jobs have left a lease: the lease keeps the named ones.
WITH left_starts AS (
    DELETE FROM millrace.run_start
    WHERE lease = :number::bigint
      AND key <> ALL (:keys::bigint[])
)
UPDATE millrace.lease AS lease
SET keys  = kept.keys,
    ns    = kept.ns,
    ranks = kept.ranks
FROM (
    SELECT array_agg(run.key ORDER BY run.turn) AS keys,
           array_agg(run.n ORDER BY run.turn) AS ns,
           array_agg(run.rank ORDER BY run.turn) AS ranks
    FROM millrace.lease AS wide
    CROSS JOIN LATERAL unnest(wide.keys, wide.ns, wide.ranks)
        WITH ORDINALITY AS run (key, n, rank, turn)
    WHERE wide.number = :number::bigint
      AND run.key = ANY (:keys::bigint[])
) AS kept
WHERE lease.number = :number::bigint;

-- name: delete_leases
-- All jobs of these leases have left.
WITH left_starts AS (
    DELETE FROM millrace.run_start
    WHERE lease = ANY (:numbers::bigint[])
)
DELETE FROM millrace.lease
WHERE number = ANY (:numbers::bigint[]);
