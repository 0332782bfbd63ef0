/** What can go wrong with the audit. */
import type { Faults } from "./all.ts";

/** The same texts in both dialects. */
const SHARED = {
  list_audits: [["the oldest come first", "ORDER BY id DESC", "ORDER BY id"]],
  list_audits_forwards: [["the newest come first", "ORDER BY id\n", "ORDER BY id DESC\n"]],
  chain_head: [
    [
      "a chain begins anew",
      "        ORDER BY day DESC, position DESC",
      "        ORDER BY day, position",
    ],
  ],
  list_seals: [
    [
      "seals come in no order",
      "ORDER BY seal.tenant, seal.day, seal.position",
      "ORDER BY seal.hash",
    ],
  ],
  expired_seals: [
    ["a chain loses its middle", "ORDER BY day, tenant, position", "ORDER BY position DESC"],
  ],
  put_chain_start: [["the start stays", "position = excluded.position", "position = position"]],
} as const;

export const SQLITE_AUDIT_FAULTS: Faults = {
  audits: {
    list_audits: [
      ...SHARED.list_audits,
      ["all tenants are read", "OR tenant = :tenant)", "OR :tenant = :tenant)"],
      ["all names are read", "OR name = :name)", "OR :name = :name)"],
      ["all actors are read", "OR actor = :actor)", "OR :actor = :actor)"],
      ["all subjects are read", "OR subject_kind = :kind)", "OR :kind = :kind)"],
      ["the end belongs to the range", "at < :until_at", "at <= :until_at"],
    ],
    list_audits_forwards: SHARED.list_audits_forwards,
    insert_audits: [["the reason is lost", "value ->> 'reason'", "nullif(1, 1)"]],
  },
  sealAudit: {
    chain_head: SHARED.chain_head,
    entries_to_seal: [["entries are sealed in no order", "ORDER BY id\n", "ORDER BY id DESC\n"]],
  },
  auditSeals: { list_seals: SHARED.list_seals },
  chainStart: {
    chain_start: [["any chain is read", "tenant = :tenant", ":tenant = :tenant"]],
  },
  newestSealed: {
    newest_sealed: [["all chains count", "OR tenant = :tenant", "OR :tenant = :tenant"]],
  },
  unsealedAudits: {
    sealed_or_not: [["all have a seal", "seal.audit_id IS NOT NULL", "1"]],
  },
  prune: {
    expired_seals: SHARED.expired_seals,
    "audit/seal.ts": [
      [
        "the start of the chains is not noted",
        'sql.run("put_chain_start", { tenant, day: last, position, hash });',
        "void last;",
      ],
    ],
  },
  requestReprocess: {
    "jobs/retry.ts": [["closed letters are requested", " || isClosed(letter)", ""]],
  },
  retryAsNew: {
    "jobs/retry.ts": [["a retry has no entry", 'answer.status === "created"', "answer === null"]],
  },
  "audit of each verb": {
    "audit/write.ts": [["no entry is written", "if (drafts.length === 0) return;", "return;"]],
  },
  "audit that was changed past the store": {
    "migrations/0001_tables.sql": [
      ["entries may change", "SELECT RAISE(ABORT, 'an audit entry never changes');", "SELECT 1;"],
    ],
  },
};

export const POSTGRES_AUDIT_FAULTS: Faults = {
  audits: {
    list_audits: [
      ...SHARED.list_audits,
      ["all tenants are read", "OR tenant = :tenant::text)", "OR :tenant::text <> '')"],
      ["all names are read", "OR name = :name::text)", "OR :name::text <> '')"],
      ["all actors are read", "OR actor = :actor::text)", "OR :actor::text <> '')"],
      ["all kinds are read", "OR subject_kind = :kind::text)", "OR :kind::text <> '')"],
    ],
    list_audits_forwards: SHARED.list_audits_forwards,
  },
  sealAudit: {
    entries_to_seal: [
      ["entries are sealed in no order", "ORDER BY audit.at, audit.id", "ORDER BY audit.at DESC"],
      [
        "entries are sealed twice",
        "NOT EXISTS (SELECT 1 FROM",
        "EXISTS (SELECT 1 EXCEPT SELECT 2 FROM",
      ],
    ],
  },
  auditSeals: { list_seals: SHARED.list_seals },
  chainStart: {
    chain_start: [["any chain is read", "tenant = :tenant::text", ":tenant::text IS NOT NULL"]],
  },
  newestSealed: {
    newest_sealed: [["all chains count", "OR tenant = :tenant::text", "OR :tenant::text <> ''"]],
  },
  unsealedAudits: {
    sealed_or_not: [["all have a seal", "seal.audit_id IS NOT NULL", "true"]],
  },
  prune: { expired_seals: SHARED.expired_seals },
  "audit of each verb": {
    "audit/write.ts": [["no entry is written", "if (lines.length === 0) return;", "return;"]],
  },
  requestReprocess: {
    "jobs/retry.ts": [["closed letters are requested", " || !isOpenLetter(letter.status)", ""]],
  },
  retryAsNew: {
    "jobs/retry.ts": [["a retry has no entry", 'made.status === "created"', "made === null"]],
  },
  "audit that was changed past the store": {
    "functions/audit.sql": [
      [
        "entries are deleted",
        "RAISE EXCEPTION 'only retention deletes audit entries'",
        "RETURN OLD; RAISE EXCEPTION 'x'",
      ],
    ],
  },
};
