-- name: insert_attempt
-- Writes how a run ended.
INSERT INTO millrace_attempt (
    key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,
    error_class, error, result, reason, next_run_at
)
VALUES (
    :key, :n, :tries, :crashes, :worker, :fence, :claimed_at, :started_at, :finished_at, :outcome,
    :state, :error_class, :error, :result, :reason, :next_run_at
);

-- name: waiting_fields
-- What a job takes with it into the place where it waits.
-- returns: lane integer, priority integer, type integer, tenant integer, concurrency text?
SELECT lane, priority, type, tenant, concurrency
FROM millrace_job
WHERE key = :key;
