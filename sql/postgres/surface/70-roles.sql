-- The roles of an installation and what each of them may do. `millrace migrate --roles` runs the
-- statements of `role_statements`; `role_findings` of 80-role-findings.sql compares the catalogue
-- with them.

-- Which role may call which function, and read which view. The role of the engine may call the
-- routines besides, which `store/postgres/rights` makes and compares.
CREATE FUNCTION millrace.role_grants()
RETURNS TABLE (role text, kind text, object text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $grants$
    SELECT own.schema || given.role, given.kind, given.object
    FROM (SELECT millrace.surface_schema() AS schema) AS own
    CROSS JOIN (
        VALUES ('_producer', 'function', 'enqueue'), ('_producer', 'function', 'cancel'),
               ('_worker', 'function', 'dequeue_next_available_task'),
               ('_worker', 'function', 'complete_task'), ('_worker', 'function', 'fail_task'),
               ('_worker', 'function', 'heartbeat'), ('_worker', 'function', 'run_function'),
               ('_worker', 'function', 'find_function'),
               ('_engine', 'function', 'run_function'),
               ('_engine', 'function', 'find_function'),
               ('_maintenance', 'function', 'sweep_expired_leases'),
               ('_maintenance', 'function', 'promote_due_tasks'),
               ('_reader', 'view', 'task'), ('_reader', 'view', 'task_lease'),
               ('_reader', 'view', 'task_completed'), ('_reader', 'view', 'task_error_log'),
               ('_maintenance', 'view', 'task'), ('_maintenance', 'view', 'task_lease'),
               ('_maintenance', 'view', 'task_completed'),
               ('_maintenance', 'view', 'task_error_log')
    ) AS given (role, kind, object)
$grants$;

-- The statements that make the roles and their grants. To run them again changes nothing. The owner
-- role becomes the owner of the schema and of all its objects, so that functions with its rights
-- have no more than these; the migrator is its member.
CREATE FUNCTION millrace.role_statements() RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $statements$
DECLARE
    own    text := millrace.surface_schema();
    suffix text;
BEGIN
    IF octet_length(own) > 50 THEN
        RAISE EXCEPTION 'the name of the schema is too long for names of roles: at most 50 bytes'
            USING ERRCODE = '22023';
    END IF;
    FOREACH suffix IN ARRAY
        ARRAY['_owner', '_migrator', '_producer', '_worker', '_engine', '_reader', '_maintenance']
    LOOP
        -- The engine takes the role of tenants for some reads, and inherits none of its rights.
        RETURN NEXT format(
            'DO $role$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %L) THEN '
                || 'CREATE ROLE %I NOLOGIN%s; END IF; END $role$',
            own || suffix, own || suffix,
            CASE WHEN suffix = '_engine' THEN ' NOINHERIT' ELSE '' END
        );
    END LOOP;
    RETURN NEXT format(
        'DO $member$ BEGIN IF NOT (pg_has_role(current_user, %1$L, ''USAGE'') '
            || 'AND pg_has_role(current_user, %1$L, %2$L)) THEN '
            || 'GRANT %1$I TO CURRENT_USER; END IF; END $member$',
        own || '_owner',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'
             ELSE 'SET' END
    );
    RETURN NEXT format('GRANT %I TO %I', own || '_owner', own || '_migrator');
    -- So that a worker in TypeScript can call functions with the rights of a worker in SQL.
    RETURN NEXT format(
        'GRANT %I TO %I%s', own || '_worker', own || '_owner',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN ''
             ELSE ' WITH INHERIT FALSE, SET TRUE' END
    );
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_tenant') THEN
        FOREACH suffix IN ARRAY ARRAY['_owner', '_engine'] LOOP
            RETURN NEXT format(
                'DO $tenant$ BEGIN IF NOT pg_has_role(%1$L, ''millrace_tenant'', ''MEMBER'') THEN '
                    || 'GRANT millrace_tenant TO %1$I; END IF; '
                    || 'EXCEPTION WHEN insufficient_privilege THEN RAISE WARNING '
                    || '''%% may not take the role millrace_tenant: %%'', %1$L, SQLERRM; '
                    || 'END $tenant$',
                own || suffix
            );
        END LOOP;
    END IF;
    RETURN NEXT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), own || '_owner');
    RETURN NEXT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', own);
    IF EXISTS (
        SELECT FROM pg_namespace
        WHERE nspname = own AND pg_get_userbyid(nspowner) <> own || '_owner'
    ) THEN
        -- Who gives an object to another role needs this right of that role, unless he is a
        -- superuser. It is part of what the owner of a schema may.
        RETURN NEXT format('GRANT CREATE ON SCHEMA %I TO %I', own, own || '_owner');
    END IF;
    RETURN QUERY SELECT finding.fix FROM millrace.owner_findings() AS finding;
    FOREACH suffix IN ARRAY
        ARRAY['_producer', '_worker', '_engine', '_reader', '_maintenance']
    LOOP
        RETURN NEXT format('GRANT USAGE ON SCHEMA %I TO %I', own, own || suffix);
    END LOOP;
    FOREACH suffix IN ARRAY ARRAY['EXECUTE ON FUNCTIONS', 'USAGE ON TYPES'] LOOP
        RETURN NEXT format(
            'ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE %s FROM PUBLIC', own || '_owner', suffix
        );
    END LOOP;
    RETURN QUERY SELECT finding.fix FROM millrace.role_findings(true) AS finding;
END
$statements$;
