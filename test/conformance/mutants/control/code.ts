/** What can go wrong with code that outlives its run. */
import type { Faults } from "../all.ts";

export const SQLITE_CODE_FAULTS: Faults = {
  reportCode: {
    awaited_code: [
      ["runs that had not started are awaited", "WHERE ended.started_at IS NOT NULL", "WHERE 1"],
      ["only the job itself is looked at", "WHERE up.depth < :depth", "WHERE up.depth < 1"],
      ["other successors are forgotten", "WHERE family.depth <= :depth", "WHERE 0"],
    ],
    removable_jobs: [
      ["jobs whose code goes on go", "(SELECT key FROM millrace_job_with_code)", "(-1)"],
    ],
    expired_jobs: [
      ["jobs whose code goes on go", "(SELECT key FROM millrace_job_with_code)", "(-1)"],
    ],
    insert_ended_runs: [
      ["code of unknown workers is awaited", "WHERE worker.id = :worker", "WHERE 1"],
      ["a repeated report is an error", "ON CONFLICT (worker, key, n) DO NOTHING", ""],
    ],
    delete_ended_runs: [
      ["a report ends all code of the worker", ":runs IS NULL", "1"],
      ["a report ends the code of other workers", "WHERE worker = :worker", "WHERE 1"],
    ],
    insert_ended_code: [
      ["the end of one run is the end of all", "WHERE NOT EXISTS", "WHERE 1 OR NOT EXISTS"],
    ],
    dependencies_after: [
      ["a sweep ends every wait for code", "code.key = -dependency.depends_on", "0"],
    ],
    open_dependencies: [
      ["code is not shown", "parent.key = abs(dependency.depends_on)", "parent.key = depends_on"],
    ],
    "queue/dependencies.ts": [
      ["a successor waits for no code", "retryOf === null ? [] :", "retryOf !== undefined ? [] :"],
      ["a successor is cancelled with the job", '=== "run" || depends_on < 0', '=== "run"'],
    ],
    "runs/workers.ts": [
      ["a removed worker keeps its code", "dropEndedRuns(session, id, null);", ""],
    ],
  },
};

export const POSTGRES_CODE_FAULTS: Faults = {
  reportCode: {
    awaited_code: [
      ["runs that had not started are awaited", "WHERE ended.started_at IS NOT NULL", "WHERE true"],
      [
        "only the job itself is looked at",
        "WHERE up.depth < :depth::integer",
        "WHERE up.depth < least(1, :depth::integer)",
      ],
      [
        "other successors are forgotten",
        "WHERE family.depth <= :depth::integer",
        "WHERE family.depth <= least(0, :depth::integer)",
      ],
    ],
    prune_jobs: [
      [
        "jobs whose code goes on go",
        "attempt.key NOT IN (SELECT code.key FROM millrace.job_with_code AS code)",
        "true",
      ],
    ],
    insert_ended_runs: [
      ["a repeated report is an error", "ON CONFLICT (worker, key, n) DO NOTHING", ""],
    ],
    delete_ended_runs: [
      ["a report ends all code of the worker", ":runs::json IS NULL", "true"],
      [
        "a report ends the code of other workers",
        "WHERE worker = :worker::uuid",
        "WHERE (:worker::uuid IS NOT NULL)",
      ],
    ],
    insert_ended_code: [
      ["the end of one run is the end of all", "WHERE NOT EXISTS", "WHERE true OR NOT EXISTS"],
    ],
    sweep_dependencies: [
      ["a sweep ends every wait for code", "code.key = -seen.depends_on", "false"],
    ],
    open_dependencies: [
      ["code is not shown", "parent.key = abs(dependency.depends_on)", "parent.key = depends_on"],
    ],
    "jobs/enqueue-after.ts": [
      ["a successor waits for no code", "job.retryOf === null ? []", "job.id !== null ? []"],
      ["a successor is cancelled with the job", "tolerant: 1 as const", "tolerant: 0 as const"],
    ],
    "runs/workers.ts": [
      ["a removed worker keeps its code", "await dropEndedRuns(transaction, worker, null);", ""],
      ["no job hears of the end", "transaction.outbox.addAwaited();", ";"],
    ],
  },
};
