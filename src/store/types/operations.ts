/** Bulk operations: what is done to many jobs or dead letters, chunk by chunk. */
import type { FinalState, JobId } from "../../core/job.ts";
import type { DueTime, NewJob } from "./jobs-and-runs.ts";
import type { DeadLetterQuery } from "./letters.ts";
import type { ListFilter } from "./lists.ts";

/** How many operations run at the same time. */
export const OPERATIONS_RUNNING_MAX = 4;
/** How many operations of one tenant may be open, and how many without a tenant. */
export const OPERATIONS_TENANT_MAX = 20;
export const OPERATIONS_OPEN_MAX = 100;
/** The maximum number of items that one transaction changes. */
export const OPERATION_CHUNK_MAX = 500;
/** The maximum number of ids that one operation names. */
export const OPERATION_IDS_MAX = 10_000;
/** How long a runner holds an operation after its last chunk. */
export const OPERATION_LEASE_MS = 10_000;
/** How long an operation is kept after its end, with its items. */
export const OPERATION_KEPT_MS: number = 30 * 24 * 60 * 60 * 1_000;

/** Ids of operations have the form of job ids. */
export type OperationId = string;
/** A process that applies chunks. */
export type RunnerId = string;

export type OperationStatus = "pending" | "running" | "completed" | "stopped" | "failed";

export type JobAction =
  | { readonly action: "cancel" | "retry" | "delete" }
  | { readonly action: "priority"; readonly priority: number }
  | { readonly action: "reschedule"; readonly due: DueTime };

export interface LetterAction {
  readonly action: "reprocess" | "discard" | "acknowledge";
}

/** The action and its set: the jobs or letters of a filter, or ids. */
export type OperationPlan =
  | (JobAction & { readonly jobs: ListFilter })
  | (LetterAction & { readonly deadLetters: DeadLetterQuery })
  | ((JobAction | LetterAction) & { readonly ids: readonly JobId[] });

export interface NewOperation {
  readonly id: OperationId;
  readonly plan: OperationPlan;
  /** Null: all tenants. Else only jobs and letters of this tenant are changed. */
  readonly tenant: string | null;
  readonly actor: string;
  readonly reason: string;
  /** Items per second. */
  readonly rate: number;
  /** Items per chunk. */
  readonly chunk: number;
  /** How many items matched shortly before, for the progress. */
  readonly expected: number;
  readonly isExpectedExact: boolean;
}

export interface OperationRecord extends NewOperation {
  readonly status: OperationStatus;
  /**
   * Where the next chunk begins. Of jobs: below this key. Of letters: behind the letter that died
   * at this time with this id, or below this time. Of ids: at this place of the list.
   */
  readonly cursor: string;
  /** The items so far: `done`, `failed`, and `skipped` by reason. */
  readonly items: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** How long until the rate allows the next chunk, by the store's clock. */
  readonly nextMs: number;
  readonly stoppedBy: string | null;
  readonly error: OperationError | null;
}

export interface OperationError {
  readonly name: string;
  readonly message: string;
}

/** One item of a chunk. */
export interface ChunkItem {
  readonly id: JobId;
  /** The job that repeats a final job or a dead letter. */
  readonly successor?: NewJob;
  /** The item is skipped, or has failed, before the store is asked: why. */
  readonly skip?: string;
  readonly fail?: string;
}

export interface OperationChunk {
  readonly runner: RunnerId;
  /** The cursor at which the items begin. */
  readonly from: string;
  /** The cursor of the next chunk; null: the walk has ended. */
  readonly to: string | null;
  readonly items: readonly ChunkItem[];
  /**
   * How long an idempotency key outlives a deleted job, counted from the end of the job, unless a
   * worker has declared a longer period.
   */
  readonly idempotencyMs: number;
}

/**
 * `moved`: nothing was changed, because the operation is at another cursor, is held by another
 * runner, or has ended. `again`: parts of large jobs were deleted, and the same chunk follows.
 */
export type ChunkAnswer =
  | { readonly status: "applied"; readonly operation: OperationRecord }
  | { readonly status: "moved" }
  | { readonly status: "again" };

export type ItemOutcome = "done" | "skipped" | "failed";

export interface OperationItem {
  /** From 1, in the order of the walk. */
  readonly n: number;
  readonly id: JobId;
  readonly outcome: ItemOutcome;
  /** Why the item was skipped, or the code of its error. */
  readonly code: string | null;
  /** The new job that repeats the item; for a skipped item, the job that stands in its way. */
  readonly successor: JobId | null;
}

export interface OperationQuery {
  readonly status?: OperationStatus;
  readonly tenant?: string;
}

/** A waiting job was changed; or why it was not. */
export type PlaceAnswer =
  | { readonly status: "done"; readonly state: "scheduled" | "queued" }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "running" | "unknown" };
