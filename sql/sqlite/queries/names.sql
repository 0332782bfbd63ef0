-- name: find_name
-- The id of a type, tenant, lane or category.
-- returns: id integer
SELECT id
FROM millrace_interned_name
WHERE kind = :kind
  AND text = :text;

-- name: insert_name
-- Interns a name. Names are never removed.
INSERT INTO millrace_interned_name (kind, text)
VALUES (:kind, :text);

-- name: name_by_id
-- The text of an id.
-- returns: kind integer, text text
SELECT kind, text
FROM millrace_interned_name
WHERE id = :id;
