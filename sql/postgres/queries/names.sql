-- apart: PostgreSQL interns the names of a whole batch, in a transaction of its own.

-- row NameRow: id integer, kind smallint, text text

-- name: intern_names
-- Interns names, in one order for all callers. Names are never removed, and a known name stays as
-- it is.
INSERT INTO millrace.interned_name (kind, text)
SELECT wanted.kind, wanted.text
FROM json_to_recordset(:wanted::json) AS wanted (kind smallint, text text)
ORDER BY wanted.kind, wanted.text
ON CONFLICT (kind, text) DO NOTHING;

-- name: find_names
-- The ids of types, tenants, lanes and categories.
-- returns: NameRow
SELECT name.id, name.kind, name.text
FROM json_to_recordset(:wanted::json) AS wanted (kind smallint, text text)
JOIN millrace.interned_name AS name ON name.kind = wanted.kind AND name.text = wanted.text;

-- name: names_by_id
-- The texts of ids.
-- returns: NameRow
SELECT id, kind, text
FROM millrace.interned_name
WHERE id = ANY (:ids::integer[]);
