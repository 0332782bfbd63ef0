-- row LeaseRow: number integer, worker blob, keys text, ns text, ranks text, starts text,
--   claimed_at integer

-- name: find_lease
-- The lease with this number and secret.
-- returns: LeaseRow
SELECT number, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
WHERE number = :number
  AND secret = :secret;

-- name: lease_of_job
-- The lease of a running job. The newest lease that names the job is the valid one.
-- returns: LeaseRow
SELECT lease.number, lease.worker, lease.keys, lease.ns, lease.ranks, lease.starts,
       lease.claimed_at
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
WHERE claimed.value = :key
ORDER BY lease.number DESC
LIMIT 1;

-- name: lease_by_number
-- One lease.
-- returns: LeaseRow
SELECT number, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
WHERE number = :number;

-- name: set_starts
-- Some prefetched jobs have started.
UPDATE millrace_lease
SET starts = :starts
WHERE number = :number;

-- name: set_lease_jobs
-- Some prefetched jobs have left the lease unstarted.
UPDATE millrace_lease
SET keys   = :keys,
    ns     = :ns,
    ranks  = :ranks,
    starts = :starts
WHERE number = :number;

-- name: delete_lease
-- All jobs of the lease have left.
DELETE FROM millrace_lease
WHERE number = :number;

-- name: last_runs
-- The number of the last run in the ledger of each of these jobs.
-- returns tuples: key integer, n integer
SELECT attempt.key, max(attempt.n) AS n
FROM json_each(:keys) AS named
JOIN millrace_attempt AS attempt ON attempt.key = named.value
GROUP BY attempt.key;

-- name: missing_jobs
-- Those of these keys that no job has.
-- returns: key integer
SELECT DISTINCT named.value AS key
FROM json_each(:keys) AS named
WHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = named.value);

-- name: job_facts
-- The facts that are needed to return a job to its place or to decide about it. The ledger row
-- before the present run has the charges so far.
-- returns: key integer, id blob, lane integer, priority integer, type integer, tenant integer,
--   concurrency text?, max_attempts integer, timeout_ms integer?, flags integer, tries integer,
--   crashes integer
SELECT job.key, job.id, job.lane, job.priority, job.type, job.tenant, job.concurrency,
       job.max_attempts, job.timeout_ms, job.flags,
       coalesce(last.tries, 0) AS tries,
       coalesce(last.crashes, 0) AS crashes
FROM json_each(:keys) AS named
JOIN millrace_job AS job ON job.key = named.value
LEFT JOIN millrace_attempt AS last
    ON last.key = job.key
    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = job.key);
