-- The surface for plain SQL: functions that a database session calls by grant, without a right on
-- any table. Each runs as the owner of the schema, with a fixed search path, and names every object
-- with its schema. `session_user` is the caller, whatever the role of the function.

-- The schema of the installation.
CREATE FUNCTION millrace.surface_schema() RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $schema$
BEGIN
    RETURN (parse_ident('millrace.meta'::regclass::text))[1];
END
$schema$;

-- Wakes workers and listeners of other processes. Transactions with NOTIFY commit one after the
-- other in the whole database, each with its own wait for the disk. So one transaction at a time
-- sends a wake-up, and a session at most one every 20 ms. Workers poll, and find what was not
-- announced.
CREATE FUNCTION millrace.wake_listeners(word text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $wake$
DECLARE
    pause   CONSTANT bigint := 20;
    now_ms  bigint := date_part('epoch', clock_timestamp()) * 1000;
    sent    text := current_setting('millrace_wake.sent', true);
    channel text := 'millrace:' || millrace.surface_schema();
BEGIN
    IF sent ~ '^[0-9]{1,15} ' THEN
        IF abs(now_ms - split_part(sent, ' ', 1)::bigint) < pause
                AND split_part(sent, ' ', 2) = word THEN
            RETURN;
        END IF;
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('millrace wake-up ' || channel, 0)) THEN
        RETURN;
    END IF;
    WHILE octet_length(channel) > 63 LOOP
        channel := left(channel, -1);
    END LOOP;
    PERFORM pg_notify(channel, 'sql ' || word);
    PERFORM set_config('millrace_wake.sent', now_ms || ' ' || word, false);
END
$wake$;

-- Refuses a name that workers and producers refuse as well. A backslash means itself in the
-- pattern, whatever the session has set.
CREATE FUNCTION millrace.check_name(what text, given text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
AS $check$
BEGIN
    IF given IN ('', '.', '..') OR length(given) > 200
            OR given ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        RAISE EXCEPTION '% must be a text of 1 to 200 characters without control characters', what
            USING ERRCODE = '22023';
    END IF;
END
$check$;

-- The id of a name. A new name is written by the caller's transaction: other sessions that write
-- the same new name at the same moment wait for its end.
CREATE FUNCTION millrace.intern_name(of_kind smallint, of_text text) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $intern$
DECLARE
    found_id integer;
BEGIN
    SELECT name.id INTO found_id
    FROM millrace.interned_name AS name
    WHERE name.kind = of_kind AND name.text = of_text;
    IF found_id IS NULL THEN
        INSERT INTO millrace.interned_name (kind, text) VALUES (of_kind, of_text)
        ON CONFLICT DO NOTHING
        RETURNING id INTO found_id;
    END IF;
    IF found_id IS NULL THEN
        SELECT name.id INTO found_id
        FROM millrace.interned_name AS name
        WHERE name.kind = of_kind AND name.text = of_text;
    END IF;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'another transaction has written the name %', of_text
            USING ERRCODE = '40001', HINT = 'Repeat the transaction.';
    END IF;
    RETURN found_id;
END
$intern$;

-- A new job id: a UUIDv7.
CREATE FUNCTION millrace.new_job_id(moment timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        lpad(to_hex(millrace.ms_of(moment)), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14)
    )::uuid;

-- The public form of a job id, in Crockford's Base32.
CREATE FUNCTION millrace.job_id_text(id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT string_agg(
                   substr(
                       '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                       substring(
                           '00' || ('x' || replace(id::text, '-', ''))::bit(128)::text
                           FROM letter * 5 + 1 FOR 5
                       )::bit(5)::integer + 1,
                       1
                   ),
                   '' ORDER BY letter
               )
        FROM generate_series(0, 25) AS letter
    );

-- A number of JSON as JavaScript reads it. Digits that are too small for it are 0.
CREATE FUNCTION millrace.json_double(given numeric) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $double$
BEGIN
    IF abs(given) > 1e-300 OR given = 0 THEN
        RETURN given::double precision;
    END IF;
    BEGIN
        RETURN given::double precision;
    EXCEPTION
        WHEN numeric_value_out_of_range THEN
            RETURN 0;
    END;
END
$double$;

-- A number of JSON as JavaScript writes it: with the fewest digits that mean this number, whatever
-- the session has set.
CREATE FUNCTION millrace.json_number(given numeric) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
AS $number$
DECLARE
    near   double precision := millrace.json_double(given);
    digits text;
    places integer;
BEGIN
    IF near = 0 THEN
        RETURN '0';
    END IF;
    IF abs(near) >= 1e-6 AND abs(near) < 1e21 THEN
        RETURN trim_scale(near::text::numeric)::text;
    END IF;
    digits := near::text;
    IF position('e' IN digits) = 0 THEN
        digits := to_char(near, '9.9999999999999999EEEE');
    END IF;
    places := substring(digits FROM 'e([+-]?[0-9]+)$')::integer;
    RETURN trim_scale(split_part(digits, 'e', 1)::numeric)::text
        || 'e' || CASE WHEN places < 0 THEN '-' ELSE '+' END || abs(places);
END
$number$;

-- A text that sorts by its bytes as JavaScript sorts the key: by UTF-16 code units, where letters
-- beyond U+FFFF stand between U+D7FF and U+E000.
CREATE FUNCTION millrace.key_order(key text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        WHEN octet_length(key) = length(key) THEN key
        ELSE regexp_replace(key, E'([\\U00010000-\\U0010FFFF])', E'\uD7FF\\1', 'g')
    END;

-- The canonical text by which two payloads under one idempotency key are compared. The other
-- producers write the same text. `check_payload` bounds the depth.
CREATE FUNCTION millrace.canonical_json(given jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $canonical$
BEGIN
    CASE jsonb_typeof(given)
        WHEN 'object' THEN
            RETURN '{' || coalesce((
                SELECT string_agg(
                           to_json(member.key)::text || ':'
                               || millrace.canonical_json(member.value),
                           ',' ORDER BY millrace.key_order(member.key) COLLATE "C"
                       )
                FROM jsonb_each(given) AS member
            ), '') || '}';
        WHEN 'array' THEN
            RETURN '[' || coalesce((
                SELECT string_agg(millrace.canonical_json(item.value), ',' ORDER BY item.turn)
                FROM jsonb_array_elements(given) WITH ORDINALITY AS item (value, turn)
            ), '') || ']';
        WHEN 'number' THEN
            RETURN millrace.json_number((given #>> '{}')::numeric);
        WHEN 'string' THEN
            RETURN to_json(given #>> '{}')::text;
        ELSE
            RETURN given::text;
    END CASE;
END
$canonical$;
