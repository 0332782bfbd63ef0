-- These jobs have succeeded: the count of lone deaths of each of their types begins anew. The rows
-- are locked in one order. Usually there are none.
CREATE FUNCTION millrace.reset_streaks(jobs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $reset$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM millrace.crash_streak WHERE ended > 0) THEN
        RETURN;
    END IF;
    UPDATE millrace.crash_streak
    SET ended = 0
    WHERE type IN (
        SELECT type
        FROM millrace.crash_streak
        WHERE ended > 0
          AND type IN (SELECT job.type FROM millrace.job AS job WHERE job.key = ANY (jobs))
        ORDER BY type
        FOR UPDATE
    );
END
$reset$;
