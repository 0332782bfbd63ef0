-- row AuditRow: id integer, at integer, tenant text, name text, actor text?, reason text?,
--   subject_kind text, subject text, before text?, after text?

-- name: insert_audits
-- Writes entries, in the order given, in the transaction of the act.
INSERT INTO millrace_audit (
    at, tenant, name, actor, reason, subject_kind, subject, before, after
)
SELECT :now, value ->> 'tenant', value ->> 'name', value ->> 'actor', value ->> 'reason',
       value ->> 'kind', value ->> 'subject', value ->> 'before', value ->> 'after'
FROM json_each(:entries)
ORDER BY key;

-- name: list_audits
-- One page of entries, newest first.
-- returns: AuditRow
SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after
FROM millrace_audit
WHERE id < :after
  AND (:tenant IS NULL OR tenant = :tenant)
  AND (:name IS NULL OR name = :name)
  AND (:actor IS NULL OR actor = :actor)
  AND (:kind IS NULL OR subject_kind = :kind)
  AND (:subject IS NULL OR subject = :subject)
  AND (:since_at IS NULL OR at >= :since_at)
  AND (:until_at IS NULL OR at < :until_at)
ORDER BY id DESC
LIMIT :limit;

-- name: list_audits_forwards
-- One page of entries, oldest first.
-- returns: AuditRow
SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after
FROM millrace_audit
WHERE id > :after
  AND (:tenant IS NULL OR tenant = :tenant)
  AND (:name IS NULL OR name = :name)
  AND (:actor IS NULL OR actor = :actor)
  AND (:kind IS NULL OR subject_kind = :kind)
  AND (:subject IS NULL OR subject = :subject)
  AND (:since_at IS NULL OR at >= :since_at)
  AND (:until_at IS NULL OR at < :until_at)
ORDER BY id
LIMIT :limit;

-- name: newest_sealed
-- The newest entry that has a seal.
-- returns: id integer?
SELECT max(audit_id) AS id
FROM millrace_audit_seal
WHERE :tenant IS NULL
   OR tenant = :tenant;

-- name: entries_to_seal
-- The next entries without a seal. Those from before `since` were inserted later.
-- By id: SQLite has one writer, so that ids have the order of commits.
-- returns: AuditRow
SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after
FROM millrace_audit
WHERE id > :since
ORDER BY id
LIMIT :limit;

-- name: chain_head
-- The last seal of a chain, also if retention has removed it. No row: the chain has no seal.
-- returns: day integer, position integer, hash text
SELECT day, position, hash
FROM (
    SELECT day, position, hash
    FROM (
        SELECT day, position, hash
        FROM millrace_audit_seal
        WHERE tenant = :tenant
        ORDER BY day DESC, position DESC
        LIMIT 1
    )
    UNION ALL
    SELECT day, position, hash
    FROM millrace_audit_start
    WHERE tenant = :tenant
)
ORDER BY day DESC, position DESC
LIMIT 1;

-- name: chain_start
-- The last seal of a chain that retention has removed. No row: it has removed none.
-- returns: day integer, position integer, hash text
SELECT day, position, hash
FROM millrace_audit_start
WHERE tenant = :tenant;

-- name: insert_seals
-- Writes the next seals of chains.
INSERT INTO millrace_audit_seal (tenant, day, position, audit_id, previous, hash, sealed_at)
SELECT value ->> 'tenant', value ->> 'day', value ->> 'position', value ->> 'auditId',
       value ->> 'previous', value ->> 'hash', value ->> 'sealedAt'
FROM json_each(:seals);

-- name: list_seals
-- Seals by tenant and in the order of each chain, with their entries and the place up to which
-- retention has removed the chain.
-- returns: tenant text, day integer, position integer, audit_id integer, previous text, hash text,
--   sealed_at integer, start_day integer?, start_position integer?, start_hash text?, id integer?,
--   at integer?, entry_tenant text?, name text?, actor text?, reason text?, subject_kind text?,
--   subject text?, before text?, after text?
SELECT seal.tenant, seal.day, seal.position, seal.audit_id, seal.previous, seal.hash,
       seal.sealed_at, start.day AS start_day, start.position AS start_position,
       start.hash AS start_hash, audit.id, audit.at, audit.tenant AS entry_tenant, audit.name,
       audit.actor, audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after
FROM millrace_audit_seal AS seal
LEFT JOIN millrace_audit AS audit ON audit.id = seal.audit_id
LEFT JOIN millrace_audit_start AS start ON start.tenant = seal.tenant
WHERE (seal.tenant, seal.day, seal.position) > (:after_tenant, :after_day, :after_position)
  AND (:tenant IS NULL OR seal.tenant = :tenant)
ORDER BY seal.tenant, seal.day, seal.position
LIMIT :limit;

-- name: sealed_or_not
-- The next entries in the order of their ids, and whether each has a seal.
-- returns: id integer, at integer, tenant text, is_sealed boolean
SELECT audit.id, audit.at, audit.tenant, seal.audit_id IS NOT NULL AS is_sealed
FROM millrace_audit AS audit
LEFT JOIN millrace_audit_seal AS seal ON seal.audit_id = audit.id
WHERE audit.id > :after
  AND (:tenant IS NULL OR audit.tenant = :tenant)
ORDER BY audit.id
LIMIT :limit;

-- name: expired_seals
-- The first seals of days before `day`, in the order of their chains.
-- returns: tenant text, day integer, position integer, audit_id integer, hash text
SELECT tenant, day, position, audit_id, hash
FROM millrace_audit_seal
WHERE day < :day
ORDER BY day, tenant, position
LIMIT :limit;

-- name: put_chain_start
-- Notes up to which seal retention removes a chain.
INSERT INTO millrace_audit_start (tenant, day, position, hash)
VALUES (:tenant, :day, :position, :hash)
ON CONFLICT (tenant) DO UPDATE
SET day = excluded.day, position = excluded.position, hash = excluded.hash;

-- name: delete_audits
-- Deletes entries that their chain has left behind.
DELETE FROM millrace_audit
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: delete_seals
-- Deletes the seals of removed entries.
DELETE FROM millrace_audit_seal
WHERE audit_id IN (SELECT value FROM json_each(:ids));
