-- Refuses a job whose intake is closed, or that is beyond the quota of its tenant. The tokens of a
-- rate are taken in the caller's transaction, which holds their row until its end.
CREATE FUNCTION millrace.admit_task(
    of_type integer, of_tenant integer, of_lane integer, payload_bytes integer, moment timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $admit$
DECLARE
    closed  record;
    quota   millrace.quota;
    waiting bigint;
BEGIN
    SELECT intake.name, intake.reason INTO closed
    FROM millrace.intake AS intake
    WHERE intake.name IN (of_type, of_tenant, of_lane, -2)
    ORDER BY intake.name
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'new jobs are refused: %', closed.reason
            USING ERRCODE = 'MR011', HINT = 'An operator opens the intake: millrace intake open.';
    END IF;
    SELECT own.* INTO quota
    FROM millrace.quota AS own
    WHERE own.tenant IN (of_tenant, 0)
    ORDER BY own.tenant DESC
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF payload_bytes > quota.payload_bytes THEN
        RAISE EXCEPTION 'the quota of the tenant allows payloads of % bytes, and this one has %',
            quota.payload_bytes, payload_bytes USING ERRCODE = 'MR012';
    END IF;
    IF quota.waiting IS NOT NULL THEN
        SELECT count(*) INTO waiting
        FROM (
            SELECT FROM millrace.ready AS place WHERE place.tenant = of_tenant
            UNION ALL
            SELECT FROM millrace.scheduled AS place WHERE place.tenant = of_tenant
            UNION ALL
            SELECT FROM millrace.blocked AS place WHERE place.tenant = of_tenant
            LIMIT quota.waiting
        ) AS own;
        IF waiting >= quota.waiting THEN
            RAISE EXCEPTION 'the quota of the tenant allows % waiting jobs', quota.waiting
                USING ERRCODE = 'MR012';
        END IF;
    END IF;
    IF quota.rate_count IS NOT NULL THEN
        IF (
            SELECT taken.granted
            FROM millrace.take_quota_tokens(
                of_tenant, 1, quota.rate_count, quota.rate_ms, quota.burst, moment
            ) AS taken
        ) = 0 THEN
            RAISE EXCEPTION 'the quota of the tenant allows % new jobs in % ms',
                quota.rate_count, quota.rate_ms USING ERRCODE = 'MR012';
        END IF;
    END IF;
END
$admit$;

-- Whether a payload has a number with more than a thousand digits before or after its point. Other
-- producers refuse such numbers as well. Long texts are looked at without their strings.
CREATE FUNCTION millrace.has_long_number(payload text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE WHEN payload ~ '[0-9]{250}'
                THEN regexp_replace(payload, E'"(?:[^"\\\\]|\\\\.)*"', '', 'g')
                     ~ '(?:[0-9]{250}){4}[0-9]'
                ELSE false END;

-- Refuses options that no producer may send.
CREATE FUNCTION millrace.check_task_options(
    scheduled_at timestamptz, priority integer, max_attempts integer, timeout interval,
    keys text[], tags jsonb, payload text
) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $check$
DECLARE
    wrong text;
BEGIN
    wrong := CASE
        WHEN scheduled_at IS NULL
            OR NOT scheduled_at BETWEEN '1970-01-01Z' AND '2255-03-14 16:00:00Z'
            THEN 'scheduled_at must be an instant from 1970 to 2255'
        WHEN NOT priority BETWEEN 0 AND 1000000000
            THEN 'priority must be a whole number from 0 to 1000000000'
        WHEN NOT max_attempts BETWEEN 1 AND 1000000000
            THEN 'max_attempts must be a whole number from 1 to 1000000000'
        WHEN extract(epoch FROM timeout) * 1000 NOT BETWEEN 1 AND 9000000000000
            THEN 'timeout must be an interval from 1 millisecond to 285 years'
        WHEN EXISTS (SELECT FROM unnest(keys) AS key WHERE length(key) NOT BETWEEN 1 AND 500)
            THEN 'a key must have 1 to 500 characters'
        WHEN octet_length(payload) > 1000000 THEN 'the payload has more than 1000000 bytes'
        WHEN octet_length(payload) > 1000 AND millrace.has_long_number(payload)
            THEN 'the payload has a number with more than 1000 digits'
        WHEN tags IS NOT NULL AND jsonb_typeof(tags) <> 'object'
            THEN 'tags must be an object of texts'
    END;
    IF wrong IS NULL AND tags IS NOT NULL AND (
        (SELECT count(*) FROM jsonb_object_keys(tags)) > 50
        OR EXISTS (
            SELECT
            FROM jsonb_each(tags) AS tag
            WHERE jsonb_typeof(tag.value) <> 'string'
               OR length(tag.key) NOT BETWEEN 1 AND 200
               OR length(tag.value #>> '{}') NOT BETWEEN 1 AND 500
        )
    ) THEN
        wrong := 'tags must be up to 50 texts by name';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING ERRCODE = '22023';
    END IF;
END
$check$;

-- Enqueues a job of a declared type, and returns its task id. Settings that the call leaves out are
-- those of an operator, or else of the declaration. A repeated idempotency key answers the task of
-- the first call, or null if retention has removed it; a repeated dedup key answers the unfinished
-- task that holds the key. Part of the caller's transaction: the task exists if it commits.
CREATE FUNCTION millrace.enqueue(
    type text, payload jsonb DEFAULT '{}', scheduled_at timestamptz DEFAULT now(),
    tenant text DEFAULT NULL, lane text DEFAULT NULL, priority integer DEFAULT NULL,
    max_attempts integer DEFAULT NULL, timeout interval DEFAULT NULL,
    correlation_id text DEFAULT NULL, idempotency_key text DEFAULT NULL,
    dedup_key text DEFAULT NULL, concurrency_key text DEFAULT NULL, tags jsonb DEFAULT NULL,
    created_by text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $enqueue$
#variable_conflict use_column
DECLARE
    moment   timestamptz := millrace.clock_at(NULL);
    durable  text := millrace.sync_commit();
    own      text := millrace.session_tenant();
    known    record;
    own_id   uuid := millrace.new_job_id(moment);
    job_key  bigint;
    run_at   timestamptz(3) := date_trunc('milliseconds', enqueue.scheduled_at);
    of_tenant text := coalesce(enqueue.tenant, own, 'default');
    tenant_id integer;
    lane_id  integer;
    category_id integer;
    own_hash bytea;
    problem  text;
    held     record;
BEGIN
    IF enqueue.type IS NULL THEN
        RAISE EXCEPTION 'type is missing' USING ERRCODE = '22004';
    END IF;
    PERFORM millrace.require_protocol(1);
    IF of_tenant <> own THEN
        RAISE EXCEPTION 'the role % acts for the tenant % only', session_user, own
            USING ERRCODE = 'MR017';
    END IF;
    PERFORM millrace.check_task_options(
        enqueue.scheduled_at, enqueue.priority, enqueue.max_attempts, enqueue.timeout,
        ARRAY[enqueue.idempotency_key, enqueue.dedup_key, enqueue.concurrency_key], enqueue.tags,
        enqueue.payload::text
    );
    SELECT setting.type, setting.category, setting.payload_version, setting.flags,
           coalesce(enqueue.lane, override.lane, setting.lane) AS lane,
           coalesce(enqueue.priority, override.priority, setting.priority) AS priority,
           coalesce(enqueue.max_attempts, override.max_attempts, setting.max_attempts) AS attempts,
           nullif(coalesce(
               (extract(epoch FROM enqueue.timeout) * 1000)::bigint, override.timeout_ms,
               setting.timeout_ms
           ), 0) AS timeout_ms
    INTO known
    FROM millrace.interned_name AS name
    JOIN millrace.type_setting AS setting ON setting.type = name.id
    LEFT JOIN millrace.type_override AS override ON override.type = name.id
    WHERE name.kind = 1 AND name.text = enqueue.type;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the type % is not declared', enqueue.type
            USING ERRCODE = 'MR010',
                  HINT = 'Start a worker that has the type once, or let the owner of the schema '
                      || 'call declare_type.';
    END IF;
    PERFORM millrace.check_name('tenant', of_tenant);
    PERFORM millrace.check_name('lane', known.lane);
    PERFORM millrace.check_name('correlation_id', enqueue.correlation_id);
    PERFORM millrace.check_name('created_by', enqueue.created_by);
    problem := millrace.payload_problem(
        enqueue.payload, enqueue.type, known.category, of_tenant, enqueue.correlation_id,
        enqueue.idempotency_key, known.payload_version
    );
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'job "%": %', enqueue.type, problem
            USING ERRCODE = 'MR013', HINT = 'millrace payloads rules shows the rules.';
    END IF;
    tenant_id := millrace.intern_name(2::smallint, of_tenant);
    lane_id := millrace.intern_name(3::smallint, known.lane);
    IF known.category IS NOT NULL THEN
        category_id := millrace.intern_name(4::smallint, known.category);
    END IF;

    -- Keys first, in the order of all producers: idempotency keys, then dedup keys.
    IF enqueue.idempotency_key IS NOT NULL THEN
        own_hash := sha256(convert_to(
            enqueue.type || E'\n' || coalesce(millrace.canonical_json(enqueue.payload), ''), 'UTF8'
        ));
        INSERT INTO millrace.idempotency (tenant, key, job_id, body)
        VALUES (tenant_id, enqueue.idempotency_key, own_id, own_hash)
        ON CONFLICT (tenant, key) DO NOTHING;
        IF NOT FOUND THEN
            SELECT used.job_id, used.body = own_hash AS is_same INTO held
            FROM millrace.idempotency AS used
            WHERE used.tenant = tenant_id AND used.key = enqueue.idempotency_key;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'another transaction holds the idempotency key'
                    USING ERRCODE = '40001', HINT = 'Repeat the transaction.';
            END IF;
            IF NOT held.is_same THEN
                RAISE EXCEPTION 'the idempotency key was used for another type or payload'
                    USING ERRCODE = 'MR014';
            END IF;
            RETURN (SELECT named.key FROM millrace.job_name AS named WHERE named.id = held.job_id);
        END IF;
    END IF;
    job_key := nextval('millrace.job_key_seq');
    WHILE enqueue.dedup_key IS NOT NULL LOOP
        INSERT INTO millrace.dedup (job, tenant, type, key)
        VALUES (job_key, tenant_id, known.type, enqueue.dedup_key)
        ON CONFLICT (tenant, type, key) DO NOTHING;
        EXIT WHEN FOUND;
        SELECT used.job, job.key IS NOT NULL AS is_there INTO held
        FROM millrace.dedup AS used
        LEFT JOIN millrace.job AS job ON job.key = used.job
        WHERE used.tenant = tenant_id AND used.type = known.type AND used.key = enqueue.dedup_key;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'another transaction holds the dedup key'
                USING ERRCODE = '40001', HINT = 'Repeat the transaction.';
        END IF;
        IF held.is_there THEN
            DELETE FROM millrace.idempotency AS used
            WHERE used.tenant = tenant_id
              AND used.key = enqueue.idempotency_key
              AND used.job_id = own_id;
            RETURN held.job;
        END IF;
        -- The row of the job was deleted by hand.
        DELETE FROM millrace.dedup AS used WHERE used.job = held.job;
    END LOOP;
    PERFORM millrace.admit_task(
        known.type, tenant_id, lane_id, octet_length(enqueue.payload::text), moment
    );

    INSERT INTO millrace.job (
        key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,
        payload_version, correlation, concurrency, idempotency, dedup, tags, created_by,
        created_at, flags
    )
    VALUES (
        job_key, own_id, known.type, tenant_id, lane_id, category_id, known.priority, run_at,
        known.attempts, known.timeout_ms, enqueue.payload::json, known.payload_version,
        enqueue.correlation_id, enqueue.concurrency_key, enqueue.idempotency_key,
        enqueue.dedup_key, nullif(enqueue.tags, '{}')::json, enqueue.created_by, moment, known.flags
    );
    IF run_at > moment THEN
        INSERT INTO millrace.scheduled (
            key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        VALUES (
            job_key, run_at, lane_id, known.priority, known.type, tenant_id, 1, 0, 0,
            enqueue.concurrency_key
        );
    ELSE
        INSERT INTO millrace.ready (
            key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        VALUES (
            job_key, millrace.ms_of(run_at) * 1000, lane_id, known.priority, known.type, tenant_id,
            1, 0, 0, enqueue.concurrency_key
        );
    END IF;
    IF enqueue.tags IS NOT NULL THEN
        INSERT INTO millrace.tag (name, value, key)
        SELECT each.key, each.value, job_key
        FROM jsonb_each_text(enqueue.tags) AS each;
    END IF;
    INSERT INTO millrace.event_outbox (at, kind, keys) VALUES (moment, 1, ARRAY[job_key]);
    PERFORM millrace.wake_listeners('work');
    RETURN job_key;
END
$enqueue$;

-- Declares a type for jobs that are enqueued from SQL or by name, for the owner of the schema. A
-- worker that joins later replaces the declaration. There is no hash of a worker behind it.
CREATE FUNCTION millrace.declare_type(
    type text, lane text DEFAULT 'general', priority integer DEFAULT 100,
    max_attempts integer DEFAULT 5, timeout interval DEFAULT NULL, services text[] DEFAULT '{}',
    retry_owner text DEFAULT 'queue', category text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $declare$
#variable_conflict use_column
DECLARE
    type_id integer;
    wrong   text;
BEGIN
    wrong := CASE
        WHEN declare_type.type IS NULL THEN 'type is missing'
        WHEN declare_type.lane IS NULL THEN 'lane is missing'
        WHEN declare_type.retry_owner IS NULL
            OR declare_type.retry_owner NOT IN ('queue', 'supervisor')
            THEN 'retry_owner must be queue or supervisor'
        WHEN declare_type.services IS NULL THEN 'services must be a list'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING ERRCODE = '22023';
    END IF;
    PERFORM millrace.check_name('type', declare_type.type);
    PERFORM millrace.check_name('lane', declare_type.lane);
    PERFORM millrace.check_name('category', declare_type.category);
    PERFORM millrace.check_name('service', service) FROM unnest(declare_type.services) AS service;
    PERFORM millrace.check_task_options(
        now(), declare_type.priority, declare_type.max_attempts, declare_type.timeout, NULL, NULL,
        NULL
    );
    type_id := millrace.intern_name(1::smallint, declare_type.type);
    INSERT INTO millrace.type_setting AS known (
        type, lane, priority, max_attempts, timeout_ms, category, flags, hash, declared_at
    )
    SELECT type_id, given.lane, given.priority, given.max_attempts, given.timeout_ms,
           given.category, given.flags,
           encode(sha256(convert_to(given::text || declare_type.services::text, 'UTF8')), 'hex'),
           millrace.clock_at(NULL)
    FROM (
        SELECT declare_type.type, declare_type.lane, declare_type.priority,
               declare_type.max_attempts, declare_type.category,
               (extract(epoch FROM declare_type.timeout) * 1000)::bigint AS timeout_ms,
               CASE declare_type.retry_owner WHEN 'supervisor' THEN 2 ELSE 0 END AS flags
    ) AS given
    ON CONFLICT (type) DO UPDATE
    SET lane = excluded.lane, priority = excluded.priority, max_attempts = excluded.max_attempts,
        timeout_ms = excluded.timeout_ms, category = excluded.category, payload_version = NULL,
        payload_schema = NULL, app_version = NULL, flags = excluded.flags, hash = excluded.hash,
        declared_at = excluded.declared_at;
    DELETE FROM millrace.service_use AS uses WHERE uses.type = type_id;
    INSERT INTO millrace.service_use (service, type)
    SELECT DISTINCT millrace.intern_name(5::smallint, service), type_id
    FROM unnest(declare_type.services) AS service;
    PERFORM millrace.wake_listeners('work');
END
$declare$;
