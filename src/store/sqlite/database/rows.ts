/** The shape of the rows that each query answers, beside `sql/sqlite/queries`. */
import type { StoredAttempt, StoredFacts, StoredLetter } from "../../shared/decode-jobs.ts";
import type {
  StoredHolder,
  StoredLog,
  StoredCheckpoints,
  StoredProgress,
  StoredUnit,
  UnitRow,
} from "../../shared/decode-notes.ts";
import type { PhaseResult, UnitCount } from "../../types/notes.ts";

/** A job in one of the three places where it waits, without the place's own columns. */
export interface WaitingRow {
  readonly key: number;
  readonly rank: number;
  readonly lane: number;
  readonly priority: number;
  readonly type: number;
  readonly tenant: number;
  readonly concurrency: string | null;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
}

export interface LeaseRow {
  readonly number: number;
  readonly worker: Uint8Array;
  readonly keys: string;
  readonly ns: string;
  readonly ranks: string;
  readonly starts: string;
  readonly claimed_at: number;
}

interface JobRow {
  readonly key: number;
  readonly id: Uint8Array;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly priority: number;
  readonly run_at: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly payload: string | null;
  readonly payload_version: string | null;
  readonly correlation: string | null;
  readonly parent: Uint8Array | null;
  readonly concurrency: string | null;
  readonly tags: string | null;
  readonly created_at: number;
  readonly flags: number;
}

/** A row of the view `millrace_job_now`. */
export interface JobNowRow extends JobRow {
  readonly category: number | null;
  readonly retry_of: Uint8Array | null;
  readonly idempotency: string | null;
  readonly dedup: string | null;
  readonly webhook: string | null;
  readonly created_by: string | null;
  readonly state: number;
  readonly tries: number;
  readonly crashes: number;
  readonly next_run_at: number | null;
  readonly last_started_at: number | null;
  readonly last_finished_at: number | null;
  readonly last_error: string | null;
  readonly result: string | null;
  readonly cancel_reason: string | null;
  readonly gate: number | null;
  readonly cancel_requested: 0 | 1;
}

/** The same for readers. */
export interface ShownJobRow extends JobNowRow {
  readonly phase: string | null;
  readonly overall: number | null;
  readonly is_stale: 0 | 1;
}

export type AttemptRow = Omit<StoredAttempt, "worker"> & { readonly worker: Uint8Array | null };

export interface FinishedRow {
  readonly key: number;
  readonly finished_at: number;
  readonly id: Uint8Array;
  readonly tenant: number;
  readonly idempotency: string | null;
  readonly tags: string | null;
}

export type DeadLetterRow = Omit<StoredLetter, "id" | "successor"> & {
  readonly id: Uint8Array;
  readonly successor: Uint8Array | null;
};

export interface WorkerRow {
  readonly id: Uint8Array;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly types: string;
  readonly lanes: string;
  readonly slots: number;
  readonly tenant: string | null;
  readonly joined_at: number;
  readonly until: number;
  readonly beats: number;
  readonly quiet: 0 | 1;
}

interface KeyRow {
  readonly key: number;
}

interface Yes {
  readonly yes: 1;
}

/** An exclusive name of a tenant. */
export interface LockRow {
  readonly tenant: number;
  readonly name: string;
}

interface CancelRow {
  readonly key: number;
  readonly reason: string | null;
}

type PlaceName = "scheduled" | "ready" | "blocked";

