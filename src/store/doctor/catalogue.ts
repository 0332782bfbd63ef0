/** The invariants by their queries: what a broken invariant of each leads to, and what cures it. */
import { command, release, sql, withTable, words, type Fix } from "./fixes.ts";

const GONE = "NOT EXISTS (SELECT 1 FROM";

/** One for each invariant. */
export type InvariantQuery =
  | "two_leases"
  | "leases_against_ledger"
  | "places_against_job"
  | "overdue_promotions"
  | "stale_dedup"
  | "unheld_dedup"
  | "shared_dedup"
  | "stale_cancel_requests"
  | "locks_without_run"
  | "runs_without_lock"
  | "waits_without_dependencies"
  | "dependencies_without_wait"
  | "failed_without_letter"
  | "letters_without_failure"
  | "runs_after_end"
  | "run_gaps"
  | "wrong_charges"
  | "ledger_without_job"
  | "tags_without_job"
  | "endless_idempotency"
  | "lost_idempotency"
  | "untold_changes";

export interface InvariantDescription {
  /** The number under which RELIABILITY.md has it. */
  readonly number: string;
  readonly name: string;
  /** What it leads to. */
  readonly means: string;
  readonly fix: Fix;
  /** Its query reads a whole table, which takes seconds for a million jobs. */
  readonly isDeep: boolean;
}

