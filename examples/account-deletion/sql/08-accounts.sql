-- Accounts, and the two supervisors that delete one: the root supervisor waits for the files of the
-- account, and then for the supervisor of its anonymization.

CREATE SCHEMA accounts;

CREATE TABLE accounts.account (
    account_id bigserial PRIMARY KEY,
    display_name text,
    email text,
    phone text,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE files.upload_intent ADD FOREIGN KEY (account_id) REFERENCES accounts.account;
ALTER TABLE files.file ADD FOREIGN KEY (account_id) REFERENCES accounts.account;
ALTER TABLE learning.profile ADD FOREIGN KEY (account_id) REFERENCES accounts.account;

CREATE TABLE accounts.account_flag (
    account_id bigint NOT NULL REFERENCES accounts.account,
    flag text NOT NULL CHECK (flag IN ('deleted', 'anonymized')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, flag)
);

CREATE TABLE accounts.account_deletion_task (
    account_deletion_task_id bigserial PRIMARY KEY,
    account_id bigint NOT NULL UNIQUE REFERENCES accounts.account,
    tenant text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE accounts.account_deletion_task_succeeded (
    account_deletion_task_id bigint PRIMARY KEY REFERENCES accounts.account_deletion_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE accounts.account_deletion_task_failed (
    account_deletion_task_id bigint PRIMARY KEY REFERENCES accounts.account_deletion_task,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts.account_anonymization_task (
    account_anonymization_task_id bigserial PRIMARY KEY,
    account_id bigint NOT NULL UNIQUE REFERENCES accounts.account,
    tenant text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE accounts.account_anonymization_attempt (
    account_anonymization_attempt_id bigserial PRIMARY KEY,
    account_anonymization_task_id bigint NOT NULL REFERENCES accounts.account_anonymization_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON accounts.account_anonymization_attempt (account_anonymization_task_id);
CREATE TABLE accounts.account_anonymization_task_succeeded (
    account_anonymization_task_id bigint PRIMARY KEY REFERENCES accounts.account_anonymization_task,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE accounts.account_anonymization_task_failed (
    account_anonymization_attempt_id bigint PRIMARY KEY
        REFERENCES accounts.account_anonymization_attempt,
    account_anonymization_task_id bigint NOT NULL REFERENCES accounts.account_anonymization_task,
    error_message text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON accounts.account_anonymization_task_failed (account_anonymization_task_id);

CREATE FUNCTION accounts.has_account_flag(_account_id bigint, _flag text) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM accounts.account_flag AS known
        WHERE known.account_id = _account_id AND known.flag = _flag
    );

CREATE FUNCTION accounts.count_account_anonymization_failures(_task_id bigint) RETURNS integer
    LANGUAGE sql STABLE
    RETURN (
        SELECT count(*)::integer
        FROM accounts.account_anonymization_task_failed AS failed
        WHERE failed.account_anonymization_task_id = _task_id
    );

CREATE FUNCTION accounts.is_account_anonymization_stuck(_account_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT 1
        FROM accounts.account_anonymization_task AS task
        WHERE task.account_id = _account_id
          AND accounts.count_account_anonymization_failures(task.account_anonymization_task_id)
              >= queues.max_attempts()
          AND NOT EXISTS (
              SELECT 1
              FROM accounts.account_anonymization_task_succeeded AS succeeded
              WHERE succeeded.account_anonymization_task_id = task.account_anonymization_task_id
          )
    );

-- Removes what names a person.
CREATE FUNCTION accounts.anonymize_account(_account_id bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, accounts, pg_temp
    AS $function$
BEGIN
    UPDATE accounts.account
    SET display_name = NULL, email = NULL, phone = NULL
    WHERE account_id = _account_id;
    INSERT INTO accounts.account_flag (account_id, flag) VALUES (_account_id, 'anonymized')
    ON CONFLICT DO NOTHING;
END
$function$;

CREATE FUNCTION accounts.kickoff_account_anonymization(
    _account_id bigint,
    _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL,
    OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, accounts, pg_temp
    AS $function$
DECLARE
    _task accounts.account_anonymization_task;
BEGIN
    PERFORM 1 FROM accounts.account AS account WHERE account.account_id = _account_id FOR KEY SHARE;
    IF NOT FOUND THEN
        validation_failure_message := format('account %s does not exist', coalesce(_account_id, 0));
        RETURN;
    END IF;
    INSERT INTO accounts.account_anonymization_task (account_id, tenant)
    VALUES (_account_id, queues.tenant_of_process(_tenant))
    ON CONFLICT DO NOTHING
    RETURNING * INTO _task;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM queues.enqueue_check(
        'accounts.account_anonymization_supervisor', 'account_anonymization_task_id',
        _task.account_anonymization_task_id, 0, _scheduled_at, _task.tenant
    );
END
$function$;

-- Pure SQL: an attempt and its outcome are in one transaction, and an exception is a fact.
CREATE FUNCTION accounts.account_anonymization_supervisor(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, accounts, pg_temp
    AS $function$
DECLARE
    _task_id CONSTANT bigint := queues.id_in(_payload, 'account_anonymization_task_id');
    _next_check CONSTANT bigint := coalesce(queues.id_in(_payload, 'check'), 0) + 1;
    _task accounts.account_anonymization_task;
    _attempt_id bigint;
BEGIN
    -- Input.
    IF _task_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_account_anonymization_task_id');
    END IF;
    SELECT task.* INTO _task
    FROM accounts.account_anonymization_task AS task
    WHERE task.account_anonymization_task_id = _task_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'account_anonymization_task_not_found');
    END IF;

    -- Compute.
    PERFORM 1
    FROM accounts.account_anonymization_task_succeeded AS succeeded
    WHERE succeeded.account_anonymization_task_id = _task_id;
    IF FOUND THEN
        RETURN jsonb_build_object('status', 'succeeded');
    END IF;
    IF accounts.count_account_anonymization_failures(_task_id) >= queues.max_attempts() THEN
        RETURN jsonb_build_object('status', 'max_attempts_reached');
    END IF;

    -- Output.
    INSERT INTO accounts.account_anonymization_attempt (account_anonymization_task_id)
    VALUES (_task_id)
    RETURNING account_anonymization_attempt_id INTO _attempt_id;
    BEGIN
        PERFORM accounts.anonymize_account(_task.account_id);
        INSERT INTO accounts.account_anonymization_task_succeeded (account_anonymization_task_id)
        VALUES (_task_id);
        RETURN jsonb_build_object('status', 'succeeded');
    EXCEPTION WHEN OTHERS THEN
        INSERT INTO accounts.account_anonymization_task_failed (
            account_anonymization_attempt_id, account_anonymization_task_id, error_message
        )
        VALUES (_attempt_id, _task_id, SQLERRM);
    END;
    PERFORM queues.enqueue_check(
        'accounts.account_anonymization_supervisor', 'account_anonymization_task_id', _task_id,
        _next_check,
        queues.next_check_at(accounts.count_account_anonymization_failures(_task_id)), _task.tenant
    );
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;

CREATE FUNCTION accounts.kickoff_account_deletion(
    _account_id bigint,
    _scheduled_at timestamptz DEFAULT now(),
    _tenant text DEFAULT NULL,
    OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, accounts, pg_temp
    AS $function$
DECLARE
    _task accounts.account_deletion_task;
BEGIN
    PERFORM 1 FROM accounts.account AS account WHERE account.account_id = _account_id FOR KEY SHARE;
    IF NOT FOUND THEN
        validation_failure_message := format('account %s does not exist', coalesce(_account_id, 0));
        RETURN;
    END IF;
    INSERT INTO accounts.account_deletion_task (account_id, tenant)
    VALUES (_account_id, queues.tenant_of_process(_tenant))
    ON CONFLICT DO NOTHING
    RETURNING * INTO _task;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM queues.enqueue_check(
        'accounts.account_deletion_supervisor', 'account_deletion_task_id',
        _task.account_deletion_task_id, 0, _scheduled_at, _task.tenant
    );
END
$function$;

-- Why the deletion of an account cannot go on; null: it can.
CREATE FUNCTION accounts.deletion_obstacle(_account_id bigint) RETURNS text
    LANGUAGE sql STABLE
    RETURN coalesce(
        (
            SELECT format('the deletion of file %s is stuck', min(file.file_id))
            FROM files.file AS file
            WHERE file.account_id = _account_id AND files.is_file_deletion_stuck(file.file_id)
            HAVING count(*) > 0
        ),
        CASE WHEN accounts.is_account_anonymization_stuck(_account_id)
             THEN 'the anonymization of the account is stuck' END
    );

CREATE FUNCTION accounts.account_deletion_supervisor(_payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, accounts, pg_temp
    AS $function$
DECLARE
    _task_id CONSTANT bigint := queues.id_in(_payload, 'account_deletion_task_id');
    _next_check CONSTANT bigint := coalesce(queues.id_in(_payload, 'check'), 0) + 1;
    _task accounts.account_deletion_task;
    _obstacle text;
BEGIN
    -- Input.
    IF _task_id IS NULL THEN
        RETURN jsonb_build_object('status', 'missing_account_deletion_task_id');
    END IF;
    SELECT task.* INTO _task
    FROM accounts.account_deletion_task AS task
    WHERE task.account_deletion_task_id = _task_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('status', 'account_deletion_task_not_found');
    END IF;

    -- Compute: has it ended?
    PERFORM 1
    FROM accounts.account_deletion_task_failed AS failed
    WHERE failed.account_deletion_task_id = _task_id;
    IF FOUND THEN
        RETURN jsonb_build_object('status', 'failed');
    END IF;
    _obstacle := accounts.deletion_obstacle(_task.account_id);
    IF _obstacle IS NOT NULL THEN
        INSERT INTO accounts.account_deletion_task_failed (account_deletion_task_id, error_message)
        VALUES (_task_id, _obstacle);
        RETURN jsonb_build_object('status', 'failed', 'error', _obstacle);
    END IF;
    IF accounts.has_account_flag(_task.account_id, 'anonymized') THEN
        INSERT INTO accounts.account_deletion_task_succeeded (account_deletion_task_id)
        VALUES (_task_id)
        ON CONFLICT DO NOTHING;
        RETURN jsonb_build_object('status', 'succeeded');
    END IF;

    -- Output: the files first, then the account.
    PERFORM files.kickoff_file_deletion(file.file_id, _tenant => _task.tenant)
    FROM files.file AS file
    LEFT JOIN files.file_deletion_task AS task USING (file_id)
    WHERE file.account_id = _task.account_id AND task.file_id IS NULL;
    PERFORM 1
    FROM files.file AS file
    LEFT JOIN files.file_metadata AS known USING (file_id)
    WHERE file.account_id = _task.account_id
      AND NOT coalesce(known.metadata @> '{"deleted": true}', false);
    IF NOT FOUND THEN
        PERFORM accounts.kickoff_account_anonymization(
            _task.account_id, _tenant => _task.tenant
        );
    END IF;
    PERFORM queues.enqueue_check(
        'accounts.account_deletion_supervisor', 'account_deletion_task_id', _task_id, _next_check,
        queues.next_check_at(0), _task.tenant
    );
    RETURN jsonb_build_object('status', 'succeeded');
END
$function$;
