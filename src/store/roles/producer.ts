/** What an application does: it enqueues jobs. */
import type { EnqueueAnswer, NewJob } from "../types/jobs-and-runs.ts";

export interface ProducerStore {
  /**
   * Stores jobs. Resolves once they are durable, with one answer per job in the order given.
   * Overlapping calls share one commit. The jobs of one call are created in the order given, which
   * also decides which of them takes a key and which is claimed first. A job that the database
   * refuses is refused alone. A new job whose intake is closed is refused alone and leaves nothing
   * behind.
   */
  enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;
  /**
   * Stores jobs in a transaction that the caller has open on the same database. The jobs exist if
   * and when that transaction commits; no wake-up is sent. A `tx` of another kind or database is
   * rejected with TX_INVALID. If the database refuses one of the jobs, the call is rejected with
   * STORE_REFUSED and stores none of them. If one of the jobs has a key, the caller's transaction
   * then stays usable.
   */
  enqueueInTransaction(tx: unknown, jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;
}
