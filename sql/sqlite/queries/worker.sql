-- name: register_worker
-- Registers a worker, or gives a registered one a new lease. A registered one stays quiet or not.
INSERT INTO millrace_worker (
    id, process, host, pid, version, protocol, types, lanes, slots, lane_slots, tenant, app,
    joined_at, until, renewed_at, beat_ms, beats, quiet
)
VALUES (
    :id, :process, :host, :pid, :version, :protocol, :types, :lanes, :slots, :lane_slots, :tenant,
    :app, :now, :until, :now, :beat_ms, 0, :quiet
)
ON CONFLICT (id) DO UPDATE
SET until = :until, renewed_at = :now, beats = beats + 1, died_with = NULL;

-- name: renew_worker
-- A heartbeat: extends the one row that all leases of the process depend on. A worker whose lease
-- has expired may still renew it as long as it was not rescued. Returns whether its protocol is no
-- longer accepted.
-- returns: quiet boolean, stopping boolean, outdated boolean
UPDATE millrace_worker
SET until = :until,
    beats = beats + 1,
    renewed_at = :now,
    memory_bytes = coalesce(:memory_bytes, memory_bytes),
    loop_lag_ms = coalesce(:loop_lag_ms, loop_lag_ms),
    died_with = NULL
WHERE id = :id
RETURNING quiet,
          stopping,
          protocol < (SELECT CAST(value AS INTEGER) FROM millrace_meta WHERE name = 'min_protocol')
              AS outdated;

-- name: ended_runs
-- The ended runs of a worker whose code may go on.
-- returns: key integer, n integer
SELECT key, n
FROM millrace_ended_run
WHERE worker = :worker
ORDER BY key, n;

-- name: insert_ended_runs
-- Code of these ended runs may go on in a worker, if the worker is registered.
INSERT INTO millrace_ended_run (worker, key, n)
SELECT worker.id, run.value ->> 'key', run.value ->> 'n'
FROM millrace_worker AS worker
CROSS JOIN json_each(:runs) AS run
WHERE worker.id = :worker
ON CONFLICT (worker, key, n) DO NOTHING;

-- name: delete_ended_runs
-- The code of these runs of a worker has ended; null: of all its runs, because it is removed.
-- returns: key integer
DELETE FROM millrace_ended_run
WHERE worker = :worker
  AND (
      :runs IS NULL
      OR (key, n) IN (SELECT value ->> 'key', value ->> 'n' FROM json_each(:runs))
  )
RETURNING key;

-- name: expire_worker
-- The worker has stopped and left jobs behind: its lease expires at once.
UPDATE millrace_worker
SET until = :now
WHERE id = :id;

-- name: delete_worker
-- Removes a worker.
DELETE FROM millrace_worker
WHERE id = :id;

-- name: silent_workers
-- Workers whose lease has expired, longest expired first.
-- returns: id blob, beats integer, until integer
SELECT id, beats, until
FROM millrace_worker
WHERE until <= :now
ORDER BY until, id
LIMIT :limit;

-- name: worker_is_silent
-- The worker, if it has not renewed since the rescuer looked and its lease has expired.
-- returns: process blob, died_with integer?
SELECT process, died_with
FROM millrace_worker
WHERE id = :id
  AND beats = :beats
  AND until <= :now;

-- name: worker_lives
-- Whether the lease of a worker has not expired.
-- returns: lives boolean
SELECT until > :now AS lives
FROM millrace_worker
WHERE id = :id;

-- name: leases_of_worker
-- The leases of a worker, oldest first.
-- returns: number integer, secret text, worker blob, keys text, ns text, ranks text, starts text,
--   claimed_at integer
SELECT number, secret, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
WHERE worker = :worker
ORDER BY number;

-- name: list_workers
-- Workers as operators see them, longest registered first.
-- returns: id blob, host text, pid integer, version text, types text, lanes text, slots integer,
--   lane_slots text, tenant text?, app text?, joined_at integer, until integer, renewed_at integer,
--   beat_ms integer, beats integer, memory_bytes integer?, loop_lag_ms integer?, quiet boolean,
--   stopping boolean
SELECT id, host, pid, version, types, lanes, slots, lane_slots, tenant, app, joined_at, until,
       renewed_at, beat_ms, beats, memory_bytes, loop_lag_ms, quiet, stopping
FROM millrace_worker
ORDER BY joined_at, id
LIMIT :limit;

-- name: holder_of_job
-- The worker whose lease has the job now, or else a worker where code of an ended run goes on. A
-- run that has ended may still be in a lease.
-- returns: id blob, host text, pid integer, until integer, renewed_at integer, beat_ms integer
SELECT worker.id, worker.host, worker.pid, worker.until, worker.renewed_at, worker.beat_ms
FROM (
    SELECT lease.worker, lease.number
    FROM millrace_lease AS lease
    JOIN json_each(lease.keys) AS claimed
    WHERE claimed.value = (SELECT key FROM millrace_job_name WHERE id = :id)
      AND NOT EXISTS (
          SELECT 1
          FROM millrace_attempt AS ended
          WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key
      )
    UNION ALL
    SELECT ended.worker, 0
    FROM millrace_ended_run AS ended
    WHERE ended.key = (SELECT key FROM millrace_job_name WHERE id = :id)
) AS held
JOIN millrace_worker AS worker ON worker.id = held.worker
ORDER BY held.number DESC, worker.until DESC, worker.id
LIMIT 1;

-- name: quiet_worker
-- Asks a worker to take no new work.
UPDATE millrace_worker
SET quiet = 1
WHERE id = :id;

-- name: resume_worker
-- Lets a quiet worker take new work again, unless an operator has asked the worker to stop.
UPDATE millrace_worker
SET quiet = 0
WHERE id = :id AND quiet = 1 AND stopping = 0;

-- name: is_stopping
-- Whether an operator has asked the worker to stop.
-- returns: stopping boolean
SELECT stopping
FROM millrace_worker
WHERE id = :id;

-- name: stop_worker
-- Asks a worker to stop, and to take no new work until it has stopped.
UPDATE millrace_worker
SET quiet = 1, stopping = 1
WHERE id = :id;
