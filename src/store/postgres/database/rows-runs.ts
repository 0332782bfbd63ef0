/** The rows of claim, lease, settle and worker queries. */
import type { JobId } from "../../../core/job.ts";
import type { StoredSpec } from "../../shared/decode-jobs.ts";

/** What a decision about a job may look at. */
export interface FactsRow {
  readonly id: JobId;
  readonly type_name: string;
  readonly max_attempts: number;
  readonly flags: number;
  readonly tries: number;
  readonly crashes: number;
}

/** A run that a lease names. */
export interface RunRow {
  readonly fence: number;
  readonly key: number;
  readonly n: number;
  /** Where it lay in `ready`, so that it can be put back there. */
  readonly rank: number;
  readonly claimed_at: number;
  /** Null while it only lies in the worker's prefetch. */
  readonly started_at: number | null;
  /** It has a ledger row. */
  readonly ended: boolean;
}

interface WorkerRow {
  readonly id: JobId;
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
  readonly quiet: boolean;
  readonly running: number;
  readonly buffered: number;
}

export interface Barriers {
  /** There are gates, and jobs that were moved away from some. */
  readonly gates: boolean;
  readonly held: boolean;
  /** InternedNames are taken, and jobs were moved away because their key is one of them. */
  readonly names: boolean;
  readonly wanted: boolean;
}

export interface WorkRows {
  lock_leases: { readonly number: number; readonly secret: string };
  own_lease: { readonly number: number };
  own_lease_of_job: { readonly number: number; readonly worker: JobId };
  own_leases_of_worker: { readonly number: number };
  runs_of_leases: RunRow;
  job_facts: FactsRow & {
    readonly key: number;
    readonly lane: number;
    readonly priority: number;
    readonly type: number;
    readonly tenant: number;
    readonly concurrency: string | null;
  };
  start_runs: {
    readonly held: boolean;
    readonly begun: readonly number[];
    readonly asked: readonly number[];
  };
  insert_attempts: { readonly key: number; readonly next_run_at: number | null };
  find_fences: {
    readonly key: number;
    readonly n: number;
    readonly fence: number | null;
    readonly outcome: number;
  };
  end_runs: { readonly freed: boolean; readonly awaited: boolean };
  locks_of_run: { readonly name: string };
  release_locks: { readonly count: number };
  barriers_in_use: Barriers;
  free_dead_locks: { readonly count: number };
  dependencies_in_use: { readonly waiting: boolean; readonly ended: boolean };
  sweep_dependencies: { readonly job: number; readonly depends_on: number };
  take_finished_dependencies: { readonly key: number; readonly is_over: boolean };
  dependants_of: { readonly key: number };
  lock_dependants: { readonly key: number };
  /** Null: the job that it was to run after is gone. */
  spoilt_dependants: {
    readonly key: number;
    readonly id: JobId | null;
    readonly state: number | null;
  };
  let_go_on: { readonly count: number };
  find_cancel_requests: { readonly key: number; readonly reason: string | null };
  specs_of: StoredSpec<string> & { readonly key: number };
  renew_worker: {
    readonly now: number;
    readonly quiet: boolean;
    readonly outdated: boolean;
    /** Lists as JSON; null when they are empty. */
    readonly cancel: string | null;
    readonly ended: string | null;
  };
  lock_worker: { readonly id: JobId };
  lock_silent_worker: { readonly id: JobId };
  silent_workers: { readonly id: JobId; readonly beats: number; readonly silent_ms: number };
  list_workers: WorkerRow;
  overdue_runs: FactsRow & {
    readonly number: number;
    readonly secret: string;
    readonly key: number;
    readonly n: number;
    readonly limit_ms: number;
    readonly ran_ms: number;
  };
}

/** A row of a claim. The first is about the batch, the others are its jobs, in any order. */
export type ClaimTuple = readonly [
  lost: boolean,
  /** Of the first row: the number of the lease; null if nothing was taken. */
  key: number | null,
  /** Null in the first row alone. */
  id: JobId | null,
  created_at: number,
  /** Type, tenant, lane, priority, most attempts, flags and perhaps a time limit. */
  kind: string,
  /** Of the first row: the lists of the lease. */
  payload: string | null,
  payload_version: string | null,
  correlation: string | null,
  parent: JobId | null,
  concurrency: string | null,
  tags: string | null,
];

/** Of every run that a lease names, in its order. */
export type ClaimLists = readonly [
  keys: readonly number[],
  ranks: readonly number[],
  ns: readonly number[],
  tries: readonly number[],
  crashes: readonly number[],
];

/** Those that are read as arrays: the columns in their order. */
export interface WorkTuples {
  claim: ClaimTuple;
  claimed_by: ClaimTuple;
  /** The keys of those that were accepted; whether names are free; whether anybody waits. */
  settle_done: readonly [keys: readonly number[], freed: boolean, awaited: boolean];
}
