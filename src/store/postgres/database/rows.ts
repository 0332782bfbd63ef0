/**
 * The shape of the rows that each query answers, beside `sql/postgres/queries`: here those of
 * enqueue, names and places, in `work-rows.ts` what workers ask, in `record-rows.ts` what readers
 * and operators ask.
 */
import type { JobId } from "../../../core/job.ts";
import type { RecordRows } from "./rows-views.ts";
import type { WorkRows, WorkTuples } from "./rows-runs.ts";

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

export interface BodyRow {
  readonly id: JobId;
  readonly type: number;
  readonly tenant: number;
  readonly payload: string | null;
  readonly state: number;
}

export interface NameRow {
  readonly id: number;
  readonly kind: number;
  readonly text: string;
}

/** Every query that answers rows. */
export interface QueryRows extends WorkRows, RecordRows {
  find_names: NameRow;
  names_by_id: NameRow;
  find_bodies: BodyRow;
  states_of: { readonly id: JobId; readonly state: number };
  draw_keys: { readonly key: number };
  take_idempotency: { readonly job_id: JobId };
  find_idempotency: { readonly seeker: JobId; readonly holder: JobId; readonly same: boolean };
  take_dedup: { readonly type: number; readonly job: number };
  find_dedup: {
    readonly type: number;
    readonly seeker: number;
    readonly holder: number;
    readonly id: JobId;
  };
  take_waiting: WaitingRow;
  still_waiting: { readonly key: number };
  end_unstarted: { readonly awaited: boolean };
  find_dependencies: { readonly key: number; readonly id: JobId };
  home: { readonly home: string };
  put_waiting: { readonly key: number; readonly waits: boolean };
}

/** Hot queries, read as arrays: the columns in their order. */
export interface QueryTuples extends WorkTuples {
  /** Whether they wait for their time. */
  enqueue_alike: [later: boolean, told: null];
  /** Those that wait for their time. */
  enqueue: [later: JobId[] | null];
  /** The same, or null: this is another database. */
  enqueue_at_home: [later: JobId[] | null];
  /** How many were made; those that wait for their time; those made, if not all; their keys. */
  insert_jobs: [
    made: number,
    scheduled: readonly JobId[] | null,
    ids: readonly JobId[] | null,
    keys: number[] | null,
  ];
}
