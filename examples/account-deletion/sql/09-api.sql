-- What the application calls.

CREATE SCHEMA api;

-- Asks for the deletion of an account. Repeating the request changes nothing.
CREATE FUNCTION api.request_account_deletion(
    _account_id bigint, OUT validation_failure_message text
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, api, pg_temp
    AS $function$
DECLARE
    _account accounts.account;
    _email_message_id bigint;
    _sms_message_id bigint;
BEGIN
    SELECT account.* INTO _account
    FROM accounts.account AS account
    WHERE account.account_id = _account_id
    FOR UPDATE;
    IF NOT FOUND THEN
        validation_failure_message := format('account %s does not exist', coalesce(_account_id, 0));
        RETURN;
    END IF;
    IF accounts.has_account_flag(_account_id, 'deleted') THEN
        RETURN;
    END IF;
    INSERT INTO accounts.account_flag (account_id, flag) VALUES (_account_id, 'deleted');
    IF _account.email IS NOT NULL THEN
        INSERT INTO comms.email_message (to_address, subject, body)
        VALUES (_account.email, 'Your account', 'Your account is being deleted.')
        RETURNING email_message_id INTO _email_message_id;
        PERFORM comms.kickoff_send_email(_email_message_id);
    END IF;
    IF _account.phone IS NOT NULL THEN
        INSERT INTO comms.sms_message (to_number, body)
        VALUES (_account.phone, 'Your account is being deleted.')
        RETURNING sms_message_id INTO _sms_message_id;
        PERFORM comms.kickoff_send_sms(_sms_message_id);
    END IF;
    validation_failure_message := accounts.kickoff_account_deletion(_account_id);
END
$function$;
