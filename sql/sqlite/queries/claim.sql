-- name: worker_may_claim
-- Whether a worker is registered, has an unexpired lease and speaks a protocol that this store
-- accepts; and whether an operator has asked it to take no new work, or has paused the installation
-- (gate -2).
-- returns: quiet boolean
SELECT quiet OR EXISTS (
           SELECT 1 FROM millrace_gate WHERE name = -2 AND (until IS NULL OR until > :now)
       ) AS quiet
FROM millrace_worker
WHERE id = :worker
  AND until > :now
  AND protocol >= (SELECT CAST(value AS INTEGER) FROM millrace_meta WHERE name = 'min_protocol');

-- name: claim_candidates
-- The most urgent due jobs of one lane, with so many crashes, that no gate, no lock and no limit
-- that is used up blocks, after a position and up to a priority. For each key that the claim itself
-- is about to lock, only the job that gets the lock. Of the key that is left to a lone job, only
-- more urgent jobs.
-- The transaction has the only write lock, so the rows need no locks of their own.
-- returns tuples: key integer, priority integer, rank integer, n integer, tries integer,
--   crashes integer, tenant integer, concurrency text?, type integer, due integer?
SELECT key, priority, rank, n, tries, crashes, tenant, concurrency, type, due
FROM millrace_ready
WHERE lane = :lane
  AND crashes = :crashes
  AND (priority, rank, key) > (:after_priority, :after_rank, :after_key)
  AND priority < :end
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
  AND (:tenants IS NULL OR tenant IN (SELECT value FROM json_each(:tenants)))
  AND (:prefetch = 0 OR concurrency IS NULL)
  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now)
  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)
  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now)
  AND (:full IS NULL OR NOT (
      type IN (SELECT value FROM json_each(:full))
      OR tenant IN (SELECT value FROM json_each(:full))
  ))
  AND (
      concurrency IS NULL
      OR (
          NOT EXISTS (
              SELECT 1
              FROM millrace_lock AS lock
              WHERE lock.tenant = millrace_ready.tenant AND lock.name = millrace_ready.concurrency
          )
          AND (
              tenant || '.' || concurrency NOT IN (SELECT value FROM json_each(:names))
              OR key IN (SELECT value FROM json_each(:first))
          )
          AND (
              :awaited IS NULL
              OR concurrency <> :awaited
              OR tenant <> :awaited_tenant
              OR priority < :awaited_priority
          )
      )
  )
ORDER BY priority, rank, key
LIMIT :limit;

-- name: data_version
-- A number that changes when another connection has committed.
-- only: sqlite, because PostgreSQL sends wake-ups.
-- returns: data_version integer
PRAGMA data_version;

-- name: delete_ready
-- Removes a batch from `ready`.
DELETE FROM millrace_ready
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: ready_lanes
-- The lanes that have due jobs. A recursive hop over the index finds them, however many jobs there
-- are.
-- returns: lane integer
WITH RECURSIVE hop (lane) AS (
    SELECT min(lane) FROM millrace_ready
    UNION ALL
    SELECT (SELECT min(ready.lane) FROM millrace_ready AS ready WHERE ready.lane > hop.lane)
    FROM hop
    WHERE hop.lane IS NOT NULL
)
SELECT lane FROM hop WHERE lane IS NOT NULL;

-- name: look_for_ready
-- Whether a due job waits in these lanes, or in any lane.
-- only: sqlite, because the function `claim_batch` of PostgreSQL looks by itself.
-- returns: has_ready boolean
SELECT CASE
           WHEN :lanes IS NULL THEN EXISTS (SELECT 1 FROM millrace_ready)
           ELSE EXISTS (
               SELECT 1
               FROM json_each(:lanes) AS named
               CROSS JOIN millrace_ready AS ready ON ready.lane = named.value
           )
       END AS has_ready;

-- name: payload_sizes
-- The size of each payload of a batch, without reading the payloads.
-- returns tuples: bytes integer
SELECT coalesce(octet_length(job.payload), 0) AS bytes
FROM json_each(:keys) AS candidate
LEFT JOIN millrace_job AS job ON job.key = candidate.value
ORDER BY candidate.key;

-- name: insert_lease
-- Writes one lease for the whole batch.
INSERT INTO millrace_lease (secret, worker, keys, ns, ranks, starts, claimed_at, alone)
VALUES (:secret, :worker, :keys, :ns, :ranks, :starts, :claimed_at, :alone);

-- name: claimed_jobs
-- The jobs of a batch as handlers get them, in the order of the keys.
-- returns tuples: id blob, type integer, tenant integer, lane integer, max_attempts integer,
--   timeout_ms integer?, payload text?, payload_version text?, correlation text?, parent blob?,
--   concurrency text?, tags text?, created_at integer, flags integer, successor boolean
SELECT job.id, job.type, job.tenant, job.lane, job.max_attempts, job.timeout_ms, job.payload,
       job.payload_version, job.correlation, job.parent, job.concurrency, job.tags,
       job.created_at, job.flags, job.retry_of IS NOT NULL AS successor
FROM json_each(:keys) AS claimed
CROSS JOIN millrace_job AS job ON job.key = claimed.value
ORDER BY claimed.key;
