/** What can go wrong with payload rules: which rule is changed, and what stays. */
import type { Faults } from "../all.ts";

/** Faults of statements that are the same on both stores. */
const REPLACED = [
  ["a repeated rule stays that of code", " owner = excluded.owner,", ""],
  ["a repeated rule keeps the old one", "SET rule = excluded.rule, owner", "SET owner"],
  ["a repeated rule keeps the time", ",\n    set_at = excluded.set_at", ""],
  ["a repeated rule keeps the reason", " reason = excluded.reason,", ""],
] as const;

export const SQLITE_PAYLOAD_RULE_FAULTS: Faults = {
  payloadRules: {
    payload_rules: [["the last rule is told first", "ORDER BY scope", "ORDER BY scope DESC"]],
  },
  setPayloadRule: { put_payload_rule: REPLACED },
  declarePayloadRules: {
    declare_payload_rule: [
      ["an operator's rule is replaced", "millrace_payload_rule.owner = 'code' AND ", ""],
      ["an equal rule is stored again", " AND millrace_payload_rule.rule <> excluded.rule", ""],
    ],
  },
  removePayloadRule: {
    delete_payload_rule: [["all scopes lose the rule", "scope = :scope AND ", ""]],
    empty_payload_rule: [["all scopes lose the rule", "scope = :scope AND ", ""]],
    "jobs/payload-rules.ts": [
      [
        "a missing rule was removed",
        "if (before === null) return false",
        "if (before === null) return true",
      ],
    ],
  },
  "a tick that a payload rule refuses": {
    "schedules/ticks.ts": [["the job is made", "decision.isRefused === true", "false"]],
  },
};

export const POSTGRES_PAYLOAD_RULE_FAULTS: Faults = {
  payloadRules: {
    payload_rules: [["the last rule is told first", 'scope COLLATE "C"', 'scope COLLATE "C" DESC']],
  },
  setPayloadRule: { put_payload_rule: REPLACED },
  declarePayloadRules: {
    declare_payload_rule: [
      ["an operator's rule is replaced", "payload_rule.owner = 'code' AND ", ""],
      ["an equal rule is stored again", " AND payload_rule.rule::text <> excluded.rule::text", ""],
    ],
  },
  removePayloadRule: {
    delete_payload_rule: [["all scopes lose the rule", "scope = :scope::text AND ", ""]],
    empty_payload_rule: [["all scopes lose the rule", "scope = :scope::text AND ", ""]],
  },
  "a tick that a payload rule refuses": {
    "schedules/ticks.ts": [["the job is made", "decision.isRefused === true", "false"]],
  },
};
