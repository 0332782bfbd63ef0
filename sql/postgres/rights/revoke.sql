-- Roles need a grant to call these functions, and to make objects with these types: a table of
-- another role with a column of such a type would keep migrations from changing the type. Only what
-- this transaction has created is changed: the schema may have objects of others.
DO $revoke$
DECLARE
    own     oid := (SELECT relnamespace FROM pg_class WHERE oid = 'millrace.meta'::regclass);
    created text;
BEGIN
    FOR created IN
        SELECT 'FUNCTION ' || proc.oid::regprocedure
        FROM pg_proc AS proc
        WHERE proc.pronamespace = own
          AND age(proc.xmin) <= age(pg_current_xact_id()::xid)
        UNION ALL
        -- The type of an array has the rights of its elements.
        SELECT 'TYPE ' || format_type(type.oid, NULL)
        FROM pg_type AS type
        WHERE type.typnamespace = own
          AND type.typelem = 0
          AND age(type.xmin) <= age(pg_current_xact_id()::xid)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', created);
    END LOOP;
END
$revoke$;
