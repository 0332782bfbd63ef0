/** What the store tells readers and operators: jobs, attempts, gates, dead letters, the feed. */
import type { ErrorClass, FinalState, JobId, JsonText, State } from "../../core/job.ts";
import type { Fault, OutcomeName, RunFacts } from "../../core/outcome.ts";
import type { EnqueueAnswer, JobKey, WorkerId } from "./jobs-and-runs.ts";

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

/** A closed gate, a concurrency key that another job has, or jobs that are not final yet. */
export type HeldBy =
  | GateName
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "after" };

export type CancelAnswer =
  | { readonly status: "cancelled" }
  | { readonly status: "requested" }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "unknown" };

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

/** The part of a job that never changes: what was asked for. */
export interface JobSpec {
  readonly id: JobId;
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
  readonly onOrphan: RunFacts["onOrphan"];
  readonly retryOwner: RunFacts["retryOwner"];
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly createdAt: number;
  /** First planned time; a retry does not change it. */
  readonly scheduledAt: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
}

export interface JobRecord extends JobSpec {
  readonly key: JobKey;
  readonly state: State;
  /** Planned time of the next run, while it waits. */
  readonly runAt: number | null;
  /** Attempts charged so far. */
  readonly attempts: number;
  readonly crashes: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly result: JsonText | null;
  readonly fault: Fault | null;
  /** The phase that its last run was in, and how far the whole had come; null: nobody told. */
  readonly phase: string | null;
  readonly overall: number | null;
  /** Why it was cancelled, if somebody said. */
  readonly cancelReason: string | null;
  /** What holds a queued job back, as far as it was moved out of the way for it. */
  readonly heldBy: HeldBy | null;
  /** It has ended so long ago that it will be removed; see {@link JobStore.markStale}. */
  readonly isStale: boolean;
  readonly cancelRequested: boolean;
}

export interface AttemptRecord {
  readonly n: number;
  /** Attempts and crashes charged so far, with this one. */
  readonly tries: number;
  readonly crashes: number;
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
export interface DeadLetterRecord {
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded";
  readonly fault: Fault;
  readonly attempts: number;
  readonly diedAt: number;
  /** Who looked at it last, when, and what they wrote. */
  readonly reviewedBy: string | null;
  readonly reviewedAt: number | null;
  readonly notes: string | null;
  /** The job that took its place, once it was reprocessed. */
  readonly successor: JobId | null;
  /** The job as it was asked for. */
  readonly spec: JsonText;
}

export interface DeadLetterQuery {
  readonly status?: DeadLetterRecord["status"];
  readonly type?: string;
  readonly tenant?: string;
}

/** What a person decided about a dead letter. */
export interface Review {
  readonly status: "acknowledged" | "discarded";
  readonly by: string;
  readonly notes: string | null;
}

export type ReviewAnswer =
  | { readonly status: "reviewed"; readonly letter: DeadLetterRecord }
  /** It is beyond that: reprocessed and discarded letters do not change. */
  | { readonly status: "closed"; readonly letter: DeadLetterRecord }
  | { readonly status: "unknown" };

export type ReprocessAnswer =
  | {
      readonly status: "reprocessed";
      readonly letter: DeadLetterRecord;
      readonly answer: EnqueueAnswer;
    }
  | { readonly status: "closed"; readonly letter: DeadLetterRecord }
  | { readonly status: "unknown" };

/** A worker as operators see it. */
export interface WorkerRecord {
  readonly id: WorkerId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly joinedAt: number;
  /** The end of its lease by the store's clock; in the past when it is silent. */
  readonly until: number;
  /** Heartbeats so far: a rescuer that does not trust clocks watches this number. */
  readonly beats: number;
  readonly quiet: boolean;
  /** What it takes, as it said when it joined. */
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  readonly slots: number;
  readonly tenant: string | null;
  /** Jobs it holds that have begun, and those that wait in its buffers. */
  readonly running: number;
  readonly buffered: number;
}

/** A glance at the whole (004-16). Counts stop at a limit. */
export interface Stats {
  readonly scheduled: number;
  readonly queued: number;
  readonly held: number;
  readonly running: number;
  readonly failed: number;
  /** How long the job that is due longest has waited; `null` when none waits. */
  readonly oldestQueuedMs: number | null;
}

/** What an operator's verb did to a job. */
export type InterveneAnswer =
  | { readonly status: "done"; readonly state: State }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "unknown" };

/**
 * Something that happened to a batch of jobs, in the order of commits. `jobs` are those that still
 * exist; the removed ones are named by `job:deleted`.
 */
export interface FeedEntry {
  readonly position: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly jobs: readonly JobId[];
  /**
   * What there is to say about each of them: a {@link PhaseDetail} or a {@link ProgressDetail}.
   * Null: nothing.
   */
  readonly details: readonly JsonText[] | null;
  /** Of a kind that it was asked for: what there is to know of each; null: it has just gone. */
  readonly facts?: readonly (JobFacts | null)[];
}

/** What listeners are told of a job that the feed itself does not keep. */
export type JobFacts = Pick<
  JobRecord,
  "type" | "state" | "attempts" | "runAt" | "finishedAt" | "fault"
>;

/** The detail of `job:phase:completed`. */
export interface PhaseDetail {
  readonly phase: string;
}

/** The detail of `job:progress`. */
export interface ProgressDetail {
  readonly phase: string | null;
  readonly percent: number;
  readonly overall: number;
  /** As JSON text: it is passed on unread. */
  readonly data: JsonText | null;
}

export type EventKind =
  | "job:enqueued"
  | "job:started"
  | "job:progress"
  | "job:phase:completed"
  | "job:completed"
  | "job:retrying"
  | "job:failed"
  | "job:cancelled"
  | "job:stale"
  | "job:deleted";

/** How long jobs are spared after their end, as lengths before the store's now. */
export interface Periods {
  readonly finishedMs: Readonly<Record<FinalState, number>>;
  /** Of types that have their own. */
  readonly types?: Readonly<Record<string, Readonly<Record<FinalState, number>>>>;
}

/** A place in the order of ends: by the instant, then by the key. */
export interface EndPlace {
  readonly at: number;
  readonly key: JobKey;
}

/** Which of the jobs that have expired their period are asked for. */
export interface ExpiredPage {
  /** Only those that are not marked as stale yet. */
  readonly fresh: boolean;
  readonly limit: number;
  /** Those behind this place; null begins a sweep. */
  readonly from: EndPlace | null;
}

export interface ExpiredJobs {
  /** Longest ended first. */
  readonly jobs: readonly JobRecord[];
  /** Up to where it looked: the next call goes on from there. Null: the sweep is at its end. */
  readonly next: EndPlace | null;
}

/** How long finished things stay. */
export interface Retention extends Periods {
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
