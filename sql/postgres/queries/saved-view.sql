-- name: put_saved_view
-- Saves a view in place of the one before.
INSERT INTO millrace.saved_view (tenant, name, screen, query, by, saved_at)
VALUES (
    :tenant::text, :name::text, :screen::text, :query::text, :by::text,
    millrace.clock_at(:now::timestamptz)
)
ON CONFLICT (tenant, name) DO UPDATE
SET screen = excluded.screen, query = excluded.query, by = excluded.by,
    saved_at = excluded.saved_at;

-- name: count_saved_views
-- How many views a tenant has besides the one with this name, up to a limit.
-- returns: count bigint
SELECT count(*) AS count
FROM (
    SELECT 1
    FROM millrace.saved_view
    WHERE tenant = :tenant::text AND name <> :name::text
    LIMIT :max::integer
) AS others;

-- name: find_saved_view
-- What a view shows.
-- returns: screen text, query text
SELECT screen, query
FROM millrace.saved_view
WHERE tenant = :tenant::text AND name = :name::text
FOR UPDATE;

-- name: delete_saved_view
-- Removes a view.
DELETE FROM millrace.saved_view
WHERE tenant = :tenant::text AND name = :name::text;

-- name: list_saved_views
-- The views of a tenant, by name.
-- returns: name text, screen text, query text, by text?, saved_at bigint
-- timeout: reader
SELECT name, screen, query, by, millrace.ms_of(saved_at) AS saved_at
FROM millrace.saved_view
WHERE tenant = :tenant::text
ORDER BY name COLLATE "C"
LIMIT :max::integer;
