-- Deletes these locks, whose rows are locked, and moves the most urgent job that waits for each of
-- them from `blocked` to `ready`. The jobs are looked up after the delete, because a statement that
-- blocks a job holds the row of its lock meanwhile.
CREATE FUNCTION millrace.free_locks(tenants integer[], names text[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $free$
#variable_conflict use_column
BEGIN
    DELETE FROM millrace.lock AS lock
    USING unnest(tenants, names) AS free (tenant, name)
    WHERE lock.tenant = free.tenant AND lock.name = free.name;

    WITH next AS MATERIALIZED (
        SELECT first.key
        FROM unnest(tenants, names) AS free (tenant, name)
        CROSS JOIN LATERAL (
            SELECT blocked.key
            FROM millrace.blocked AS blocked
            WHERE blocked.gate = -1
              AND blocked.tenant = free.tenant
              AND blocked.concurrency = free.name
            ORDER BY blocked.priority, blocked.rank, blocked.key
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) AS first
    ),
    taken AS (
        DELETE FROM millrace.blocked AS blocked
        USING next
        WHERE blocked.key = next.key
        RETURNING blocked.*
    )
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    FROM taken;
END
$free$;

-- Releases all locks of runs that have ended. Returns whether there were any.
CREATE FUNCTION millrace.release_job_locks(jobs bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $end$
#variable_conflict use_column
DECLARE
    tenants integer[];
    names   text[];
BEGIN
    SELECT array_agg(tenant), array_agg(name)
    INTO tenants, names
    FROM (
        SELECT tenant, name
        FROM millrace.lock
        WHERE job = ANY (jobs)
        ORDER BY tenant, name
        FOR UPDATE
    ) AS own;
    IF tenants IS NULL THEN
        RETURN false;
    END IF;
    PERFORM millrace.free_locks(tenants, names);
    RETURN true;
END
$end$;
