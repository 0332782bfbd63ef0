-- apart: PostgreSQL keeps whole batches in one statement, where SQLite goes line by line.

-- row LogRow: line integer, n integer, at bigint, level smallint, message text, fields json?

-- name: put_logs
-- Appends log lines, numbered after the newest line of each job, except those of a repeated note. A
-- commit that contains only log lines and progress need not wait for the disk.
WITH said AS MATERIALIZED (
    SELECT line.*,
           CASE WHEN :relaxed::boolean
                THEN set_config('synchronous_commit', 'off', true) END AS setting
    FROM json_to_recordset(:lines::json) AS line (
        key bigint, n integer, place integer, turn integer, at bigint, level smallint, message text,
        fields text
    )
)
INSERT INTO millrace.log (key, line, n, turn, at, level, message, fields)
SELECT key, line, n, turn, millrace.at_ms(at), level, message, fields::json
FROM (
    SELECT told.*,
           last_line + place - count(*) FILTER (WHERE is_known) OVER (PARTITION BY key) AS line
    FROM (
        SELECT said.*, coalesce(last.line, 0) AS last_line,
               coalesce(last.n = said.n AND last.turn >= said.turn, false) AS is_known
        FROM said
        LEFT JOIN (
            SELECT newest.*
            FROM (SELECT DISTINCT key FROM said) AS named
            CROSS JOIN LATERAL (
                SELECT log.key, log.line, log.n, log.turn
                FROM millrace.log AS log
                WHERE log.key = named.key
                ORDER BY log.line DESC
                LIMIT 1
            ) AS newest
        ) AS last ON last.key = said.key
    ) AS told
) AS numbered
WHERE NOT is_known
ORDER BY key, place;

-- name: trim_logs
-- Removes the oldest lines of these jobs beyond the limits of count and size. The newest line
-- always stays, because the next one is numbered after it.
DELETE FROM millrace.log AS log
USING (
    SELECT weighed.key, max(weighed.line) AS line
    FROM (
        SELECT kept.key, kept.line,
               row_number() OVER newer AS lines,
               sum(length(kept.message) + coalesce(length(kept.fields::text), 0)) OVER newer
                   AS chars
        FROM millrace.log AS kept
        WHERE kept.key = ANY (:keys::bigint[])
        WINDOW newer AS (PARTITION BY kept.key ORDER BY kept.line DESC)
    ) AS weighed
    WHERE weighed.lines > 1
      AND (weighed.lines > :lines_max::integer OR weighed.chars > :chars_max::integer)
    GROUP BY weighed.key
) AS old
WHERE log.key = old.key
  AND log.line <= old.line;

-- name: log_after
-- The lines of a job after one of them, oldest first.
-- returns: LogRow
SELECT line, n, millrace.ms_of(at) AS at, level, message, fields
FROM millrace.log
WHERE key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
  AND line > :after::bigint
ORDER BY line
LIMIT :limit::integer;

-- name: newest_log
-- The newest lines of a job, newest first.
-- returns: LogRow
SELECT line, n, millrace.ms_of(at) AS at, level, message, fields
FROM millrace.log
WHERE key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
ORDER BY line DESC
LIMIT :limit::integer;

-- name: newest_logs_of_jobs
-- The newest lines of these jobs, so many of each, oldest first.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: key bigint, LogRow
-- timeout: reader
SELECT newest.key, newest.line, newest.n, millrace.ms_of(newest.at) AS at, newest.level,
       newest.message, newest.fields
FROM unnest(:keys::bigint[]) AS named (key)
CROSS JOIN LATERAL (
    SELECT log.*
    FROM millrace.log AS log
    WHERE log.key = named.key
    ORDER BY log.line DESC
    LIMIT :limit::integer
) AS newest
ORDER BY newest.key, newest.line;
