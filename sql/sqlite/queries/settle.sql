-- name: insert_attempt
-- Writes the ledger row of a run that has ended.
INSERT INTO millrace_attempt (
    key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,
    error_class, error, result, reason, next_run_at
)
VALUES (
    :key, :n, :tries, :crashes, :worker, :fence, :claimed_at, :started_at, :finished_at, :outcome,
    :state, :error_class, :error, :result, :reason, :next_run_at
);

-- name: waiting_fields
-- The columns of a job that its place repeats.
-- returns: lane integer, priority integer, type integer, tenant integer, concurrency text?
SELECT lane, priority, type, tenant, concurrency
FROM millrace_job
WHERE key = :key;
