-- name: failure_causes
-- The causes of open review records, and when each was seen last. One step of the index per
-- cause, and at most `max` causes.
-- returns: cause text, last_at bigint
-- timeout: reader
WITH RECURSIVE found (cause, n) AS (
    SELECT (
        SELECT cause
        FROM millrace.dead_letter
        WHERE status IN (1, 2)
        ORDER BY cause
        LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT letter.cause
        FROM millrace.dead_letter AS letter
        WHERE letter.cause > found.cause AND letter.status IN (1, 2)
        ORDER BY letter.cause
        LIMIT 1
    ), n + 1
    FROM found
    WHERE found.cause IS NOT NULL AND n < :max::integer
)
SELECT found.cause, (
    SELECT millrace.ms_of(letter.died_at)
    FROM millrace.dead_letter AS letter
    WHERE letter.cause = found.cause AND letter.status IN (1, 2)
    ORDER BY letter.died_at DESC
    LIMIT 1
) AS last_at
FROM found
WHERE found.cause IS NOT NULL
ORDER BY last_at DESC, found.cause;

-- name: failure_hours
-- How many of the newest open review records of a cause died in each hour, by type. Hour 23 is
-- the present one, and -1 is all that came before hour 0.
-- returns: type integer, hour bigint, letters bigint
-- timeout: reader
SELECT type, hour, count(*) AS letters
FROM (
    SELECT type, greatest(
               millrace.ms_of(millrace.clock_at(:now::timestamptz)) - millrace.ms_of(died_at), 0
           ) / 3600000 AS age
    FROM millrace.dead_letter
    WHERE cause = :cause::text AND status IN (1, 2)
    ORDER BY died_at DESC
    LIMIT :max::integer
) AS letter
CROSS JOIN LATERAL (SELECT CASE WHEN age < 24 THEN 23 - age ELSE -1 END AS hour) AS time
GROUP BY type, hour
ORDER BY type, hour;

-- name: first_failure
-- When the oldest open review record of a cause died.
-- returns: first_at bigint
SELECT millrace.ms_of(died_at) AS first_at
FROM millrace.dead_letter
WHERE cause = :cause::text AND status IN (1, 2)
ORDER BY millrace.dead_letter.died_at
LIMIT 1;

-- name: letters_of_cause
-- A page of the open review records of a cause, newest first.
-- returns: DeadLetterRow
-- timeout: reader
SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,
       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,
       assigned_to, history, reviews
FROM millrace.dead_letter
WHERE cause = :cause::text AND status IN (1, 2)
  AND (died_at, id) < (millrace.at_ms(:before_at::bigint), :before_id::uuid)
ORDER BY millrace.dead_letter.died_at DESC, millrace.dead_letter.id DESC
LIMIT :limit::integer;

-- name: failure_causes_of_tenant
-- The causes of open review records of one tenant, and when each was seen last. One step of the
-- index per cause, and at most `max` causes.
-- returns: cause text, last_at bigint
-- timeout: reader
WITH RECURSIVE found (cause, n) AS (
    SELECT (
        SELECT cause
        FROM millrace.dead_letter
        WHERE tenant = :tenant::integer AND status IN (1, 2)
        ORDER BY cause
        LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT letter.cause
        FROM millrace.dead_letter AS letter
        WHERE letter.tenant = :tenant::integer
          AND letter.cause > found.cause
          AND letter.status IN (1, 2)
        ORDER BY letter.cause
        LIMIT 1
    ), n + 1
    FROM found
    WHERE found.cause IS NOT NULL AND n < :max::integer
)
SELECT found.cause, (
    SELECT millrace.ms_of(letter.died_at)
    FROM millrace.dead_letter AS letter
    WHERE letter.tenant = :tenant::integer
      AND letter.cause = found.cause
      AND letter.status IN (1, 2)
    ORDER BY letter.died_at DESC
    LIMIT 1
) AS last_at
FROM found
WHERE found.cause IS NOT NULL
ORDER BY last_at DESC, found.cause;

