-- apart: an installation is moved from a file to a server, and not the other way round.

-- name: insert_mark
-- Notes where the installation was moved to.
INSERT INTO millrace_meta (name, value)
VALUES ('moved_to', :value);

-- name: all_leases
-- The leases of all workers.
-- returns: LeaseRow
SELECT number, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
ORDER BY number;

-- name: delete_workers
-- Removes all workers.
DELETE FROM millrace_worker;

-- name: delete_all_worker_types
-- Removes the declarations of all workers.
DELETE FROM millrace_worker_type;

-- name: delete_all_permits
-- Removes the permits of all workers.
DELETE FROM millrace_permit;

-- name: reset_limits
-- No permit of any limit is used.
UPDATE millrace_limit_setting
SET used = 0;

-- name: delete_all_ended_runs
-- Removes the ended runs of all workers.
DELETE FROM millrace_ended_run;
