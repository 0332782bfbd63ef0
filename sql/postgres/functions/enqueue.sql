-- Refuses a producer of an older release, whose protocol the store no longer accepts.
CREATE FUNCTION millrace.require_protocol(protocol integer) RETURNS void
LANGUAGE plpgsql STABLE
AS $require$
#variable_conflict use_variable
DECLARE
    least integer := (SELECT value::integer FROM millrace.meta WHERE name = 'min_protocol');
BEGIN
    IF least > protocol THEN
        RAISE EXCEPTION 'protocol % is required, and this release speaks %', least, protocol
            USING ERRCODE = 'MR002';
    END IF;
END
$require$;

-- Writes new jobs that differ only in id and payload, as most jobs of a batch do, and puts them
-- into `ready` or `scheduled`, by the store's clock. An id that is taken fails the whole batch:
-- that is rare, and looking for it in every row would cost a third more. Returns whether the jobs
-- are scheduled for later; null: their intake is closed, or there is a quota that the caller does
-- not know (`quotas` is the revision that the caller knows), and nothing is written.
CREATE FUNCTION millrace.enqueue_alike(
    ids uuid[], payloads text[], type integer, tenant integer, lane integer, category integer,
    priority integer, due_at bigint, delay_ms bigint, max_attempts integer, timeout_ms bigint,
    payload_version text, correlation text, parent uuid, concurrency text, webhook text, tags json,
    created_by text, flags smallint, given timestamptz, protocol integer, quotas bigint
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $enqueue$
#variable_conflict use_variable
DECLARE
    moment timestamptz := millrace.clock_at(given);
    run_at timestamptz(3) := coalesce(
        millrace.at_ms(due_at), moment + delay_ms * interval '1 millisecond'
    );
    keys   bigint[] := ARRAY(
        SELECT nextval('millrace.job_key_seq') FROM generate_subscripts(ids, 1)
    );
    durable text := millrace.sync_commit();
BEGIN
    PERFORM millrace.require_protocol(protocol);
    -- The first look is at empty tables, nearly always.
    IF parent IS NULL AND (
        EXISTS (SELECT 1 FROM millrace.quota AS quota WHERE quota.revision > quotas)
        OR EXISTS (SELECT 1 FROM millrace.intake) AND EXISTS (
            SELECT 1 FROM millrace.intake AS intake WHERE intake.name IN (type, tenant, lane, -2)
        )
    ) THEN
        RETURN NULL;
    END IF;
    INSERT INTO millrace.job (
        key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,
        payload_version, correlation, parent, concurrency, webhook, tags, created_by, created_at,
        flags
    )
    SELECT item.key, item.id, type, tenant, lane, category, priority, run_at, max_attempts,
           timeout_ms, item.payload::json, payload_version, correlation, parent, concurrency,
           webhook, tags, created_by, moment, flags
    FROM unnest(keys, ids, payloads) AS item (key, id, payload);
    IF run_at > moment THEN
        INSERT INTO millrace.scheduled (
            key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        SELECT item.key, run_at, lane, priority, type, tenant, 1, 0, 0, concurrency
        FROM unnest(keys) AS item (key);
    ELSE
        INSERT INTO millrace.ready (
            key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        SELECT item.key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, 1, 0, 0,
               concurrency
        FROM unnest(keys) AS item (key);
    END IF;
    IF tags IS NOT NULL THEN
        INSERT INTO millrace.tag (name, value, key)
        SELECT tag.key, tag.value, item.key
        FROM unnest(keys) AS item (key)
        CROSS JOIN json_each_text(tags) AS tag;
    END IF;
    INSERT INTO millrace.event_outbox (at, kind, keys) VALUES (moment, 1, keys);
    RETURN run_at > moment;
END
$enqueue$;

-- Writes new jobs of several kinds. What jobs have in common is sent once, as a kind; each job has
-- an id, a payload and the number of its kind. Returns the ids of the jobs that are scheduled for
-- later; null: the intake of one of the kinds is closed, or there is a quota that the caller does
-- not know, and nothing is written.
CREATE FUNCTION millrace.enqueue_batch(
    kinds json, ids uuid[], payloads text[], kind_of integer[], given timestamptz,
    protocol integer, quotas bigint
)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
AS $enqueue$
#variable_conflict use_column
DECLARE
    moment timestamptz := millrace.clock_at(given);
    later  uuid[];
    durable text := millrace.sync_commit();
BEGIN
    PERFORM millrace.require_protocol(protocol);
    IF EXISTS (SELECT 1 FROM millrace.quota WHERE revision > quotas) THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT 1 FROM millrace.intake) AND EXISTS (
        SELECT 1
        FROM json_to_recordset(kinds) AS kind (
            type integer, tenant integer, lane integer, parent uuid
        )
        JOIN millrace.intake AS intake
            ON intake.name IN (kind.type, kind.tenant, kind.lane, -2)
        WHERE kind.parent IS NULL
    ) THEN
        RETURN NULL;
    END IF;
    WITH fresh AS MATERIALIZED (
        SELECT nextval('millrace.job_key_seq') AS key, item.*,
               item.run_at > moment AS waits
        FROM (
            SELECT job.id, job.payload, kind.*,
                   coalesce(
                       millrace.at_ms(kind.due_at),
                       moment + kind.delay_ms * interval '1 millisecond'
                   )::timestamptz(3) AS run_at
            FROM unnest(ids, payloads, kind_of) WITH ORDINALITY AS job (id, payload, kind, turn)
            JOIN ROWS FROM (
                json_to_recordset(kinds) AS (
                    type integer, tenant integer, lane integer, category integer, priority integer,
                    due_at bigint, delay_ms bigint, max_attempts integer, timeout_ms bigint,
                    payload_version text, correlation text, parent uuid, concurrency text,
                    webhook text, tags json, created_by text, flags smallint
                )
            ) WITH ORDINALITY AS kind (
                type, tenant, lane, category, priority, due_at, delay_ms, max_attempts, timeout_ms,
                payload_version, correlation, parent, concurrency, webhook, tags, created_by, flags,
                number
            ) ON kind.number = job.kind
            ORDER BY job.turn
        ) AS item
    ),
    made AS (
        INSERT INTO millrace.job (
            key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms,
            payload, payload_version, correlation, parent, concurrency, webhook, tags, created_by,
            created_at, flags
        )
        SELECT key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms,
               payload::json, payload_version, correlation, parent, concurrency, webhook, tags,
               created_by, moment, flags
        FROM fresh
    ),
    waiting AS (
        INSERT INTO millrace.scheduled (
            key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        SELECT key, run_at, lane, priority, type, tenant, 1, 0, 0, concurrency
        FROM fresh
        WHERE waits
    ),
    due AS (
        INSERT INTO millrace.ready (
            key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, 1, 0, 0,
               concurrency
        FROM fresh
        WHERE NOT waits
    ),
    tagged AS (
        INSERT INTO millrace.tag (name, value, key)
        SELECT tag.key, tag.value, fresh.key
        FROM fresh
        CROSS JOIN LATERAL json_each_text(fresh.tags) AS tag
        WHERE fresh.tags IS NOT NULL
    ),
    events AS (
        INSERT INTO millrace.event_outbox (at, kind, keys)
        SELECT moment, 1, array_agg(key) FROM fresh
    )
    SELECT array_agg(id) FILTER (WHERE waits) INTO later FROM fresh;
    RETURN coalesce(later, '{}');
END
$enqueue$;
