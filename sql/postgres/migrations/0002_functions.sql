-- Claim, start, settle and enqueue run for every batch of jobs, so they are functions: a session
-- plans each of them once, where planning a statement every time would take as long as running it.
-- A function needs no named statement, which poolers do not support. The settings of a function
-- apply while it runs. They fix the plans: statistics are of no use for tables that are filled and
-- emptied by the second, so rows are found by index and in the order of the index.

-- include: functions/*.sql

-- Roles need a grant to call these functions. Only functions that this transaction has created are
-- changed: the schema may have functions of others.
DO $revoke$
DECLARE
    created regprocedure;
BEGIN
    FOR created IN
        SELECT proc.oid
        FROM pg_proc AS proc
        WHERE proc.pronamespace = (
                SELECT relnamespace FROM pg_class WHERE oid = 'millrace.meta'::regclass
            )
          AND age(proc.xmin) <= age(pg_current_xact_id()::xid)
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', created);
    END LOOP;
END
$revoke$;
