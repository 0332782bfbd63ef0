-- apart: the feed is numbered after the commit here; SQLite has one writer and need not.

-- name: number_events
-- Gives committed events their positions, in the order in which they were written. The lock on the
-- head lets one do it at a time; who has waited for it finds the rows gone that the other has
-- moved. So positions have no gaps, and a late commit comes after all that was read before it.
-- Answers how many rows it saw: fewer than the limit were all. Without news nothing is locked.
-- returns: seen bigint
WITH seen AS MATERIALIZED (
    SELECT ctid AS place
    FROM millrace.event_outbox
    ORDER BY number
    LIMIT :limit::integer
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
SELECT count(*) AS seen
FROM seen;

-- name: feed_end
-- The last position given away.
-- returns: position bigint
SELECT position
FROM millrace.feed_head;

-- name: feed_after
-- What happened after a position, oldest first.
-- returns: position bigint, kind smallint, at bigint, keys bigint[]?, ids uuid[]?, details json?
SELECT position, kind, millrace.ms_of(at) AS at, keys, ids, to_json(details) AS details
FROM millrace.event
WHERE position > :position::bigint
ORDER BY position
LIMIT :limit::integer;
