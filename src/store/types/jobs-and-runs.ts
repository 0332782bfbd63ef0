/** What producers and workers exchange with the store: new jobs, leases, claims, settlements. */
import type { QuotaRefusal } from "./quotas.ts";
import type { LimitId, PermitCount } from "../../core/control/permits.ts";
import type { ClaimPermits } from "./limits.ts";
import type { JobId, JsonText, State } from "../../core/job.ts";
import type { RunFacts, Settlement } from "../../core/outcome.ts";
import type { NoteBody } from "./notes.ts";

/** The primary key of a job: order and joins inside the store. Never part of the public API. */
export type JobKey = number;
/** Has the form of a job's id; see `core/ids.ts`. */
export type WorkerId = JobId;
/** Has the form of a job's id. */
export type ProcessId = JobId;

// ── Enqueue ──────────────────────────────────────────────────────────────────────────────────────

/** An instant, or a delay from the store's current time. */
export type DueTime = { readonly at: number } | { readonly delayMs: number };

export interface NewJob {
  /** Made by the caller, so that a repeat after a lost answer creates no second job. */
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  readonly due: DueTime;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  readonly payload: JsonText | null;
  readonly payloadVersion: string | null;
  /** `null`: the job starts a chain, and its own id, as a UUID, is the correlation id. */
  readonly correlationId: string | null;
  readonly parentId: JobId | null;
  /**
   * The final job that this job repeats. A final job has at most one successor that is not final: a
   * second one is answered with `existing`.
   */
  readonly retryOf: JobId | null;
  /** Takes over no checkpoints of the job named by `retryOf`. */
  readonly ignoreCheckpoints?: boolean;
  /** A lock: at most one job of a tenant runs with it; see {@link JobStore.acquireLocks}. */
  readonly concurrencyKey: string | null;
  /**
   * The dependencies: jobs that must be final before this job may run, each named once. A
   * dependency that was rejected as a duplicate earlier in the same call stands for the job that
   * holds its key. If retention has removed the key holder, the dependency counts as completed.
   */
  readonly after: readonly JobId[];
  /** What happens to the job when a dependency has failed or was cancelled. */
  readonly onFailed: "cancel" | "run";
  readonly idempotency: IdempotencyKey | null;
  readonly dedup: DedupKey | null;
  readonly webhookUrl: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly onOrphan: RunFacts["onOrphan"];
  readonly retryOwner: RunFacts["retryOwner"];
}

/** The maximum of dependencies of one job. */
export const AFTER_MAX = 1_000;

/** Unique per tenant. Kept after the end of the job. */
export interface IdempotencyKey {
  readonly key: string;
  readonly onConflict: "return-existing" | "error";
  /**
   * The payload as the caller gave it, if a rule has redacted values of it. Requests are compared
   * by its hash; it is not stored.
   */
  readonly givenPayload?: JsonText | null;
}

/** Unique per tenant and type. Held only while the job is not final. */
export interface DedupKey {
  readonly key: string;
  /**
   * What happens to a new job whose key is held. `skip` rejects it as a duplicate. `replace`
   * cancels a waiting holder and creates the new job. `extend` moves a waiting holder to the due
   * time of the new job, which is rejected as a duplicate. While the holder runs, all three act as
   * `skip`.
   */
  readonly onConflict: "skip" | "replace" | "extend";
}

/** One answer per job, in the order given. A refusal concerns its own job only. */
export type EnqueueAnswer =
  | { readonly status: "created"; readonly id: JobId; readonly state: "scheduled" | "queued" }
  | {
      readonly status: "existing";
      readonly id: JobId;
      /** `null`: retention has removed the job; only its idempotency key is left. */
      readonly state: State | null;
      readonly by: "id" | "idempotency" | "dedup" | "successor";
    }
  | RefusedJob;

export interface RefusedJob {
  readonly status: "refused";
  /**
   * `…_CONFLICT`: the same id or key with other content. `IDEMPOTENCY_KEY_USED`: the key may be
   * used once only. `AFTER_UNKNOWN`: a dependency does not exist. `INTAKE_CLOSED`: an operator has
   * closed the intake of such jobs. `QUOTA_EXCEEDED`, `PAYLOAD_OVER_QUOTA`: the tenant has used up
   * its quota. `STORE_REFUSED`: the database refused a value.
   */
  readonly code:
    | "AFTER_UNKNOWN"
    | "ID_CONFLICT"
    | "IDEMPOTENCY_CONFLICT"
    | "IDEMPOTENCY_KEY_USED"
    | "INTAKE_CLOSED"
    | "QUOTA_EXCEEDED"
    | "PAYLOAD_OVER_QUOTA"
    | "STORE_REFUSED";
  /** The job that holds the id or key, or the missing dependency; else the refused job itself. */
  readonly holder: JobId;
  /** With `INTAKE_CLOSED`: the intake that refused the job. */
  readonly intake?: IntakeRecord;
  /** With `QUOTA_EXCEEDED` and `PAYLOAD_OVER_QUOTA`. */
  readonly quota?: QuotaRefusal;
}

