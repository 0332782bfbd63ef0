-- Whether a text is part of the message, the name or the class of an error. Only A to Z are equal
-- to a to z, as on SQLite, whatever the collation of the database.
CREATE FUNCTION millrace.error_has(error json, part text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $has$
    SELECT EXISTS (
        SELECT 1
        FROM unnest(ARRAY[error ->> 'message', error ->> 'name', error ->> 'class']) AS word (text)
        WHERE strpos(lower(word.text COLLATE "C"), lower(part COLLATE "C")) > 0
    );
$has$;

-- Whether the scalars of a payload have these texts: `wanted` is a list such as
-- [{"path": ["user", "id"], "text": "42"}]. A step into an array is an index. Numbers are compared
-- as they were written.
CREATE FUNCTION millrace.payload_has(payload json, wanted json)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
AS $has$
DECLARE
    place json;
    step text;
    found json;
    scalar text;
BEGIN
    FOR place IN SELECT json_array_elements(wanted) LOOP
        found := payload;
        FOR step IN SELECT json_array_elements_text(place -> 'path') LOOP
            found := CASE json_typeof(found)
                WHEN 'object' THEN found -> step
                WHEN 'array' THEN
                    CASE WHEN step ~ '^(0|[1-9][0-9]{0,8})$' THEN found -> step::integer END
            END;
        END LOOP;
        scalar := CASE json_typeof(found)
            WHEN 'object' THEN NULL
            WHEN 'array' THEN NULL
            WHEN 'null' THEN 'null'
            ELSE found #>> '{}'
        END;
        IF scalar IS DISTINCT FROM place ->> 'text' THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$has$;
