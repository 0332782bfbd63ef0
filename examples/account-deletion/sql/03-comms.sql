-- Messages. How they are sent is in the next two files, which began as the output of
--     millrace process new comms.send_email --channel email --root email_message_id \
--         --references comms.email_message
-- and the same for comms.send_sms. What was changed there: the names of the handlers, the messages
-- of the before handlers, the delay, the limit of attempts, and the calls of queues.enqueue.

CREATE SCHEMA comms;

CREATE TABLE comms.email_message (
    email_message_id bigserial PRIMARY KEY,
    to_address text NOT NULL,
    subject text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE comms.sms_message (
    sms_message_id bigserial PRIMARY KEY,
    to_number text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
