-- name: find_lease
-- The lease that a worker says it holds.
SELECT number, worker, keys, ns, claimed_at, started_at
FROM millrace_lease
WHERE number = :number
  AND secret = :secret;

-- name: start_lease
-- Begins a buffer.
UPDATE millrace_lease
SET started_at = :now
WHERE number = :number
  AND started_at IS NULL;

-- name: set_lease_keys
-- A buffer gave some of its jobs back.
UPDATE millrace_lease
SET keys  = :keys,
    ns    = :ns,
    ranks = :ranks
WHERE number = :number;

-- name: delete_lease
-- All of its jobs have left.
DELETE FROM millrace_lease
WHERE number = :number;

-- name: lease_is_open
-- Whether some job of a lease has no ledger row yet.
SELECT 1 AS yes
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
JOIN json_each(lease.ns) AS run ON run.key = claimed.key
WHERE lease.number = :number
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = claimed.value AND done.n = run.value
  )
LIMIT 1;

-- name: unfinished_jobs
-- The jobs of a lease without a ledger row, with what it takes to put each back or to decide about
-- it. The ledger row before this run says what was charged until then.
SELECT claimed.value AS key, run.value AS n, place.value AS rank, job.id, job.lane, job.priority,
       job.type, job.tenant, job.concurrency, job.max_attempts, job.flags,
       coalesce(last.tries, 0) AS tries,
       coalesce(last.crashes, 0) AS crashes
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
JOIN json_each(lease.ns) AS run ON run.key = claimed.key
JOIN json_each(lease.ranks) AS place ON place.key = claimed.key
JOIN millrace_job AS job ON job.key = claimed.value
LEFT JOIN millrace_attempt AS last ON last.key = claimed.value AND last.n = run.value - 1
WHERE lease.number = :number
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS done WHERE done.key = claimed.value AND done.n = run.value
  )
ORDER BY claimed.key;
