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
