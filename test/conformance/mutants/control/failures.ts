/** What can go wrong with failures by cause. */
import type { Faults } from "../all.ts";

/** The same texts in both dialects. */
const SHARED = {
  failure_causes: [["the oldest failure comes first", "ORDER BY last_at DESC", "ORDER BY last_at"]],
  first_failure: [["closed letters count", "status IN (1, 2)", "status > 0"]],
  letters_of_cause: [["letters of all causes", "WHERE cause = ", "WHERE '' <> "]],
  decide_failure_group: [["the person stays", "by = excluded.by, ", ""]],
} as const;

export const SQLITE_FAILURE_FAULTS: Faults = {
  failureGroups: { failure_causes: SHARED.failure_causes },
  failureGroup: { first_failure: SHARED.first_failure },
  lettersOfCause: { letters_of_cause: SHARED.letters_of_cause },
  decideGroup: { decide_failure_group: SHARED.decide_failure_group },
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
  decideGroup: { decide_failure_group: SHARED.decide_failure_group },
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
    "jobs/failures.ts": [["closed ones count", "return open.length;", "return rows.size;"]],
  },
};
