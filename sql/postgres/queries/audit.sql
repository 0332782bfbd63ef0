-- row AuditRow: id bigint, at bigint, tenant text, name text, actor text?, reason text?,
--   subject_kind text, subject text, before text?, after text?

-- name: insert_audits
-- Writes entries, in the order given, in the transaction of the act.
-- A tenant may be given by its interned name.
INSERT INTO millrace.audit (
    at, tenant, name, actor, reason, subject_kind, subject, before, after
)
SELECT moment.at,
       coalesce(
           entry.tenant,
           (SELECT text FROM millrace.interned_name WHERE id = entry.tenant_id),
           ''
       ),
       entry.name, entry.actor, entry.reason, entry.kind, entry.subject, entry.before, entry.after
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN ROWS FROM (
    json_to_recordset(:entries::json) AS (
        tenant text, tenant_id integer, name text, actor text, reason text, kind text, subject text,
        before text, after text
    )
) WITH ORDINALITY AS entry (
    tenant, tenant_id, name, actor, reason, kind, subject, before, after, turn
)
ORDER BY entry.turn;

-- name: find_same_audit
-- An entry like this one that was written in the last minute.
-- only: postgres, because a commit of SQLite has no lost answer.
-- returns: id bigint
SELECT id
FROM millrace.audit
WHERE subject = :subject::text
  AND name = :name::text
  AND actor IS NOT DISTINCT FROM :actor::text
  AND after IS NOT DISTINCT FROM :after::text
  AND at > millrace.clock_at(:now::timestamptz) - interval '1 minute'
ORDER BY id DESC
LIMIT 1;

-- name: list_audits
-- One page of entries, newest first.
-- returns: AuditRow
-- timeout: reader
SELECT id, millrace.ms_of(at) AS at, tenant, name, actor, reason, subject_kind, subject, before,
       after
FROM millrace.audit
WHERE id < :after::bigint
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
  AND (:name::text IS NULL OR name = :name::text)
  AND (:actor::text IS NULL OR actor = :actor::text)
  AND (:kind::text IS NULL OR subject_kind = :kind::text)
  AND (:subject::text IS NULL OR subject = :subject::text)
  AND (:since_at::bigint IS NULL OR at >= millrace.at_ms(:since_at::bigint))
  AND (:until_at::bigint IS NULL OR at < millrace.at_ms(:until_at::bigint))
ORDER BY id DESC
LIMIT :limit::integer;

-- name: list_audits_forwards
-- One page of entries, oldest first.
-- returns: AuditRow
-- timeout: reader
SELECT id, millrace.ms_of(at) AS at, tenant, name, actor, reason, subject_kind, subject, before,
       after
FROM millrace.audit
WHERE id > :after::bigint
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
  AND (:name::text IS NULL OR name = :name::text)
  AND (:actor::text IS NULL OR actor = :actor::text)
  AND (:kind::text IS NULL OR subject_kind = :kind::text)
  AND (:subject::text IS NULL OR subject = :subject::text)
  AND (:since_at::bigint IS NULL OR at >= millrace.at_ms(:since_at::bigint))
  AND (:until_at::bigint IS NULL OR at < millrace.at_ms(:until_at::bigint))
ORDER BY id
LIMIT :limit::integer;

-- name: lock_sealer
-- Locks the chains. No row: another process seals or removes entries.
-- only: postgres, because a transaction of SQLite is the only one that writes.
-- returns: name text
SELECT name
FROM millrace.meta
WHERE name = 'audit_seal'
FOR UPDATE SKIP LOCKED;

-- name: newest_sealed
-- The newest entry that has a seal.
-- By time, among the newest by id: transactions commit in another order than that of their ids.
-- returns: at bigint?
SELECT max(millrace.ms_of(newest.at)) AS at
FROM (
    SELECT audit.at
    FROM (
        SELECT audit_id
        FROM millrace.audit_seal
        WHERE :tenant::text IS NULL
           OR tenant = :tenant::text
        ORDER BY audit_id DESC
        LIMIT 100
    ) AS seal
    JOIN millrace.audit AS audit ON audit.id = seal.audit_id
) AS newest;

-- name: entries_to_seal
-- The next entries without a seal. Those from before `since` were inserted later.
-- By time: transactions commit in another order than that of their ids.
-- returns: AuditRow
SELECT audit.id, millrace.ms_of(audit.at) AS at, audit.tenant, audit.name, audit.actor,
       audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after
FROM millrace.audit AS audit
WHERE audit.at >= millrace.at_ms(:since::bigint)
  AND NOT EXISTS (SELECT 1 FROM millrace.audit_seal AS seal WHERE seal.audit_id = audit.id)
