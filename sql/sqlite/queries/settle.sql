-- name: insert_attempt
-- Writes how a run ended. A second finish of the same run finds its row and changes nothing.
INSERT INTO millrace_attempt (
    key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,
    error_class, error, result, reason, next_run_at
)
VALUES (
    :key, :n, :tries, :crashes, :worker, :fence, :claimed_at, :started_at, :finished_at, :outcome,
    :state, :error_class, :error, :result, :reason, :next_run_at
)
ON CONFLICT (key, n) DO NOTHING;

-- name: waiting_fields
-- What a job takes with it into the place where it waits.
SELECT lane, priority, type, tenant, concurrency
FROM millrace_job
WHERE key = :key;

-- name: insert_dead_letter
-- A final failure leaves a record that a person can review.
INSERT INTO millrace_dead_letter (id, type, tenant, status, error, attempts, died_at, spec)
VALUES (:id, :type, :tenant, 1, :error, :attempts, :died_at, :spec)
-- Its id may have been used again after retention had removed the job, but not its record.
ON CONFLICT (id) DO UPDATE
SET status = 1, error = :error, attempts = :attempts, died_at = :died_at, spec = :spec;

-- name: find_dead_letter
-- One review record.
SELECT id, type, tenant, status, error, attempts, died_at, spec
FROM millrace_dead_letter
WHERE id = :id;
