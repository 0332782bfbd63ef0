/**
 * The store port: the durable side of the house.
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
import type { ErrorClass, FinalState, JobId, JsonText, State } from "../core/job.ts";
import type { Fault, OutcomeName, RunFacts, Settlement } from "../core/outcome.ts";

/** A store as users hold it: made by `sqliteStore()`, handed to `openMillrace()`. */
export interface Store {
  readonly "~store": true;
}

/** Order and joins inside the store. Never shown outside the house. */
export type JobKey = number;
/** Made like a job's id; `core/ids.ts` has the form. */
export type WorkerId = JobId;

// ── Enqueue ──────────────────────────────────────────────────────────────────────────────────────

export interface NewJob {
  /** Made by the caller, so that a repeat after a lost answer is harmless. */
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  /** An instant, or a length from the store's now. */
  readonly due: { readonly at: number } | { readonly delayMs: number };
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  readonly payload: JsonText | null;
  readonly payloadVersion: string | null;
  /** `null`: the job is the first of its kind and its own id correlates. */
  readonly correlationId: string | null;
  readonly parentId: JobId | null;
  readonly retryOf: JobId | null;
  readonly concurrencyKey: string | null;
  readonly idempotency: IdempotencyKey | null;
  readonly dedup: DedupKey | null;
  readonly webhookUrl: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly onOrphan: RunFacts["onOrphan"];
  readonly retryOwner: RunFacts["retryOwner"];
}

/** Unique per tenant, kept beyond the end of the job. */
export interface IdempotencyKey {
  readonly key: string;
  readonly onConflict: "return-existing" | "error";
}

/** Unique per tenant and type, only while its job is not final. */
export interface DedupKey {
  readonly key: string;
  /**
   * What the newcomer does when the key is held. `skip` gives way; `replace` cancels a waiting
   * holder and takes its place; `extend` moves a waiting holder to the newcomer's due time. A
   * running holder is never disturbed: then all three give way.
   */
  readonly onConflict: "skip" | "replace" | "extend";
}

/** One answer per job, in the order asked. A refusal concerns its own job alone. */
export type EnqueueAnswer =
  | { readonly status: "created"; readonly id: JobId; readonly state: "scheduled" | "queued" }
  | {
      readonly status: "existing";
      readonly id: JobId;
      /** `null`: the key outlived its job, which retention has removed. */
      readonly state: State | null;
      readonly by: "id" | "idempotency" | "dedup";
    }
  | {
      readonly status: "refused";
      /**
       * Same id or key, other content (`…_CONFLICT`), a key that may be used only once, or a value
       * that the database does not take.
       */
      readonly code:
        | "ID_CONFLICT"
        | "IDEMPOTENCY_CONFLICT"
        | "IDEMPOTENCY_KEY_USED"
        | "STORE_REFUSED";
      /** The job that stands in the way; the refused one itself where none does. */
      readonly holder: JobId;
    };

// ── Workers and leases ───────────────────────────────────────────────────────────────────────────

export interface WorkerInfo {
  readonly id: WorkerId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The store protocol it speaks; a store that demands a newer one gives it no work. */
  readonly protocol: number;
  readonly leaseMs: number;
}

/** Proof of a claim. The number grows with every claim and is the fence; the secret is random. */
export interface Lease {
  readonly number: number;
  readonly secret: string;
}

export interface ClaimRequest {
  readonly worker: WorkerId;
  /** Where to look. Across lanes the order is still priority, due time, age. */
  readonly lanes: readonly string[] | "any";
  readonly limit: number;
  /** Jobs of a buffer have not begun: each goes back uncharged until {@link JobStore.start}. */
  readonly buffer: boolean;
  /** Only these types and tenants. Absent: all. */
  readonly types?: readonly string[];
  readonly tenants?: readonly string[];
}

export interface Claim {
  /** `null` when nothing was taken. */
  readonly lease: Lease | null;
  readonly jobs: readonly ClaimedJob[];
  /** The worker's own lease has run out or it was never known: join anew before asking again. */
  readonly lost: boolean;
}

export interface ClaimedJob extends RunFacts {
  readonly key: JobKey;
  readonly id: JobId;
  /** Number of this run in the ledger. */
  readonly n: number;
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly priority: number;
  readonly payload: JsonText | null;
  readonly payloadVersion: string | null;
  readonly correlationId: string;
  readonly parentId: JobId | null;
  readonly timeoutMs: number | null;
  readonly concurrencyKey: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly runAt: number;
}

