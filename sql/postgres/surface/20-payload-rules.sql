-- Refuses what a producer in TypeScript refuses in every payload: a number that JavaScript reads as
-- infinity, more than 100 levels, and a key that would set a prototype.
CREATE FUNCTION millrace.check_payload(payload jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check$
DECLARE
    whole text := payload::text;
    wrong text;
BEGIN
    -- Shorter texts have neither so many digits nor so many brackets. The bound is halfway between
    -- the largest number and the next power of 2.
    wrong := CASE
        WHEN length(whole) > 300 AND jsonb_path_exists(
            payload,
            'strict $.** ? (@ >= $bound || @ <= -$bound)',
            jsonb_build_object('bound', 2::numeric ^ 1024 - 2::numeric ^ 970)
        ) THEN 'has a number that is beyond the largest number: give a text'
        WHEN length(whole) > 200 AND jsonb_path_exists(
            payload, 'strict $.**{100 to last} ? (@.type() == "object" || @.type() == "array")'
        ) THEN 'is nested deeper than 100 levels'
        WHEN position('"__proto__"' IN whole) > 0
            AND jsonb_path_exists(payload, 'lax $.**."__proto__"')
            THEN 'has the key __proto__, which could set a prototype: use another name'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the payload %', wrong USING ERRCODE = '22023';
    END IF;
END
$check$;

-- The value at a dot path; null: there is none.
CREATE FUNCTION millrace.value_at(payload jsonb, path text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $value$
DECLARE
    value jsonb := payload;
    step  text;
BEGIN
    FOREACH step IN ARRAY string_to_array(path, '.') LOOP
        value := CASE
            WHEN jsonb_typeof(value) = 'object' THEN value -> step
            WHEN jsonb_typeof(value) = 'array' AND step ~ '^(0|[1-9][0-9]{0,6})$'
                THEN value -> step::integer
        END;
    END LOOP;
    RETURN value;
END
$value$;

-- A name in small letters of all alphabets, as JavaScript writes them. A server without ICU folds
-- as the collation of the database says.
CREATE FUNCTION millrace.small_letters(name text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $small$
BEGIN
    IF to_regcollation('"und-x-icu"') IS NULL THEN
        RETURN lower(name);
    END IF;
    RETURN lower(name COLLATE "und-x-icu");
END
$small$;

-- Whether JavaScript reads a number as a whole one that it holds exactly.
CREATE FUNCTION millrace.is_safe_integer(given numeric) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN millrace.json_double(given) = trunc(millrace.json_double(given))
        AND abs(millrace.json_double(given)) <= 9007199254740991;

-- The four numbers of a version; null: the text is none. `1` and `1.0` are the same version.
CREATE FUNCTION millrace.version_numbers(given text) RETURNS integer[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        WHEN given ~ '^[0-9]{1,9}([.][0-9]{1,9}){0,3}$'
            THEN (string_to_array(given, '.')::integer[] || '{0,0,0}'::integer[])[1:4]
    END;

-- Whether a field of a payload says the same as the job. A tenant may be a number in the payload.
CREATE FUNCTION millrace.says_same(field text, value jsonb, expected text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $same$
DECLARE
    given text := CASE jsonb_typeof(value)
        WHEN 'string' THEN value #>> '{}'
        WHEN 'number' THEN millrace.json_number((value #>> '{}')::numeric)
    END;
BEGIN
    RETURN coalesce(
        given = expected COLLATE "C"
            OR field = 'correlation_id'
                AND millrace.small_letters(given) = millrace.small_letters(expected) COLLATE "C"
            OR field = 'payload_version'
                AND millrace.version_numbers(given) = millrace.version_numbers(expected),
        false
    );
END
$same$;

-- What is wrong with a payload by the rules that are rows: required fields, sizes, forbidden names,
-- strict jobs, and fields that say something else than the job. Null: nothing. The patterns of
-- sensitive content are code of the client: a payload that a rule would reject or redact because of
-- them cannot be judged here, so a payload with any content is refused. No text is searched for
-- forbidden names.
CREATE FUNCTION millrace.payload_problem(
    payload jsonb, of_type text, of_category text, of_tenant text, of_correlation text,
    of_idempotency text, of_version text
) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $problem$
DECLARE
    uuid_form CONSTANT text := '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
    has_rules boolean := false;
    stored    record;
    field     record;
    value     jsonb;
    size      integer := octet_length(payload::text);
    wrong     text;
BEGIN
    PERFORM millrace.check_payload(payload);
    FOR stored IN
        SELECT rule.rule::jsonb AS rule
        FROM millrace.payload_rule AS rule
        WHERE (rule.scope = 'installation' AND rule.name = 'all')
           OR (rule.scope = 'category' AND rule.name = of_category)
           OR (rule.scope = 'type' AND rule.name = of_type)
    LOOP
        has_rules := true;
        FOR field IN SELECT * FROM jsonb_each_text(coalesce(stored.rule -> 'required', '{}')) LOOP
            value := millrace.value_at(payload, field.key);
            IF value IS NULL OR value IN ('null', '""') THEN
                RETURN field.key || ' is missing';
            END IF;
            IF field.value = 'integer' AND (
                    jsonb_typeof(value) <> 'number'
                    OR NOT millrace.is_safe_integer((value #>> '{}')::numeric)
                )
                OR field.value = 'string' AND jsonb_typeof(value) <> 'string'
                OR field.value = 'uuid' AND (
                    jsonb_typeof(value) <> 'string' OR value #>> '{}' !~* uuid_form
                ) THEN
                RETURN field.key || ' must be ' || CASE field.value
                    WHEN 'integer' THEN 'a whole number' WHEN 'uuid' THEN 'a UUID'
                    ELSE 'a text' END;
            END IF;
        END LOOP;
        -- The text of a producer has no more bytes than that of jsonb.
        IF size > (stored.rule ->> 'hardBytes')::bigint THEN
            size := octet_length(millrace.canonical_json(payload));
        END IF;
        IF size > (stored.rule ->> 'hardBytes')::bigint THEN
            RETURN format(
                'the payload has %s bytes, more than the %s', size, stored.rule ->> 'hardBytes'
            );
        END IF;
        IF jsonb_array_length(coalesce(stored.rule -> 'forbidden', '[]')) > 0 THEN
            WITH RECURSIVE part (key, value) AS (
                SELECT NULL::text, payload
                UNION ALL
                SELECT inner_part.key, inner_part.value
                FROM part
                CROSS JOIN LATERAL (
                    SELECT member.key, member.value
                    FROM jsonb_each(
                        CASE WHEN jsonb_typeof(part.value) = 'object' THEN part.value END
                    ) AS member
                    UNION ALL
                    SELECT NULL, item.value
                    FROM jsonb_array_elements(
                        CASE WHEN jsonb_typeof(part.value) = 'array' THEN part.value END
                    ) AS item
                ) AS inner_part
            )
            SELECT part.key INTO wrong
            FROM part
            WHERE millrace.small_letters(part.key) COLLATE "C" IN (
                SELECT millrace.small_letters(name) COLLATE "C"
                FROM jsonb_array_elements_text(stored.rule -> 'forbidden') AS name
            )
            LIMIT 1;
            IF wrong IS NOT NULL THEN
                RETURN wrong || ' is a field that the rule forbids';
            END IF;
        END IF;
        IF payload NOT IN ('null', '{}', '[]') THEN
            SELECT content.key INTO wrong
            FROM jsonb_each_text(coalesce(stored.rule -> 'sensitive', '{}')) AS content
            WHERE content.value IN ('reject', 'redact')
            ORDER BY content.key COLLATE "C"
            LIMIT 1;
            IF wrong IS NOT NULL THEN
                RETURN format(
                    'a rule looks for %s, which SQL cannot do: enqueue the job in TypeScript, '
                        'over HTTP or by command, or let the rule warn', wrong
                );
            END IF;
        END IF;
        IF (stored.rule ->> 'strict')::boolean THEN
            IF of_tenant = 'default' THEN
                RETURN 'the tenant of the job is missing';
            END IF;
            IF of_correlation IS NULL OR of_correlation !~* uuid_form THEN
                RETURN 'the correlation id of the job must be a UUID';
            END IF;
        END IF;
    END LOOP;
    IF NOT has_rules THEN
        RETURN NULL;
    END IF;
    SELECT own.field INTO wrong
    FROM (
        VALUES ('tenant_id', of_tenant), ('correlation_id', of_correlation),
               ('idempotency_key', of_idempotency), ('payload_version', coalesce(of_version, '1'))
    ) AS own (field, expected)
    WHERE jsonb_typeof(payload) = 'object'
      AND payload ->> own.field IS NOT NULL
      AND NOT millrace.says_same(own.field, payload -> own.field, own.expected)
    LIMIT 1;
    RETURN wrong || ' differs from the job: the option of the job counts';
END
$problem$;
