/** What can go wrong with failures by cause. */
import type { Faults } from "../all.ts";

/** The same texts in both dialects. */
const SHARED = {
  failure_causes: [["the oldest failure comes first", "ORDER BY last_at DESC", "ORDER BY last_at"]],
  first_failure: [["closed letters count", "status IN (1, 2)", "status > 0"]],
  letters_of_cause: [["letters of all causes", "WHERE cause = ", "WHERE '' <> "]],
  failure_decisions: [
    ["decisions of all tenants", "WHERE tenant = ", "WHERE 0 < "],
    ["the cause before is told again", "cause > ", "cause >= "],
    ["the limit is dropped", "LIMIT ", "LIMIT 1000 + "],
  ],
  decide_failure_group: [["the person stays", "by = excluded.by, ", ""]],
  delete_failure_groups: [
    ["open letters do not matter", "AND NOT EXISTS (", "AND (true OR 1 = 1) OR EXISTS ("],
    ["letters of other tenants count", "AND old.tenant IN (0, letter.tenant)", ""],
    ["decisions of the installation count nothing", "(0, letter.tenant)", "(letter.tenant)"],
  ],
} as const;

export const SQLITE_FAILURE_FAULTS: Faults = {
  failureGroups: { failure_causes: SHARED.failure_causes },
  failureGroup: { first_failure: SHARED.first_failure },
  lettersOfCause: { letters_of_cause: SHARED.letters_of_cause },
  failureDecisions: { failure_decisions: SHARED.failure_decisions },
  decideGroup: {
    decide_failure_group: SHARED.decide_failure_group,
    delete_failure_groups: [
      ...SHARED.delete_failure_groups,
      ["a snooze does not matter", "AND coalesce(old.until, 0) <= :before", ""],
      ["new decisions go", "old.decided_at <= :before", "old.decided_at > 0"],
    ],
  },
  reprocessMany: {
    "jobs/failures.ts": [
      [
        "what was done before is told as closed",
        'job === null ? "closed"',
        'job === job ? "closed"',
      ],
    ],
  },
  discardMany: {
    "jobs/failures.ts": [["closed ones count", 'status === "reviewed"', 'status !== "unknown"']],
  },
};

export const POSTGRES_FAILURE_FAULTS: Faults = {
  failureGroups: { failure_causes: SHARED.failure_causes },
  failureGroup: { first_failure: SHARED.first_failure },
  lettersOfCause: { letters_of_cause: SHARED.letters_of_cause },
  failureDecisions: { failure_decisions: SHARED.failure_decisions },
  decideGroup: {
    decide_failure_group: SHARED.decide_failure_group,
    delete_failure_groups: [
      ...SHARED.delete_failure_groups,
      ["a snooze does not matter", "(old.until IS NULL OR old.until <= moment.before)", "true"],
      ["new decisions go", "old.decided_at <= moment.before", "moment.before IS NOT NULL"],
    ],
  },
  reprocessMany: {
    "jobs/failures.ts": [
      [
        "what was done before is told as closed",
        'job === null ? "closed"',
        'job === job ? "closed"',
      ],
    ],
  },
  discardMany: {
    "jobs/failures.ts": [["closed ones count", 'status === "reviewed"', 'status !== "unknown"']],
  },
};
