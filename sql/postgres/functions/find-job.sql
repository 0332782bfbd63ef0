-- One job with its present state. The views behind it take longer to plan than to read: a function
-- is planned once per connection.
CREATE FUNCTION millrace.find_job(wanted uuid) RETURNS SETOF millrace.job_shown
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $find$
BEGIN
    RETURN QUERY
    SELECT *
    FROM millrace.job_shown AS shown
    WHERE shown.key = (SELECT name.key FROM millrace.job_name AS name WHERE name.id = wanted);
END
$find$;
