/** What can go wrong with rows that were changed past the store. */
import type { Faults } from "./all.ts";

export const SQLITE_BAD_ROW_FAULTS: Faults = {
  dedup: {
    find_dedup: [["a deleted job keeps its key", "LEFT JOIN", "JOIN"]],
    "jobs/enqueue.ts": [
      ["the freed key is not named", "  warnings.reportFreedKeys([key]);", "  void warnings;"],
    ],
  },
  rescue: {
    missing_jobs: [["a job without a row is not noticed", "WHERE NOT", "WHERE 0 AND NOT"]],
    "runs/missing-jobs.ts": [
      ["the locks of a job without a row stay", "  releaseRunLocks(session, missing);", ""],
      ["the requests for a job without a row stay", "  dropCancelRequests(session, missing);", ""],
    ],
    "runs/rescue.ts": [
      ["a job without a row stays in its lease", "new Set(chunk.map(", "new Set(runs.map("],
      ["a job without a row is not named", "missing.push(...rescued.missing);", ""],
    ],
  },
  settle: {
    "runs/settle.ts": [
      ["a job without a row keeps its lease", "if (isNarrowed) keepRuns", "if (false) keepRuns"],
      [
        "a job without a row is settled",
        "run === null || missing.includes(run.key) ? null",
        "run === null ? null",
      ],
    ],
  },
  claim: {
    "runs/claim.ts": [["a place without a job stays", "  dropPlaces(session, missing);", ""]],
  },
  returnPrefetched: {
    "runs/prefetch.ts": [
      [
        "a job without a row is not named",
        'session.warnings.reportMissing("returnPrefetched", missing);',
        "",
      ],
    ],
  },
  promote: {
    copy_scheduled_to_ready: [
      ["a job in two places stops the others", "ON CONFLICT DO NOTHING", ""],
    ],
  },
};

export const POSTGRES_BAD_ROW_FAULTS: Faults = {
  dedup: {
    find_dedup: [["a deleted job keeps its key", "LEFT JOIN", "JOIN"]],
    "jobs/enqueue-keyed.ts": [
      ["the freed key is not named", "  transaction.warnings.reportFreedKeys(holders);", ""],
      [
        "the freed key is not taken",
        "await takeRows(transaction, again);",
        "await takeRows(transaction, again.slice(again.length));",
      ],
    ],
  },
  rescue: {
    runs_of_leases: [
      ["a job without a row is not noticed", "run.n IS NULL OR NOT EXISTS (", "EXISTS ("],
      ["an entry without a number is a run", "run.n IS NULL OR NOT", "NOT"],
    ],
    drop_missing_jobs: [
      [
        "the locks of a job without a row stay",
        "millrace.release_job_locks(:keys::bigint[])",
        "false",
      ],
      [
        "the requests for a job without a row stay",
        "millrace.cancel_request WHERE",
        "millrace.cancel_request WHERE false AND",
      ],
    ],
    "runs/rescue.ts": [
      ["a job without a row stays in its lease", "new Set(chunk.map(", "new Set(moved.map("],
    ],
  },
  settle: {
    "functions/settle.sql": [
      [
        "a job without a row is settled",
        "IF cardinality(accepted) > coalesce(present, 0) THEN",
        "IF cardinality(accepted) < coalesce(present, 0) THEN",
      ],
      [
        "the lock of a job without a row stays",
        "freed := millrace.release_job_locks(missing);",
        "",
      ],
    ],
    "runs/settle.ts": [
      [
        "a job without a row keeps its lease",
        'if (answers.includes("missing")) await',
        "if (answers.length === 0) await",
      ],
    ],
  },
  claim: {
    "runs/claimed-batch.ts": [
      ["a place without a job is not named", 'session.warnings.reportMissing("claim", [key]);', ""],
    ],
  },
  promote: {
    promote_due: [["a job in two places stops the others", "ON CONFLICT DO NOTHING", ""]],
  },
};
