-- The roles of an installation and what each of them may do. `millrace migrate --roles` runs the
-- statements of `role_statements`; `role_findings` compares the catalogue with them.

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
    object record;
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
        'DO $member$ BEGIN IF NOT pg_has_role(current_user, %L, ''USAGE'') THEN '
            || 'GRANT %I TO CURRENT_USER; END IF; END $member$',
        own || '_owner', own || '_owner'
    );
    RETURN NEXT format('GRANT %I TO %I', own || '_owner', own || '_migrator');
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_tenant') THEN
        RETURN NEXT format(
            'GRANT millrace_tenant TO %I, %I', own || '_owner', own || '_engine'
        );
    END IF;
    RETURN NEXT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), own || '_owner');
    RETURN NEXT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', own);
    FOR object IN
        SELECT CASE class.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END
                   AS kind,
               class.relname AS name
        FROM pg_class AS class
        JOIN pg_namespace AS space ON space.oid = class.relnamespace
        WHERE space.nspname = own
          AND class.relkind IN ('r', 'v', 'S')
          AND pg_get_userbyid(class.relowner) <> own || '_owner'
          AND NOT EXISTS (
              SELECT FROM pg_depend AS link
              WHERE link.classid = 'pg_class'::regclass
                AND link.objid = class.oid
                AND link.deptype IN ('a', 'i')
                AND link.refclassid = 'pg_class'::regclass
          )
        ORDER BY class.relname
    LOOP
        RETURN NEXT format(
            'ALTER %s %I.%I OWNER TO %I', object.kind, own, object.name, own || '_owner'
        );
    END LOOP;
    FOR object IN
        SELECT proc.oid::regprocedure AS signature
        FROM pg_proc AS proc
        JOIN pg_namespace AS space ON space.oid = proc.pronamespace
        WHERE space.nspname = own
          AND pg_get_userbyid(proc.proowner) <> own || '_owner'
        ORDER BY proc.oid::regprocedure::text
    LOOP
        RETURN NEXT format('ALTER ROUTINE %s OWNER TO %I', object.signature, own || '_owner');
    END LOOP;
    RETURN NEXT format('ALTER TYPE %I.leased_task OWNER TO %I', own, own || '_owner');
    RETURN NEXT format('ALTER SCHEMA %I OWNER TO %I', own, own || '_owner');
    FOREACH suffix IN ARRAY
        ARRAY['_producer', '_worker', '_engine', '_reader', '_maintenance']
    LOOP
        RETURN NEXT format('GRANT USAGE ON SCHEMA %I TO %I', own, own || suffix);
    END LOOP;
    RETURN NEXT format(
        'ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
        own || '_owner'
    );
    RETURN QUERY SELECT finding.fix FROM millrace.role_findings(true) AS finding;
END
$statements$;

-- Missing and excessive grants of the roles, with the statements that repair them. With `anew`, all
-- grants count as missing. Nothing, where the roles were never made.
CREATE FUNCTION millrace.role_findings(anew boolean DEFAULT false)
RETURNS TABLE (found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $findings$
#variable_conflict use_column
DECLARE
    own text := millrace.surface_schema();
BEGIN
    IF NOT anew AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = own || '_worker') THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH wanted AS MATERIALIZED (
        SELECT given.role, given.kind, given.object
        FROM millrace.role_grants() AS given
        WHERE anew OR EXISTS (SELECT FROM pg_roles WHERE rolname = given.role)
    ),
    object AS MATERIALIZED (
        SELECT proc.oid, 'function' AS kind, proc.proname::text AS name,
               proc.oid::regprocedure::text AS shown,
               coalesce(proc.proacl, acldefault('f', proc.proowner)) AS acl, proc.proowner AS owner,
               starts_with(proc.prosrc, E'\n-- A routine of Millrace') AS is_routine
        FROM pg_proc AS proc
        WHERE proc.pronamespace = to_regnamespace(quote_ident(own))
        UNION ALL
        SELECT class.oid, CASE class.relkind WHEN 'v' THEN 'view' ELSE 'table' END,
               class.relname::text, class.oid::regclass::text,
               coalesce(class.relacl, acldefault('r', class.relowner)), class.relowner, false
        FROM pg_class AS class
        WHERE class.relnamespace = to_regnamespace(quote_ident(own))
          AND class.relkind IN ('r', 'v', 'S')
    ),
    given AS MATERIALIZED (
        SELECT object.kind, object.name, object.shown, object.is_routine, each.privilege_type,
               CASE WHEN each.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(each.grantee) END
                   AS grantee
        FROM object
        CROSS JOIN LATERAL aclexplode(object.acl) AS each
        WHERE each.grantee <> object.owner
    )
    SELECT format('%s may not use %s', wanted.role, object.shown),
           format(
               'GRANT %s ON %s %s TO %I',
               CASE wanted.kind WHEN 'function' THEN 'EXECUTE' ELSE 'SELECT' END,
               CASE wanted.kind WHEN 'function' THEN 'FUNCTION' ELSE 'TABLE' END,
               object.shown, wanted.role
           )
    FROM wanted
    JOIN object ON object.kind = wanted.kind AND object.name = wanted.object
    WHERE anew OR NOT EXISTS (
        SELECT FROM given
        WHERE given.shown = object.shown
          AND given.grantee = wanted.role
          AND given.privilege_type IN ('EXECUTE', 'SELECT')
    )
    UNION ALL
    SELECT format('%s has %s on %s', given.grantee, given.privilege_type, given.shown),
           format(
               'REVOKE %s ON %s %s FROM %s', given.privilege_type,
               CASE given.kind WHEN 'function' THEN 'FUNCTION' ELSE 'TABLE' END, given.shown,
               CASE given.grantee WHEN 'PUBLIC' THEN 'PUBLIC' ELSE quote_ident(given.grantee) END
           )
    FROM given
    WHERE (given.grantee = 'PUBLIC' OR given.grantee IN (
              own || '_producer', own || '_worker', own || '_engine', own || '_reader',
              own || '_maintenance'
          ))
      AND NOT (given.grantee = own || '_engine' AND given.is_routine)
      AND NOT EXISTS (
          SELECT FROM wanted
          WHERE wanted.role = given.grantee
            AND wanted.kind = given.kind
            AND wanted.object = given.name
            AND given.privilege_type IN ('EXECUTE', 'SELECT')
      );
END
$findings$;
