-- apart: an installation is moved from a file to a server, and not the other way round.

-- name: insert_mark
-- Notes where the installation was moved to.
INSERT INTO millrace_meta (name, value)
VALUES ('moved_to', :value);

-- name: all_leases
-- Everything that any worker holds.
-- returns: LeaseRow
SELECT number, worker, keys, ns, ranks, starts, claimed_at
FROM millrace_lease
ORDER BY number;

-- name: delete_workers
-- No worker is known any more.
DELETE FROM millrace_worker;