/** A closed intake refuses new jobs of producers. An intake that is not listed is open. */
export interface IntakeRecord {
  readonly kind: "lane" | "type" | "tenant" | "installation";
  readonly name: string;
  readonly reason: string;
  readonly by: string | null;
  /** When it was closed. A repeated `closeIntake` does not change it. */
  readonly closedAt: number;
}

// ── Workers and leases ───────────────────────────────────────────────────────────────────────────

/** How many slots a worker has in each of its lanes. */
export type SlotsByLane = Readonly<Record<string, number>>;

export interface WorkerInfo {
  readonly id: WorkerId;
  /** The same for all workers of one operating-system process: they die together. */
  readonly process: ProcessId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The protocol version of the worker. A store that requires a newer one gives it no work. */
  readonly protocol: number;
  readonly leaseMs: number;
  /** The time between two heartbeats. */
  readonly beatMs: number;
  /** The types that it runs. Shown to operators; claims name their types themselves. */
  readonly types: readonly string[];
  /** The lanes in which it has slots. Slots of `general` take jobs of any lane. */
  readonly lanes: readonly string[];
  /** How many jobs it runs at the same time, over all lanes. */
  readonly slots: number;
  readonly laneSlots: SlotsByLane;
  /** `null`: jobs of all tenants. */
  readonly tenant: string | null;
  /** The version of the application; null: it has named none. */
  readonly appVersion: string | null;
  /**
   * An operator has asked the worker to be quiet, and the store has lost its registration since. A
   * worker that is registered stays as the store knows it.
   */
  readonly quiet: boolean;
}

/** Proves a claim. `number` grows with every claim and is the fencing token; `secret` is random. */
export interface Lease {
  readonly number: number;
  readonly secret: string;
}

export interface ClaimRequest {
  readonly worker: WorkerId;
  /**
   * The lanes to claim from. Across lanes the order is still priority, due time, age. Within a
   * priority, jobs that have crashed before come first.
   */
  readonly lanes: readonly string[] | "any";
  readonly limit: number;
  /** Prefetched jobs have not started: each can be returned uncharged until `startPrefetched`. */
  readonly prefetch: boolean;
  /** Only these types and tenants. Absent: all. */
  readonly types?: readonly string[];
  readonly tenants?: readonly string[];
  /** Limits for jobs that have crashed before. Absent: no limit. A prefetch takes none of them. */
  readonly crashed?: CrashedLimits;
  /** The free permits of the worker. Each may be lent to one claim at a time. */
  readonly permits?: readonly PermitCount[];
  /**
   * Only jobs of the lane and priority with the job that has been due longest, if it has been due
   * for longer than this. Jobs that have crashed before are left out.
   */
  readonly olderThanMs?: number;
}

/**
 * How many jobs of a claim may have crashed before. Of the jobs of each kind that nothing blocks,
 * the most urgent up to the limit take part in the claim, over all its lanes. Of each concurrency
 * key, the claim then takes the most urgent job that takes part.
 */
export interface CrashedLimits {
  /** With one crash. */
  readonly once: number;
  /** With more crashes, but fewer than `cap`. */
  readonly often: number;
  /** From this number of crashes on, a job runs alone: only `claimAlone` takes it. */
  readonly cap: number;
}

export interface LoneClaimRequest extends Pick<
  ClaimRequest,
  "worker" | "lanes" | "types" | "tenants" | "permits"
> {
  readonly cap: number;
}

/** A job that must run alone. The job has not started: `startPrefetched` starts it. */
export interface LoneClaim {
  readonly lease: Lease;
  readonly job: ClaimedJob;
  /** The gate of the type is closed because of crashes, and this run is to find out more. */
  readonly isProbe: boolean;
  /** Permits that the worker holds from now on, besides those it has lent. */
  readonly granted?: readonly PermitCount[];
}

export interface Claim {
  /** `null`: nothing was claimed. */
  readonly lease: Lease | null;
  readonly jobs: readonly ClaimedJob[];
  /** The worker's lease has expired, or the worker is unknown: it must register again. */
  readonly lost: boolean;
  /** A job that this claim might take if it could run alone is waiting: ask `claimAlone`. */
  readonly awaitsAlone: boolean;
  /**
   * The claim has taken all jobs that wait in its lanes. False: others may wait. A claim without a
   * job, of as many jobs as requested, or of prefetched jobs does not look.
   */
  readonly tookAll: boolean;
  /** Absent: there are no limits. */
  readonly permits?: ClaimPermits;
}

