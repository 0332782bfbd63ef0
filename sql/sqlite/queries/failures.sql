-- name: failure_causes
-- The causes of open review records, and when each was seen last. One step of the index per
-- cause, and at most `max` causes.
-- returns: cause text, last_at integer
WITH RECURSIVE found (cause, n) AS (
    SELECT (
        SELECT cause
        FROM millrace_dead_letter
        WHERE status IN (1, 2)
        ORDER BY cause
        LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT letter.cause
        FROM millrace_dead_letter AS letter
        WHERE letter.cause > found.cause AND letter.status IN (1, 2)
        ORDER BY letter.cause
        LIMIT 1
    ), n + 1
    FROM found
    WHERE found.cause IS NOT NULL AND n < :max
)
SELECT found.cause, (
    SELECT letter.died_at
    FROM millrace_dead_letter AS letter
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
-- returns: type integer, hour integer, letters integer
SELECT type, iif(age < 24, 23 - age, -1) AS hour, count(*) AS letters
FROM (
    SELECT type, CAST(max(:now - died_at, 0) / 3600000 AS INTEGER) AS age
    FROM millrace_dead_letter
    WHERE cause = :cause AND status IN (1, 2)
    ORDER BY died_at DESC
    LIMIT :max
) AS letter
GROUP BY type, hour
ORDER BY type, hour;

-- name: first_failure
-- When the oldest open review record of a cause died.
-- returns: first_at integer
SELECT died_at AS first_at
FROM millrace_dead_letter
WHERE cause = :cause AND status IN (1, 2)
ORDER BY millrace_dead_letter.died_at
LIMIT 1;

-- name: letters_of_cause
-- A page of the open review records of a cause, newest first.
-- returns: DeadLetterRow
SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,
       successor, spec, cause, assigned_to, history, reviews
FROM millrace_dead_letter
WHERE cause = :cause AND status IN (1, 2)
  AND (died_at, id) < (:before_at, :before_id)
ORDER BY millrace_dead_letter.died_at DESC, millrace_dead_letter.id DESC
LIMIT :limit;

-- name: failure_causes_of_tenant
-- The causes of open review records of one tenant, and when each was seen last. One step of the
-- index per cause, and at most `max` causes.
-- returns: cause text, last_at integer
WITH RECURSIVE found (cause, n) AS (
    SELECT (
        SELECT cause
        FROM millrace_dead_letter
        WHERE tenant = :tenant AND status IN (1, 2)
        ORDER BY cause
        LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT letter.cause
        FROM millrace_dead_letter AS letter
        WHERE letter.tenant = :tenant
          AND letter.cause > found.cause
          AND letter.status IN (1, 2)
        ORDER BY letter.cause
        LIMIT 1
    ), n + 1
    FROM found
    WHERE found.cause IS NOT NULL AND n < :max
)
SELECT found.cause, (
    SELECT letter.died_at
    FROM millrace_dead_letter AS letter
    WHERE letter.tenant = :tenant
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
-- returns: type integer, hour integer, letters integer
SELECT type, iif(age < 24, 23 - age, -1) AS hour, count(*) AS letters
FROM (
    SELECT type, CAST(max(:now - died_at, 0) / 3600000 AS INTEGER) AS age
    FROM millrace_dead_letter
    WHERE tenant = :tenant AND cause = :cause AND status IN (1, 2)
    ORDER BY died_at DESC
    LIMIT :max
) AS letter
GROUP BY type, hour
ORDER BY type, hour;

-- name: first_failure_of_tenant
-- When the oldest open review record of a cause of one tenant died.
-- returns: first_at integer
SELECT died_at AS first_at
FROM millrace_dead_letter
WHERE tenant = :tenant AND cause = :cause AND status IN (1, 2)
ORDER BY millrace_dead_letter.died_at
LIMIT 1;

-- name: letters_of_cause_of_tenant
-- A page of the open review records of a cause of one tenant, newest first.
-- returns: DeadLetterRow
SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,
       successor, spec, cause, assigned_to, history, reviews
FROM millrace_dead_letter
WHERE tenant = :tenant AND cause = :cause AND status IN (1, 2)
  AND (died_at, id) < (:before_at, :before_id)
ORDER BY millrace_dead_letter.died_at DESC, millrace_dead_letter.id DESC
LIMIT :limit;

-- name: failure_decisions
-- What was decided about causes of one tenant, by cause.
-- returns: cause text, decision integer, decided_at integer, until integer?, by text, notes text?
SELECT cause, decision, decided_at, until, by, notes
FROM millrace_failure_group
WHERE tenant = :tenant AND cause > :after
ORDER BY cause
LIMIT :limit;

-- name: find_failure_group
-- What was decided about a cause.
-- returns: decision integer, decided_at integer, until integer?, by text, notes text?
SELECT decision, decided_at, until, by, notes
FROM millrace_failure_group
WHERE tenant = :tenant AND cause = :cause;

-- name: decide_failure_group
-- Stores a decision about a cause in place of the one before.
INSERT INTO millrace_failure_group (tenant, cause, decision, decided_at, until, by, notes)
VALUES (:tenant, :cause, :decision, :now, :now + :for_ms, :by, :notes)
ON CONFLICT (tenant, cause) DO UPDATE
SET decision = excluded.decision, decided_at = excluded.decided_at, until = excluded.until,
    by = excluded.by, notes = excluded.notes;
