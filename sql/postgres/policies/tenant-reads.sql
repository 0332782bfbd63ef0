-- The second line of tenants: reads for one tenant run as the role `millrace_tenant`, which sees
-- the rows of the tenant that the transaction names and no others, whatever the statement says. The
-- owner of the tables is not subject to the policies, and the policy `everyone` lets other roles
-- see what their grants allow. Where the user may not create or use the role, there is no second
-- line, and the doctor says so.
DO $tenant$
DECLARE
    named text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'millrace_tenant') THEN
        CREATE ROLE millrace_tenant NOLOGIN NOINHERIT;
    END IF;
    -- Since PostgreSQL 16, the user who creates a role is its member and still may not take it.
    IF current_setting('server_version_num')::integer < 160000 THEN
        IF NOT pg_has_role(current_user, 'millrace_tenant', 'MEMBER') THEN
            GRANT millrace_tenant TO current_user;
        END IF;
    ELSIF NOT pg_has_role(current_user, 'millrace_tenant', 'SET') THEN
        EXECUTE 'GRANT millrace_tenant TO current_user WITH INHERIT FALSE, SET TRUE';
    END IF;
    SELECT space.nspname INTO STRICT named
    FROM pg_class AS class
    JOIN pg_namespace AS space ON space.oid = class.relnamespace
    WHERE class.oid = 'millrace.meta'::regclass;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO millrace_tenant', named);
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO millrace_tenant', named);
    GRANT SELECT ON
        millrace.job, millrace.scheduled, millrace.ready, millrace.blocked, millrace.dead_letter,
        millrace.attempt, millrace.run, millrace.phase, millrace.unit, millrace.log, millrace.tag,
        millrace.stale, millrace.cancel_request, millrace.dependency, millrace.alias,
        millrace.lease, millrace.run_start, millrace.interned_name, millrace.meta, millrace.gate,
        millrace.worker, millrace.lock, millrace.key_rate, millrace.job_now, millrace.job_record,
        millrace.job_shown, millrace.leased_run, millrace.job_name
        TO millrace_tenant;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE NOTICE 'the role millrace_tenant cannot be used: %', SQLERRM;
    WHEN duplicate_object OR unique_violation THEN
        RAISE NOTICE 'the role millrace_tenant was created at the same time: %', SQLERRM;
END
$tenant$;

-- The policies name the role only where it exists.
DO $policies$
DECLARE
    own text := 'tenant = nullif(current_setting(''millrace_reads.tenant'', true), '''')::integer';
    of_job text := 'EXISTS (SELECT 1 FROM %s AS own WHERE own.key = %s.%s)';
    protected record;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'millrace_tenant') THEN
        RETURN;
    END IF;
    FOR protected IN
        SELECT *
        FROM (
            VALUES ('millrace.job'::regclass, NULL), ('millrace.scheduled', NULL),
                   ('millrace.ready', NULL), ('millrace.blocked', NULL),
                   ('millrace.dead_letter', NULL), ('millrace.lock', NULL),
                   ('millrace.key_rate', NULL), ('millrace.attempt', 'key'),
                   ('millrace.run', 'key'), ('millrace.phase', 'key'), ('millrace.unit', 'key'),
                   ('millrace.log', 'key'), ('millrace.tag', 'key'), ('millrace.stale', 'key'),
                   ('millrace.cancel_request', 'key'), ('millrace.dependency', 'job'),
                   ('millrace.alias', 'parent')
        ) AS given (relation, link)
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', protected.relation);
        EXECUTE format('CREATE POLICY everyone ON %s USING (true)', protected.relation);
        EXECUTE format(
            'CREATE POLICY tenant ON %s AS RESTRICTIVE TO millrace_tenant USING (%s)',
            protected.relation,
            CASE WHEN protected.link IS NULL THEN own
                 ELSE format(
                     of_job, 'millrace.job'::regclass, protected.relation, protected.link
                 ) END
        );
    END LOOP;
END
$policies$;
