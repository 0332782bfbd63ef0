-- The business process domain.foo: facts, a supervisor and its kick-off.
-- Its channel is the_type.
--
-- This file is yours: read it, fill in what is marked TO DO, and keep it with your migrations.
-- Run it once, as the owner of the installation the_installation, in one transaction:
--     psql --single-transaction --set ON_ERROR_STOP=1 --file THIS_FILE
-- The functions run with the rights of the role that creates them, so this role is no superuser
-- in production. A second run is refused, and changes nothing.

DO $check$
DECLARE
    _owner CONSTANT name := (
        SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'the_installation'
    );
BEGIN
    IF to_regclass('domain.foo_task') IS NOT NULL THEN
        RAISE EXCEPTION 'domain.foo exists already: this file runs once'
            USING ERRCODE = 'duplicate_table';
    END IF;
    IF _owner IS NULL THEN
        RAISE EXCEPTION 'there is no installation of Millrace in the schema the_installation'
            USING ERRCODE = 'invalid_schema_name',
                  HINT = 'Run millrace migrate first, or name the schema with --schema.';
    END IF;
    IF current_user <> _owner THEN
        RAISE EXCEPTION 'this file runs as the owner of the installation, not as %', current_user
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('Run it after: SET ROLE %I', _owner);
    END IF;
    IF to_regnamespace('domain') IS NULL THEN
        CREATE SCHEMA domain;
    END IF;
END
$check$;

-- Facts. Rows are inserted and never changed: the state of a process is what its facts add up to.