export interface ClaimedJob extends RunFacts {
  readonly key: JobKey;
  readonly id: JobId;
  /** Number of this run in the ledger. */
  readonly n: number;
  /** The job repeats another job, and may have taken over its checkpoints. */
  readonly isSuccessor: boolean;
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
  /** The limits of which the job uses a permit. Absent: none. */
  readonly limits?: readonly LimitId[];
}

/** The code of runs that have ended in the store; see `reportCode`. */
export interface CodeReport {
  /** Handlers or units of these runs go on. */
  readonly left?: readonly { readonly key: JobKey; readonly n: number }[];
  /** No code of these runs is left. */
  readonly ended?: readonly { readonly key: JobKey; readonly n: number }[];
}

/** How the process of a worker does, as its heartbeat measures it: whole numbers. */
export interface WorkerVitals {
  /** The resident memory of the process. */
  readonly memoryBytes: number;
  /** The largest delay of its event loop since the heartbeat before. Null: not known. */
  readonly loopLagMs: number | null;
}

export type Renewal =
  | {
      readonly status: "renewed";
      /** The store's time, so that the worker can detect a clock that jumped or differs. */
      readonly now: number;
      /** Cancel requests for jobs of this worker. */
      readonly cancel: readonly {
        readonly key: JobKey;
        readonly n: number;
        readonly reason: string | null;
      }[];
      /** The worker holds runs that have not ended. */
      readonly busy: boolean;
      /** An operator has asked the worker to take no new work. */
      readonly quiet: boolean;
      /** An operator has asked the worker to stop. */
      readonly stop: boolean;
      /** The store requires a newer protocol and gives the worker no more work. */
      readonly outdated: boolean;
      /**
       * Runs of this worker that have ended, by an operator or a time limit, and whose end of code
       * the worker has not reported.
       */
      readonly ended: readonly { readonly key: JobKey; readonly n: number }[];
    }
  | { readonly status: "lost" };

export interface SettleItem {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
  readonly settlement: Settlement;
  /** Stored with the settlement, if that is accepted. */
  readonly note?: Omit<NoteBody, "children">;
  /** Jobs enqueued with the settlement, if that is a success; see {@link NoteBody.children}. */
  readonly children?: readonly NewJob[];
}

/**
 * `missing`: the row of the job was deleted by hand. The run has left its lease, and nothing else
 * was stored. A {@link StoreRefusal}: nothing has changed. The run still holds its lease and needs
 * another settlement.
 */
export type SettleAnswer = "settled" | "stale" | "missing" | StoreRefusal;

/** The database refused a value of the item, or one of its children was refused. */
export type StoreRefusal = "refused" | RefusedChild;

/** The answer of {@link JobStore.enqueue} to the first refused child. */
export interface RefusedChild extends RefusedJob {
  readonly child: JobId;
}

/**
 * A worker whose lease has expired. `beats` is its heartbeat counter: a rescue with an older
 * counter does nothing.
 */
export interface SilentWorker {
  readonly id: WorkerId;
  readonly beats: number;
  readonly silentMs: number;
}

export interface RescueRequest {
  readonly worker: WorkerId;
  readonly beats: number;
  /** The maximum of jobs to move in this transaction. */
  readonly limit: number;
  /**
   * Decides the settlement of a started job; see `core/settle.ts`. `isAlone`: all workers of the
   * process had begun this run and no other. The number of begun runs is stored by the first rescue
   * of a worker of the process, before any of them is moved.
   */
  readonly decide: (job: CrashFacts, isAlone: boolean) => Settlement;
}

/** A run beyond its time limit, with the lease that allows to settle it. */
export interface OverdueRun {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
  readonly limitMs: number;
  /** By the store's clock, which may have jumped since the start. */
  readonly ranMs: number;
  readonly facts: CrashFacts;
}

/** A module that exports `makeThreadStore(options): ThreadStore`. */
export interface ThreadEntry {
  readonly module: string;
  readonly options: object;
  /** False: the store of this process is unusable, so the thread must renew no more leases. */
  readonly isValid?: () => boolean;
}

/** What the decision about a crashed run depends on. */
export interface CrashFacts extends RunFacts {
  readonly id: JobId;
  readonly type: string;
}

/** A run that an operator ends. */
export interface InterveneFacts extends CrashFacts {
  /** A worker whose lease has not expired holds the job. */
  readonly isHeld: boolean;
  /** False: the job waits, or it is prefetched and its handler has not been called. */
  readonly hasStarted: boolean;
}

export interface RescueAnswer {
  /** Prefetched jobs that were returned without a charge. */
  readonly returned: number;
  /** Started jobs that were settled, and their new state. */
  readonly settled: readonly { readonly id: JobId; readonly to: State }[];
  /** Jobs without a row, which was deleted by hand. Their runs were removed from the leases. */
  readonly missing: readonly JobKey[];
  /** False: the worker has renewed its lease, or jobs remain; ask {@link JobStore.silent} again. */
  readonly done: boolean;
}
