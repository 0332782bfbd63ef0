-- apart: one statement writes many letters, where SQLite goes job by job.

-- row DeadLetterRow: id uuid, type integer, tenant integer, status smallint, error json,
--   attempts integer, died_at bigint, reviewed_by text?, reviewed_at bigint?, notes text?,
--   successor uuid?, spec json, cause text, assigned_to text?, history json,
--   reviews json

-- name: find_dead_letter
-- One review record.
-- returns: DeadLetterRow
SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,
       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,
       assigned_to, history, reviews
FROM millrace.dead_letter
WHERE id = :id::uuid;

-- name: lock_dead_letter
-- Locks a review record, so that no other operator decides about it at the same time.
-- returns: id uuid
SELECT id
FROM millrace.dead_letter
WHERE id = :id::uuid
FOR UPDATE;

-- name: list_dead_letters
-- A page of review records, newest first. The inner search uses the index alone.
-- returns: DeadLetterRow
-- timeout: reader
SELECT letter.id, letter.type, letter.tenant, letter.status, letter.error, letter.attempts,
       millrace.ms_of(letter.died_at) AS died_at, letter.reviewed_by,
       millrace.ms_of(letter.reviewed_at) AS reviewed_at, letter.notes, letter.successor,
       letter.spec, letter.cause, letter.assigned_to, letter.history, letter.reviews
FROM (
    SELECT id
    FROM millrace.dead_letter
    WHERE (died_at, id) < (millrace.at_ms(:before_at::bigint), :before_id::uuid)
      AND (:status::smallint IS NULL OR status = :status::smallint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:tenant::integer IS NULL OR tenant = :tenant::integer)
    ORDER BY died_at DESC, id DESC
    LIMIT :limit::integer
) AS page
JOIN millrace.dead_letter AS letter ON letter.id = page.id
ORDER BY letter.died_at DESC, letter.id DESC;

-- name: review_dead_letter
-- Writes an operator's decision. A record that is reprocessed or discarded does not change.
UPDATE millrace.dead_letter
SET status      = :status::smallint,
    reviewed_by = :reviewed_by::text,
    reviewed_at = millrace.clock_at(:now::timestamptz),
    notes       = :notes::text,
    successor   = :successor::uuid,
    reviews     = (
        CASE
            WHEN json_array_length(reviews) >= 100 THEN reviews::jsonb - 0
            ELSE reviews::jsonb
        END || jsonb_build_object(
            'at', millrace.ms_of(millrace.clock_at(:now::timestamptz)), 'by', :reviewed_by::text,
            'act', :act::text, 'notes', :notes::text, 'changes', :changes::json
        )
    )::json
WHERE id = :id::uuid
  AND status IN (1, 2);

-- name: annotate_dead_letter
-- Adds an entry to the reviews of a record, and assigns the record if the entry says so. A record
-- that is reprocessed or discarded can get notes and cannot be assigned.
UPDATE millrace.dead_letter
SET assigned_to = CASE WHEN :act::text = 'assigned' THEN :assigned_to::text ELSE assigned_to END,
    reviews     = (
        CASE
            WHEN json_array_length(reviews) >= 100 THEN reviews::jsonb - 0
            ELSE reviews::jsonb
        END || jsonb_build_object(
            'at', millrace.ms_of(millrace.clock_at(:now::timestamptz)), 'by', :by::text,
            'act', :act::text, 'notes', :notes::text, 'to', :assigned_to::text
        )
    )::json
WHERE id = :id::uuid
  AND (status IN (1, 2) OR :act::text = 'noted');
