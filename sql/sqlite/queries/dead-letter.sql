-- row DeadLetterRow: id blob, type integer, tenant integer, status integer, error text,
--   attempts integer, died_at integer, reviewed_by text?, reviewed_at integer?, notes text?,
--   successor blob?, spec text, cause text,
--   assigned_to text?, history text, reviews text

-- name: insert_dead_letter
-- Writes the review record of a job that has failed for good.
INSERT INTO millrace_dead_letter (
    id, type, tenant, status, error, attempts, died_at, spec, cause, history
)
VALUES (
    :id, :type, :tenant, 1, :error, :attempts, :died_at, :spec, :cause, (
        SELECT json_group_array(
            json_object(
                'n', n, 'outcome', outcome, 'at', finished_at, 'class', error ->> 'class',
                'name', error ->> 'name', 'message', substr(error ->> 'message', 1, 300),
                'cause', error ->> 'cause'
            )
            ORDER BY n
        )
        FROM (
            SELECT n, outcome, finished_at, error
            FROM millrace_attempt
            WHERE key = :key AND error IS NOT NULL AND json_valid(error)
            ORDER BY n DESC
            LIMIT 50
        )
    )
)
-- After retention has removed a job but not its record, its id may have been used again.
ON CONFLICT (id) DO UPDATE
SET type = :type, tenant = :tenant, status = 1, error = :error, attempts = :attempts,
    history = excluded.history, reviews = '[]', assigned_to = NULL, died_at = :died_at,
    reviewed_by = NULL, reviewed_at = NULL, notes = NULL, successor = NULL,
    spec = :spec, cause = :cause;

-- name: find_dead_letter
-- One review record.
-- returns: DeadLetterRow
SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,
       successor, spec, cause, assigned_to, history, reviews
FROM millrace_dead_letter
WHERE id = :id;

-- name: list_dead_letters
-- A page of review records, newest first. The inner search uses the index alone.
-- returns: DeadLetterRow
SELECT letter.id, letter.type, letter.tenant, letter.status, letter.error, letter.attempts,
       letter.died_at, letter.reviewed_by, letter.reviewed_at, letter.notes, letter.successor,
       letter.spec, letter.cause, letter.assigned_to, letter.history, letter.reviews
FROM (
    SELECT id
    FROM millrace_dead_letter
    WHERE (died_at, id) < (:before_at, :before_id)
      AND (:status IS NULL OR status = :status)
      AND (:type IS NULL OR type = :type)
      AND (:tenant IS NULL OR tenant = :tenant)
      AND (:category IS NULL OR category = :category)
      AND (:error_class IS NULL OR error_class = :error_class)
      AND (:cause IS NULL OR cause = :cause)
      AND (:assigned_to IS NULL OR assigned_to = :assigned_to)
      AND (:correlation IS NULL OR correlation = :correlation)
      AND (:created_from IS NULL OR created_at >= :created_from)
      AND (:created_before IS NULL OR created_at < :created_before)
    ORDER BY died_at DESC, id DESC
    LIMIT :limit
) AS page
JOIN millrace_dead_letter AS letter ON letter.id = page.id
ORDER BY letter.died_at DESC, letter.id DESC;

-- name: count_dead_letters
-- How many review records pass a filter, up to a maximum. The search uses the index alone.
-- returns: letters integer
SELECT count(*) AS letters
FROM (
    SELECT 1
    FROM millrace_dead_letter INDEXED BY millrace_dead_letter_died
    WHERE true
      AND (:status IS NULL OR status = :status)
      AND (:type IS NULL OR type = :type)
      AND (:tenant IS NULL OR tenant = :tenant)
      AND (:category IS NULL OR category = :category)
      AND (:error_class IS NULL OR error_class = :error_class)
      AND (:cause IS NULL OR cause = :cause)
      AND (:assigned_to IS NULL OR assigned_to = :assigned_to)
      AND (:correlation IS NULL OR correlation = :correlation)
      AND (:created_from IS NULL OR created_at >= :created_from)
      AND (:created_before IS NULL OR created_at < :created_before)
    LIMIT :max
) AS few;

-- name: group_dead_letters
-- The newest review records by status, type, category and class of error, the largest groups
-- first. Counts them all and those since a time, and finds the oldest.
-- returns: status integer, type integer, category text?, error_class text?, letters integer,
--   oldest_at integer, recent integer
SELECT status, type, category, error_class, count(*) AS letters, min(died_at) AS oldest_at,
       sum(died_at >= :since) AS recent
FROM (
    SELECT status, type, category, error_class, died_at
    FROM millrace_dead_letter
    WHERE :tenant IS NULL OR tenant = :tenant
    ORDER BY died_at DESC
    LIMIT :rows
) AS letter
GROUP BY status, type, category, error_class
ORDER BY letters DESC, status, type, category, error_class
LIMIT :groups;

-- name: review_dead_letter
-- Writes an operator's decision. A record that is reprocessed or discarded does not change.
UPDATE millrace_dead_letter
SET status      = :status,
    reviewed_by = :reviewed_by,
    reviewed_at = :reviewed_at,
    notes       = :notes,
    successor   = :successor,
    reviews     = json_insert(
        CASE
            WHEN json_array_length(reviews) >= 100 THEN json_remove(reviews, '$[0]')
            ELSE reviews
        END,
        '$[#]',
        json_object(
            'at', :reviewed_at, 'by', :reviewed_by, 'act', :act, 'notes', :notes,
            'changes', json(:changes)
        )
    )
WHERE id = :id
  AND status IN (1, 2);

-- name: annotate_dead_letter
-- Adds an entry to the reviews of a record, and assigns the record if the entry says so. A record
-- that is reprocessed or discarded can get notes and cannot be assigned.
UPDATE millrace_dead_letter
SET assigned_to = iif(:act = 'assigned', :assigned_to, assigned_to),
    reviews     = json_insert(
        CASE
            WHEN json_array_length(reviews) >= 100 THEN json_remove(reviews, '$[0]')
            ELSE reviews
        END,
        '$[#]',
        json_object('at', :at, 'by', :by, 'act', :act, 'notes', :notes, 'to', :assigned_to)
    )
WHERE id = :id
  AND (status IN (1, 2) OR :act = 'noted');
