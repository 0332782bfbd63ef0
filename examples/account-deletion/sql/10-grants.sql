-- Rights. PUBLIC has none. Workers may take tasks, end them, and run the registered functions; the
-- application may ask for a deletion. None of them may use a table.

DO $revoke$
DECLARE
    _schema text;
BEGIN
    FOREACH _schema IN ARRAY
        ARRAY['queues', 'internal', 'comms', 'files', 'learning', 'accounts', 'api']
    LOOP
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', _schema);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC', _schema);
    END LOOP;
END
$revoke$;

GRANT USAGE ON SCHEMA queues, internal TO worker_service_user;
GRANT EXECUTE ON FUNCTION
    queues.dequeue_next_available_task(),
    queues.complete_task(bigint),
    queues.fail_task(bigint, text),
    internal.run_function(text, jsonb)
TO worker_service_user;

-- Workers in SQL call functions with the rights of the first role, and those in TypeScript with the
-- rights of the second.
GRANT USAGE ON SCHEMA comms, files, accounts TO millrace_worker, millrace_engine;

DO $functions$
DECLARE
    _function regprocedure;
BEGIN
    FOREACH _function IN ARRAY ARRAY[
        'comms.send_email_supervisor(jsonb)',
        'comms.get_email_payload(jsonb)',
        'comms.record_email_success(jsonb)',
        'comms.record_email_failure(jsonb)',
        'comms.send_sms_supervisor(jsonb)',
        'comms.get_sms_payload(jsonb)',
        'comms.record_sms_success(jsonb)',
        'comms.record_sms_failure(jsonb)',
        'files.file_deletion_supervisor(jsonb)',
        'files.get_file_delete_payload(jsonb)',
        'files.record_file_delete_success(jsonb)',
        'files.record_file_delete_failure(jsonb)',
        'accounts.account_deletion_supervisor(jsonb)',
        'accounts.account_anonymization_supervisor(jsonb)'
    ]::regprocedure[]
    LOOP
        PERFORM millrace.register_function(
            _function,
            (
                SELECT space.nspname || '.' || proc.proname
                FROM pg_proc AS proc
                JOIN pg_namespace AS space ON space.oid = proc.pronamespace
                WHERE proc.oid = _function
            )
        );
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION %s TO millrace_worker, millrace_engine', _function
        );
    END LOOP;
END
$functions$;

GRANT USAGE ON SCHEMA api TO api_service_user;
GRANT EXECUTE ON FUNCTION api.request_account_deletion(bigint) TO api_service_user;
