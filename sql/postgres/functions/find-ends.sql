-- How these jobs have ended. Callers of `wait` and `result` read this for every job, and it takes
-- longer to plan than to read: a function is planned once per connection. Its plan must not depend
-- on how few rows there were at that time: the LIMIT keeps the planner from a join with all names.
CREATE FUNCTION millrace.find_ends(wanted uuid[])
RETURNS TABLE (
    asked uuid, id uuid, type integer, state smallint, result json, error json, reason text
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $find$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT asked.id, job.id, job.type, last.state, last.result, last.error, last.reason
    FROM unnest(wanted) AS asked (id)
    CROSS JOIN LATERAL (
        SELECT key FROM millrace.job_name WHERE id = asked.id LIMIT 1
    ) AS named
    JOIN millrace.job AS job ON job.key = named.key
    LEFT JOIN LATERAL (
        SELECT attempt.state, attempt.result, attempt.error, attempt.reason
        FROM millrace.attempt AS attempt
        WHERE attempt.key = named.key
        ORDER BY attempt.n DESC
        LIMIT 1
    ) AS last ON true;
END
$find$;