/** In the order in which they are looked at. */
export const CATALOGUE: Readonly<Record<InvariantQuery, InvariantDescription>> = {
  two_leases: {
    number: "I3",
    name: "job in two leases",
    means: "two workers run it at the same time",
    fix: release(),
    isDeep: false,
  },
  leases_against_ledger: {
    number: "I6",
    name: "lease against ledger",
    means: "a worker holds a job that is over or gone, or a run that the ledger does not expect",
    fix: words(
      "Stop the worker that holds it, delete its row from the table lease, and run millrace" +
        " doctor again: it names what has to be released.",
    ),
    isDeep: false,
  },
  places_against_job: {
    number: "I7",
    name: "place against job",
    means: "it waits under another lane, priority or count of attempts than it should have",
    fix: words(
      "Cancel it and enqueue it anew, or correct its row in the table scheduled, ready or blocked.",
    ),
    isDeep: false,
  },
  overdue_promotions: {
    number: "I21",
    name: "overdue promotion",
    means: "its time came more than five minutes ago, workers live, and none of them promotes",
    fix: words("Restart the workers, and look into their logs for what keeps them from promoting."),
    isDeep: false,
  },
  stale_dedup: {
    number: "I9",
    name: "stale dedup key",
    means: "a key is held by a job that is over, gone, or has another key: it lets nobody in",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("dedup")} AS held WHERE job NOT IN (SELECT key FROM ` +
        `${table("job")}) OR job IN (SELECT key FROM ${table("attempt")} WHERE state IS NOT ` +
        `NULL) OR tenant > 0 AND ${GONE} ${table("job")} AS job WHERE job.key = held.job AND ` +
        "job.tenant = held.tenant AND job.type = held.type AND job.dedup = held.key);",
    ),
    isDeep: false,
  },
  unheld_dedup: {
    number: "I9",
    name: "dedup key without holder",
    means: "it is not over and does not hold its dedup key: a second one would be let in",
    fix: sql(
      (table) =>
        `INSERT INTO ${table("dedup")} (tenant, type, key, job) SELECT tenant, type, dedup, ` +
        `min(key) FROM ${table("job")} WHERE dedup IS NOT NULL AND key NOT IN (SELECT key FROM ` +
        `${table("attempt")} WHERE state IS NOT NULL) GROUP BY tenant, type, dedup ` +
        "ON CONFLICT DO NOTHING;",
    ),
    isDeep: false,
  },
  shared_dedup: {
    number: "I9",
    name: "dedup key of two",
    means: "another job holds the same dedup key, and both are not over",
    fix: command((id) => `millrace jobs cancel ${id}`),
    isDeep: false,
  },
  stale_cancel_requests: {
    number: "I8",
    name: "stale cancel request",
    means: "a job that does not run is asked to stop: it would be cancelled if it ever ran again",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("cancel_request")} WHERE ` +
        `key NOT IN (SELECT key FROM ${table("job")}) ` +
        ["attempt WHERE state IS NOT NULL", "scheduled", "ready", "blocked"]
          .map((from) => `OR key IN (SELECT key FROM ${withTable(from, table)})`)
          .join(" ") +
        ";",
    ),
    isDeep: false,
  },
  locks_without_run: {
    number: "I14",
    name: "name without run",
    means: "a name is taken by a job that does not run: nobody else gets it",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("lock")} AS held WHERE ${GONE} ${table("job")} AS job WHERE job.key ` +
        `= held.job) OR EXISTS (SELECT 1 FROM ${table("attempt")} AS run WHERE run.key = ` +
        "held.job AND run.n = held.n) " +
        ["scheduled", "ready", "blocked"]
          .map((place) => `OR job IN (SELECT key FROM ${table(place)})`)
          .join(" ") +
        ";",
    ),
    isDeep: false,
  },
  runs_without_lock: {
    number: "I14",
    name: "run without its key",
    means: "it runs and does not have its concurrency key: another may run under it",
    fix: release(),
    isDeep: false,
  },
  waits_without_dependencies: {
    number: "I8",
    name: "wait for nothing",
    means: "it waits for other jobs, and none is named: it would wait for ever",
    fix: command((id) => `millrace jobs cancel ${id}`),
    isDeep: false,
  },
  dependencies_without_wait: {
    number: "I8",
    name: "need without wait",
    means: "it is said to wait for other jobs and does not: retention would keep those for ever",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("dependency")} WHERE job NOT IN ` +
        `(SELECT key FROM ${table("blocked")} ` +
        "WHERE gate = 0);",
    ),
    isDeep: false,
  },
  failed_without_letter: {
    number: "I19",
    name: "failed without dead letter",
    means: "it has failed and nobody is asked to review it",
    fix: words(
      "Repeat each that is wanted with millrace jobs retry; the finding goes with the job, when" +
        " retention removes it.",
    ),
    isDeep: false,
  },
  letters_without_failure: {
    number: "I19",
    name: "dead letter without failure",
    means: "somebody is asked to review a job that has not failed",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("dead_letter")} WHERE id IN (SELECT id FROM ${table("job")} ` +
        `WHERE key NOT IN (SELECT key FROM ${table("attempt")} WHERE state = 6));`,
    ),
    isDeep: false,
  },
  runs_after_end: {
    number: "I4",
    name: "run after the end",
    means: "it has run again although it was over",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("attempt")} AS late WHERE EXISTS (SELECT 1 FROM ` +
        `${table("attempt")} AS done ` +
        "WHERE done.key = late.key AND done.n < late.n AND done.state IS NOT NULL);",
    ),
    isDeep: true,
  },
  run_gaps: {
    number: "I7",
    name: "gap in the ledger",
    means: "a run is missing between others",
    fix: words("Restore the missing rows of the table attempt from a backup."),
    isDeep: true,
  },
  wrong_charges: {
    number: "I7",
    name: "wrong charge",
    means: "it has had more attempts than it may have, or a run was charged twice or not at all",
    fix: words(
      "Compare its runs (millrace jobs show) with the logs of the workers; a job that still waits" +
        " can be cancelled and enqueued anew.",
    ),
    isDeep: true,
  },
  ledger_without_job: {
    number: "I19",
    name: "ledger without job",
    means: "runs are kept of jobs that are gone, and retention never finds them",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("attempt")} AS run WHERE ${GONE} ${table("job")} AS job ` +
        "WHERE job.key = run.key);",
    ),
    isDeep: true,
  },
  tags_without_job: {
    number: "I19",
    name: "tag without job",
    means: "tags are kept of jobs that are gone, and retention never finds them",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("tag")} AS tag WHERE ${GONE} ${table("job")} AS job ` +
        "WHERE job.key = tag.key);",
    ),
    isDeep: true,
  },
  endless_idempotency: {
    number: "I9",
    name: "endless idempotency key",
    means: "its job is gone and the key never expires: it lets nobody in",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("idempotency")} AS held WHERE expires_at IS NULL AND ${GONE} ` +
        `${table("job")} AS job WHERE job.id = held.job_id);`,
    ),
    isDeep: true,
  },
  lost_idempotency: {
    number: "I9",
    name: "lost idempotency key",
    means: "its key is not kept for it: the same request would make a second job",
    fix: words("Restore the missing rows of the table idempotency from a backup."),
    isDeep: true,
  },
  untold_changes: {
    number: "I13",
    name: "change that the feed does not tell",
    means: "readers of the feed have not heard of it, or twice",
    fix: words(
      "Let readers of the feed ask for these jobs again, such as with millrace jobs show; the" +
        " entries themselves come back only from a backup.",
    ),
    isDeep: true,
  },
};
