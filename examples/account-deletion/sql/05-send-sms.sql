-- The business process comms.send_sms: facts, a supervisor and its kick-off.
-- Its channel is sms.
--
-- This file is yours: read it, fill in what is marked TO DO, and keep it with your migrations.
-- Run it once, as the owner of the installation millrace, in one transaction:
--     psql --single-transaction --set ON_ERROR_STOP=1 --file THIS_FILE
-- The functions run with the rights of the role that creates them, so this role is no superuser
-- in production. A second run is refused, and changes nothing.

DO $check$
DECLARE
    _owner CONSTANT name := (
        SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'millrace'
    );
BEGIN
    IF to_regclass('comms.send_sms_task') IS NOT NULL THEN
        RAISE EXCEPTION 'comms.send_sms exists already: this file runs once'
            USING ERRCODE = 'duplicate_table';
    END IF;
    IF _owner IS NULL THEN
        RAISE EXCEPTION 'there is no installation of Millrace in the schema millrace'
            USING ERRCODE = 'invalid_schema_name',
                  HINT = 'Run millrace migrate first, or name the schema with --schema.';
    END IF;
    IF current_user <> _owner THEN
        RAISE EXCEPTION 'this file runs as the owner of the installation, not as %', current_user
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('Run it after: SET ROLE %I', _owner);
    END IF;
    IF to_regnamespace('comms') IS NULL THEN
        CREATE SCHEMA comms;
    END IF;
END
$check$;

-- Facts. Rows are inserted and never changed: the state of a process is what its facts add up to.