ORDER BY audit.at, audit.id
LIMIT :limit::integer;

-- name: chain_head
-- The last seal of a chain, also if retention has removed it. No row: the chain has no seal.
-- returns: day integer, position integer, hash text
SELECT head.day, head.position, head.hash
FROM (
    (
        SELECT day, position, hash
        FROM millrace.audit_seal
        WHERE tenant = :tenant::text
        ORDER BY day DESC, position DESC
        LIMIT 1
    )
    UNION ALL
    SELECT day, position, hash
    FROM millrace.audit_start
    WHERE tenant = :tenant::text
) AS head
ORDER BY head.day DESC, head.position DESC
LIMIT 1;

-- name: chain_start
-- The last seal of a chain that retention has removed. No row: it has removed none.
-- returns: day integer, position integer, hash text
SELECT day, position, hash
FROM millrace.audit_start
WHERE tenant = :tenant::text;

-- name: insert_seals
-- Writes the next seals of chains.
INSERT INTO millrace.audit_seal (tenant, day, position, audit_id, previous, hash, sealed_at)
SELECT seal.tenant, seal.day, seal.position, seal."auditId", seal.previous, seal.hash,
       millrace.at_ms(seal."sealedAt")
FROM json_to_recordset(:seals::json) AS seal (
    tenant text, day integer, position integer, "auditId" bigint, previous text, hash text,
    "sealedAt" bigint
);

-- name: list_seals
-- Seals by tenant and in the order of each chain, with their entries and the place up to which
-- retention has removed the chain.
-- returns: tenant text, day integer, position integer, audit_id bigint, previous text, hash text,
--   sealed_at bigint, start_day integer?, start_position integer?, start_hash text?, id bigint?,
--   at bigint?, entry_tenant text?, name text?, actor text?, reason text?, subject_kind text?,
--   subject text?, before text?, after text?
-- timeout: reader
SELECT seal.tenant, seal.day, seal.position, seal.audit_id, seal.previous, seal.hash,
       millrace.ms_of(seal.sealed_at) AS sealed_at, start.day AS start_day,
       start.position AS start_position, start.hash AS start_hash, audit.id,
       millrace.ms_of(audit.at) AS at, audit.tenant AS entry_tenant, audit.name, audit.actor,
       audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after
FROM millrace.audit_seal AS seal
LEFT JOIN millrace.audit AS audit ON audit.id = seal.audit_id
LEFT JOIN millrace.audit_start AS start ON start.tenant = seal.tenant
WHERE (seal.tenant, seal.day, seal.position)
    > (:after_tenant::text, :after_day::integer, :after_position::integer)
  AND (:tenant::text IS NULL OR seal.tenant = :tenant::text)
ORDER BY seal.tenant, seal.day, seal.position
LIMIT :limit::integer;

-- name: sealed_or_not
-- The next entries in the order of their ids, and whether each has a seal.
-- returns: id bigint, at bigint, tenant text, is_sealed boolean
-- timeout: reader
SELECT audit.id, millrace.ms_of(audit.at) AS at, audit.tenant,
       seal.audit_id IS NOT NULL AS is_sealed
FROM millrace.audit AS audit
LEFT JOIN millrace.audit_seal AS seal ON seal.audit_id = audit.id
WHERE audit.id > :after::bigint
  AND (:tenant::text IS NULL OR audit.tenant = :tenant::text)
ORDER BY audit.id
LIMIT :limit::integer;

-- name: expired_seals
-- The first seals of days before `day`, in the order of their chains.
-- returns: tenant text, day integer, position integer, audit_id bigint, hash text
-- timeout: reader
SELECT tenant, day, position, audit_id, hash
FROM millrace.audit_seal
WHERE day < :day::integer
ORDER BY day, tenant, position
LIMIT :limit::integer;

-- name: put_chain_start
-- Notes up to which seal retention removes a chain.
INSERT INTO millrace.audit_start (tenant, day, position, hash)
VALUES (:tenant::text, :day::integer, :position::integer, :hash::text)
ON CONFLICT (tenant) DO UPDATE
SET day = excluded.day, position = excluded.position, hash = excluded.hash;

-- name: delete_audits
-- Deletes entries that their chain has left behind.
-- timeout: reader
DELETE FROM millrace.audit
WHERE id = ANY (:ids::bigint[]);

-- name: delete_seals
-- Deletes the seals of removed entries.
-- timeout: reader
DELETE FROM millrace.audit_seal
WHERE audit_id = ANY (:ids::bigint[]);
