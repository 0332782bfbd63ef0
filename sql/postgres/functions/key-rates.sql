-- The tokens that a key has now; `src/core/control/permits.ts` has the same arithmetic.
CREATE FUNCTION millrace.key_tokens(rate millrace.key_rate, moment timestamptz)
RETURNS double precision
LANGUAGE sql STABLE
AS $tokens$
    SELECT least(
        rate.burst::double precision,
        CASE
            -- As in tokensAt: the clock was ahead and went back.
            WHEN (millrace.ms_of(rate.refilled_at) - millrace.ms_of(moment))::double precision
                * rate.rate_count > rate.burst::double precision * rate.rate_ms
                THEN rate.burst::double precision
            ELSE rate.tokens + greatest(
                0, millrace.ms_of(moment) - millrace.ms_of(rate.refilled_at)
            )::double precision * rate.rate_count / rate.rate_ms
        END
    )
$tokens$;

-- Whether the wait of a key without a token is over. No wait is longer than one token takes, so a
-- longer one began while the clock was ahead, which went back.
CREATE FUNCTION millrace.is_refilled(rate millrace.key_rate, moment timestamptz)
RETURNS boolean
LANGUAGE sql STABLE
AS $refilled$
    SELECT rate.held_until <= moment
        OR (millrace.ms_of(rate.held_until) - millrace.ms_of(moment) - 1)::double precision
            * rate.rate_count >= rate.rate_ms
$refilled$;

-- The jobs among these whose key has a rate and no token. A row of the lock of such a key, with the
-- job 0, lets claims skip its other jobs, until `release` deletes the row. The rates stay locked in
-- the order of the locks, so that two claims cannot get the same token.
CREATE FUNCTION millrace.hold_spent_keys(of_jobs bigint[], moment timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $hold$
#variable_conflict use_column
DECLARE
    spent bigint[];
BEGIN
    PERFORM
    FROM millrace.key_rate AS rate
    WHERE (rate.tenant, rate.name) IN (
        SELECT tenant, concurrency FROM millrace.ready WHERE key = ANY (of_jobs)
        UNION ALL
        SELECT tenant, concurrency FROM millrace.blocked WHERE key = ANY (of_jobs)
    )
    ORDER BY rate.tenant, rate.name
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    WITH bucket AS MATERIALIZED (
        SELECT due.key, rate.tenant, rate.name,
               moment + ceil(
                   (1 - millrace.key_tokens(rate, moment)) * rate.rate_ms / rate.rate_count
               ) * interval '1 millisecond' AS until
        FROM (
            SELECT key, tenant, concurrency FROM millrace.ready WHERE key = ANY (of_jobs)
            UNION ALL
            SELECT key, tenant, concurrency FROM millrace.blocked WHERE key = ANY (of_jobs)
        ) AS due
        JOIN millrace.key_rate AS rate ON rate.tenant = due.tenant AND rate.name = due.concurrency
        WHERE millrace.key_tokens(rate, moment) < 1
    ),
    held AS (
        INSERT INTO millrace.lock (job, n, tenant, name)
        SELECT 0, 1, bucket.tenant, bucket.name
        FROM bucket
        ORDER BY bucket.tenant, bucket.name
        ON CONFLICT (tenant, name) DO NOTHING
        RETURNING tenant, name
    ),
    noted AS (
        UPDATE millrace.key_rate AS rate
        SET held_until = bucket.until
        FROM held
        JOIN bucket ON bucket.tenant = held.tenant AND bucket.name = held.name
        WHERE rate.tenant = held.tenant AND rate.name = held.name
    )
    SELECT array_agg(key) INTO spent FROM bucket;
    RETURN spent;
END
$hold$;

-- Takes a token of the key of each of these jobs, which have acquired their locks just now. The
-- rates are locked.
CREATE FUNCTION millrace.take_key_tokens(of_jobs bigint[], moment timestamptz)
RETURNS void
LANGUAGE sql VOLATILE
AS $take$
    UPDATE millrace.key_rate AS rate
    SET tokens = millrace.key_tokens(rate, moment) - 1, refilled_at = moment
    FROM millrace.lock AS lock
    WHERE lock.job = ANY (of_jobs)
      AND rate.tenant = lock.tenant
      AND rate.name = lock.name
$take$;
