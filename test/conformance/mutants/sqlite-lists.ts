/** Faults of lists and counts on SQLite. */
import type { Faults } from "./all.ts";

export const SQLITE_LIST_FAULTS: Faults = {
  list: {
    match_jobs: [
      ["the state is not looked at", ":states IS NULL", "1"],
      ["the type is not looked at", ":type IS NULL", "1"],
      ["the tenant is not looked at", ":tenant IS NULL", "1"],
      ["the category is not looked at", ":category IS NULL", "1"],
      ["the correlation is not looked at", ":correlation IS NULL", "1"],
      ["the parent is not looked at", ":parent IS NULL", "1"],
      ["the first moment does not count", "created_at >= :", "created_at > :"],
      ["the last moment counts", "created_at < :", "created_at <= :"],
      [
        "one tag of several is enough",
        "FROM json_each(:tags) AS wanted",
        "FROM (SELECT key, value FROM json_each(:tags) LIMIT 1) AS wanted",
      ],
      ["the oldest comes first", "ORDER BY now.key DESC", "ORDER BY now.key"],
    ],
    insert_tag: [["tags are lost", ":value", "''"]],
    keys_of_tag: [["no tag is found", "key <", "0 AND key <"]],
    keys_of_parent: [["no child is found", "key <", "0 AND key <"]],
    key_at: [["the key before the moment is found", "key + 1 ELSE low", "key ELSE low"]],
    keys_of_all: [["a page repeats a job", "key <", "key <="]],
    keys_of_type: [["a page of a type repeats a job", "key <", "key <="]],
    keys_of_tenant: [["no tenant is found", "key <", "0 AND key <"]],
    keys_of_category: [["no category is found", "key <", "0 AND key <"]],
    keys_of_states: [
      ["no scheduled job is found", "wanted WHERE state = 1", "wanted WHERE state = 9"],
      ["no due job is found", "FROM millrace_ready", "FROM (SELECT 0 AS key)"],
      ["no held job is found", "FROM millrace_blocked", "FROM (SELECT 0 AS key)"],
      ["no running job is found", "wanted WHERE state = 3", "wanted WHERE state = 9"],
      ["no completed job is found", "wanted WHERE state = 4", "wanted WHERE state = 9"],
      ["no failed job is found", "wanted WHERE state = 6", "wanted WHERE state = 9"],
      ["leases that name a job hide others", "SELECT DISTINCT claimed", "SELECT claimed"],
      [
        "ledger rows of a job hide others",
        "DISTINCT key\n    FROM millrace_attempt\n    WHERE key",
        "key\n    FROM millrace_attempt\n    WHERE key",
      ],
    ],
    "inspect/jobs.ts": [
      [
        "a page that is cut short is the last one",
        "next: reached, isCutShort: reached",
        "next: null, isCutShort: reached",
      ],
    ],
    keys_of_correlation: [
      [
        "a job is not found by its own correlation",
        "correlation IS NULL",
        "correlation IS NOT NULL",
      ],
    ],
  },
  groupedStats: {
    count_groups: [
      ["the lane is not looked at", "GROUP BY type, lane, tenant", "GROUP BY type, tenant"],
      ["a retry is not scheduled", "place IN (1, 6)", "place = 1"],
      ["an ended run counts", "AND ended.n = lease.ns", "AND 0 = lease.ns"],
      ["a place is read as a whole", "FROM millrace_ready LIMIT :rows", "FROM millrace_ready"],
      ["the smallest groups come first", "count(*) DESC", "count(*)"],
      ["the youngest job tells the age", "min(rank) / 1000", "max(rank) / 1000"],
      ["a turn counts as a due time", "coalesce(due * 1000, rank)", "rank"],
      ["each end counts as failed", "state = 6 AND state > 4", "1"],
      ["the tenant is not looked at", ":tenant IS NULL", "1"],
    ],
    "inspect/stats.ts": [
      ["a cut count is not named", "countsOf(session, rows + 1)", "countsOf(session, rows)"],
      ["more groups are not mentioned", "groups: groups + 1", "groups"],
    ],
  },
  tenantsOf: {
    tenants_of_ids: [
      [
        "aliases are not looked at",
        "FROM millrace_job_name WHERE id",
        "FROM millrace_job WHERE id",
      ],
      ["dead letters are not looked at", "OR letter.id IS NOT NULL", ""],
    ],
  },
  idsBetween: {
    ids_between: [
      ["aliases are not looked at", "FROM millrace_alias", "FROM (SELECT NULL AS id, 0 AS job)"],
      [
        "dead letters are not looked at",
        "FROM millrace_dead_letter\n    WHERE id",
        "FROM millrace_dead_letter\n    WHERE 0 AND id",
      ],
      ["the limit is dropped", "ORDER BY id\nLIMIT :limit", "ORDER BY id"],
      [
        "the first id is left out",
        "FROM millrace_job WHERE id",
        "FROM millrace_job WHERE id > :first AND id",
      ],
    ],
  },
  count: {
    count_matching: [
      ["the state is not looked at", ":states IS NULL", "1"],
      ["the type is not looked at", ":type IS NULL", "1"],
    ],
    count_waiting: [
      ["held jobs do not count", "FROM millrace_blocked", "FROM millrace_blocked WHERE 0"],
      ["scheduled jobs do not count", "SELECT 1 FROM millrace_scheduled", "SELECT 1 WHERE 0"],
    ],
    count_ended: [["the state is not looked at", "state = :state", "1"]],
  },
  "a closed gate": {
    closed_targets: [
      ["open gates are shown", "until IS NULL OR until > :now", "1"],
      ["a service is shown as the type", "AS tenant, gate", "AS tenant, target AS gate"],
      ["a pause of one tenant holds all tenants back", "type, tenant, gate", "type, NULL, gate"],
    ],
  },
  stats: {
    count_due: [
      ["gates are not looked at", "WHERE closed.name IN", "WHERE 0 AND closed.name IN"],
      ["open gates count", "until IS NULL OR until > :now", "1"],
      ["a job behind a gate is the oldest", "min(rank) FILTER (WHERE NOT behind)", "min(rank)"],
    ],
    count_waiting: [
      ["blocked jobs are not counted", "millrace_blocked LIMIT", "millrace_ready LIMIT"],
      ["each scheduled job is retrying", "n > 1", "n > 0"],
    ],
    count_ended: [["all ends count as failures", "state = :state", "1"]],
  },
  countBehind: {
    count_behind_gate: [
      [
        "held jobs do not count",
        "FROM millrace_blocked WHERE gate = :name LIMIT :rows",
        "FROM millrace_blocked WHERE 0 LIMIT :rows",
      ],
      ["other gates are not looked at", "WHERE gate <> :name", "WHERE 0"],
      ["the tenant is not looked at", ":tenant IS NULL", "1"],
      [
        "jobs of other names count",
        "WHERE own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)",
        "WHERE 1",
      ],
      [
        "jobs that another gate holds do not count",
        "WHERE gate IN (SELECT gate FROM other)\n        LIMIT :rows",
        "WHERE 0 LIMIT :rows",
      ],
    ],
  },
};
