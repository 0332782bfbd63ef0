-- These jobs are over: deletes their dependencies, and records those that other jobs wait for as
-- finished. Returns whether there are any.
CREATE FUNCTION millrace.end_jobs(keys bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $end$
#variable_conflict use_column
BEGIN
    DELETE FROM millrace.dependency WHERE job = ANY (keys);
    INSERT INTO millrace.finished_dependency (key)
    SELECT DISTINCT depends_on
    FROM millrace.dependency
    WHERE depends_on = ANY (keys)
    ORDER BY depends_on
    ON CONFLICT (key) DO NOTHING;
    RETURN FOUND;
END
$end$;
