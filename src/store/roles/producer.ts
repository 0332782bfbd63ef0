/** What an application does: it hands jobs over. */
import type { EnqueueAnswer, NewJob } from "../types/jobs-and-runs.ts";

export interface Producer {
  /**
   * Resolves once the jobs are durable. Overlapping calls share one commit. The jobs of one call
   * come to be in the order given, also where that decides who takes a key or is claimed first. One
   * that the database does not take is refused by itself.
   */
  enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;
  /**
   * Writes the jobs in a transaction that the caller has open on the same database: they are there
   * if and when it commits, and nobody is woken. What is no such transaction is refused. When the
   * database does not take one of the jobs, the call is rejected with STORE_REFUSED and nothing of
   * it is left; if one of them has a key, the transaction stays as it was and can go on.
   */
  enqueueInTransaction(tx: unknown, jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;
}
