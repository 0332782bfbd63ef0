-- The roles of the example. A superuser makes them; all that follows belongs to the owner of the
-- installation.

DO $roles$
BEGIN
    -- Takes tasks by SQL, and calls the registered functions.
    IF to_regrole('worker_service_user') IS NULL THEN
        CREATE ROLE worker_service_user LOGIN;
    END IF;
    -- The application.
    IF to_regrole('api_service_user') IS NULL THEN
        CREATE ROLE api_service_user LOGIN;
    END IF;
    -- The worker of Millrace, which calls the routines of the engine and the registered functions.
    IF to_regrole('engine_service_user') IS NULL THEN
        CREATE ROLE engine_service_user LOGIN;
    END IF;
END
$roles$;

GRANT millrace_worker TO worker_service_user;
GRANT millrace_engine TO engine_service_user;