-- One row for each instance of the process, and at most one for each subject_id.
-- All tasks of a process are of one tenant. Their keys contain the process_key: ids begin anew when
-- these tables are made again, and keys of tasks stay.
CREATE TABLE domain.foo_task (
    foo_task_id bigserial PRIMARY KEY,
    -- when: references
    subject_id bigint NOT NULL UNIQUE REFERENCES referenced_table (referenced_column),
    -- otherwise
    subject_id bigint NOT NULL UNIQUE,
    -- end
    tenant text NOT NULL,
    process_key uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each attempt.
CREATE TABLE domain.foo_attempt (
    foo_attempt_id bigserial PRIMARY KEY,
    foo_task_id bigint NOT NULL REFERENCES domain.foo_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON domain.foo_attempt (foo_task_id);

-- How an attempt ended. A success that arrives after a failure was noted counts: the deed is done.
CREATE TABLE domain.foo_attempt_succeeded (
    foo_attempt_id bigint PRIMARY KEY REFERENCES domain.foo_attempt,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE domain.foo_attempt_failed (
    foo_attempt_id bigint PRIMARY KEY REFERENCES domain.foo_attempt,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The final word on an instance that has used up its attempts.
CREATE TABLE domain.foo_task_failed (
    foo_task_id bigint PRIMARY KEY REFERENCES domain.foo_task,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Helpers. They read facts, and run with the rights of the function that calls them.

CREATE FUNCTION domain.foo_max_attempts() RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN 5;

CREATE FUNCTION domain.has_foo_succeeded_attempt(_foo_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM domain.foo_attempt AS attempt
        JOIN domain.foo_attempt_succeeded AS succeeded USING (foo_attempt_id)
        WHERE attempt.foo_task_id = _foo_task_id
    );

CREATE FUNCTION domain.count_foo_failed_attempts(_foo_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM domain.foo_attempt AS attempt
        JOIN domain.foo_attempt_failed AS failed USING (foo_attempt_id)
        WHERE attempt.foo_task_id = _foo_task_id
    );

CREATE FUNCTION domain.count_foo_attempts(_foo_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM domain.foo_attempt AS attempt
        WHERE attempt.foo_task_id = _foo_task_id
    );

-- Whether a process has had its success or its final word.
CREATE FUNCTION domain.has_foo_ended(_foo_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN domain.has_foo_succeeded_attempt(_foo_task_id) OR EXISTS (
        SELECT 1
        FROM domain.foo_task_failed AS failed
        WHERE failed.foo_task_id = _foo_task_id
    );

-- Whether the process of a subject has used up its attempts without a success.
CREATE FUNCTION domain.is_foo_stuck(_subject_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM domain.foo_task AS task
        WHERE task.subject_id = _subject_id
          AND domain.count_foo_failed_attempts(task.foo_task_id)
              >= domain.foo_max_attempts()
          AND NOT domain.has_foo_succeeded_attempt(task.foo_task_id)
    );

-- when: channel
-- Whether an attempt was noted as failed. Its task may wait still, behind a pause, for example.
CREATE FUNCTION domain.has_foo_attempt_failed(_foo_attempt_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM domain.foo_attempt_failed AS failed
        WHERE failed.foo_attempt_id = _foo_attempt_id
    );

-- end
-- The id in a payload, or null where there is none. What a payload contains never raises an error.
CREATE FUNCTION domain.foo_id_in(_payload jsonb, _field text) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN _payload ->> _field ~ '^[0-9]{1,18}$'
                THEN (_payload ->> _field)::bigint END;

-- Whether the newest check of a process still waits or runs. The older ones have made it.
CREATE FUNCTION domain.is_foo_supervised(_foo_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN coalesce(
        (
            SELECT (
                SELECT over.completed_at
                FROM millrace.task_completed AS over
                WHERE over.task_id = newest.task_id
            ) IS NULL
            FROM (
                SELECT queued.task_id
                FROM millrace.task AS queued
                WHERE queued.correlation_id = 'domain.foo:' || _foo_task_id
                  AND queued.task_type = 'db_function'
                ORDER BY queued.task_id DESC
                LIMIT 1
            ) AS newest
        ),
        false
    );

-- Enqueues a check of the supervisor, in the tenant of the process. A check that is enqueued again
-- has the same key, so that one task of it exists.
CREATE FUNCTION domain.enqueue_foo_supervisor(
    _row domain.foo_task, _check bigint, _scheduled_at timestamptz
) RETURNS bigint
    LANGUAGE sql VOLATILE
    RETURN millrace.enqueue(
        'db_function',
        jsonb_build_object(
            'task_type', 'db_function',
            'db_function', 'domain.foo_supervisor',
            'foo_task_id', _row.foo_task_id,
            'check', _check
        ),
        _scheduled_at,
        tenant => _row.tenant,
        correlation_id => 'domain.foo:' || _row.foo_task_id,
        idempotency_key => format('domain.foo_supervisor:%s:%s', _row.process_key, _check)
    );

-- when: db_function
-- The work of one attempt, in SQL. TO DO: replace the body. An exception, and any status but
-- succeeded, is a failed attempt; what the body has changed is rolled back after an exception.
CREATE FUNCTION domain.perform_foo(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := domain.foo_id_in(_payload, 'foo_attempt_id');
    _subject_id bigint;
BEGIN
    SELECT task.subject_id INTO _subject_id
    FROM domain.foo_attempt AS attempt
    JOIN domain.foo_task AS task USING (foo_task_id)
    WHERE attempt.foo_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    RETURN jsonb_build_object(
        'status', 'not_implemented',
        'error', 'domain.perform_foo is a skeleton: write the work for subject_id '
            || _subject_id || ', and return {"status": "succeeded"}'
    );
END
$function$;

-- Runs one attempt and writes its outcome. The block makes an exception a fact like any other.
CREATE FUNCTION domain.run_foo_attempt(_foo_attempt_id bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _answer jsonb;
BEGIN
    _answer := domain.perform_foo(jsonb_build_object('foo_attempt_id', _foo_attempt_id));
    IF _answer ->> 'status' = 'succeeded' THEN
        INSERT INTO domain.foo_attempt_succeeded (foo_attempt_id) VALUES (_foo_attempt_id);
        RETURN;
    END IF;
    INSERT INTO domain.foo_attempt_failed (foo_attempt_id, error_message)
    VALUES (_foo_attempt_id, coalesce(_answer ->> 'error', _answer ->> 'status', 'no answer'));
EXCEPTION WHEN OTHERS THEN
    INSERT INTO domain.foo_attempt_failed (foo_attempt_id, error_message)
    VALUES (_foo_attempt_id, SQLERRM);
END
$function$;

-- end
-- The supervisor. It runs as a db_function task with the payload
--     {"task_type": "db_function", "db_function": "domain.foo_supervisor",
--      "foo_task_id": …, "check": …}
-- and enqueues itself again until the process has ended.
CREATE FUNCTION domain.foo_supervisor(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _first_delay CONSTANT interval := '30 seconds';
    _longest_delay CONSTANT interval := '1 hour';
    -- when: channel
    -- An operator may remove a channel task, for example. Its attempt has failed then.
    _outcome_within CONSTANT interval := '15 minutes';
    -- end
    _task_id CONSTANT bigint := domain.foo_id_in(_payload, 'foo_task_id');
    _next_check CONSTANT bigint := coalesce(domain.foo_id_in(_payload, 'check'), 0) + 1;
    _row domain.foo_task;
    _attempt_id bigint;
    _failures integer;
BEGIN
    -- Input: the ids, the lock that makes runs take turns, and the facts.
    IF _task_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_foo_task_id');
    END IF;
    SELECT task.* INTO _row
    FROM domain.foo_task AS task
    WHERE task.foo_task_id = _task_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'foo_task_not_found');
    END IF;
    -- when: channel
    INSERT INTO domain.foo_attempt_failed (foo_attempt_id, error_message)
    SELECT attempt.foo_attempt_id, 'no outcome within ' || _outcome_within
    FROM domain.foo_attempt AS attempt
    WHERE attempt.foo_task_id = _task_id
      AND attempt.created_at < now() - _outcome_within
      AND NOT EXISTS (
          SELECT 1
          FROM domain.foo_attempt_succeeded AS succeeded
          WHERE succeeded.foo_attempt_id = attempt.foo_attempt_id
      )
    ON CONFLICT DO NOTHING;
    -- end

    -- Compute: has it ended?
    IF domain.has_foo_succeeded_attempt(_task_id) THEN
        RETURN jsonb_build_object('status', 'succeeded');
    END IF;
    _failures := domain.count_foo_failed_attempts(_task_id);
    IF _failures >= domain.foo_max_attempts() THEN
        INSERT INTO domain.foo_task_failed (foo_task_id, error_message)
        SELECT _task_id, format('%s attempts failed; the last: %s', _failures, failed.error_message)
        FROM domain.foo_attempt AS attempt
        JOIN domain.foo_attempt_failed AS failed USING (foo_attempt_id)
        WHERE attempt.foo_task_id = _task_id
        ORDER BY attempt.foo_attempt_id DESC
        LIMIT 1
        ON CONFLICT DO NOTHING;
        RETURN jsonb_build_object('status', 'max_attempts_reached');
    END IF;

    -- Output: an attempt, if none is under way, and the next check.
    IF domain.count_foo_attempts(_task_id) = _failures THEN
        INSERT INTO domain.foo_attempt (foo_task_id) VALUES (_task_id)
        RETURNING foo_attempt_id INTO _attempt_id;
        -- when: channel
        PERFORM millrace.enqueue(
            'the_type',
            jsonb_build_object(
                'task_type', 'the_type',
                'foo_attempt_id', _attempt_id,
                'before_handler', 'domain.get_foo_payload',
                'success_handler', 'domain.record_foo_success',
                'error_handler', 'domain.record_foo_failure'
            ),
            tenant => _row.tenant,
            correlation_id => 'domain.foo:' || _task_id
        );
        -- end
        -- when: db_function
        PERFORM domain.run_foo_attempt(_attempt_id);
        IF domain.has_foo_succeeded_attempt(_task_id) THEN
            RETURN jsonb_build_object('status', 'succeeded');
        END IF;
        _failures := domain.count_foo_failed_attempts(_task_id);
        -- end
    END IF;
    -- A run that is delivered again after a crash uses the same key, so that one successor exists.
    PERFORM domain.enqueue_foo_supervisor(
        _row, _next_check,
        clock_timestamp() + least(_first_delay * 2 ^ least(_failures, 20), _longest_delay)
    );
    -- Of this check. That the process has succeeded is a fact, and no status.
    RETURN jsonb_build_object(
        'status', 'succeeded',
        'payload', jsonb_build_object('next_check', _next_check, 'failures', _failures)
    );
END
$function$;

-- Starts the process of a subject. It tells what is wrong with its arguments instead of raising an
-- error, and does nothing for a subject whose process has ended or has a supervisor. A process that
-- has lost its supervisor, because its task was cancelled, for example, goes on. The process
-- belongs to the tenant of its first caller, unless a tenant is given: a supervisor that starts
-- another process gives its own.
-- Grant it to the role of your application, or call it from a trigger or a function of the owner.
CREATE FUNCTION domain.kickoff_foo(
    _subject_id bigint,
    _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL,
    OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _row domain.foo_task;
    _check bigint := 0;
BEGIN
    IF _subject_id IS NULL THEN
        validation_failure_message := 'subject_id is required';
        RETURN;
    END IF;
    IF NOT isfinite(_scheduled_at) THEN
        validation_failure_message := 'scheduled_at is no instant';
        RETURN;
    END IF;
    -- when: references
    PERFORM 1
    FROM referenced_table AS referenced
    WHERE referenced.referenced_column = _subject_id
    FOR KEY SHARE;
    IF NOT FOUND THEN
        validation_failure_message
            := format('subject_id %s does not exist', _subject_id);
        RETURN;
    END IF;
    -- end
    INSERT INTO domain.foo_task (subject_id, tenant)
    VALUES (_subject_id, coalesce(_tenant, millrace.session_tenant(), 'default'))
    ON CONFLICT DO NOTHING
    RETURNING * INTO _row;
    IF NOT FOUND THEN
        -- A row that is locked belongs to a supervisor that runs, or to another kick-off.
        SELECT task.* INTO _row
        FROM domain.foo_task AS task
        WHERE task.subject_id = _subject_id
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND
                OR coalesce(_row.tenant <> millrace.session_tenant(), false)
                OR domain.has_foo_ended(_row.foo_task_id)
                OR domain.is_foo_supervised(_row.foo_task_id) THEN
            RETURN;
        END IF;
        -- Checks come seconds apart: the time in milliseconds is above the number of any of them.
        _check := floor(1000 * extract(epoch FROM clock_timestamp()));
    END IF;
    PERFORM domain.enqueue_foo_supervisor(
        _row, _check, coalesce(_scheduled_at, clock_timestamp())
    );
    IF NOT domain.is_foo_supervised(_row.foo_task_id) THEN
        RAISE EXCEPTION 'the supervisor of domain.foo % was enqueued before',
            _row.foo_task_id;
    END IF;
END
$function$;

-- when: channel
-- Handlers. The worker calls them before and after it has used the channel, and calls them again
-- after a crash: each may run any number of times for one attempt.

-- TO DO: return the message of the attempt, as the channel the_type expects it, in this envelope:
-- {"status": "succeeded", "payload": {…}}. A validation_failure_message ends the attempt as failed.
CREATE FUNCTION domain.get_foo_payload(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := domain.foo_id_in(_payload, 'foo_attempt_id');
    _subject_id bigint;
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object(
            'status', 'missing_attempt_id', 'validation_failure_message', 'missing_attempt_id'
        );
    END IF;
    SELECT task.subject_id INTO _subject_id
    FROM domain.foo_attempt AS attempt
    JOIN domain.foo_task AS task USING (foo_task_id)
    WHERE attempt.foo_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object(
            'status', 'attempt_not_found', 'validation_failure_message', 'attempt_not_found'
        );
    END IF;
    -- Another attempt has taken the place of this one: two would send the message twice.
    IF domain.has_foo_attempt_failed(_attempt_id) THEN
        RETURN jsonb_build_object(
            'status', 'attempt_superseded', 'validation_failure_message', 'attempt_superseded'
        );
    END IF;
    RETURN jsonb_build_object(
        'status', 'not_implemented',
        'validation_failure_message', 'domain.get_foo_payload is a skeleton: return the message '
            || 'for subject_id ' || _subject_id || ' as payload, with the status succeeded'
    );
END
$function$;

-- Writes that the attempt succeeded. Gets {"original_payload": {…}, "worker_payload": {…}}.
CREATE FUNCTION domain.record_foo_success(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := domain.foo_id_in(
        _payload -> 'original_payload', 'foo_attempt_id'
    );
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_attempt_id');
    END IF;
    PERFORM 1
    FROM domain.foo_attempt AS attempt
    WHERE attempt.foo_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    INSERT INTO domain.foo_attempt_succeeded (foo_attempt_id) VALUES (_attempt_id)
    ON CONFLICT DO NOTHING;
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

-- Writes that the attempt failed. Gets {"original_payload": {…}, "error": "…"}.
CREATE FUNCTION domain.record_foo_failure(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, domain, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := domain.foo_id_in(
        _payload -> 'original_payload', 'foo_attempt_id'
    );
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_attempt_id');
    END IF;
    PERFORM 1
    FROM domain.foo_attempt AS attempt
    WHERE attempt.foo_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    INSERT INTO domain.foo_attempt_failed (foo_attempt_id, error_message)
    VALUES (_attempt_id, coalesce(nullif(_payload ->> 'error', ''), 'no error message'))
    ON CONFLICT DO NOTHING;
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

-- end
-- Task types. A type that no worker has declared yet gets usual settings, until a worker brings its
-- own: tasks of an unknown type are refused.

SELECT millrace.declare_type(wanted.type, retry_owner => wanted.retry_owner)
FROM (
    VALUES ('db_function', 'queue')
    -- when: channel
         , ('the_type', 'supervisor')
    -- end
) AS wanted (type, retry_owner)
WHERE NOT EXISTS (
    SELECT 1
    FROM millrace.type_setting AS setting
    JOIN millrace.interned_name AS known ON known.id = setting.type
    WHERE known.kind = 1 AND known.text = wanted.type
);

-- Rights. PUBLIC may call nothing. Workers may call the registered functions, and no other: workers
-- in SQL as members of the_worker, and those in TypeScript as members of the_engine.

REVOKE ALL ON domain.foo_task, domain.foo_attempt, domain.foo_attempt_succeeded,
    domain.foo_attempt_failed, domain.foo_task_failed FROM PUBLIC;
REVOKE ALL ON FUNCTION
    domain.foo_max_attempts(),
    domain.has_foo_succeeded_attempt(bigint),
    domain.count_foo_failed_attempts(bigint),
    domain.count_foo_attempts(bigint),
    domain.has_foo_ended(bigint),
    domain.is_foo_stuck(bigint),
    -- when: channel
    domain.has_foo_attempt_failed(bigint),
    -- end
    domain.foo_id_in(jsonb, text),
    domain.is_foo_supervised(bigint),
    domain.enqueue_foo_supervisor(domain.foo_task, bigint, timestamptz),
    -- when: db_function
    domain.perform_foo(jsonb),
    domain.run_foo_attempt(bigint),
    -- end
    -- when: channel
    domain.get_foo_payload(jsonb),
    domain.record_foo_success(jsonb),
    domain.record_foo_failure(jsonb),
    -- end
    domain.foo_supervisor(jsonb),
    domain.kickoff_foo(bigint, timestamptz, text)
FROM PUBLIC;

SELECT millrace.register_function(
    'domain.foo_supervisor(jsonb)',
    'domain.foo_supervisor'
);
-- when: channel
SELECT millrace.register_function(
    'domain.get_foo_payload(jsonb)',
    'domain.get_foo_payload'
);
SELECT millrace.register_function(
    'domain.record_foo_success(jsonb)',
    'domain.record_foo_success'
);
SELECT millrace.register_function(
    'domain.record_foo_failure(jsonb)',
    'domain.record_foo_failure'
);
-- end

DO $grants$
BEGIN
    IF to_regrole('the_worker') IS NULL OR to_regrole('the_engine') IS NULL THEN
        RAISE NOTICE 'there are no roles the_worker and the_engine'
            USING HINT = 'Run millrace migrate --roles, and then these grants.';
        RETURN;
    END IF;
    GRANT USAGE ON SCHEMA domain TO the_worker, the_engine;
    GRANT EXECUTE ON FUNCTION domain.foo_supervisor(jsonb)
    TO the_worker, the_engine;
    -- when: channel
    GRANT EXECUTE ON FUNCTION domain.get_foo_payload(jsonb)
    TO the_worker, the_engine;
    GRANT EXECUTE ON FUNCTION domain.record_foo_success(jsonb)
    TO the_worker, the_engine;
    GRANT EXECUTE ON FUNCTION domain.record_foo_failure(jsonb)
    TO the_worker, the_engine;
    -- end
END
$grants$;
