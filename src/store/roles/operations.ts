/** Bulk operations: who starts and stops them, and who applies their chunks. */
import type { JobId } from "../../core/job.ts";
import type { Act } from "../types/audit.ts";
import type { DueTime } from "../types/jobs-and-runs.ts";
import type {
  ChunkAnswer,
  ItemOutcome,
  NewOperation,
  OperationChunk,
  OperationError,
  OperationId,
  OperationItem,
  OperationQuery,
  OperationRecord,
  PlaceAnswer,
  RunnerId,
} from "../types/operations.ts";

export interface OperationStore {
  /**
   * Stores an operation, which a runner begins. Jobs that are enqueued from now on do not belong to
   * it. A repeat with the same id changes nothing. Rejected with OPERATIONS_TOO_MANY if the
   * tenant has too many open operations, or for an operation without a tenant, if there are too
   * many of these.
   */
  startOperation(operation: NewOperation): Promise<OperationRecord>;
  /**
   * The operations that this runner holds from now on: of the open ones whose next chunk is due
   * first, as many as may run at the same time, those that no living runner holds. Pending ones are
   * running from now on.
   */
  claimOperations(runner: RunnerId): Promise<readonly OperationRecord[]>;
  /**
   * Applies the action to the items of a chunk, stores what became of each, and moves the cursor,
   * in one transaction. Only for the runner that holds the operation, and only at its cursor: so a
   * chunk is applied once. An item that is refused changes nothing and says why.
   */
  applyChunk(id: OperationId, chunk: OperationChunk): Promise<ChunkAnswer>;
  /** Ends an operation before its next chunk. Answers the operation; null: there is none. */
  stopOperation(id: OperationId, by: string): Promise<OperationRecord | null>;
  /** Ends an operation that its runner cannot continue. Answers whether the runner held it. */
  failOperation(id: OperationId, runner: RunnerId, error: OperationError): Promise<boolean>;
  operation(id: OperationId): Promise<OperationRecord | null>;
  /** Newest first. */
  operations(
    query: OperationQuery,
    page: { readonly after?: OperationId; readonly limit: number },
  ): Promise<readonly OperationRecord[]>;
  /** In the order of the walk, after item number `after`. */
  operationItems(
    id: OperationId,
    page: { readonly after: number; readonly limit: number; readonly outcome?: ItemOutcome },
  ): Promise<readonly OperationItem[]>;
  /**
   * Gives a waiting job another priority, for its next start. A retry, and a job that comes back
   * from a worker, has the priority of the enqueue again.
   */
  setPriority(id: JobId, priority: number, act?: Act): Promise<PlaceAnswer>;
  /** Makes a waiting job due at another time. */
  reschedule(id: JobId, due: DueTime, act?: Act): Promise<PlaceAnswer>;
}
