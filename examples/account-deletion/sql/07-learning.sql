-- What an account has: profiles that record cues. A recording is a file.

CREATE SCHEMA learning;

CREATE TABLE learning.profile (
    profile_id bigserial PRIMARY KEY,
    account_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE learning.cue (
    cue_id bigserial PRIMARY KEY,
    text text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE learning.profile_cue_recording (
    profile_cue_recording_id bigserial PRIMARY KEY,
    profile_id bigint NOT NULL REFERENCES learning.profile,
    cue_id bigint NOT NULL REFERENCES learning.cue,
    file_id bigint NOT NULL UNIQUE REFERENCES files.file,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Completes an upload: the object is in its bucket, and becomes a file and a recording.
CREATE FUNCTION learning.complete_recording_upload(
    _upload_intent_id bigint, _profile_id bigint, _cue_id bigint
) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, learning, pg_temp
    AS $function$
DECLARE
    _file_id bigint;
BEGIN
    INSERT INTO files.file (upload_intent_id, account_id, bucket, object_key)
    SELECT intent.upload_intent_id, intent.account_id, intent.bucket, intent.object_key
    FROM files.upload_intent AS intent
    WHERE intent.upload_intent_id = _upload_intent_id
    RETURNING file_id INTO _file_id;
    INSERT INTO learning.profile_cue_recording (profile_id, cue_id, file_id)
    VALUES (_profile_id, _cue_id, _file_id);
    RETURN _file_id;
END
$function$;