export type Renewal =
  | {
      readonly status: "renewed";
      /** Jobs of this worker that somebody asked to cancel. */
      readonly cancel: readonly {
        readonly key: JobKey;
        readonly n: number;
        readonly reason: string | null;
      }[];
      readonly quiet: boolean;
    }
  | { readonly status: "lost" };

export interface SettleItem {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
  readonly settlement: Settlement;
}

/**
 * `refused`: the database does not take a value in it, and nothing has changed; the run is still
 * held and must be settled otherwise.
 */
export type SettleAnswer = "settled" | "stale" | "refused";

/**
 * A worker that has not renewed in time. `beats` is what the rescuer saw: a later beat saves it.
 */
export interface SilentWorker {
  readonly id: WorkerId;
  readonly beats: number;
  readonly silentMs: number;
}

export interface RescueRequest {
  readonly worker: WorkerId;
  readonly beats: number;
  /** Most jobs to move in this transaction. */
  readonly limit: number;
  /** The pure decision for a job that had started; see `core/settle.ts`. */
  readonly decide: (job: CrashFacts) => Settlement;
}

/** What the decision about a crashed run may look at. */
export interface CrashFacts extends RunFacts {
  readonly id: JobId;
  readonly type: string;
}

export interface Rescue {
  /** Unstarted jobs that went back uncharged. */
  readonly returned: number;
  /** Started jobs that went through the settle door, and where they went. */
  readonly settled: readonly { readonly id: JobId; readonly to: State }[];
  /** False: the worker had beaten meanwhile, or more remains; ask {@link JobStore.silent} again. */
  readonly done: boolean;
}

// ── Waiting, gates, operators ────────────────────────────────────────────────────────────────────

export interface Promotion {
  readonly moved: number;
  /** Length until the next job is due; `null` when none waits. */
  readonly nextDueMs: number | null;
}

export interface GateName {
  readonly kind: "lane" | "type" | "tenant";
  readonly name: string;
}

/** What holds jobs back. A gate that is not listed is open. */
export interface Gate extends GateName {
  readonly reason: string;
  readonly by: string | null;
  /** `null`: until somebody opens it. */
  readonly until: number | null;
}

export type CancelAnswer =
  | { readonly status: "cancelled" }
  | { readonly status: "requested" }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "unknown" };

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

export interface JobRecord {
  readonly key: JobKey;
  readonly id: JobId;
  readonly state: State;
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  readonly payload: JsonText | null;
  readonly payloadVersion: string | null;
  readonly correlationId: string;
  readonly parentId: JobId | null;
  readonly retryOf: JobId | null;
  readonly concurrencyKey: string | null;
  readonly idempotencyKey: string | null;
  readonly dedupKey: string | null;
  readonly webhookUrl: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly createdAt: number;
  /** First planned time; a retry does not change it. */
  readonly scheduledAt: number;
  /** Planned time of the next run, while it waits. */
  readonly runAt: number | null;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  /** Attempts charged so far. */
  readonly attempts: number;
  readonly crashes: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly result: JsonText | null;
  readonly fault: Fault | null;
  /** Why it was cancelled, if somebody said. */
  readonly cancelReason: string | null;
  /** The gate that holds a queued job back. */
  readonly heldBy: GateName | null;
  readonly cancelRequested: boolean;
}

export interface AttemptRecord {
  readonly n: number;
  readonly fence: number | null;
  readonly worker: WorkerId | null;
  readonly claimedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number;
  readonly outcome: OutcomeName;
  readonly errorClass: ErrorClass | null;
  readonly fault: Fault | null;
  /** Why it was cancelled. */
  readonly reason: string | null;
  readonly nextRunAt: number | null;
}

export interface ListFilter {
  readonly states?: readonly State[];
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly correlationId?: string;
  readonly parentId?: JobId;
  /** All of these must match. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Page {
  /** Where the page before ended. Newest first, so what follows is older. */
  readonly after?: JobKey;
  readonly limit: number;
}

/**
 * One page. A search looks at a bounded number of candidates, so a page may be short, even empty,
 * and still not be the last: only `next: null` says that nothing follows.
 */
export interface Listing {
  readonly jobs: readonly JobRecord[];
  readonly next: JobKey | null;
}

/**
 * The review record of a failed job, with its own copy of what was asked. It bears the job's id.
 */
