-- The queue of the specification, as a thin layer on the surface of Millrace. The tables are views:
-- tasks are immutable, and every lease, completion and error is a fact that Millrace appends.

CREATE SCHEMA queues;

-- The four task types. A worker that starts later brings its own settings for them.
SELECT millrace.declare_type('db_function');
SELECT millrace.declare_type('email', retry_owner => 'supervisor');
SELECT millrace.declare_type('sms', retry_owner => 'supervisor');
SELECT millrace.declare_type('file_delete', retry_owner => 'supervisor');

CREATE VIEW queues.task AS
SELECT task_id, task_type, payload, enqueued_at, scheduled_at
FROM millrace.task;

CREATE VIEW queues.task_lease AS
SELECT task_lease_id, task_id, leased_at, expires_at
FROM millrace.task_lease;

CREATE VIEW queues.task_completed AS
SELECT task_id, completed_at
FROM millrace.task_completed;

CREATE VIEW queues.error AS
SELECT task_id, error_message, failed_at
FROM millrace.task_error_log;

-- Supervisors also give the tenant of their process, the name under which its tasks are found, and
-- a key, so that a check which is enqueued again is one task.
CREATE FUNCTION queues.enqueue(
    _task_type text, _payload jsonb, _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL, _correlation_id text DEFAULT NULL,
    _idempotency_key text DEFAULT NULL
) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, queues, pg_temp
    AS $function$
BEGIN
    IF _task_type NOT IN ('db_function', 'email', 'sms', 'file_delete') THEN
        RAISE EXCEPTION 'there is no task type %', _task_type USING ERRCODE = 'check_violation';
    END IF;
    PERFORM millrace.enqueue(
        _task_type, _payload, _scheduled_at,
        tenant => _tenant, correlation_id => _correlation_id, idempotency_key => _idempotency_key
    );
END
$function$;

CREATE FUNCTION queues.dequeue_next_available_task() RETURNS queues.task
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, queues, pg_temp
    AS $function$
DECLARE
    _leased millrace.leased_task;
    _task queues.task;
BEGIN
    _leased := millrace.dequeue_next_available_task();
    IF _leased.task_id IS NULL THEN
        RETURN NULL;
    END IF;
    _task.task_id := _leased.task_id;
    _task.task_type := _leased.task_type;
    _task.payload := _leased.payload;
    _task.enqueued_at := _leased.enqueued_at;
    _task.scheduled_at := _leased.scheduled_at;
    RETURN _task;
END
$function$;

CREATE FUNCTION queues.complete_task(_task_id bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, queues, pg_temp
    AS $function$
BEGIN
    PERFORM millrace.complete_task(_task_id);
END
$function$;

CREATE FUNCTION queues.fail_task(_task_id bigint, _error_message text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, queues, pg_temp
    AS $function$
BEGIN
    PERFORM millrace.fail_task(_task_id, _error_message);
END
$function$;

-- What the supervisors share.

-- The delay after no failure. It doubles with each failure.
CREATE FUNCTION queues.first_delay() RETURNS interval
    LANGUAGE sql IMMUTABLE
    RETURN interval '30 seconds';

CREATE FUNCTION queues.next_check_at(_failures integer) RETURNS timestamptz
    LANGUAGE sql VOLATILE
    RETURN clock_timestamp()
        + least(queues.first_delay() * 2 ^ least(_failures, 20), interval '1 hour');

-- Failed attempts until a process is stuck.
CREATE FUNCTION queues.max_attempts() RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN 5;

-- The id in a payload, or null where there is none. What a payload contains never raises an error.
CREATE FUNCTION queues.id_in(_payload jsonb, _field text) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN _payload ->> _field ~ '^[0-9]{1,18}$'
                THEN (_payload ->> _field)::bigint END;

-- The tenant of a process that is kicked off: that which is given, or else that of the session.
CREATE FUNCTION queues.tenant_of_process(_given text) RETURNS text
    LANGUAGE sql STABLE
    RETURN coalesce(_given, millrace.session_tenant(), 'default');

-- Enqueues a check of a supervisor. The key has the number of the check: a run that is delivered
-- again after a crash enqueues the same successor, so that one is alive. All checks of a process
-- are of the tenant of its kick-off, whichever session runs them.
CREATE FUNCTION queues.enqueue_check(
    _db_function text, _id_field text, _id bigint, _check bigint, _scheduled_at timestamptz,
    _tenant text
) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, queues, pg_temp
    AS $function$
BEGIN
    PERFORM queues.enqueue(
        'db_function',
        jsonb_build_object(
            'task_type', 'db_function', 'db_function', _db_function, _id_field, _id, 'check', _check
        ),
        coalesce(_scheduled_at, clock_timestamp()),
        _tenant => _tenant,
        _correlation_id => format('%s:%s', _db_function, _id),
        _idempotency_key => format('%s:%s:%s', _db_function, _id, _check)
    );
END
$function$;
