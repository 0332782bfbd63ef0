/** What goes into the store and out to workers: new jobs, leases, claims, ends of runs. */
import type { JobId, JsonText, State } from "../../core/job.ts";
import type { RunFacts, Settlement } from "../../core/outcome.ts";
import type { NoteBody } from "./notes.ts";

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
  /**
   * The final job that this one repeats. It has at most one living successor: a second is
   * `existing`.
   */
  readonly retryOf: JobId | null;
  /** It takes over nothing of what that job has completed. */
  readonly afresh?: boolean;
  /** At most one job of a tenant runs under it at a time; see {@link JobStore.acquireLocks}. */
  readonly concurrencyKey: string | null;
  /**
   * Jobs that must be final before this one may run, each named once. One that stands earlier in
   * the same call and gave way to another because of a key stands for that one, or, if retention
   * has removed it, for nothing.
   */
  readonly after: readonly JobId[];
  /** What becomes of it when one of those has failed or was cancelled. */
  readonly onFailed: "cancel" | "run";
  readonly idempotency: IdempotencyKey | null;
  readonly dedup: DedupKey | null;
  readonly webhookUrl: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly onOrphan: RunFacts["onOrphan"];
  readonly retryOwner: RunFacts["retryOwner"];
}

/** Most jobs that one job may run after. */
export const AFTER_MAX = 1_000;

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
      /** `null`: the key expired its job, which retention has removed. */
      readonly state: State | null;
      readonly by: "id" | "idempotency" | "dedup" | "successor";
    }
  | RefusedJob;

export interface RefusedJob {
  readonly status: "refused";
  /**
   * Same id or key, other content (`…_CONFLICT`), a key that may be used only once, a job to run
   * after that there is not, or a value that the database does not take.
   */
  readonly code:
    | "AFTER_UNKNOWN"
    | "ID_CONFLICT"
    | "IDEMPOTENCY_CONFLICT"
    | "IDEMPOTENCY_KEY_USED"
    | "STORE_REFUSED";
  /** The job that stands in the way, or is missing; the refused one itself where none is. */
  readonly holder: JobId;
}

// ── Workers and leases ───────────────────────────────────────────────────────────────────────────

export interface WorkerInfo {
  readonly id: WorkerId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The store protocol it speaks; a store that demands a newer one gives it no work. */
  readonly protocol: number;
  readonly leaseMs: number;
  /** What it takes: for people who wonder why a job waits. What it asks for is in its claims. */
  readonly types: readonly string[];
  /** The lanes in which it has slots; those of `general` take jobs of any lane. */
  readonly lanes: readonly string[];
  /** How many jobs it runs at once, in all lanes together. */
  readonly slots: number;
  /** `null`: jobs of all tenants. */
  readonly tenant: string | null;
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
  /** Jobs of a prefetch have not begun: each goes back uncharged until {@link JobStore.start}. */
  readonly prefetch: boolean;
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
      /** The store's clock, so that a caller can tell when it jumps or when its own is wrong. */
      readonly now: number;
      /** Jobs of this worker that somebody asked to cancel. */
      readonly cancel: readonly {
        readonly key: JobKey;
        readonly n: number;
        readonly reason: string | null;
      }[];
      /** Somebody has asked it to take no new work. */
      readonly quiet: boolean;
      /** The store demands a newer protocol, so it gives the worker no more work. */
      readonly outdated: boolean;
      /** Runs of this worker that somebody else has ended: by hand, or its own heartbeat thread. */
      readonly ended: readonly { readonly key: JobKey; readonly n: number }[];
    }
  | { readonly status: "lost" };

export interface SettleItem {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
  readonly settlement: Settlement;
  /** What is kept with this end, if it is accepted. */
  readonly note?: Omit<NoteBody, "children">;
  /** Jobs that come into being with this end, if it is a success: as those of a note. */
  readonly children?: readonly NewJob[];
}

/** A {@link Refusal}: nothing has changed; the run is still held and must be settled otherwise. */
export type SettleAnswer = "settled" | "stale" | Refusal;

/** The database does not take a value in it, or one of its children was refused. */
export type Refusal = "refused" | RefusedChild;

/** What {@link JobStore.enqueue} would have answered to the first of the children to be refused. */
export interface RefusedChild extends RefusedJob {
  readonly child: JobId;
}

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
  /**
   * The pure decision for a job that was marked as started; see `core/settle.ts`. Jobs are marked
   * in waves, just before they begin, so a worker that dies at once leaves marks of runs that never
   * began. A run is certain when the worker has marked others after it, when it was alone in the
   * last wave, or when it has been given the benefit of the lost claim before.
   */
  readonly decide: (job: CrashFacts, isCertain: boolean) => Settlement;
}

/** A run beyond its time limit, with the proof that allows to end it. */
export interface OverdueRun {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
  readonly limitMs: number;
  /** By the store's clock, which may have jumped since. */
  readonly ranMs: number;
  readonly facts: CrashFacts;
}

/** A module that exports `makeThreadStore(options): JobStore`. */
export interface ThreadEntry {
  readonly module: string;
  readonly options: object;
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
