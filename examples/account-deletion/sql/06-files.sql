-- Files and their deletion. The objects are in a store behind a service that signs URLs.

CREATE SCHEMA files;

CREATE TABLE files.upload_intent (
    upload_intent_id bigserial PRIMARY KEY,
    account_id bigint NOT NULL,
    bucket text NOT NULL,
    object_key text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (bucket, object_key)
);

CREATE TABLE files.file (
    file_id bigserial PRIMARY KEY,
    upload_intent_id bigint NOT NULL UNIQUE REFERENCES files.upload_intent,
    account_id bigint NOT NULL,
    bucket text NOT NULL,
    object_key text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON files.file (account_id);

CREATE TABLE files.file_metadata (
    file_id bigint PRIMARY KEY REFERENCES files.file,
    metadata jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE files.file_deletion_task (
    file_deletion_task_id bigserial PRIMARY KEY,
    file_id bigint NOT NULL UNIQUE REFERENCES files.file,
    tenant text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE files.file_deletion_attempt (
    file_deletion_attempt_id bigserial PRIMARY KEY,
    file_deletion_task_id bigint NOT NULL REFERENCES files.file_deletion_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON files.file_deletion_attempt (file_deletion_task_id);

CREATE TABLE files.file_deletion_task_succeeded (
    file_deletion_task_id bigint PRIMARY KEY REFERENCES files.file_deletion_task,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each failed attempt, so that a handler that runs again adds none.
CREATE TABLE files.file_deletion_task_failed (
    file_deletion_attempt_id bigint PRIMARY KEY REFERENCES files.file_deletion_attempt,
    file_deletion_task_id bigint NOT NULL REFERENCES files.file_deletion_task,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON files.file_deletion_task_failed (file_deletion_task_id);

CREATE FUNCTION files.has_file_deletion_succeeded(_file_deletion_task_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM files.file_deletion_task_succeeded AS succeeded
        WHERE succeeded.file_deletion_task_id = _file_deletion_task_id
    );

CREATE FUNCTION files.count_file_deletion_failures(_file_deletion_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM files.file_deletion_task_failed AS failed
        WHERE failed.file_deletion_task_id = _file_deletion_task_id
    );

CREATE FUNCTION files.count_file_deletion_attempts(_file_deletion_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM files.file_deletion_attempt AS attempt
        WHERE attempt.file_deletion_task_id = _file_deletion_task_id
    );

CREATE FUNCTION files.is_file_deletion_stuck(_file_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM files.file_deletion_task AS task
        WHERE task.file_id = _file_id
          AND files.count_file_deletion_failures(task.file_deletion_task_id)
              >= queues.max_attempts()
          AND NOT files.has_file_deletion_succeeded(task.file_deletion_task_id)
    );

CREATE FUNCTION files.mark_file_deleted(_file_id bigint) RETURNS void
    LANGUAGE sql
    BEGIN ATOMIC
        INSERT INTO files.file_metadata AS known (file_id, metadata)
        VALUES (_file_id, '{"deleted": true}')
        ON CONFLICT (file_id) DO UPDATE SET metadata = known.metadata || excluded.metadata;
    END;

CREATE FUNCTION files.kickoff_file_deletion(
    _file_id bigint,
    _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL,
    OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, files, pg_temp
    AS $function$
DECLARE
    _task files.file_deletion_task;
BEGIN
    PERFORM 1 FROM files.file AS file WHERE file.file_id = _file_id FOR KEY SHARE;
    IF NOT FOUND THEN
        validation_failure_message := format('file %s does not exist', coalesce(_file_id, 0));
        RETURN;
    END IF;
    INSERT INTO files.file_deletion_task (file_id, tenant)
    VALUES (_file_id, queues.tenant_of_process(_tenant))
    ON CONFLICT DO NOTHING
    RETURNING * INTO _task;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM queues.enqueue_check(
        'files.file_deletion_supervisor', 'file_deletion_task_id', _task.file_deletion_task_id, 0,
        _scheduled_at, _task.tenant
    );
END
$function$;

CREATE FUNCTION files.file_deletion_supervisor(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, files, pg_temp
    AS $function$
DECLARE
    _outcome_within CONSTANT interval := '15 minutes';
    _task_id CONSTANT bigint := queues.id_in(_payload, 'file_deletion_task_id');
    _next_check CONSTANT bigint := coalesce(queues.id_in(_payload, 'check'), 0) + 1;
    _task files.file_deletion_task;
    _attempt_id bigint;
    _failures integer;
BEGIN
    -- Input.
    IF _task_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_file_deletion_task_id');
    END IF;
    SELECT task.* INTO _task
    FROM files.file_deletion_task AS task
    WHERE task.file_deletion_task_id = _task_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'file_deletion_task_not_found');
    END IF;
    IF files.has_file_deletion_succeeded(_task_id) THEN
        RETURN jsonb_build_object('status', 'succeeded');
    END IF;
    INSERT INTO files.file_deletion_task_failed (
        file_deletion_attempt_id, file_deletion_task_id, error_message
    )
    SELECT attempt.file_deletion_attempt_id, _task_id, 'no outcome within ' || _outcome_within
    FROM files.file_deletion_attempt AS attempt
    WHERE attempt.file_deletion_task_id = _task_id
      AND attempt.created_at < now() - _outcome_within
    ON CONFLICT DO NOTHING;

    -- Compute.
    _failures := files.count_file_deletion_failures(_task_id);
    IF _failures >= queues.max_attempts() THEN
        RETURN jsonb_build_object('status', 'max_attempts_reached');
    END IF;

    -- Output.
    IF files.count_file_deletion_attempts(_task_id) = _failures THEN
        INSERT INTO files.file_deletion_attempt (file_deletion_task_id) VALUES (_task_id)
        RETURNING file_deletion_attempt_id INTO _attempt_id;
        PERFORM queues.enqueue(
            'file_delete',
            jsonb_build_object(
                'task_type', 'file_delete',
                'file_deletion_task_id', _task_id,
                'file_deletion_attempt_id', _attempt_id,
                'file_id', _task.file_id,
                'before_handler', 'files.get_file_delete_payload',
                'success_handler', 'files.record_file_delete_success',
                'error_handler', 'files.record_file_delete_failure'
            ),
            _tenant => _task.tenant
        );
    END IF;
    PERFORM queues.enqueue_check(
        'files.file_deletion_supervisor', 'file_deletion_task_id', _task_id, _next_check,
        queues.next_check_at(_failures), _task.tenant
    );
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

CREATE FUNCTION files.get_file_delete_payload(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, files, pg_temp
    AS $function$
DECLARE
    _file files.file;
BEGIN
    SELECT file.* INTO _file
    FROM files.file AS file
    WHERE file.file_id = queues.id_in(_payload, 'file_id');
    IF NOT FOUND THEN
        RETURN jsonb_build_object(
            'status', 'file_not_found', 'validation_failure_message', 'the file does not exist'
        );
    END IF;
    RETURN jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object(
        'file_id', _file.file_id, 'bucket', _file.bucket, 'object_key', _file.object_key
    ));
END
$function$;

CREATE FUNCTION files.record_file_delete_success(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, files, pg_temp
    AS $function$
DECLARE
    _task files.file_deletion_task;
BEGIN
    SELECT task.* INTO _task
    FROM files.file_deletion_task AS task
    WHERE task.file_deletion_task_id
        = queues.id_in(_payload -> 'original_payload', 'file_deletion_task_id');
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'file_deletion_task_not_found');
    END IF;
    INSERT INTO files.file_deletion_task_succeeded (file_deletion_task_id)
    VALUES (_task.file_deletion_task_id)
    ON CONFLICT DO NOTHING;
    PERFORM files.mark_file_deleted(_task.file_id);
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

CREATE FUNCTION files.record_file_delete_failure(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, files, pg_temp
    AS $function$
DECLARE
    _attempt files.file_deletion_attempt;
BEGIN
    SELECT attempt.* INTO _attempt
    FROM files.file_deletion_attempt AS attempt
    WHERE attempt.file_deletion_attempt_id
        = queues.id_in(_payload -> 'original_payload', 'file_deletion_attempt_id');
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'attempt_not_found');
    END IF;
    INSERT INTO files.file_deletion_task_failed (
        file_deletion_attempt_id, file_deletion_task_id, error_message
    )
    VALUES (
        _attempt.file_deletion_attempt_id, _attempt.file_deletion_task_id,
        coalesce(nullif(_payload ->> 'error', ''), 'no error message')
    )
    ON CONFLICT DO NOTHING;
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;
