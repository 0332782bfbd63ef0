-- name: run_function
-- Calls a registered function, and answers its JSON. Where the roles were made and this role may
-- take the one for workers in plain SQL, the function is called with the rights of that role, else
-- with those of this role.
-- only: postgres, because SQLite has no functions of the application.
-- returns: answer text?
-- timeout: reader
-- rights: caller
WITH taken AS MATERIALIZED (
    SELECT max(set_config('role', role.rolname, true)) AS role
    FROM pg_roles AS role
    WHERE role.rolname = :schema::text || '_worker'
      AND pg_has_role(
              current_user, role.oid,
              CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'
                   ELSE 'SET' END
          )
)
SELECT millrace.run_function(:name::text, :payload::jsonb)::text AS answer
FROM taken
WHERE taken.role IS DISTINCT FROM '';
