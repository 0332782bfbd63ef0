-- What differs from the roles of 70-roles.sql, each with the statement that repairs it. An object
-- is a routine, table, view, sequence, column, type or the schema of the installation.

-- Differences of the roles of the installation. With `anew`, all grants count as missing, and what
-- only a superuser may repair is left out for other users: `role_statements` runs the statements.
-- Nothing, where the roles were never made.
CREATE FUNCTION millrace.role_findings(anew boolean DEFAULT false)
RETURNS TABLE (found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $findings$
#variable_conflict use_column
BEGIN
    IF NOT anew AND NOT EXISTS (
        SELECT FROM pg_roles WHERE rolname = millrace.surface_schema() || '_worker'
    ) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM millrace.grant_findings(anew);
    RETURN QUERY SELECT * FROM millrace.member_findings();
    RETURN QUERY SELECT * FROM millrace.definer_findings();
    RETURN QUERY SELECT * FROM millrace.default_findings();
    IF NOT anew THEN
        RETURN QUERY SELECT * FROM millrace.owner_findings();
        RETURN QUERY SELECT * FROM millrace.limit_findings();
        RETURN QUERY SELECT * FROM millrace.registered_findings();
    END IF;
    IF NOT anew OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN QUERY SELECT * FROM millrace.attribute_findings();
    END IF;
END
$findings$;

-- The roles of the installation. A limited one may do what it is granted, and no more.
CREATE FUNCTION millrace.own_roles() RETURNS TABLE (id oid, name name, is_limited boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $own$
    SELECT role.oid, role.rolname, role.rolname NOT IN (
               millrace.surface_schema() || '_owner', millrace.surface_schema() || '_migrator'
           )
    FROM pg_roles AS role
    WHERE role.rolname IN (
        SELECT given.role FROM millrace.role_grants() AS given
        UNION ALL
        SELECT millrace.surface_schema() || suffix
        FROM unnest('{_owner,_migrator}'::text[]) AS suffix
    )
$own$;

-- The objects of the installation, with their grants. `target` is how GRANT names the object.
CREATE FUNCTION millrace.own_objects()
RETURNS TABLE (
    kind text, name text, target text, shown text, columns text, acl aclitem[], owner oid,
    is_definer boolean, is_routine boolean
)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $objects$
    WITH own AS MATERIALIZED (
        SELECT space.oid, space.nspacl, space.nspowner, space.nspname
        FROM pg_namespace AS space
        WHERE space.nspname = millrace.surface_schema()
    ),
    class AS MATERIALIZED (
        SELECT class.oid, class.relname, class.relacl, class.relowner, class.relkind,
               CASE class.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END
                   || class.oid::regclass AS target
        FROM pg_class AS class
        JOIN own ON own.oid = class.relnamespace
        WHERE class.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    )
    SELECT 'function', proc.proname::text, 'ROUTINE ' || proc.oid::regprocedure,
           proc.oid::regprocedure::text, '',
           coalesce(proc.proacl, acldefault('f', proc.proowner)), proc.proowner, proc.prosecdef,
           starts_with(proc.prosrc, E'\n-- A routine of Millrace')
    FROM pg_proc AS proc
    JOIN own ON own.oid = proc.pronamespace
    UNION ALL
    SELECT CASE class.relkind WHEN 'v' THEN 'view' ELSE 'table' END, class.relname, class.target,
           class.oid::regclass::text, '', coalesce(class.relacl, acldefault('r', class.relowner)),
           class.relowner, false, false
    FROM class
    UNION ALL
    SELECT 'column', part.attname, class.target, class.oid::regclass::text,
           format(' (%I)', part.attname), part.attacl, class.relowner, false, false
    FROM class
    JOIN pg_attribute AS part ON part.attrelid = class.oid
    WHERE part.attacl IS NOT NULL
    UNION ALL
    -- The type of an array has the rights of its elements.
    SELECT 'type', type.typname, 'TYPE ' || format_type(type.oid, NULL),
           'the type ' || format_type(type.oid, NULL), '',
           coalesce(type.typacl, acldefault('T', type.typowner)), type.typowner, false, false
    FROM pg_type AS type
    JOIN own ON own.oid = type.typnamespace
    WHERE type.typelem = 0
    UNION ALL
    SELECT 'schema', own.nspname, format('SCHEMA %I', own.nspname),
           format('the schema %I', own.nspname), '',
           coalesce(own.nspacl, acldefault('n', own.nspowner)), own.nspowner, false, false
    FROM own
$objects$;

-- Missing and excessive grants, but for missing ones on routines, which `store/postgres/rights`
-- compares. Only the owner and the roles of the installation have any;
-- `millrace_tenant` reads for one tenant, with functions that act with its own rights.
CREATE FUNCTION millrace.grant_findings(anew boolean) RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $grants$
    WITH wanted AS MATERIALIZED (
        SELECT given.role, given.kind, given.object,
               CASE given.kind WHEN 'function' THEN 'EXECUTE' ELSE 'SELECT' END AS privilege
        FROM millrace.role_grants() AS given
        WHERE anew OR to_regrole(quote_ident(given.role)) IS NOT NULL
        UNION
        SELECT given.role, 'schema', millrace.surface_schema(), 'USAGE'
        FROM millrace.role_grants() AS given
        WHERE anew OR to_regrole(quote_ident(given.role)) IS NOT NULL
    ),
    object AS MATERIALIZED (
        SELECT own.* FROM millrace.own_objects() AS own
    ),
    given AS MATERIALIZED (
        SELECT object.kind, object.name, object.target, object.shown, each.privilege_type,
               each.privilege_type || object.columns AS privilege, each.is_grantable,
               CASE WHEN each.grantee = 0 THEN 'PUBLIC'
                    ELSE quote_ident(pg_get_userbyid(each.grantee)) END AS grantee,
               CASE WHEN each.grantor <> object.owner THEN pg_get_userbyid(each.grantor) END
                   AS passed_by,
               wanted.role IS NOT NULL
                   OR each.grantee = to_regrole('millrace_tenant') AND NOT object.is_definer
                       AND (
                           object.kind IN ('table', 'view') AND each.privilege_type = 'SELECT'
                           OR each.privilege_type IN ('EXECUTE', 'USAGE')
                       )
                   OR object.is_routine
                       AND pg_get_userbyid(each.grantee) = millrace.surface_schema() || '_engine'
                   AS is_wanted
        FROM object
        CROSS JOIN LATERAL aclexplode(object.acl) AS each
        LEFT JOIN wanted
            ON wanted.role = pg_get_userbyid(each.grantee)
               AND wanted.kind = object.kind
               AND wanted.object = object.name
               AND wanted.privilege = each.privilege_type
        WHERE each.grantee <> object.owner
          AND pg_get_userbyid(each.grantee) <> millrace.surface_schema() || '_owner'
    )
    SELECT format('%s may not use %s', wanted.role, object.shown),
           format('GRANT %s ON %s TO %I', wanted.privilege, object.target, wanted.role)
    FROM wanted
    JOIN object ON object.kind = wanted.kind AND object.name = wanted.object
    WHERE anew OR NOT EXISTS (
        SELECT FROM given
        WHERE given.target = object.target
          AND given.grantee = quote_ident(wanted.role)
          AND given.privilege = wanted.privilege
    )
    UNION ALL
    SELECT format('%s has %s on %s', given.grantee, given.privilege, given.shown),
           CASE WHEN given.passed_by IS NULL
                THEN format(
                    'REVOKE %s ON %s FROM %s%s', given.privilege, given.target, given.grantee,
                    CASE WHEN given.is_grantable THEN ' CASCADE' ELSE '' END
                )
                ELSE format(
                    'REVOKE GRANT OPTION FOR %s ON %s FROM %I CASCADE', given.privilege,
                    given.target, given.passed_by
                ) END
    FROM given
    WHERE NOT given.is_wanted
    UNION ALL
    SELECT format('%s may pass on %s on %s', given.grantee, given.privilege, given.shown),
           format(
               'REVOKE GRANT OPTION FOR %s ON %s FROM %s CASCADE', given.privilege, given.target,
               given.grantee
           )
    FROM given
    WHERE given.is_wanted AND given.is_grantable
$grants$;

-- Memberships by which a role may more than it is granted: in another role of the installation, in
-- a superuser, or in a role of the server that reads, writes or runs everything. The owner is a
-- member of the worker, so that functions by name are called with the rights of the worker. The
-- engine takes the role of tenants for some reads, and must not have its rights at other times.
CREATE FUNCTION millrace.member_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $members$
    WITH RECURSIVE reached AS (
        SELECT link.member, link.roleid AS via, link.grantor, link.roleid AS role
        FROM pg_auth_members AS link
        UNION
        SELECT reached.member, reached.via, reached.grantor, link.roleid
        FROM reached
        JOIN pg_auth_members AS link ON link.member = reached.role
    )
    SELECT DISTINCT
           own.name || ' is a member of ' || pg_get_userbyid(reached.via)
               || CASE WHEN reached.via = reached.role THEN ''
                       ELSE ', and so of ' || role.rolname END,
           format('REVOKE %I FROM %I', pg_get_userbyid(reached.via), own.name)
               || CASE WHEN current_setting('server_version_num')::integer < 160000 THEN ''
                       ELSE format(' GRANTED BY %I', pg_get_userbyid(reached.grantor)) END
    FROM millrace.own_roles() AS own
    JOIN reached ON reached.member = own.id
    JOIN pg_roles AS role ON role.oid = reached.role
    WHERE (
           role.rolsuper
           AND (own.is_limited OR own.name = millrace.surface_schema() || '_owner')
           AND role.oid NOT IN (SELECT other.id FROM millrace.own_roles() AS other)
       )
       OR (
           own.is_limited
           AND (
               role.oid IN (SELECT other.id FROM millrace.own_roles() AS other)
               OR role.rolname IN (
                   'pg_read_all_data', 'pg_write_all_data', 'pg_execute_server_program',
                   'pg_read_server_files', 'pg_write_server_files'
               )
           )
       )
    UNION ALL
    SELECT format('%s may not take the role %s', owner.rolname, worker.rolname),
           format('GRANT %I TO %I', worker.rolname, owner.rolname)
    FROM pg_roles AS owner
    JOIN pg_roles AS worker ON worker.rolname = millrace.surface_schema() || '_worker'
    WHERE owner.rolname = millrace.surface_schema() || '_owner'
      AND NOT pg_has_role(
          owner.oid, worker.oid,
          CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'
               ELSE 'SET' END
      )
    UNION ALL
    SELECT format('%s has the rights of %s all along', engine.rolname, tenant.rolname),
           format(
               'REVOKE %1$I FROM %2$I; ALTER ROLE %2$I NOINHERIT; GRANT %1$I TO %2$I',
               tenant.rolname, engine.rolname
           )
    FROM pg_roles AS engine
    JOIN pg_roles AS tenant ON tenant.rolname = 'millrace_tenant'
    WHERE engine.rolname = millrace.surface_schema() || '_engine'
      AND NOT engine.rolsuper
      AND pg_has_role(engine.oid, tenant.oid, 'USAGE')
$members$;

-- Whether objects in `pg_temp` are found last. PostgreSQL writes the name without quotes: within
-- quotes, it is a part of another name.
CREATE FUNCTION millrace.ends_with_temp(path text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN path ~ '(^|,)\s*pg_temp$' AND path !~ '(^|,)\s*(pg_temp|"pg_temp")\s*,';

-- Functions that run with the rights of their owner and could be led astray by their caller.
CREATE FUNCTION millrace.definer_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $definers$
    SELECT format(
               '%s runs with the rights of its owner, and its search path does not end with '
                   || 'pg_temp', proc.oid::regprocedure
           ),
           format('ALTER ROUTINE %s SET search_path = pg_catalog, pg_temp', proc.oid::regprocedure)
    FROM pg_proc AS proc
    WHERE proc.pronamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
      AND proc.prosecdef
      AND NOT EXISTS (
          SELECT FROM unnest(proc.proconfig) AS setting
          WHERE starts_with(setting, 'search_path=')
            AND millrace.ends_with_temp(substr(setting, length('search_path=') + 1))
      )
    UNION ALL
    SELECT format(
               '%s runs with the rights of its owner, and not with those of its caller',
               proc.oid::regprocedure
           ),
           format('ALTER ROUTINE %s SECURITY INVOKER', proc.oid::regprocedure)
    FROM pg_proc AS proc
    WHERE proc.pronamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
      AND proc.proname = 'run_function'
      AND proc.prosecdef
$definers$;

-- Registered functions of other schemas that run with the rights of their owner. They belong to the
-- application, so that `role_statements` changes none of them.
CREATE FUNCTION millrace.registered_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $registered$
    WITH definer AS MATERIALIZED (
        SELECT DISTINCT proc.oid::regprocedure::text AS shown,
               coalesce(proc.proacl, acldefault('f', proc.proowner)) AS acl,
               (
                   SELECT substr(setting, length('search_path=') + 1)
                   FROM unnest(proc.proconfig) AS setting
                   WHERE starts_with(setting, 'search_path=')
               ) AS path
        FROM millrace.registered_function AS known
        JOIN pg_namespace AS space ON space.nspname = known.home
        JOIN pg_proc AS proc ON proc.pronamespace = space.oid AND proc.proname = known.function
        WHERE proc.prosecdef
          AND proc.proargtypes::text = 'jsonb'::regtype::oid::text
          AND known.home <> millrace.surface_schema()
    )
    SELECT format('PUBLIC may call %s, which runs with the rights of its owner', definer.shown),
           format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', definer.shown)
    FROM definer
    WHERE EXISTS (SELECT FROM aclexplode(definer.acl) AS each WHERE each.grantee = 0)
    UNION ALL
    SELECT format(
               '%s runs with the rights of its owner, and its search path does not end with '
                   || 'pg_temp', definer.shown
           ),
           format(
               'ALTER ROUTINE %s SET search_path = %s, pg_temp', definer.shown,
               coalesce(nullif(nullif(btrim(regexp_replace(
                   definer.path, '(^|,)\s*(pg_temp|"pg_temp")\s*(?=,|$)', '', 'g'
               ), ', '), ''), '""'), 'pg_catalog')
           )
    FROM definer
    WHERE NOT coalesce(millrace.ends_with_temp(definer.path), false)
$registered$;

-- Rights that other roles would get on objects that are created later.
CREATE FUNCTION millrace.default_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $defaults$
    SELECT format(
               'PUBLIC gets %s on new %s of %s', later.privilege, lower(later.objects), own.name
           ),
           format(
               'ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE %s ON %s FROM PUBLIC',
               own.name, later.privilege, later.objects
           )
    FROM millrace.own_roles() AS own
    CROSS JOIN (
        VALUES ('f', 'EXECUTE', 'FUNCTIONS'), ('T', 'USAGE', 'TYPES')
    ) AS later (kind, privilege, objects)
    WHERE own.name = millrace.surface_schema() || '_owner'
      AND NOT EXISTS (
          SELECT FROM pg_default_acl AS given
          WHERE given.defaclrole = own.id
            AND given.defaclnamespace = 0
            AND given.defaclobjtype::text = later.kind
      )
    UNION ALL
    SELECT format(
               '%s gets %s on new %s of %s', given.grantee, given.privilege_type,
               lower(given.objects), pg_get_userbyid(given.defaclrole)
           ),
           format(
               'ALTER DEFAULT PRIVILEGES FOR ROLE %I%s REVOKE %s ON %s FROM %s',
               pg_get_userbyid(given.defaclrole),
               CASE WHEN given.defaclnamespace = 0 THEN ''
                    ELSE format(' IN SCHEMA %I', millrace.surface_schema()) END,
               given.privilege_type, given.objects, given.grantee
           )
    FROM (
        SELECT later.defaclrole, later.defaclnamespace, each.privilege_type,
               CASE later.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES'
                    WHEN 'f' THEN 'FUNCTIONS' WHEN 'T' THEN 'TYPES' ELSE 'SCHEMAS' END AS objects,
               CASE WHEN each.grantee = 0 THEN 'PUBLIC'
                    ELSE quote_ident(pg_get_userbyid(each.grantee)) END AS grantee
        FROM pg_default_acl AS later
        CROSS JOIN LATERAL aclexplode(later.defaclacl) AS each
        WHERE each.grantee <> later.defaclrole
          AND later.defaclobjtype IN ('r', 'S', 'f', 'T', 'n')
          AND (
              later.defaclnamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
              OR later.defaclnamespace = 0 AND EXISTS (
                  SELECT FROM millrace.own_roles() AS own WHERE own.id = later.defaclrole
              )
          )
    ) AS given
$defaults$;

-- Objects that do not belong to the owner role.
CREATE FUNCTION millrace.owner_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $owners$
    SELECT format('%s belongs to %s', object.shown, pg_get_userbyid(object.owner)),
           format(
               'ALTER %s %s OWNER TO %I', object.word, object.shown,
               millrace.surface_schema() || '_owner'
           )
    FROM (
        SELECT 1 AS turn, class.relowner AS owner, class.oid::regclass::text AS shown,
               CASE class.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                    WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END AS word
        FROM pg_class AS class
        WHERE class.relnamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
          AND class.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
          -- The sequence of a column follows its table.
          AND NOT EXISTS (
              SELECT FROM pg_depend AS link
              WHERE link.classid = 'pg_class'::regclass
                AND link.objid = class.oid
                AND link.deptype IN ('a', 'i')
                AND link.refclassid = 'pg_class'::regclass
          )
        UNION ALL
        SELECT 2, proc.proowner, proc.oid::regprocedure::text, 'ROUTINE'
        FROM pg_proc AS proc
        WHERE proc.pronamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
        UNION ALL
        SELECT 3, own.typowner, format_type(own.oid, NULL), 'TYPE'
        FROM pg_type AS own
        LEFT JOIN pg_class AS class ON class.oid = own.typrelid
        WHERE own.typnamespace = to_regnamespace(quote_ident(millrace.surface_schema()))
          AND (own.typtype IN ('e', 'd', 'r') OR class.relkind = 'c')
        UNION ALL
        SELECT 4, space.nspowner, quote_ident(space.nspname), 'SCHEMA'
        FROM pg_namespace AS space
        WHERE space.nspname = millrace.surface_schema()
    ) AS object
    WHERE pg_get_userbyid(object.owner) <> millrace.surface_schema() || '_owner'
    ORDER BY object.turn, object.shown
$owners$;

-- Attributes that give a role more than its grants.
CREATE FUNCTION millrace.attribute_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $attributes$
    SELECT format('%s has the attribute %s', role.rolname, attribute.name),
           format('ALTER ROLE %I NO%s', role.rolname, attribute.name)
    FROM millrace.own_roles() AS own
    JOIN pg_roles AS role ON role.oid = own.id
    CROSS JOIN LATERAL (
        VALUES ('SUPERUSER', role.rolsuper), ('BYPASSRLS', role.rolbypassrls),
               ('CREATEROLE', role.rolcreaterole), ('CREATEDB', role.rolcreatedb),
               ('REPLICATION', role.rolreplication), ('LOGIN', role.rolcanlogin)
    ) AS attribute (name, is_set)
    WHERE attribute.is_set
$attributes$;

-- Other databases of the server in which the owner role owns something. Roles belong to the whole
-- server: members of these roles have their rights in each of the databases.
CREATE FUNCTION millrace.role_databases() RETURNS SETOF name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $databases$
    SELECT DISTINCT other.datname
    FROM pg_shdepend AS link
    JOIN pg_roles AS role ON role.oid = link.refobjid
    JOIN pg_database AS other ON other.oid = link.dbid
    WHERE link.refclassid = 'pg_authid'::regclass
      AND link.deptype = 'o'
      AND role.rolname = millrace.surface_schema() || '_owner'
      AND other.datname <> current_database()
    ORDER BY other.datname
$databases$;
