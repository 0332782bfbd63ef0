/**
 * The store port: the interface between Millrace and a database. `roles/` declares the verbs,
 * grouped by the component that calls them. `types/` declares their arguments and answers.
 *
 * Each verb is one transaction, is named after what happens to the job, and answers what really
 * happened. No verb waits for work. No verb decides about retries: `core/settle.ts` computes the
 * settlement. Two rules hold for all verbs:
 *
 * - **The store's clock** decides what is due and what has expired. Callers pass durations
 *   (`delayMs`, `leaseMs`), never their own time.
 * - **The lease fences.** A write about a running job is accepted only while the lease exists and
 *   the ledger has no row for that run. Otherwise the answer is `stale` and nothing changes.
 *
 * A behaviour that is not in `test/conformance/` does not exist.
 */
import type { AuditStore } from "./roles/audit.ts";
import type { IdentityStore } from "./roles/identity.ts";
import type { OperationStore } from "./roles/operations.ts";
import type { OperatorStore } from "./roles/operator.ts";
import type { ProducerStore } from "./roles/producer.ts";
import type { ReaderStore } from "./roles/reader.ts";
import type { RetentionStore } from "./roles/retention.ts";
import type { ScheduleStore } from "./roles/schedules.ts";
import type { WorkerStore } from "./roles/worker.ts";
import type { TenantReads } from "./types/tenants.ts";

/** A store as users see it: made by `sqliteStore()`, passed to `openMillrace()`. */
export interface Store {
  readonly "~store": true;
}

/** The kind of a database and its name: a file without its folder, without credentials. */
export interface StorePlace {
  readonly kind: "sqlite" | "postgres";
  /** Null: not known. */
  readonly name: string | null;
}

export interface JobStore
  extends
    Store,
    ProducerStore,
    WorkerStore,
    OperatorStore,
    OperationStore,
    ReaderStore,
    RetentionStore,
    ScheduleStore,
    IdentityStore,
    AuditStore {
  /** Opens and migrates the database. Before `open` and after `close`, other verbs are rejected. */
  open(): Promise<void>;
  /** Waits for accepted writes, then closes the database. Safe to repeat. */
  close(): Promise<void>;
  /**
   * Calls `listener` when a job has changed, in this process or in another. Answers a function
   * that removes the listener. Wake-ups are best effort: one may arrive without a change.
   */
  watch(listener: (wakeUp: WakeUp) => void): () => void;
  /** Which database this is. */
  readonly place: StorePlace;
  /** The second line of tenants, behind the filters of the statements. Absent: there is none. */
  readonly tenantReads?: TenantReads;
  /** Reports each warning for operators once, for example that wake-ups do not arrive. */
  onWarning?(listener: (warning: string) => void): void;
}

/** What the heartbeat thread has of a store. */
export type ThreadStore = Pick<JobStore, "open" | "renew" | "overdue" | "reportCode" | "settle">;

/** The maximum of jobs in one claim, in one lease, and in one settle of a worker. */
export const BATCH_MAX = 500;

/**
 * The protocol version of this release. A migration that is incompatible with workers or producers
 * of older releases raises the minimum version that the store accepts.
 */
export const PROTOCOL = 1;

/**
 * `work`: a job may be claimable, due or final. `ready`: a job may be claimable, and
 * `ready:general` names its lane. `final`: a job may be final. `events`: the feed has grown. Each
 * wake-up may come with new events.
 */
export type WakeUp = "work" | "ready" | `ready:${string}` | "final" | "events";
