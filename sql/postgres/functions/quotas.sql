-- Takes up to `wanted` whole tokens of the rate of a tenant, in a row of its own, apart from the
-- transaction that writes the jobs. A clock that was ahead and went back leaves a time in the
-- future: if an empty rate would be full before that time, the rate is full.
CREATE FUNCTION millrace.take_quota_tokens(
    tenant integer, wanted integer, rate_count integer, rate_ms bigint, burst integer,
    given timestamptz,
    OUT granted integer, OUT tokens double precision, OUT at bigint
)
LANGUAGE plpgsql VOLATILE
AS $take$
#variable_conflict use_variable
DECLARE
    moment timestamptz(3) := millrace.clock_at(given);
    stored millrace.quota_use;
    passed double precision;
BEGIN
    INSERT INTO millrace.quota_use AS used (tenant, tokens, refilled_at)
    VALUES (tenant, burst, moment)
    ON CONFLICT ON CONSTRAINT quota_use_pkey DO NOTHING;
    SELECT used.* INTO stored
    FROM millrace.quota_use AS used
    WHERE used.tenant = tenant
    FOR UPDATE;
    at := millrace.ms_of(moment);
    passed := at - millrace.ms_of(stored.refilled_at);
    tokens := CASE
        WHEN -passed * rate_count > burst::double precision * rate_ms THEN burst
        ELSE least(burst, stored.tokens + greatest(passed, 0) * rate_count / rate_ms)
    END;
    granted := least(wanted, floor(tokens)::integer);
    tokens := tokens - granted;
    UPDATE millrace.quota_use AS used
    SET tokens = tokens, refilled_at = moment
    WHERE used.tenant = tenant;
END
$take$;
