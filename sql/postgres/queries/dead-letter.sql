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
      AND (:category::text IS NULL OR category = :category::text)
      AND (:error_class::text IS NULL OR error_class = :error_class::text)
      AND (:cause::text IS NULL OR cause = :cause::text)
      AND (:assigned_to::text IS NULL OR assigned_to = :assigned_to::text)
      AND (:correlation::text IS NULL OR correlation = :correlation::text)
      AND (:created_from::bigint IS NULL OR created_at >= :created_from::bigint)
      AND (:created_before::bigint IS NULL OR created_at < :created_before::bigint)
    ORDER BY died_at DESC, id DESC
    LIMIT :limit::integer
) AS page
JOIN millrace.dead_letter AS letter ON letter.id = page.id
ORDER BY letter.died_at DESC, letter.id DESC;

-- name: count_dead_letters
-- How many review records pass a filter, up to a maximum. The search uses the index alone.
-- returns: letters bigint
-- timeout: reader
SELECT count(*) AS letters
FROM (
    SELECT 1
    FROM millrace.dead_letter
    WHERE true
      AND (:status::smallint IS NULL OR status = :status::smallint)
      AND (:type::integer IS NULL OR type = :type::integer)
      AND (:tenant::integer IS NULL OR tenant = :tenant::integer)
      AND (:category::text IS NULL OR category = :category::text)
      AND (:error_class::text IS NULL OR error_class = :error_class::text)
      AND (:cause::text IS NULL OR cause = :cause::text)
      AND (:assigned_to::text IS NULL OR assigned_to = :assigned_to::text)
      AND (:correlation::text IS NULL OR correlation = :correlation::text)
      AND (:created_from::bigint IS NULL OR created_at >= :created_from::bigint)
      AND (:created_before::bigint IS NULL OR created_at < :created_before::bigint)
    LIMIT :max::integer
) AS few;

-- name: group_dead_letters
-- The newest review records by status, type, category and class of error, the largest groups
-- first. Counts them all and those since a time, and finds the oldest.
-- returns: status smallint, type integer, category text?, error_class text?, letters bigint,
--   oldest_at bigint, recent bigint
-- timeout: reader
SELECT status, type, category, error_class, count(*) AS letters,
       millrace.ms_of(min(died_at)) AS oldest_at,
       count(*) FILTER (
           WHERE died_at >= millrace.clock_at(:now::timestamptz)
                          - :since_ms::bigint * interval '1 millisecond'
       ) AS recent
FROM (
    SELECT status, type, category, error_class, died_at
    FROM millrace.dead_letter
    WHERE :tenant::integer IS NULL OR tenant = :tenant::integer
    ORDER BY died_at DESC
    LIMIT :rows::integer
) AS letter
GROUP BY status, type, category, error_class
ORDER BY letters DESC, status, type, category, error_class
LIMIT :groups::integer;

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
