-- apart: SQLite goes line by line, where PostgreSQL keeps whole batches in one statement.

-- row LogRow: line integer, n integer, at integer, level integer, message text, fields text?

-- name: last_line
-- The newest line of a job: its number, its run, and its number within the run.
-- returns: line integer, n integer, turn integer
SELECT line, n, turn
FROM millrace_log
WHERE key = :key
ORDER BY line DESC
LIMIT 1;

-- name: insert_log
-- Appends a log line.
INSERT INTO millrace_log (key, line, n, turn, at, level, message, fields)
VALUES (:key, :line, :n, :turn, :at, :level, :message, :fields);

-- name: trim_log
-- Removes the oldest lines of a job beyond the limits of count and size. The newest line always
-- stays, because the next one is numbered after it.
DELETE FROM millrace_log
WHERE key = :key
  AND line <= (
      SELECT max(line)
      FROM (
          SELECT line,
                 row_number() OVER newer AS lines,
                 sum(length(message) + coalesce(length(fields), 0)) OVER newer AS chars
          FROM millrace_log
          WHERE key = :key
          WINDOW newer AS (ORDER BY line DESC)
      )
      WHERE lines > 1
        AND (lines > :lines_max OR chars > :chars_max)
  );

-- name: log_after
-- The lines of a job after one of them, oldest first.
-- returns: LogRow
SELECT line, n, at, level, message, fields
FROM millrace_log
WHERE key = (SELECT key FROM millrace_job_name WHERE id = :id)
  AND line > :after
ORDER BY line
LIMIT :limit;

-- name: newest_log
-- The newest lines of a job, newest first.
-- returns: LogRow
SELECT line, n, at, level, message, fields
FROM millrace_log
WHERE key = (SELECT key FROM millrace_job_name WHERE id = :id)
ORDER BY line DESC
LIMIT :limit;
