-- name: close_intake
-- Closes an intake. An intake that is closed already stays closed since the same time.
INSERT INTO millrace.intake AS known (name, closed_at, reason, by)
SELECT :name::integer, millrace.clock_at(:now::timestamptz), :reason::text, :by::text
ON CONFLICT (name) DO UPDATE
SET reason = excluded.reason, by = excluded.by;

-- name: open_intake
-- Opens an intake. An open intake has no row.
DELETE FROM millrace.intake
WHERE name = :name::integer;

-- name: closed_intakes
-- All closed intakes.
-- returns: name integer, closed_at bigint, reason text, by text?
SELECT name, millrace.ms_of(closed_at) AS closed_at, reason, by
FROM millrace.intake
ORDER BY name;

-- name: find_intakes
-- Those of these intakes that are closed.
-- returns: name integer, closed_at bigint, reason text, by text?
SELECT name, millrace.ms_of(closed_at) AS closed_at, reason, by
FROM millrace.intake
WHERE name = ANY (:names::integer[]);
