-- name: register_worker
-- Makes a worker known, or gives a known one a new lease.
INSERT INTO millrace_worker (
    id, host, pid, version, protocol, types, lanes, slots, tenant, joined_at, until, beats, quiet
)
VALUES (
    :id, :host, :pid, :version, :protocol, :types, :lanes, :slots, :tenant, :now, :until, 0, 0
)
ON CONFLICT (id) DO UPDATE SET until = :until, beats = beats + 1;

-- name: renew_worker
-- A heartbeat: the one row that all leases of the process hang on. A worker whose lease has run out
-- may still renew as long as nobody has rescued it. It is told when it speaks a protocol that this
-- store no longer accepts.
-- returns: quiet boolean, outdated boolean
UPDATE millrace_worker
SET until = :until,
    beats = beats + 1
WHERE id = :id
RETURNING quiet,
          protocol < (SELECT CAST(value AS INTEGER) FROM millrace_meta WHERE name = 'min_protocol')
              AS outdated;

-- name: expire_worker
-- The worker has gone and left something behind: it need not be waited for.
UPDATE millrace_worker
SET until = :now
WHERE id = :id;

-- name: delete_worker
-- Nothing is left of the worker.
DELETE FROM millrace_worker
WHERE id = :id;

-- name: silent_workers
-- Workers whose lease has run out, longest silent first.
-- returns: id blob, beats integer, until integer
SELECT id, beats, until
FROM millrace_worker
WHERE until <= :now
ORDER BY until, id
LIMIT :limit;

-- name: worker_is_silent
-- Whether a worker has not beaten since the rescuer looked, and its lease has run out.
-- returns: yes integer `1`
SELECT 1 AS yes
FROM millrace_worker
WHERE id = :id
  AND beats = :beats
  AND until <= :now;

-- name: leases_of_worker
-- What a worker holds, oldest lease first.
-- returns: number integer, secret text, worker blob, keys text, ns text, ranks text, starts text,
--   claimed_at integer
SELECT number, secret, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
WHERE worker = :worker
ORDER BY number;

-- name: list_workers
-- Workers as operators see them, longest known first.
-- returns: id blob, host text, pid integer, version text, types text, lanes text, slots integer,
--   tenant text?, joined_at integer, until integer, beats integer, quiet boolean
SELECT id, host, pid, version, types, lanes, slots, tenant, joined_at, until, beats, quiet
FROM millrace_worker
ORDER BY joined_at, id
LIMIT :limit;

-- name: quiet_worker
-- Asks a worker to take no new work.
UPDATE millrace_worker
SET quiet = 1
WHERE id = :id;
