-- The runner of functions. It has the rights of its caller, and runs registered functions alone.

CREATE SCHEMA internal;

CREATE FUNCTION internal.run_function(function_name text, payload jsonb) RETURNS jsonb
    LANGUAGE sql SECURITY INVOKER SET search_path = pg_catalog, internal, pg_temp
    RETURN millrace.run_function(function_name, payload);
