-- row TokenRow: id uuid, kind smallint, name text, actor text, roles smallint, tenant text?,
--   types json?, job_id uuid?, parent uuid?, created_by text, created_at bigint,
--   expires_at bigint, last_used_at bigint?, revoked_at bigint?

-- name: find_same_token
-- The token with this id, if it has this hash as well.
-- returns: id uuid
SELECT id
FROM millrace.api_token
WHERE id = :id::uuid
  AND hash = decode(:hash::text, 'hex');

-- name: find_parent_token
-- When a token expires that another one is made from. No row: it is unknown or has ended.
-- The lock makes a revocation wait until the new token is stored, so that it revokes this one too.
-- returns: expires_at bigint
SELECT millrace.ms_of(expires_at) AS expires_at
FROM millrace.api_token
WHERE id = :id::uuid
  AND revoked_at IS NULL
  AND expires_at > millrace.clock_at(:now::timestamptz)
FOR SHARE;

-- name: insert_token
-- Stores a token, unless its id or its hash is known. It expires at `until` at the latest.
INSERT INTO millrace.api_token (
    id, hash, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,
    expires_at
)
SELECT :id::uuid, decode(:hash::text, 'hex'), :kind::smallint, :name::text, :actor::text,
       :roles::smallint, :tenant::text, :types::json, :job_id::uuid, :parent::uuid,
       :created_by::text, moment.at,
       least(
           moment.at + :ttl_ms::bigint * interval '1 millisecond', millrace.at_ms(:until::bigint)
       )
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT DO NOTHING;

-- name: find_usable_token
-- The token with this hash, unless it has ended or the token that it was made from has.
-- returns: TokenRow
SELECT token.id, token.kind, token.name, token.actor, token.roles, token.tenant, token.types,
       token.job_id, token.parent, token.created_by, millrace.ms_of(token.created_at) AS created_at,
       millrace.ms_of(token.expires_at) AS expires_at,
       millrace.ms_of(token.last_used_at) AS last_used_at,
       millrace.ms_of(token.revoked_at) AS revoked_at
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN millrace.api_token AS token
LEFT JOIN millrace.api_token AS parent ON parent.id = token.parent
WHERE token.hash = decode(:hash::text, 'hex')
  AND token.revoked_at IS NULL
  AND token.expires_at > moment.at
  AND (token.parent IS NULL OR (parent.revoked_at IS NULL AND parent.expires_at > moment.at));

-- name: find_token
-- One token, also if it has ended.
-- returns: TokenRow
SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by,
       millrace.ms_of(created_at) AS created_at, millrace.ms_of(expires_at) AS expires_at,
       millrace.ms_of(last_used_at) AS last_used_at, millrace.ms_of(revoked_at) AS revoked_at
FROM millrace.api_token
WHERE id = :id::uuid;

-- name: list_tokens
-- A page of tokens, newest first.
-- returns: TokenRow
-- timeout: reader
SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by,
       millrace.ms_of(created_at) AS created_at, millrace.ms_of(expires_at) AS expires_at,
       millrace.ms_of(last_used_at) AS last_used_at, millrace.ms_of(revoked_at) AS revoked_at
FROM millrace.api_token
WHERE id < :before::uuid
  AND (:kinds::smallint[] IS NULL OR kind = ANY (:kinds::smallint[]))
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
  AND (
      :with_ended::boolean
      OR (revoked_at IS NULL AND expires_at > (SELECT millrace.clock_at(:now::timestamptz)))
  )
ORDER BY id DESC
LIMIT :limit::integer;

-- name: mark_tokens_used
-- Notes that tokens were used now. A revoked token stays as it was: it may have been used before.
-- The commit need not wait for the disk. A token that another process marks or revokes is skipped.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at,
           set_config('synchronous_commit', 'off', true) AS setting
),
used AS MATERIALIZED (
    SELECT id
    FROM millrace.api_token
    WHERE id = ANY (:ids::uuid[])
      AND revoked_at IS NULL
      AND (last_used_at IS NULL OR last_used_at < (SELECT at FROM moment))
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE millrace.api_token AS token
SET last_used_at = moment.at
FROM moment
CROSS JOIN used
WHERE token.id = used.id;

-- name: revoke_token
-- Revokes one token that is not revoked yet.
UPDATE millrace.api_token
SET revoked_at = millrace.clock_at(:now::timestamptz)
WHERE id = :id::uuid
  AND revoked_at IS NULL;

-- name: revoke_children
-- Revokes the tokens that were made from these.
-- returns: id uuid
UPDATE millrace.api_token
SET revoked_at = millrace.clock_at(:now::timestamptz)
WHERE parent = ANY (:parents::uuid[])
  AND revoked_at IS NULL
RETURNING id;
