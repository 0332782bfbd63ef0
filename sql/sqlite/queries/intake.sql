-- name: close_intake
-- Closes an intake. An intake that is closed already stays closed since the same time.
INSERT INTO millrace_intake AS known (name, closed_at, reason, by)
VALUES (:name, :now, :reason, :by)
ON CONFLICT (name) DO UPDATE
SET reason = excluded.reason, by = excluded.by;

-- name: open_intake
-- Opens an intake. An open intake has no row.
DELETE FROM millrace_intake
WHERE name = :name;

-- name: closed_intakes
-- All closed intakes.
-- returns: name integer, closed_at integer, reason text, by text?
SELECT name, closed_at, reason, by
FROM millrace_intake
ORDER BY name;

-- name: find_intakes
-- Those of these intakes that are closed.
-- returns: name integer, closed_at integer, reason text, by text?
SELECT name, closed_at, reason, by
FROM millrace_intake
WHERE name IN (SELECT value FROM json_each(:names));