-- One row for each instance of the process, and at most one for each sms_message_id.
-- All tasks of a process are of one tenant. Their keys contain the process_key: ids begin anew when
-- these tables are made again, and keys of tasks stay.
CREATE TABLE comms.send_sms_task (
    send_sms_task_id bigserial PRIMARY KEY,
    sms_message_id bigint NOT NULL UNIQUE REFERENCES comms.sms_message (sms_message_id),
    tenant text NOT NULL,
    process_key uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each attempt.
CREATE TABLE comms.send_sms_attempt (
    send_sms_attempt_id bigserial PRIMARY KEY,
    send_sms_task_id bigint NOT NULL REFERENCES comms.send_sms_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON comms.send_sms_attempt (send_sms_task_id);

-- How an attempt ended. A success that arrives after a failure was noted counts: the deed is done.
CREATE TABLE comms.send_sms_attempt_succeeded (
    send_sms_attempt_id bigint PRIMARY KEY REFERENCES comms.send_sms_attempt,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE comms.send_sms_attempt_failed (
    send_sms_attempt_id bigint PRIMARY KEY REFERENCES comms.send_sms_attempt,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The final word on an instance that has used up its attempts.
CREATE TABLE comms.send_sms_task_failed (
    send_sms_task_id bigint PRIMARY KEY REFERENCES comms.send_sms_task,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Helpers. They read facts, and run with the rights of the function that calls them.

CREATE FUNCTION comms.send_sms_max_attempts() RETURNS integer
    LANGUAGE sql STABLE
    RETURN queues.max_attempts();

CREATE FUNCTION comms.has_send_sms_succeeded_attempt(_send_sms_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM comms.send_sms_attempt AS attempt
        JOIN comms.send_sms_attempt_succeeded AS succeeded USING (send_sms_attempt_id)
        WHERE attempt.send_sms_task_id = _send_sms_task_id
    );

CREATE FUNCTION comms.count_send_sms_failed_attempts(_send_sms_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM comms.send_sms_attempt AS attempt
        JOIN comms.send_sms_attempt_failed AS failed USING (send_sms_attempt_id)
        WHERE attempt.send_sms_task_id = _send_sms_task_id
    );

CREATE FUNCTION comms.count_send_sms_attempts(_send_sms_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM comms.send_sms_attempt AS attempt
        WHERE attempt.send_sms_task_id = _send_sms_task_id
    );

-- Whether a process has had its success or its final word.
CREATE FUNCTION comms.has_send_sms_ended(_send_sms_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN comms.has_send_sms_succeeded_attempt(_send_sms_task_id) OR EXISTS (
        SELECT 1
        FROM comms.send_sms_task_failed AS failed
        WHERE failed.send_sms_task_id = _send_sms_task_id
    );

-- Whether the process of a subject has used up its attempts without a success.
CREATE FUNCTION comms.is_send_sms_stuck(_sms_message_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM comms.send_sms_task AS task
        WHERE task.sms_message_id = _sms_message_id
          AND comms.count_send_sms_failed_attempts(task.send_sms_task_id)
              >= comms.send_sms_max_attempts()
          AND NOT comms.has_send_sms_succeeded_attempt(task.send_sms_task_id)
    );

-- Whether an attempt was noted as failed. Its task may wait still, behind a pause, for example.
CREATE FUNCTION comms.has_send_sms_attempt_failed(_send_sms_attempt_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM comms.send_sms_attempt_failed AS failed
        WHERE failed.send_sms_attempt_id = _send_sms_attempt_id
    );

-- The id in a payload, or null where there is none. What a payload contains never raises an error.
CREATE FUNCTION comms.send_sms_id_in(_payload jsonb, _field text) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN _payload ->> _field ~ '^[0-9]{1,18}$'
                THEN (_payload ->> _field)::bigint END;

-- Whether the newest check of a process still waits or runs. The older ones have made it.
CREATE FUNCTION comms.is_send_sms_supervised(_send_sms_task_id bigint) RETURNS boolean
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
                WHERE queued.correlation_id = 'comms.send_sms:' || _send_sms_task_id
                  AND queued.task_type = 'db_function'
                ORDER BY queued.task_id DESC
                LIMIT 1
            ) AS newest
        ),
        false
    );

-- Enqueues a check of the supervisor, in the tenant of the process. A check that is enqueued again
-- has the same key, so that one task of it exists.
CREATE FUNCTION comms.enqueue_send_sms_supervisor(
    _row comms.send_sms_task, _check bigint, _scheduled_at timestamptz
) RETURNS void
    LANGUAGE sql VOLATILE
    RETURN queues.enqueue(
        'db_function',
        jsonb_build_object(
            'task_type', 'db_function',
            'db_function', 'comms.send_sms_supervisor',
            'send_sms_task_id', _row.send_sms_task_id,
            'check', _check
        ),
        _scheduled_at,
        _tenant => _row.tenant,
        _correlation_id => 'comms.send_sms:' || _row.send_sms_task_id,
        _idempotency_key => format('comms.send_sms_supervisor:%s:%s', _row.process_key, _check)
    );

-- The supervisor. It runs as a db_function task with the payload
--     {"task_type": "db_function", "db_function": "comms.send_sms_supervisor",
--      "send_sms_task_id": …, "check": …}
-- and enqueues itself again until the process has ended.
CREATE FUNCTION comms.send_sms_supervisor(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, comms, pg_temp
    AS $function$
DECLARE
    _first_delay CONSTANT interval := queues.first_delay();
    _longest_delay CONSTANT interval := '1 hour';
    -- An operator may remove a channel task, for example. Its attempt has failed then.
    _outcome_within CONSTANT interval := '15 minutes';
    _task_id CONSTANT bigint := comms.send_sms_id_in(_payload, 'send_sms_task_id');
    _next_check CONSTANT bigint := coalesce(comms.send_sms_id_in(_payload, 'check'), 0) + 1;
    _row comms.send_sms_task;
    _attempt_id bigint;
    _failures integer;
BEGIN
    -- Input: the ids, the lock that makes runs take turns, and the facts.
    IF _task_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_send_sms_task_id');
    END IF;
    SELECT task.* INTO _row
    FROM comms.send_sms_task AS task
    WHERE task.send_sms_task_id = _task_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'send_sms_task_not_found');
    END IF;
    INSERT INTO comms.send_sms_attempt_failed (send_sms_attempt_id, error_message)
    SELECT attempt.send_sms_attempt_id, 'no outcome within ' || _outcome_within
    FROM comms.send_sms_attempt AS attempt
    WHERE attempt.send_sms_task_id = _task_id
      AND attempt.created_at < now() - _outcome_within
      AND NOT EXISTS (
          SELECT 1
          FROM comms.send_sms_attempt_succeeded AS succeeded
          WHERE succeeded.send_sms_attempt_id = attempt.send_sms_attempt_id
      )
    ON CONFLICT DO NOTHING;

    -- Compute: has it ended?
    IF comms.has_send_sms_succeeded_attempt(_task_id) THEN
        RETURN jsonb_build_object('status', 'succeeded');
    END IF;
    _failures := comms.count_send_sms_failed_attempts(_task_id);
    IF _failures >= comms.send_sms_max_attempts() THEN
        INSERT INTO comms.send_sms_task_failed (send_sms_task_id, error_message)
        SELECT _task_id, format('%s attempts failed; the last: %s', _failures, failed.error_message)
        FROM comms.send_sms_attempt AS attempt
        JOIN comms.send_sms_attempt_failed AS failed USING (send_sms_attempt_id)
        WHERE attempt.send_sms_task_id = _task_id
        ORDER BY attempt.send_sms_attempt_id DESC
        LIMIT 1
        ON CONFLICT DO NOTHING;
        RETURN jsonb_build_object('status', 'max_attempts_reached');
    END IF;

    -- Output: an attempt, if none is under way, and the next check.
    IF comms.count_send_sms_attempts(_task_id) = _failures THEN
        INSERT INTO comms.send_sms_attempt (send_sms_task_id) VALUES (_task_id)
        RETURNING send_sms_attempt_id INTO _attempt_id;
        PERFORM queues.enqueue(
            'sms',
            jsonb_build_object(
                'task_type', 'sms',
                'send_sms_attempt_id', _attempt_id,
                'before_handler', 'comms.get_sms_payload',
                'success_handler', 'comms.record_sms_success',
                'error_handler', 'comms.record_sms_failure'
            ),
            _tenant => _row.tenant,
            _correlation_id => 'comms.send_sms:' || _task_id
        );
    END IF;
    -- A run that is delivered again after a crash uses the same key, so that one successor exists.
    PERFORM comms.enqueue_send_sms_supervisor(
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
CREATE FUNCTION comms.kickoff_send_sms(
    _sms_message_id bigint,
    _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL,
    OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, comms, pg_temp
    AS $function$
DECLARE
    _row comms.send_sms_task;
    _check bigint := 0;
BEGIN
    IF _sms_message_id IS NULL THEN
        validation_failure_message := 'sms_message_id is required';
        RETURN;
    END IF;
    IF NOT isfinite(_scheduled_at) THEN
        validation_failure_message := 'scheduled_at is no instant';
        RETURN;
    END IF;
    PERFORM 1
    FROM comms.sms_message AS referenced
    WHERE referenced.sms_message_id = _sms_message_id
    FOR KEY SHARE;
    IF NOT FOUND THEN
        validation_failure_message
            := format('sms_message_id %s does not exist', _sms_message_id);
        RETURN;
    END IF;
    INSERT INTO comms.send_sms_task (sms_message_id, tenant)
    VALUES (_sms_message_id, coalesce(_tenant, millrace.session_tenant(), 'default'))
    ON CONFLICT DO NOTHING
    RETURNING * INTO _row;
    IF NOT FOUND THEN
        -- A row that is locked belongs to a supervisor that runs, or to another kick-off.
        SELECT task.* INTO _row
        FROM comms.send_sms_task AS task
        WHERE task.sms_message_id = _sms_message_id
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND
                OR coalesce(_row.tenant <> millrace.session_tenant(), false)
                OR comms.has_send_sms_ended(_row.send_sms_task_id)
                OR comms.is_send_sms_supervised(_row.send_sms_task_id) THEN
            RETURN;
        END IF;
        -- Checks come seconds apart: the time in milliseconds is above the number of any of them.
        _check := floor(1000 * extract(epoch FROM clock_timestamp()));
    END IF;
    PERFORM comms.enqueue_send_sms_supervisor(
        _row, _check, coalesce(_scheduled_at, clock_timestamp())
    );
    IF NOT comms.is_send_sms_supervised(_row.send_sms_task_id) THEN
        RAISE EXCEPTION 'the supervisor of comms.send_sms % was enqueued before',
            _row.send_sms_task_id;
    END IF;
END
$function$;

-- Handlers. The worker calls them before and after it has used the channel, and calls them again
-- after a crash: each may run any number of times for one attempt.

-- The message of the attempt, as the channel expects it.
CREATE FUNCTION comms.get_sms_payload(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, comms, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := comms.send_sms_id_in(_payload, 'send_sms_attempt_id');
    _message comms.sms_message;
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object(
            'status', 'missing_attempt_id', 'validation_failure_message', 'missing_attempt_id'
        );
    END IF;
    SELECT message.* INTO _message
    FROM comms.send_sms_attempt AS attempt
    JOIN comms.send_sms_task AS task USING (send_sms_task_id)
    JOIN comms.sms_message AS message USING (sms_message_id)
    WHERE attempt.send_sms_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object(
            'status', 'attempt_not_found', 'validation_failure_message', 'attempt_not_found'
        );
    END IF;
    -- Another attempt has taken the place of this one: two would send the message twice.
    IF comms.has_send_sms_attempt_failed(_attempt_id) THEN
        RETURN jsonb_build_object(
            'status', 'attempt_superseded', 'validation_failure_message', 'attempt_superseded'
        );
    END IF;
    RETURN jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object(
        'to', _message.to_number, 'text', _message.body
    ));
END
$function$;

-- Writes that the attempt succeeded. Gets {"original_payload": {…}, "worker_payload": {…}}.
CREATE FUNCTION comms.record_sms_success(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, comms, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := comms.send_sms_id_in(
        _payload -> 'original_payload', 'send_sms_attempt_id'
    );
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_attempt_id');
    END IF;
    PERFORM 1
    FROM comms.send_sms_attempt AS attempt
    WHERE attempt.send_sms_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    INSERT INTO comms.send_sms_attempt_succeeded (send_sms_attempt_id) VALUES (_attempt_id)
    ON CONFLICT DO NOTHING;
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

-- Writes that the attempt failed. Gets {"original_payload": {…}, "error": "…"}.
CREATE FUNCTION comms.record_sms_failure(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, comms, pg_temp
    AS $function$
DECLARE
    _attempt_id CONSTANT bigint := comms.send_sms_id_in(
        _payload -> 'original_payload', 'send_sms_attempt_id'
    );
BEGIN
    IF _attempt_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_attempt_id');
    END IF;
    PERFORM 1
    FROM comms.send_sms_attempt AS attempt
    WHERE attempt.send_sms_attempt_id = _attempt_id;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    INSERT INTO comms.send_sms_attempt_failed (send_sms_attempt_id, error_message)
    VALUES (_attempt_id, coalesce(nullif(_payload ->> 'error', ''), 'no error message'))
    ON CONFLICT DO NOTHING;
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

-- Task types. A type that no worker has declared yet gets usual settings, until a worker brings its
-- own: tasks of an unknown type are refused.

SELECT millrace.declare_type(wanted.type, retry_owner => wanted.retry_owner)
FROM (
    VALUES ('db_function', 'queue')
         , ('sms', 'supervisor')
) AS wanted (type, retry_owner)
WHERE NOT EXISTS (
    SELECT 1
    FROM millrace.type_setting AS setting
    JOIN millrace.interned_name AS known ON known.id = setting.type
    WHERE known.kind = 1 AND known.text = wanted.type
);

-- Rights. PUBLIC may call nothing. Workers may call the registered functions, and no other: workers
-- in SQL as members of millrace_worker, and those in TypeScript as members of millrace_engine.

REVOKE ALL ON comms.send_sms_task, comms.send_sms_attempt, comms.send_sms_attempt_succeeded,
    comms.send_sms_attempt_failed, comms.send_sms_task_failed FROM PUBLIC;
REVOKE ALL ON FUNCTION
    comms.send_sms_max_attempts(),
    comms.has_send_sms_succeeded_attempt(bigint),
    comms.count_send_sms_failed_attempts(bigint),
    comms.count_send_sms_attempts(bigint),
    comms.has_send_sms_ended(bigint),
    comms.is_send_sms_stuck(bigint),
    comms.has_send_sms_attempt_failed(bigint),
    comms.send_sms_id_in(jsonb, text),
    comms.is_send_sms_supervised(bigint),
    comms.enqueue_send_sms_supervisor(comms.send_sms_task, bigint, timestamptz),
    comms.get_sms_payload(jsonb),
    comms.record_sms_success(jsonb),
    comms.record_sms_failure(jsonb),
    comms.send_sms_supervisor(jsonb),
    comms.kickoff_send_sms(bigint, timestamptz, text)
FROM PUBLIC;

SELECT millrace.register_function(
    'comms.send_sms_supervisor(jsonb)',
    'comms.send_sms_supervisor'
);
SELECT millrace.register_function(
    'comms.get_sms_payload(jsonb)',
    'comms.get_sms_payload'
);
SELECT millrace.register_function(
    'comms.record_sms_success(jsonb)',
    'comms.record_sms_success'
);
SELECT millrace.register_function(
    'comms.record_sms_failure(jsonb)',
    'comms.record_sms_failure'
);

DO $grants$
BEGIN
    IF to_regrole('millrace_worker') IS NULL OR to_regrole('millrace_engine') IS NULL THEN
        RAISE NOTICE 'there are no roles millrace_worker and millrace_engine'
            USING HINT = 'Run millrace migrate --roles, and then these grants.';
        RETURN;
    END IF;
    GRANT USAGE ON SCHEMA comms TO millrace_worker, millrace_engine;
    GRANT EXECUTE ON FUNCTION comms.send_sms_supervisor(jsonb)
    TO millrace_worker, millrace_engine;
    GRANT EXECUTE ON FUNCTION comms.get_sms_payload(jsonb)
    TO millrace_worker, millrace_engine;
    GRANT EXECUTE ON FUNCTION comms.record_sms_success(jsonb)
    TO millrace_worker, millrace_engine;
    GRANT EXECUTE ON FUNCTION comms.record_sms_failure(jsonb)
    TO millrace_worker, millrace_engine;
END
$grants$;
