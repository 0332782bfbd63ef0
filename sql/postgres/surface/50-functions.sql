-- Functions that payloads may name. `run_function` runs with the rights of its caller, resolves a
-- name only in the registry, and puts no text of its caller into a statement.

-- Registers a function with exactly one argument of type jsonb and a result of type jsonb. Without
-- a name, it is called by its qualified name.
CREATE FUNCTION millrace.register_function(
    signature regprocedure, name text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $register$
#variable_conflict use_column
DECLARE
    proven record;
    called text;
BEGIN
    SELECT space.nspname AS home, proc.proname AS function, proc.proowner, proc.prokind,
           proc.proretset, proc.prorettype, proc.proargtypes::text AS arguments,
           proc.provariadic
    INTO proven
    FROM pg_proc AS proc
    JOIN pg_namespace AS space ON space.oid = proc.pronamespace
    WHERE proc.oid = register_function.signature;
    IF NOT FOUND OR proven.prokind <> 'f' OR proven.proretset OR proven.provariadic <> 0
            OR proven.prorettype <> 'jsonb'::regtype
            OR proven.arguments <> 'jsonb'::regtype::oid::text THEN
        RAISE EXCEPTION '% is not a function (jsonb) RETURNS jsonb', register_function.signature
            USING ERRCODE = '22023';
    END IF;
    called := coalesce(register_function.name, proven.home || '.' || proven.function);
    PERFORM millrace.check_name('name', called);
    INSERT INTO millrace.registered_function AS known (name, home, function, owner)
    VALUES (called, proven.home, proven.function, pg_get_userbyid(proven.proowner))
    ON CONFLICT (name) DO UPDATE
    SET home = excluded.home, function = excluded.function, owner = excluded.owner;
END
$register$;

-- Removes a function from the registry. Returns whether it was registered.
CREATE FUNCTION millrace.unregister_function(name text) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $unregister$
BEGIN
    DELETE FROM millrace.registered_function AS known
    WHERE known.name = unregister_function.name;
    RETURN FOUND;
END
$unregister$;

-- The registered function of a name, as the catalogue writes it now. Null: the name is not
-- registered, or the function has another owner or another form than when it was registered.
CREATE FUNCTION millrace.find_function(name text) RETURNS text
LANGUAGE sql STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $find$
    SELECT quote_ident(space.nspname) || '.' || quote_ident(proc.proname)
    FROM millrace.registered_function AS known
    JOIN pg_namespace AS space ON space.nspname = known.home
    JOIN pg_proc AS proc ON proc.pronamespace = space.oid AND proc.proname = known.function
    WHERE known.name = find_function.name
      AND pg_get_userbyid(proc.proowner) = known.owner
      AND proc.prokind = 'f'
      AND NOT proc.proretset
      AND proc.prorettype = 'jsonb'::regtype
      AND proc.proargtypes::text = 'jsonb'::regtype::oid::text
$find$;

CREATE FUNCTION millrace.run_function(name text, payload jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $run$
DECLARE
    target text := millrace.find_function(run_function.name);
    answer jsonb;
BEGIN
    IF target IS NULL THEN
        RAISE EXCEPTION 'the function is not registered'
            USING ERRCODE = 'MR018',
                  DETAIL = left(coalesce(run_function.name, 'no name'), 200),
                  HINT = 'The owner of the schema registers a function with register_function.';
    END IF;
    EXECUTE 'SELECT ' || target || '($1)' INTO answer USING run_function.payload;
    RETURN answer;
END
$run$;
