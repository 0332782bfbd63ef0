-- Sessions that act for one tenant only.

-- The tenant of this session, if a limit holds for its login or for a role whose member the login
-- is. No row: every tenant. The empty name, which no tenant has: limits to different tenants. A
-- limit holds for the role with its number and for the role with its name, so that neither a new
-- name nor a restored dump ends it. The membership of a superuser counts for nothing.
CREATE VIEW millrace.role_tenant AS
SELECT session_user::text AS role,
       CASE WHEN count(DISTINCT own.tenant) = 1 THEN min(own.tenant) ELSE '' END AS tenant
FROM millrace.role_limit AS own
WHERE EXISTS (
    SELECT
    FROM pg_catalog.pg_roles AS role
    WHERE (role.oid = own.role_id OR role.rolname = own.role)
      AND (
          role.rolname = session_user
          OR NOT EXISTS (
              SELECT FROM pg_catalog.pg_roles AS login
              WHERE login.rolname = session_user AND login.rolsuper
          )
          AND (
              pg_catalog.pg_has_role(session_user, role.oid, 'USAGE')
              OR pg_catalog.pg_has_role(
                  session_user, role.oid,
                  CASE WHEN pg_catalog.current_setting('server_version_num')::integer < 160000
                       THEN 'MEMBER' ELSE 'SET' END
              )
          )
      )
)
HAVING count(*) > 0;

-- The only tenant that this session may act for; null: every tenant.
CREATE FUNCTION millrace.session_tenant() RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $tenant$
DECLARE
    only_tenant text;
BEGIN
    -- Most installations have no limit: the catalogue need not be read then.
    IF NOT EXISTS (SELECT FROM millrace.role_limit) THEN
        RETURN NULL;
    END IF;
    SELECT own.tenant INTO only_tenant FROM millrace.role_tenant AS own;
    IF only_tenant = '' THEN
        RAISE EXCEPTION 'the role % is limited to more than one tenant', session_user
            USING ERRCODE = 'MR017',
                  HINT = 'Limits in role_limit hold for a role and for its members. The owner of '
                      || 'the schema removes one with unlimit_role.';
    END IF;
    RETURN only_tenant;
END
$tenant$;

-- Limits the sessions of a login role, or of the members of a group, to one tenant. For the owner
-- of the schema.
CREATE FUNCTION millrace.limit_role_to_tenant(role regrole, tenant text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $limit$
#variable_conflict use_column
DECLARE
    called text := (
        SELECT known.rolname FROM pg_roles AS known WHERE known.oid = limit_role_to_tenant.role
    );
BEGIN
    IF called IS NULL OR coalesce(limit_role_to_tenant.tenant, '') = '' THEN
        RAISE EXCEPTION 'a role and a tenant are needed'
            USING ERRCODE = '22023', HINT = 'unlimit_role removes the limit of a role.';
    END IF;
    PERFORM millrace.check_name('tenant', limit_role_to_tenant.tenant);
    IF pg_has_role(limit_role_to_tenant.role, (
        SELECT class.relowner FROM pg_class AS class WHERE class.oid = 'millrace.meta'::regclass
    ), 'USAGE') THEN
        RAISE EXCEPTION 'the role % has the rights of the owner on all tables', called
            USING ERRCODE = '22023', HINT = 'Limit a role that is no member of the owner.';
    END IF;
    PERFORM millrace.unlimit_role(limit_role_to_tenant.role);
    INSERT INTO millrace.role_limit (role, role_id, tenant)
    VALUES (called, limit_role_to_tenant.role, limit_role_to_tenant.tenant);
END
$limit$;

-- Lets the sessions of a role act for every tenant again. Answers whether the role was limited.
CREATE FUNCTION millrace.unlimit_role(role regrole) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $unlimit$
#variable_conflict use_column
BEGIN
    DELETE FROM millrace.role_limit AS own
    WHERE own.role_id = unlimit_role.role
       OR own.role = (
           SELECT known.rolname FROM pg_roles AS known WHERE known.oid = unlimit_role.role
       );
    RETURN FOUND;
END
$unlimit$;

-- Limits that do not hold for the role that they were made for, or that a role gets around.
CREATE FUNCTION millrace.limit_findings() RETURNS TABLE (found text, fix text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $limits$
    SELECT CASE
               WHEN by_name.oid IS NULL AND by_id.oid IS NULL
                   THEN format('the limit of %s to a tenant names no role', own.role)
               WHEN by_name.oid IS NULL
                   THEN format('the limit of %s to a tenant is one of %s now', own.role,
                               by_id.rolname)
               ELSE format('the limit of %s to a tenant was made for another role', own.role)
           END,
           CASE
               WHEN by_name.oid IS NULL AND by_id.oid IS NULL
                   THEN format(
                       'DELETE FROM %I.role_limit WHERE role = %L', millrace.surface_schema(),
                       own.role
                   )
               ELSE format(
                   'SELECT %I.limit_role_to_tenant(%L, %L)', millrace.surface_schema(),
                   quote_ident(coalesce(by_name.rolname, by_id.rolname)), own.tenant
               )
           END
    FROM millrace.role_limit AS own
    LEFT JOIN pg_roles AS by_name ON by_name.rolname = own.role
    LEFT JOIN pg_roles AS by_id ON by_id.oid = own.role_id
    WHERE by_name.oid IS DISTINCT FROM own.role_id
    UNION ALL
    SELECT format('%s is limited to a tenant, and has the rights of %s', role.rolname,
                  pg_get_userbyid(class.relowner)),
           format(
               'SELECT %I.unlimit_role(%L)', millrace.surface_schema(), quote_ident(role.rolname)
           )
    FROM millrace.role_limit AS own
    JOIN pg_roles AS role ON role.oid = own.role_id
    JOIN pg_class AS class ON class.oid = 'millrace.meta'::regclass
    WHERE pg_has_role(role.oid, class.relowner, 'USAGE')
$limits$;
