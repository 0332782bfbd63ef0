-- Entries and seals of the audit never change. Only what a chain has left behind is deleted. A copy
-- that is abandoned empties its own tables.
CREATE FUNCTION millrace.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $refuse$
BEGIN
    RAISE EXCEPTION '% of % is refused: the audit never changes', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END
$refuse$;

CREATE FUNCTION millrace.refuse_audit_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $refuse$
BEGIN
    IF EXISTS (
        SELECT 1
        FROM millrace.audit_seal AS seal
        JOIN millrace.audit_start AS start ON start.tenant = seal.tenant
        WHERE seal.audit_id = OLD.id
          AND (seal.day, seal.position) <= (start.day, start.position)
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'only retention deletes audit entries'
        USING ERRCODE = 'integrity_constraint_violation';
END
$refuse$;

CREATE FUNCTION millrace.refuse_seal_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $refuse$
BEGIN
    IF EXISTS (
        SELECT 1
        FROM millrace.audit_start AS start
        WHERE start.tenant = OLD.tenant
          AND (OLD.day, OLD.position) <= (start.day, start.position)
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'only retention deletes the seals of audit entries'
        USING ERRCODE = 'integrity_constraint_violation';
END
$refuse$;

CREATE TRIGGER never_changes BEFORE UPDATE ON millrace.audit
    FOR EACH STATEMENT EXECUTE FUNCTION millrace.refuse_audit_change();
CREATE TRIGGER never_changes BEFORE UPDATE ON millrace.audit_seal
    FOR EACH STATEMENT EXECUTE FUNCTION millrace.refuse_audit_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON millrace.audit
    FOR EACH STATEMENT
    WHEN (current_setting('millrace_copy.writes', true) IS DISTINCT FROM 'yes')
    EXECUTE FUNCTION millrace.refuse_audit_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON millrace.audit_seal
    FOR EACH STATEMENT
    WHEN (current_setting('millrace_copy.writes', true) IS DISTINCT FROM 'yes')
    EXECUTE FUNCTION millrace.refuse_audit_change();
CREATE TRIGGER stays BEFORE DELETE ON millrace.audit
    FOR EACH ROW EXECUTE FUNCTION millrace.refuse_audit_delete();
CREATE TRIGGER stays BEFORE DELETE ON millrace.audit_seal
    FOR EACH ROW EXECUTE FUNCTION millrace.refuse_seal_delete();