-- name: failure_hours_of_tenant
-- How many of the newest open review records of a cause of one tenant died in each hour, by type.
-- Hour 23 is the present one, and -1 is all that came before hour 0.
-- returns: type integer, hour bigint, letters bigint
-- timeout: reader
SELECT type, hour, count(*) AS letters
FROM (
    SELECT type, greatest(
               millrace.ms_of(millrace.clock_at(:now::timestamptz)) - millrace.ms_of(died_at), 0
           ) / 3600000 AS age
    FROM millrace.dead_letter
    WHERE tenant = :tenant::integer AND cause = :cause::text AND status IN (1, 2)
    ORDER BY died_at DESC
    LIMIT :max::integer
) AS letter
CROSS JOIN LATERAL (SELECT CASE WHEN age < 24 THEN 23 - age ELSE -1 END AS hour) AS time
GROUP BY type, hour
ORDER BY type, hour;

-- name: first_failure_of_tenant
-- When the oldest open review record of a cause of one tenant died.
-- returns: first_at bigint
SELECT millrace.ms_of(died_at) AS first_at
FROM millrace.dead_letter
WHERE tenant = :tenant::integer AND cause = :cause::text AND status IN (1, 2)
ORDER BY millrace.dead_letter.died_at
LIMIT 1;

-- name: letters_of_cause_of_tenant
-- A page of the open review records of a cause of one tenant, newest first.
-- returns: DeadLetterRow
-- timeout: reader
SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,
       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,
       assigned_to, history, reviews
FROM millrace.dead_letter
WHERE tenant = :tenant::integer AND cause = :cause::text AND status IN (1, 2)
  AND (died_at, id) < (millrace.at_ms(:before_at::bigint), :before_id::uuid)
ORDER BY millrace.dead_letter.died_at DESC, millrace.dead_letter.id DESC
LIMIT :limit::integer;

-- name: failure_decisions
-- What was decided about causes of one tenant, by cause.
-- returns: cause text, decision smallint, decided_at bigint, until bigint?, by text, notes text?
SELECT cause, decision, millrace.ms_of(decided_at) AS decided_at, millrace.ms_of(until) AS until,
       by, notes
FROM millrace.failure_group
WHERE tenant = :tenant::integer AND cause > :after::text
ORDER BY cause
LIMIT :limit::integer;

-- name: find_failure_group
-- What was decided about a cause.
-- returns: decision smallint, decided_at bigint, until bigint?, by text, notes text?
SELECT decision, millrace.ms_of(decided_at) AS decided_at, millrace.ms_of(until) AS until, by, notes
FROM millrace.failure_group
WHERE tenant = :tenant::integer AND cause = :cause::text;

-- name: decide_failure_group
-- Stores a decision about a cause in place of the one before.
INSERT INTO millrace.failure_group (tenant, cause, decision, decided_at, until, by, notes)
SELECT :tenant::integer, :cause::text, :decision::smallint,
       millrace.clock_at(:now::timestamptz),
       millrace.clock_at(:now::timestamptz) + :for_ms::bigint * interval '1 millisecond',
       :by::text, :notes::text
ON CONFLICT (tenant, cause) DO UPDATE
SET decision = excluded.decision, decided_at = excluded.decided_at, until = excluded.until,
    by = excluded.by, notes = excluded.notes;

-- name: lock_dead_letters
-- Locks review records, so that no other operator decides about them at the same time.
-- only: postgres, because SQLite has one writer.
-- returns: id uuid, status smallint, successor uuid?, tenant integer, assigned_to text?
SELECT id, status, successor, tenant, assigned_to
FROM millrace.dead_letter
WHERE id = ANY (:ids::uuid[])
ORDER BY id
FOR UPDATE;

-- name: review_dead_letters
-- Reviews records that are open: reprocessed, each with its successor, discarded or acknowledged.
-- only: postgres, because SQLite reviews one record after the other.
UPDATE millrace.dead_letter AS letter
SET status      = :status::smallint,
    reviewed_by = :reviewed_by::text,
    reviewed_at = millrace.clock_at(:now::timestamptz),
    notes       = :notes::text,
    successor   = closed.successor,
    reviews     = (
        CASE
            WHEN json_array_length(letter.reviews) >= 100 THEN letter.reviews::jsonb - 0
            ELSE letter.reviews::jsonb
        END || jsonb_build_object(
            'at', millrace.ms_of(millrace.clock_at(:now::timestamptz)), 'by', :reviewed_by::text,
            'act', :act::text, 'notes', :notes::text
        )
    )::json
FROM json_to_recordset(:letters::json) AS closed (id uuid, successor uuid)
WHERE letter.id = closed.id
  AND letter.status IN (1, 2);
