-- row WaitingRow: key integer, rank integer, lane integer, priority integer, type integer,
--   tenant integer, concurrency text?, n integer, tries integer, crashes integer

-- name: take_scheduled
-- Removes one job from `scheduled`.
-- returns: WaitingRow
DELETE FROM millrace_scheduled
WHERE key = :key
RETURNING key, run_at * 1000 AS rank, lane, priority, type, tenant, concurrency, n, tries, crashes;

-- name: take_ready
-- Removes one job from `ready`. Its turn ends.
-- returns: WaitingRow
DELETE FROM millrace_ready
WHERE key = :key
RETURNING key, coalesce(due * 1000, rank) AS rank, lane, priority, type, tenant, concurrency, n,
          tries, crashes;

-- name: take_blocked
-- Removes one job from `blocked`.
-- returns: WaitingRow
DELETE FROM millrace_blocked
WHERE key = :key
RETURNING key, rank, lane, priority, type, tenant, concurrency, n, tries, crashes;

-- name: due_keys
-- The scheduled jobs that are due, longest overdue first.
-- returns: key integer
SELECT key
FROM millrace_scheduled
WHERE run_at <= :now
ORDER BY run_at, key
LIMIT :limit;

-- name: copy_scheduled_to_ready
-- First half of a promotion. A job that is in `ready` as well stays there once.
INSERT INTO millrace_ready (
    lane, crashes, priority, rank, key, type, tenant, concurrency, n, tries
)
SELECT lane, crashes, priority, run_at * 1000, key, type, tenant, concurrency, n, tries
FROM millrace_scheduled
WHERE key IN (SELECT value FROM json_each(:keys))
ON CONFLICT DO NOTHING;

-- name: delete_scheduled
-- Second half of a promotion.
DELETE FROM millrace_scheduled
WHERE key IN (SELECT value FROM json_each(:keys));

-- name: next_due
-- When the next scheduled job is due.
-- returns: run_at integer?
SELECT min(run_at) AS run_at
FROM millrace_scheduled;

-- name: insert_cancel_request
-- Asks the worker of a running job to stop it. The reason of the first request stays.
INSERT INTO millrace_cancel_request (key, by, reason, at)
VALUES (:key, :by, :reason, :at)
ON CONFLICT (key) DO NOTHING;

-- name: find_cancel_requests
-- Which of these jobs have a cancel request.
-- returns: key integer, reason text?
SELECT asked.key, asked.reason
FROM json_each(:keys) AS named
JOIN millrace_cancel_request AS asked ON asked.key = named.value;

-- name: delete_cancel_requests
-- Removes cancel requests that were fulfilled or came too late.
DELETE FROM millrace_cancel_request
WHERE key IN (SELECT value FROM json_each(:keys));
