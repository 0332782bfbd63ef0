/** The rows of queries about places, gates, dead letters, readers and the feed. */
import type { JobId } from "../../core/job.ts";

/** A row of the view `job_record`: a job as it stands now. Instants are milliseconds. */
export interface JobRow {
  readonly key: number;
  readonly id: JobId;
  readonly state: number;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | null;
  readonly priority: number;
  readonly payload: string | null;
  readonly payload_version: string | null;
  readonly correlation: string | null;
  readonly parent: JobId | null;
  readonly retry_of: JobId | null;
  readonly concurrency: string | null;
  readonly idempotency: string | null;
  readonly dedup: string | null;
  readonly webhook: string | null;
  readonly flags: number;
  readonly tags: string | null;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly run_at: number;
  readonly next_run_at: number | null;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly tries: number;
  readonly crashes: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly cancel_reason: string | null;
  readonly gate: number | null;
  readonly cancel_requested: boolean;
}

export interface AttemptRow {
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly fence: number | null;
  readonly worker: JobId | null;
  readonly claimed_at: number | null;
  readonly started_at: number | null;
  readonly finished_at: number;
  readonly outcome: number;
  readonly error_class: number | null;
  readonly error: string | null;
  readonly reason: string | null;
  readonly next_run_at: number | null;
}

export interface DeadLetterRow {
  readonly id: JobId;
  readonly type: number;
  readonly tenant: number;
  readonly status: number;
  readonly error: string;
  readonly attempts: number;
  readonly died_at: number;
  readonly reviewed_by: string | null;
  readonly reviewed_at: number | null;
  readonly notes: string | null;
  readonly successor: JobId | null;
  readonly spec: string;
}

export interface StateRow {
  readonly key: number;
  readonly state: number;
  /** Runs that the ledger knows. */
  readonly runs: number;
  /** The number of the newest lease that names the job. */
  readonly lease: number | null;
  /** The store's clock. */
  readonly at: number;
}

interface KeyRow {
  readonly key: number;
}

interface CountRow {
  readonly count: number;
}

export interface RecordRows {
  job_by_id: JobRow;
  match_jobs: JobRow;
  count_matching: CountRow;
  count_places: {
    readonly scheduled: number;
    readonly ready: number;
    readonly blocked: number;
    readonly running: number;
  };
  count_ended: CountRow;
  longest_due: { readonly ms: number | null };
  keys_of_all: KeyRow;
  keys_of_type: KeyRow;
  keys_of_tenant: KeyRow;
  keys_of_category: KeyRow;
  keys_of_correlation: KeyRow;
  keys_of_parent: KeyRow;
  keys_of_tag: KeyRow;
  keys_of_states: KeyRow;
  attempts_of_job: AttemptRow;
  ids_of_keys: { readonly key: number; readonly id: JobId };
  promote_due: { readonly moved: number; readonly next_due_ms: number | null };
  closed_gates: {
    readonly name: number;
    readonly until: number | null;
    readonly reason: string;
    readonly by: string | null;
  };
  state_of: StateRow;
  find_worker: { readonly id: JobId };
  find_dead_letter: DeadLetterRow;
  list_dead_letters: DeadLetterRow;
  prune_jobs: CountRow;
  table_health: {
    readonly name: string;
    readonly live: number;
    readonly dead: number;
    readonly bytes: number;
    readonly index_bytes: number;
    /** How long ago it was last cleared of dead rows; null: never. */
    readonly vacuumed_ms: number | null;
  };
  oldest_transaction: {
    readonly pid: number;
    readonly state: string;
    readonly application: string;
    readonly ms: number;
  };
  schema_objects: { readonly name: string; readonly valid: boolean };
  server_settings: { readonly version: string; readonly autovacuum: boolean };
  number_events: { readonly seen: number };
  feed_end: { readonly position: number };
  feed_after: {
    readonly position: number;
    readonly kind: number;
    readonly at: number;
    readonly keys: number[] | null;
    readonly ids: JobId[] | null;
  };
}
