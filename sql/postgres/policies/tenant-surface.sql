-- Reads for one tenant call no function that acts with the rights of the owner, as those of the
-- surface for plain SQL do.
DO $surface$
DECLARE
    acting regprocedure;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'millrace_tenant') THEN
        RETURN;
    END IF;
    FOR acting IN
        SELECT proc.oid
        FROM pg_proc AS proc
        WHERE proc.pronamespace = (
                SELECT relnamespace FROM pg_class WHERE oid = 'millrace.meta'::regclass
            )
          AND proc.prosecdef
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM millrace_tenant', acting);
    END LOOP;
END
$surface$;
