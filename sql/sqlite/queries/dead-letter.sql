-- row DeadLetterRow: id blob, type integer, tenant integer, status integer, error text,
--   attempts integer, died_at integer, reviewed_by text?, reviewed_at integer?, notes text?,
--   successor blob?, spec text, cause text

-- name: insert_dead_letter
-- Writes the review record of a job that has failed for good.
INSERT INTO millrace_dead_letter (
    id, type, tenant, status, error, attempts, died_at, spec, cause
)
VALUES (:id, :type, :tenant, 1, :error, :attempts, :died_at, :spec, :cause)
-- After retention has removed a job but not its record, its id may have been used again.
ON CONFLICT (id) DO UPDATE
SET type = :type, tenant = :tenant, status = 1, error = :error, attempts = :attempts,
    died_at = :died_at, reviewed_by = NULL, reviewed_at = NULL, notes = NULL, successor = NULL,
    spec = :spec, cause = :cause;

-- name: find_dead_letter
-- One review record.
-- returns: DeadLetterRow
SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,
       successor, spec, cause
FROM millrace_dead_letter
WHERE id = :id;

-- name: list_dead_letters
-- A page of review records, newest first. The inner search uses the index alone.
-- returns: DeadLetterRow
SELECT letter.id, letter.type, letter.tenant, letter.status, letter.error, letter.attempts,
       letter.died_at, letter.reviewed_by, letter.reviewed_at, letter.notes, letter.successor,
       letter.spec, letter.cause
FROM (
    SELECT id
    FROM millrace_dead_letter
    WHERE (died_at, id) < (:before_at, :before_id)
      AND (:status IS NULL OR status = :status)
      AND (:type IS NULL OR type = :type)
      AND (:tenant IS NULL OR tenant = :tenant)
    ORDER BY died_at DESC, id DESC
    LIMIT :limit
) AS page
JOIN millrace_dead_letter AS letter ON letter.id = page.id
ORDER BY letter.died_at DESC, letter.id DESC;

-- name: review_dead_letter
-- Writes an operator's decision. A record that is reprocessed or discarded does not change.
UPDATE millrace_dead_letter
SET status      = :status,
    reviewed_by = :reviewed_by,
    reviewed_at = :reviewed_at,
    notes       = :notes,
    successor   = :successor
WHERE id = :id
  AND status IN (1, 2);
