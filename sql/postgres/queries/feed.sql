-- apart: the feed is numbered after the commit here; SQLite has one writer and need not.

-- name: number_events
-- Moves committed events from the outbox to the feed and gives them positions, in the order in
-- which they were written. The lock on the head lets one process do so at a time; a process that
-- waited for the lock finds the moved rows gone. So positions have no gaps, and a late commit gets
-- a position after everything that was read before. One statement moves a limited number of rows
-- and of bytes, at least one row. Returns whether there are more. An empty outbox locks nothing.
-- returns: more boolean
WITH front AS MATERIALIZED (
    SELECT ctid AS place, number,
           coalesce(pg_column_size(keys), 0) + coalesce(pg_column_size(ids), 0)
               + coalesce(pg_column_size(details), 0) AS bytes
    FROM millrace.event_outbox
    ORDER BY number
    LIMIT :limit::integer
),
seen AS MATERIALIZED (
    SELECT measured.place
    FROM (
        SELECT place, bytes, sum(bytes) OVER turns AS total
        FROM front
        WINDOW turns AS (ORDER BY number)
    ) AS measured
    WHERE measured.total <= greatest(:bytes::bigint, (
        SELECT first.bytes FROM front AS first ORDER BY first.number LIMIT 1
    ))
),
head AS MATERIALIZED (
    SELECT position
    FROM millrace.feed_head
    WHERE EXISTS (SELECT 1 FROM seen)
    FOR UPDATE
),
taken AS (
    DELETE FROM millrace.event_outbox AS told
    USING head
    WHERE told.ctid = ANY (ARRAY(SELECT place FROM seen))
    RETURNING told.number, told.at, told.kind, told.keys, told.ids, told.details,
              head.position AS head
),
numbered AS (
    INSERT INTO millrace.event (position, at, kind, keys, ids, details)
    SELECT head + row_number() OVER (ORDER BY number), at, kind, keys, ids, details
    FROM taken
),
moved AS (
    UPDATE millrace.feed_head AS head
    SET position = head.position + taken.count
    FROM (SELECT count(*) AS count FROM taken) AS taken
    WHERE taken.count > 0
)
SELECT (SELECT count(*) FROM front) = :limit::integer
           OR (SELECT count(*) FROM seen) < (SELECT count(*) FROM front) AS more;

-- name: feed_end
-- The last position that was given to an event.
-- returns: position bigint
SELECT position
FROM millrace.feed_head;

-- name: feed_start
-- The position before the first event that is kept, or the last position if none is kept. Events of
-- the outbox get later positions.
-- returns: position bigint
SELECT coalesce((SELECT min(position) - 1 FROM millrace.event), head.position) AS position
FROM millrace.feed_head AS head;

-- name: feed_after
-- The events after a position, oldest first, with the bytes and the named jobs of the page up to
-- each of them. The page ends with the first event that exceeds so many bytes or jobs.
-- Event by event: details are compressed, so that only reading them tells their size.
-- returns: position bigint, kind smallint, at bigint, keys bigint[]?, ids uuid[]?, details json?,
--   total bigint, named integer
WITH RECURSIVE page (position, kind, at, keys, ids, details, turn, total, named) AS (
    SELECT :position::bigint, 0::smallint, NULL::timestamptz(3), NULL::bigint[], NULL::uuid[],
           NULL::json, 0, 0::bigint, 0
    UNION ALL
    SELECT next.position, next.kind, next.at, next.keys, next.ids, next.details, page.turn + 1,
           page.total + 8 * coalesce(cardinality(next.keys), 0)
               + 16 * coalesce(cardinality(next.ids), 0)
               + coalesce(octet_length(next.details::text), 0),
           page.named + coalesce(cardinality(next.keys), cardinality(next.ids), 0)
    FROM page
    CROSS JOIN LATERAL (
        SELECT event.position, event.kind, event.at, event.keys, event.ids,
               to_json(event.details) AS details
        FROM millrace.event AS event
        WHERE event.position > page.position
        ORDER BY event.position
        LIMIT 1
    ) AS next
    WHERE page.turn < :limit::integer AND page.total <= :bytes::bigint
      AND page.named <= :jobs::integer
)
SELECT position, kind, millrace.ms_of(at) AS at, keys, ids, details, total, named
FROM page
WHERE turn > 0
ORDER BY position;
