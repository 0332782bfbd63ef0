/** The catalogue of invariants by query: what a violation leads to, and what fixes it. */
import { cancel, release, sql, withTable, words, type Fix } from "./fixes.ts";

const GONE = "NOT EXISTS (SELECT 1 FROM";

/** The names of the queries, one per invariant. */
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
  | "ended_runs_without_worker"
  | "permits_against_limits"
  | "runs_after_end"
  | "run_gaps"
  | "wrong_charges"
  | "ledger_without_job"
  | "notes_without_job"
  | "jobs_without_name"
  | "tags_without_job"
  | "aliases_without_job"
  | "endless_idempotency"
  | "lost_idempotency"
  | "untold_changes"
  | "overdue_schedules"
  | "unfolded_minutes"
  | "ticks_without_schedule"
  | "minutes_without_name";

export interface InvariantDescription {
  /** The number of the invariant in RELIABILITY.md. */
  readonly number: string;
  readonly name: string;
  /** What breaks the invariant. Default: a job. */
  readonly what?: "schedule" | "type";
  /** What a violation leads to. */
  readonly means: string;
  readonly fix: Fix;
  /** The query reads a whole table, which takes seconds for a million jobs. */
  readonly isDeep: boolean;
}

/** In the order of checking. */
export const CATALOGUE: Readonly<Record<InvariantQuery, InvariantDescription>> = {
  two_leases: {
    number: "I3",
    name: "job in two leases",
    means: "two workers run the job at the same time",
    fix: release("--force"),
    isDeep: false,
  },
  leases_against_ledger: {
    number: "I6",
    name: "lease against ledger",
    means: "a worker holds a job that is final or removed, or a run that contradicts the ledger",
    fix: { kind: "leases" },
    isDeep: false,
  },
  places_against_job: {
    number: "I7",
    name: "place against job",
    means: "the job waits with a wrong lane, type or number of attempts",
    fix: words(
      "Cancel the job and enqueue it again, or correct its row in the table scheduled, ready or" +
        " blocked.",
    ),
    isDeep: false,
  },
  overdue_promotions: {
    number: "I21",
    name: "overdue promotion",
    means: "the job has been due for more than five minutes, and no living worker promotes it",
    fix: words("Restart the workers, and search their logs for errors of the promoter."),
    isDeep: false,
  },
  stale_dedup: {
    number: "I9",
    name: "stale dedup key",
    means: "a key is held by a job that is final, removed, or has another key: it blocks new jobs",
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
    means: "the job is not final and does not hold its dedup key: a duplicate would be accepted",
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
    means: "another job has the same dedup key, and neither is final",
    fix: cancel(),
    isDeep: false,
  },
  stale_cancel_requests: {
    number: "I8",
    name: "stale cancel request",
    means: "a job that does not run has a cancel request: its next run would be cancelled",
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
    name: "lock without run",
    means: "a lock is held by a job that does not run: no other run can acquire it",
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
    means: "the job runs without its concurrency key: another job may run with the key",
    fix: release("--force"),
    isDeep: false,
  },
  waits_without_dependencies: {
    number: "I8",
    name: "wait for nothing",
    means: "the job waits for dependencies and has none: it would wait forever",
    fix: cancel(),
    isDeep: false,
  },
  dependencies_without_wait: {
    number: "I8",
    name: "dependency without wait",
    means: "the job has dependencies and does not wait: retention would keep them forever",
    fix: sql(
      (table) =>
        // A lost job keeps its dependencies: it waits for them once it is released.
        `DELETE FROM ${table("dependency")} WHERE job NOT IN (SELECT key FROM ` +
        `${table("blocked")} WHERE gate = 0) AND (job NOT IN (SELECT key FROM ${table("job")}) ` +
        ["attempt WHERE state IS NOT NULL", "scheduled", "ready", "blocked"]
          .map((from) => `OR job IN (SELECT key FROM ${withTable(from, table)})`)
          .join(" ") +
        ");",
    ),
    isDeep: false,
  },
  failed_without_letter: {
    number: "I19",
    name: "failed without dead letter",
    means: "the job has failed and has no dead letter to review",
    fix: words(
      "Repeat the jobs that are needed with millrace jobs retry; the finding disappears when" +
        " retention removes the job.",
    ),
    isDeep: false,
  },
  letters_without_failure: {
    number: "I19",
    name: "dead letter without failure",
    means: "a job that has not failed has a dead letter to review",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("dead_letter")} WHERE id IN (SELECT id FROM ${table("job")} ` +
        `WHERE key NOT IN (SELECT key FROM ${table("attempt")} WHERE state = 6));`,
    ),
    isDeep: false,
  },
  ended_runs_without_worker: {
    number: "I8",
    name: "ended run without worker",
    means: "no heartbeat will tell the end of the run, and its row would stay forever",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("ended_run")} AS ended WHERE ${GONE} ${table("job")} AS job WHERE ` +
        `job.key = ended.key) OR ${GONE} ${table("worker")} AS worker WHERE worker.id = ` +
        "ended.worker);",
    ),
    isDeep: false,
  },
  permits_against_limits: {
    number: "I10",
    name: "permits miscounted",
    means:
      "a limit counts permits that no worker holds, or too few: it allows too few or too many jobs",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("permit")} WHERE worker NOT IN (SELECT id FROM ${table("worker")}) ` +
        `OR limit_id NOT IN (SELECT id FROM ${table("limit_setting")}); ` +
        `UPDATE ${table("limit_setting")} AS setting SET used = (SELECT coalesce(sum(held), 0) ` +
        `FROM ${table("permit")} AS permit WHERE permit.limit_id = setting.id);`,
    ),
    isDeep: false,
  },
  runs_after_end: {
    number: "I4",
    name: "run after the end",
    means: "the job has run again after its end",
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
    means: "the ledger lacks a run between two others",
    fix: words("Restore the missing rows of the table attempt from a backup."),
    isDeep: true,
  },
  wrong_charges: {
    number: "I7",
    name: "wrong charge",
    means: "the job has had too many attempts, or a run was charged twice or not at all",
    fix: words(
      "Compare its runs (millrace jobs show) with the logs of the workers; a job that still waits" +
        " can be cancelled and enqueued again.",
    ),
    isDeep: true,
  },
  ledger_without_job: {
    number: "I19",
    name: "ledger without job",
    means: "the ledger has runs of a removed job, which retention never removes",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("attempt")} AS run WHERE ${GONE} ${table("job")} AS job ` +
        "WHERE job.key = run.key);",
    ),
    isDeep: true,
  },
  notes_without_job: {
    number: "I19",
    name: "note without job",
    means: "a removed job has progress, phases, units, log lines or a mark of retention",
    fix: sql((table) =>
      ["run", "phase", "unit", "log", "stale"]
        .map(
          (name) =>
            `DELETE FROM ${table(name)} AS note WHERE ${GONE} ${table("job")} AS job ` +
            "WHERE job.key = note.key);",
        )
        .join(" "),
    ),
    isDeep: true,
  },
  jobs_without_name: {
    number: "I19",
    name: "job without name",
    means: "the name of its type, tenant, lane or category was deleted: no worker takes the job",
    fix: sql((table) =>
      ["type", "tenant", "lane", "category"]
        .map(
          (column, index) =>
            `INSERT INTO ${table("interned_name")} (id, kind, text) SELECT DISTINCT ${column}, ` +
            `${index + 1}, 'unknown name ' || ${column} FROM ${table("job")} WHERE ${column} ` +
            `NOT IN (SELECT id FROM ${table("interned_name")});`,
        )
        .join(" "),
    ),
    isDeep: true,
  },
  tags_without_job: {
    number: "I19",
    name: "tag without job",
    means: "a removed job has tags, which retention never removes",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("tag")} AS tag WHERE ${GONE} ${table("job")} AS job ` +
        "WHERE job.key = tag.key);",
    ),
    isDeep: true,
  },
  aliases_without_job: {
    number: "I19",
    name: "alias without job",
    means:
      "an id names a removed job, or a removed job enqueued it: retention never removes the id",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("alias")} AS alias WHERE job IS NOT NULL AND ${GONE} ` +
        `${table("job")} AS job WHERE job.key = alias.job) OR ${GONE} ${table("job")} AS job ` +
        "WHERE job.key = alias.parent);",
    ),
    isDeep: true,
  },
  endless_idempotency: {
    number: "I9",
    name: "endless idempotency key",
    means: "the job was removed and its key never expires: the key blocks new jobs",
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
    means: "the idempotency key of the job is missing: the same request would create a second job",
    fix: words("Restore the missing rows of the table idempotency from a backup."),
    isDeep: true,
  },
  untold_changes: {
    number: "I13",
    name: "change missing from the feed",
    means: "the feed has no event of the change, or two",
    fix: words(
      "Let readers of the feed read these jobs again, for example with millrace jobs show; the" +
        " entries themselves can be restored only from a backup.",
    ),
    isDeep: true,
  },
  overdue_schedules: {
    number: "I12",
    name: "overdue schedule",
    what: "schedule",
    means: "a slot has been due for more than five minutes, and no living worker makes its job",
    fix: words(
      "Search the logs of the workers for errors of the schedule, such as a time zone that their" +
        " host does not know, and restart the workers.",
    ),
    isDeep: false,
  },
  unfolded_minutes: {
    number: "I19",
    name: "minutes not folded",
    what: "type",
    means: "runs were counted more than five minutes ago and are missing from the metrics",
    fix: words("Restart the workers, and search their logs for errors of the minute folder."),
    isDeep: false,
  },
  ticks_without_schedule: {
    number: "I12",
    name: "tick without schedule",
    what: "schedule",
    means: "a removed schedule has ticks: a new schedule with its name would not make these slots",
    fix: sql(
      (table) =>
        `DELETE FROM ${table("schedule_tick")} WHERE schedule NOT IN ` +
        `(SELECT name FROM ${table("schedule")});`,
    ),
    isDeep: true,
  },
  minutes_without_name: {
    number: "I19",
    name: "metrics without name",
    what: "type",
    means: "the metrics have runs of a type or lane without a name: no read shows them",
    fix: sql((table) =>
      ["minute", "minute_outbox"]
        .map(
          (name) =>
            `DELETE FROM ${table(name)} WHERE type NOT IN (SELECT id FROM ` +
            `${table("interned_name")}) OR lane NOT IN (SELECT id FROM ${table("interned_name")});`,
        )
        .join(" "),
    ),
    isDeep: true,
  },
};
