-- row TokenRow: id blob, kind integer, name text, actor text, roles integer, tenant text?,
--   types text?, job_id blob?, parent blob?, created_by text, created_at integer,
--   expires_at integer, last_used_at integer?, revoked_at integer?

-- name: find_same_token
-- The token with this id, if it has this hash as well.
-- returns: id blob
SELECT id
FROM millrace_api_token
WHERE id = :id
  AND hash = :hash;

-- name: find_parent_token
-- When a token expires that another one is made from. No row: it is unknown or has ended.
-- returns: expires_at integer
SELECT expires_at
FROM millrace_api_token
WHERE id = :id
  AND revoked_at IS NULL
  AND expires_at > :now;

-- name: insert_token
-- Stores a token, unless its id or its hash is known. It expires at `until` at the latest.
INSERT INTO millrace_api_token (
    id, hash, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,
    expires_at
)
VALUES (
    :id, :hash, :kind, :name, :actor, :roles, :tenant, :types, :job_id, :parent, :created_by, :now,
    min(:now + :ttl_ms, :until)
)
ON CONFLICT DO NOTHING;

-- name: find_usable_token
-- The token with this hash, unless it has ended or the token that it was made from has.
-- returns: TokenRow
SELECT token.id, token.kind, token.name, token.actor, token.roles, token.tenant, token.types,
       token.job_id, token.parent, token.created_by, token.created_at, token.expires_at,
       token.last_used_at, token.revoked_at
FROM millrace_api_token AS token
LEFT JOIN millrace_api_token AS parent ON parent.id = token.parent
WHERE token.hash = :hash
  AND token.revoked_at IS NULL
  AND token.expires_at > :now
  AND (token.parent IS NULL OR (parent.revoked_at IS NULL AND parent.expires_at > :now));

-- name: find_token
-- One token, also if it has ended.
-- returns: TokenRow
SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,
       expires_at, last_used_at, revoked_at
FROM millrace_api_token
WHERE id = :id;

-- name: list_tokens
-- A page of tokens, newest first.
-- returns: TokenRow
SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,
       expires_at, last_used_at, revoked_at
FROM millrace_api_token
WHERE id < :before
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (:tenant IS NULL OR tenant = :tenant)
  AND (:with_ended OR (revoked_at IS NULL AND expires_at > :now))
ORDER BY id DESC
LIMIT :limit;

-- name: mark_tokens_used
-- Notes that tokens were used now. A revoked token stays as it was: it may have been used before.
UPDATE millrace_api_token
SET last_used_at = :now
WHERE id IN (SELECT unhex(value) FROM json_each(:ids))
  AND revoked_at IS NULL
  AND (last_used_at IS NULL OR last_used_at < :now);

-- name: revoke_token
-- Revokes one token that is not revoked yet.
UPDATE millrace_api_token
SET revoked_at = :now
WHERE id = :id
  AND revoked_at IS NULL;

-- name: revoke_children
-- Revokes the tokens that were made from these.
-- returns: id blob
UPDATE millrace_api_token
SET revoked_at = :now
WHERE parent IN (SELECT unhex(value) FROM json_each(:parents))
  AND revoked_at IS NULL
RETURNING id;
