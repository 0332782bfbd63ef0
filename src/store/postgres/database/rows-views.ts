/** The rows of queries about places, gates, dead letters, readers and the feed. */
import type { JobId } from "../../../core/job.ts";
import type { OffendingJob, Counts, InvariantQuery } from "../../doctor/invariants.ts";
import type {
  StoredAttempt,
  StoredFacts,
  StoredJob,
  StoredLetter,
} from "../../shared/decode-jobs.ts";
import type {
  StoredHolder,
  StoredLog,
  StoredCheckpoints,
  StoredProgress,
  StoredUnit,
  UnitRow,
} from "../../shared/decode-notes.ts";
import type { PhaseResult, UnitCount } from "../../types/notes.ts";

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

/** A thing that a schema is made of, and the words that make it. */
export interface SchemaObject {
  readonly kind: "table" | "column" | "constraint" | "index" | "view" | "function";
  /** The table that it belongs to, or itself. */
  readonly home: string;
  readonly name: string;
  readonly definition: string;
  readonly valid: boolean;
}

export interface TableHealth {
  readonly name: string;
  readonly live: number;
  readonly dead: number;
  readonly bytes: number;
  readonly index_bytes: number;
  /** How long ago it was last cleared of dead rows; null: never. */
  readonly vacuumed_ms: number | null;
  /** Whether the server clears it by itself, and at how many dead rows. */
  readonly enabled: boolean;
  readonly threshold: number;
}

/** Where a job waits. */
type Place = "scheduled" | "ready" | "blocked";

interface KeyRow {
  readonly key: number;
}

interface CountRow {
  readonly count: number;
}

export interface RecordRows extends Record<InvariantQuery, OffendingJob> {
  recount: Counts;
  job_by_id: StoredJob;
  match_jobs: StoredJob;
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
  attempts_of_job: StoredAttempt;
  ids_of_keys: { readonly key: number; readonly id: JobId };
  facts_of_keys: StoredFacts;
  promote_due: { readonly moved: number; readonly next_due_ms: number | null };
  closed_gates: {
    readonly name: number;
    readonly until: number | null;
    readonly reason: string;
    readonly by: string | null;
  };
  state_of: StateRow;
  find_worker: { readonly id: JobId };
  find_dead_letter: StoredLetter;
  list_dead_letters: StoredLetter;
  expired_keys: KeyRow & {
    /** Of the stretch in which it was looked for. */
    readonly turn: number;
    readonly at: number;
    /** A job; else up to where the stretch was looked through. */
    readonly is_found: boolean;
    /** The stretch goes on there. */
    readonly is_cut: boolean;
  };
  jobs_by_keys: StoredJob;
  insert_stale: KeyRow;
  prune_jobs: CountRow & {
    /** Jobs that have to wait: those before them have too many units. */
    readonly waiting: number;
  };
  prune_idempotency: CountRow & { readonly last: number };
  table_health: TableHealth;
  oldest_transaction: {
    readonly pid: number;
    readonly state: string;
    readonly application: string;
    readonly ms: number;
  };
  schema_objects: SchemaObject;
  schema_version: { readonly version: number };
  lost_jobs: { readonly id: JobId };
  ownerless_leases: {
    readonly number: number;
    readonly worker: JobId;
    readonly id: JobId | null;
  };
  places_without_job: { readonly place: Place; readonly key: number };
  places_against_ledger: {
    readonly place: Place;
    readonly key: number;
    readonly id: JobId;
    readonly is_over: boolean;
    readonly is_held: boolean;
    readonly is_twin: boolean;
    readonly next_n: number;
  };
  server_settings: { readonly version: string; readonly autovacuum: boolean };
  number_events: { readonly seen: number };
  feed_end: { readonly position: number };
  feed_after: {
    readonly position: number;
    readonly kind: number;
    readonly at: number;
    readonly keys: number[] | null;
    readonly ids: JobId[] | null;
    readonly details: string | null;
  };
  put_units: { readonly key: number; readonly phase: string };
  crowded_phases: { readonly key: number; readonly phase: string };
  insert_phases: { readonly key: number; readonly name: string };
  phases_of_job: PhaseResult;
  ended_units: UnitRow;
  checkpoints_of_job: StoredCheckpoints;
  progress_of_job: StoredProgress & KeyRow;
  unit_counts: UnitCount;
  units_of_job: StoredUnit;
  holders_of_unit: StoredHolder;
  log_after: StoredLog;
  newest_log: StoredLog;
  open_dependencies: { readonly id: JobId };
  lock_holder: { readonly id: JobId };
}