export interface DeadLetter {
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded";
  readonly fault: Fault;
  readonly attempts: number;
  readonly diedAt: number;
  /** The job as it was asked for. */
  readonly spec: JsonText;
}

/** Something that happened to a batch of jobs, in the order of commits. */
export interface FeedEntry {
  readonly position: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly jobs: readonly JobId[];
}

export type EventKind =
  | "job:enqueued"
  | "job:started"
  | "job:completed"
  | "job:retrying"
  | "job:failed"
  | "job:cancelled"
  | "job:deleted";

/** How long finished things stay, as lengths before the store's now. */
export interface Retention {
  readonly finishedMs: Readonly<Record<FinalState, number>>;
  readonly deadLetterMs: number;
  /** Counted from the end of the job. */
  readonly idempotencyMs: number;
  readonly eventMs: number;
}

export interface Pruned {
  readonly jobs: number;
  readonly deadLetters: number;
  readonly idempotencyKeys: number;
  readonly events: number;
  /** True when the limit was reached: there may be more. */
  readonly more: boolean;
}

// ── The port ─────────────────────────────────────────────────────────────────────────────────────

export interface JobStore extends Store {
  /** Opens and migrates. Every other verb before it, or after `close`, is refused. */
  open(): Promise<void>;
  /** Lets accepted writes finish, then closes. Harmless when repeated. */
  close(): Promise<void>;

  /** Resolves once the jobs are durable. Overlapping calls share one commit. */
  enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;

  /** Makes a worker known and gives it its first lease. Joining again renews it. */
  join(worker: WorkerInfo): Promise<void>;
  /** The worker is gone on purpose. What it still holds can be rescued at once. */
  leave(worker: WorkerId): Promise<void>;
  /** Extends the worker's lease and tells what was asked of it meanwhile. */
  renew(worker: WorkerId, leaseMs: number): Promise<Renewal>;

  /** Takes due jobs in order of priority, due time and age; never more than asked, none twice. */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Begins jobs of a buffer. `begun` are those that the worker may now run; one that somebody asked
   * to cancel ends here instead. Harmless when repeated.
   */
  start(
    lease: Lease,
    keys: readonly JobKey[],
  ): Promise<{ readonly status: "started" | "stale"; readonly begun: readonly JobKey[] }>;
  /** Unstarted jobs of a buffer go back to their place, uncharged. Answers how many did. */
  handBack(lease: Lease, keys: readonly JobKey[]): Promise<number>;
  /** The one door out of `running`. One answer per item, in the order asked. */
  settle(items: readonly SettleItem[]): Promise<readonly SettleAnswer[]>;

  /** Workers whose lease has run out, longest silent first. */
  silent(limit: number): Promise<readonly SilentWorker[]>;
  /** Takes the jobs of a silent worker back, through the same door as settle. */
  rescue(request: RescueRequest): Promise<Rescue>;

  /** Moves due jobs from `scheduled` to `queued`. */
  promote(limit: number): Promise<Promotion>;
  /** Ends a waiting job, or asks the worker of a running one to stop. */
  cancel(id: JobId, by: string | null, reason: string | null): Promise<CancelAnswer>;

  /** Closes a gate: from the next claim on, nothing behind it starts. */
  pause(
    gate: GateName,
    why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
  ): Promise<void>;
  /** Opens a gate. `release` brings back what `hold` had moved away. */
  resume(gate: GateName): Promise<void>;
  gates(): Promise<readonly Gate[]>;
  /** Moves waiting jobs behind closed gates out of the way of the claim. Answers how many. */
  hold(limit: number): Promise<number>;
  /** Moves held jobs whose gate is open again back to where they are claimed. Answers how many. */
  release(limit: number): Promise<number>;

  get(id: JobId): Promise<JobRecord | null>;
  attempts(id: JobId): Promise<readonly AttemptRecord[]>;
  list(filter: ListFilter, page: Page): Promise<Listing>;
  /** Counts up to `max` and stops there. */
  count(filter: ListFilter, max: number): Promise<number>;
  deadLetter(id: JobId): Promise<DeadLetter | null>;
  /** What happened after `position`, oldest first. */
  feed(position: number, limit: number): Promise<readonly FeedEntry[]>;

  /** Removes what has outlived its retention, oldest first, at most `limit` of each kind. */
  prune(retention: Retention, limit: number): Promise<Pruned>;

  /**
   * Calls `listener` when there may be something new to claim or to promote, put there by this
   * process or by another. A hint: it may come for nothing.
   */
  watch(listener: () => void): () => void;
}
