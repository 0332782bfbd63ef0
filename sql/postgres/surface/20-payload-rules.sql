-- What is wrong with a payload by the rules that are rows: required fields, sizes, forbidden names,
-- strict jobs, and fields that say something else than the job. Null: nothing. What a rule says
-- about sensitive content is not checked here: the patterns are code of the client.
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
    wrong     text;
BEGIN
    FOR stored IN
        SELECT rule.rule::jsonb AS rule
        FROM millrace.payload_rule AS rule
        WHERE (rule.scope = 'installation' AND rule.name = 'all')
           OR (rule.scope = 'category' AND rule.name = of_category)
           OR (rule.scope = 'type' AND rule.name = of_type)
    LOOP
        has_rules := true;
        FOR field IN SELECT * FROM jsonb_each_text(coalesce(stored.rule -> 'required', '{}')) LOOP
            value := payload #> string_to_array(field.key, '.');
            IF value IS NULL OR value IN ('null', '""') THEN
                RETURN field.key || ' is missing';
            END IF;
            IF field.value = 'integer' AND (
                    jsonb_typeof(value) <> 'number' OR (value #>> '{}')::numeric % 1 <> 0
                    OR abs((value #>> '{}')::numeric) > 9007199254740991
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
        IF octet_length(payload::text) > (stored.rule ->> 'hardBytes')::bigint THEN
            RETURN format(
                'the payload has %s bytes, more than the %s', octet_length(payload::text),
                stored.rule ->> 'hardBytes'
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
            WHERE lower(part.key) IN (
                SELECT lower(name)
                FROM jsonb_array_elements_text(stored.rule -> 'forbidden') AS name
            )
            LIMIT 1;
            IF wrong IS NOT NULL THEN
                RETURN wrong || ' is a field that the rule forbids';
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
      AND lower(payload ->> own.field) IS DISTINCT FROM lower(own.expected)
    LIMIT 1;
    RETURN wrong || ' differs from the job: the option of the job counts';
END
$problem$;