/** Every query that answers rows. */
export interface QueryRows {
  find_name: { readonly id: number };
  name_by_id: { readonly kind: number; readonly text: string };
  find_body: {
    readonly key: number;
    readonly type: number;
    readonly tenant: number;
    readonly payload: string | null;
  };
  find_idempotency: { readonly job_id: Uint8Array; readonly body: Uint8Array };
  find_successor: { readonly key: number; readonly id: Uint8Array };
  find_dedup: { readonly key: number; readonly id: Uint8Array };
  take_scheduled: WaitingRow;
  take_ready: WaitingRow;
  take_blocked: WaitingRow;
  due_keys: KeyRow;
  next_due: { readonly run_at: number | null };
  worker_may_claim: { readonly quiet: 0 | 1 };
  find_lease: LeaseRow;
  lease_by_number: LeaseRow;
  lease_of_job: LeaseRow;
  leases_of_worker: LeaseRow & { readonly secret: string };
  all_leases: LeaseRow;
  job_facts: Omit<WaitingRow, "rank" | "n"> & {
    readonly id: Uint8Array;
    readonly max_attempts: number;
    readonly timeout_ms: number | null;
    readonly flags: number;
  };
  ready_lanes: { readonly lane: number };
  find_cancel_requests: CancelRow;
  waiting_fields: Omit<WaitingRow, "key" | "rank" | "n" | "tries" | "crashes">;
  find_dead_letter: DeadLetterRow;
  list_dead_letters: DeadLetterRow;
  renew_worker: { readonly quiet: 0 | 1; readonly outdated: 0 | 1 };
  silent_workers: { readonly id: Uint8Array; readonly beats: number; readonly until: number };
  worker_is_silent: Yes;
  list_workers: WorkerRow;
  closed_gates: {
    readonly name: number;
    readonly until: number | null;
    readonly reason: string;
    readonly by: string | null;
  };
  open_gates: { readonly name: number };
  jobs_behind_gates: { readonly key: number; readonly gate: number };
  blocked_keys: KeyRow;
  job_by_id: ShownJobRow;
  job_by_key: JobNowRow;
  match_jobs: ShownJobRow;
  keys_of_all: KeyRow;
  keys_of_type: KeyRow;
  keys_of_tenant: KeyRow;
  keys_of_category: KeyRow;
  keys_of_correlation: KeyRow;
  keys_of_parent: KeyRow;
  keys_of_tag: KeyRow;
  keys_of_final_state: KeyRow;
  keys_scheduled: KeyRow;
  keys_ready: KeyRow;
  keys_blocked: KeyRow;
  keys_leased: KeyRow;
  start_of_run: { readonly started_at: number | null };
  count_matching: { readonly count: number };
  count_waiting: { readonly scheduled: number; readonly ready: number; readonly blocked: number };
  count_ended: { readonly count: number };
  oldest_ready: { readonly rank: number | null };
  attempts_of_job: AttemptRow;
  feed_end: { readonly position: number };
  feed_after: {
    readonly position: number;
    readonly kind: number;
    readonly at: number;
    readonly keys: string | null;
    readonly ids: string | null;
    readonly details: string | null;
  };
  ids_of_keys: { readonly key: number; readonly id: Uint8Array };
  facts_of_keys: StoredFacts;
  count_units: { readonly count: number };
  phases_of_job: PhaseResult;
  ended_units: UnitRow;
  checkpoints_of_job: StoredCheckpoints;
  progress_of_job: StoredProgress & KeyRow;
  unit_counts: UnitCount;
  units_of_job: StoredUnit;
  holders_of_unit: Omit<StoredHolder, "id"> & { readonly id: Uint8Array };
  last_line: { readonly line: number };
  log_after: StoredLog;
  newest_log: StoredLog;
  locks_of_run: { readonly name: string };
  release_locks: LockRow;
  delete_locks: LockRow;
  next_of_key: KeyRow;
  any_lock: Yes;
  jobs_of_taken_keys: KeyRow;
  locks_after: LockRow & { readonly is_dead: 0 | 1 };
  jobs_of_free_keys: KeyRow;
  lock_holder: { readonly id: Uint8Array };
  find_key: KeyRow;
  has_dependencies: Yes;
  next_finished_dependency: {
    readonly key: number;
    readonly id: Uint8Array | null;
    readonly state: number | null;
  };
  dependants_of: { readonly job: number; readonly tolerant: 0 | 1 };
  take_dependant: WaitingRow;
  dependencies_after: {
    readonly job: number;
    readonly depends_on: number;
    readonly is_over: 0 | 1;
  };
  open_dependencies: { readonly id: Uint8Array };
  end_of_range: { readonly finished_at: number; readonly key: number };
  expired_jobs: FinishedRow;
  removable_jobs: FinishedRow;
  jobs_by_keys: ShownJobRow;
  insert_stale: KeyRow;
  lost_jobs: { readonly id: Uint8Array };
  ownerless_leases: {
    readonly number: number;
    readonly worker: Uint8Array;
    readonly id: Uint8Array | null;
  };
  worker_is_known: Yes;
  places_without_job: { readonly place: PlaceName; readonly key: number };
  places_against_ledger: {
    readonly place: PlaceName;
    readonly key: number;
    readonly id: Uint8Array;
    readonly is_over: 0 | 1;
    readonly is_held: 0 | 1;
    readonly is_twin: 0 | 1;
    readonly next_n: number;
  };
}

/** The rows of the hot path, in the order of the columns. */
export interface QueryTuples {
  claim_candidates: readonly [
    key: number,
    priority: number,
    rank: number,
    n: number,
    tries: number,
    crashes: number,
    tenant: number,
    concurrency: string | null,
  ];
  payload_sizes: readonly [bytes: number];
  claimed_jobs: readonly [
    id: Uint8Array,
    type: number,
    tenant: number,
    lane: number,
    max_attempts: number,
    timeout_ms: number | null,
    payload: string | null,
    payload_version: string | null,
    correlation: string | null,
    parent: Uint8Array | null,
    concurrency: string | null,
    tags: string | null,
    created_at: number,
    flags: number,
  ];
  last_runs: readonly [key: number, n: number];
}
