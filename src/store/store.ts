/**
 * The store port: what the rest of Millrace asks of a database. `roles/` has the verbs by the part
 * that uses them; `types/` has what they take and answer.
 *
 * Each verb is one transaction, named after what happens to the job, and says in its answer what
 * really happened. No verb waits for work and none decides about retries: settlements come
 * ready-made from `core/settle.ts`. Two rules hold for all of them:
 *
 * - **The store's clock** decides what is due and what has expired. Callers hand in lengths
 *   (`delayMs`, `leaseMs`), never their own idea of now.
 * - **The lease fences.** What a worker writes about a running job is accepted only while its lease
 *   stands and the job has no ledger row for that run; otherwise the answer is `stale` and nothing
 *   changes.
 *
 * A behaviour that is not in `test/conformance/` does not exist.
 */
import type { OperatorStore } from "./roles/operator.ts";
import type { Producer } from "./roles/producer.ts";
import type { Reader } from "./roles/reader.ts";
import type { RetentionStore } from "./roles/retention.ts";
import type { WorkerStore } from "./roles/worker.ts";

/** A store as users hold it: made by `sqliteStore()`, handed to `openMillrace()`. */
export interface Store {
  readonly "~store": true;
}

export interface JobStore
  extends Store, Producer, WorkerStore, OperatorStore, Reader, RetentionStore {
  /** Opens and migrates. Every other verb before it, or after `close`, is refused. */
  open(): Promise<void>;
  /** Lets accepted writes finish, then closes. Harmless when repeated. */
  close(): Promise<void>;
  /**
   * Calls `listener` when a job has changed, in this process or in another. A wake-up is a hint:
   * it may come without a change.
   */
  watch(listener: (wakeUp: WakeUp) => void): () => void;
  /** Reports each warning for operators once, such as that wake-ups do not arrive. */
  onWarning?(listener: (warning: string) => void): void;
}

/** Most jobs that one claim takes, one lease holds, and the worker settles at once. */
export const BATCH_MAX = 500;

/**
 * The protocol that this release speaks with a store. A migration that workers of older releases
 * cannot live with raises the least one that the store accepts.
 */
export const PROTOCOL = 1;

/**
 * `work`: a job may be claimable or due. `ready`: a job may be claimable. `events`: the feed has
 * grown.
 */
export type WakeUp = "work" | "ready" | "events";
