/** What can go wrong with quotas of tenants, and with the removal of a tenant. */
import type { Faults } from "../all.ts";

const SET = [
  ["a quota keeps the waiting jobs of the one before", "SET waiting = excluded.waiting,", "SET"],
] as const;

const BEGUN = [
  ["a removal that is under way begins again", "WHERE known.done_at IS NOT NULL", "WHERE true"],
] as const;

const OPEN_REMOVALS = [
  ["removals that are done count", "WHERE done_at IS NULL", "WHERE reason <> ''"],
  ["the newest first", "begun_at, tenant", "begun_at DESC, tenant"],
  ["the limit is dropped", "LIMIT ", "LIMIT 1000 + "],
] as const;

export const SQLITE_QUOTA_FAULTS: Faults = {
  setQuota: { put_quota: SET },
  removeQuota: {
    delete_quota: [["all quotas go", "WHERE tenant = :tenant", "WHERE :tenant IS NOT NULL"]],
  },
  quotaUse: {
    count_of_tenant: [
      [
        "scheduled jobs do not wait",
        "millrace_scheduled LIMIT :rows",
        "millrace_scheduled LIMIT 0",
      ],
    ],
  },
  quotas: {
    all_quotas: [["the order is another one", "ORDER BY tenant", "ORDER BY tenant DESC"]],
  },
  "the quota of waiting jobs": {
    admission: [["no quota is set", "EXISTS (SELECT 1 FROM millrace_quota)", "0"]],
    "jobs/quotas.ts": [
      ["one job more than the quota", "if (room < 1)", "if (room < 0)"],
      ["the quota of all tenants counts for none", "?? rows[0];\n  return row", ";\n  return row"],
    ],
  },
  "the quota of a rate": {
    "jobs/quotas.ts": [
      ["no token is used", 'session.sql.run("put_quota_use"', 'Object.is("put_quota_use"'],
      ["half a token is enough", "tokensAt(state, now) >= 1", "tokensAt(state, now) >= 0"],
    ],
  },
  "a quota": {
    "jobs/enqueue.ts": [["no quota refuses", "call.quotas.refusal(job, nameIds.tenant) ??", ""]],
  },
  tenantNames: {
    tenant_names: [["the name before is told again", "> :after", ">= :after"]],
  },
  beginRemoval: { begin_removal: BEGUN },
  openRemovals: { open_removals: OPEN_REMOVALS },
  removal: { end_removal: [["a removal never ends", "SET done_at = :now", "SET done_at = NULL"]] },
  removeOfTenant: {
    clear_dead_letters: [["letters stay", "WHERE id IN (", "WHERE false AND id IN ("]],
    stop_operations_of: [["operations go on", "WHERE status <= 2", "WHERE status < 1"]],
    clear_operations: [["operations stay", "WHERE status >= 3", "WHERE status > 5"]],
    clear_tokens: [["tokens of all tenants go", "WHERE tenant = :name", "WHERE :name IS NOT NULL"]],
    clear_gate: [["the pause stays", "WHERE name = :tenant", "WHERE name = -:tenant"]],
    "jobs/tenants.ts": [
      ["a removal that is over goes on", "removal(session, name)?.doneAt !== null", "false"],
    ],
  },
};

export const POSTGRES_QUOTA_FAULTS: Faults = {
  setQuota: { put_quota: SET },
  removeQuota: {
    delete_quota: [
      ["all quotas go", "WHERE tenant = :tenant::integer", "WHERE :tenant::integer IS NOT NULL"],
    ],
  },
  quotaUse: {
    count_of_tenant: [
      [
        "scheduled jobs do not wait",
        "millrace.scheduled LIMIT :rows",
        "millrace.ready LIMIT :rows",
      ],
    ],
  },
  quotas: {
    all_quotas: [["the order is another one", "ORDER BY tenant", "ORDER BY tenant DESC"]],
  },
  "the quota of waiting jobs": {
    "functions/enqueue.sql": [
      [
        "a process does not see a new quota",
        "EXISTS (SELECT 1 FROM millrace.quota AS quota WHERE quota.revision > quotas)",
        "false",
      ],
    ],
    draw_keys: [
      [
        "keyed jobs do not see a new quota",
        "(SELECT max(revision) FROM millrace.quota)",
        "0::bigint",
      ],
    ],
    "jobs/enqueue-keyed.ts": [["keyed jobs pass", "?? overQuota.get(job.id)", ""]],
  },
  "the quota of a rate": {
    "functions/quotas.sql": [["no token is used", "tokens := tokens - granted;", ""]],
    "jobs/quota-book.ts": [
      [
        "a job that is not made keeps its token",
        "if (quota.rate !== null && !isMade)",
        "if (false)",
      ],
    ],
  },
  tenantNames: {
    tenant_names: [["the name before is told again", "> :after::text", ">= :after::text"]],
  },
  beginRemoval: { begin_removal: BEGUN },
  openRemovals: { open_removals: OPEN_REMOVALS },
  removal: {
    end_removal: [
      [
        "a removal never ends",
        "SET done_at = millrace.clock_at(:now::timestamptz)",
        "SET done_at = NULL",
      ],
    ],
  },
  removeOfTenant: {
    clear_dead_letters: [["letters stay", "WHERE id IN (", "WHERE false AND id IN ("]],
    stop_operations_of: [["operations go on", "WHERE status <= 2", "WHERE status < 1"]],
    clear_operations: [["operations stay", "WHERE status >= 3", "WHERE status > 5"]],
    clear_tokens: [
      ["tokens of all tenants go", "WHERE tenant = :name::text", "WHERE :name::text IS NOT NULL"],
    ],
    clear_gate: [
      ["the pause stays", "WHERE name = :tenant::integer", "WHERE name = -:tenant::integer"],
    ],
    lock_open_removal: [["a removal that is over goes on", "AND done_at IS NULL", ""]],
  },
};
