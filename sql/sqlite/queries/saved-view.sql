-- name: put_saved_view
-- Saves a view in place of the one before.
INSERT INTO millrace_saved_view (tenant, name, screen, query, by, saved_at)
VALUES (:tenant, :name, :screen, :query, :by, :now)
ON CONFLICT (tenant, name) DO UPDATE
SET screen = excluded.screen, query = excluded.query, by = excluded.by,
    saved_at = excluded.saved_at;

-- name: count_saved_views
-- How many views a tenant has besides the one with this name, up to a limit.
-- returns: count integer
SELECT count(*) AS count
FROM (
    SELECT 1 FROM millrace_saved_view WHERE tenant = :tenant AND name <> :name LIMIT :max
);

-- name: find_saved_view
-- What a view shows.
-- returns: screen text, query text
SELECT screen, query
FROM millrace_saved_view
WHERE tenant = :tenant AND name = :name;

-- name: delete_saved_view
-- Removes a view.
DELETE FROM millrace_saved_view
WHERE tenant = :tenant AND name = :name;

-- name: list_saved_views
-- The views of a tenant, by name.
-- returns: name text, screen text, query text, by text?, saved_at integer
SELECT name, screen, query, by, saved_at
FROM millrace_saved_view
WHERE tenant = :tenant
ORDER BY name
LIMIT :max;
