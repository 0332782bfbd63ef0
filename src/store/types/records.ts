/**
 * What the store answers to readers and operators: jobs, attempts, gates, dead letters, the feed.
 */
import type { FailedRunRecord, ReviewEntry } from "./reviews.ts";
import type { ErrorClass, FinalState, JobId, JsonText, State } from "../../core/job.ts";
import type { Fault, OutcomeName, RunFacts } from "../../core/outcome.ts";
import type { EnqueueAnswer, JobKey, SlotsByLane, WorkerId } from "./jobs-and-runs.ts";

// ── Waiting, gates, operators ────────────────────────────────────────────────────────────────────

export interface Promotion {
  readonly moved: number;
  /** Time until the next job is due; null when no job is scheduled. */
  readonly nextDueMs: number | null;
  /**
   * Time until the next probe of a service is due; 0: `claimProbe` may find a job. Null: no breaker
   * waits for a probe.
   */
  readonly probeInMs: number | null;
  readonly waiting: WaitingJobs;
}

/** What else a worker may have to do, so that a poll of an idle store is one statement. */
export interface WaitingJobs {
  /** A job may be claimable. False: no claim would find a job, and no type is to be probed. */
  readonly ready: boolean;
  /** Jobs are behind a gate that is open: `release` moves them. */
  readonly released: boolean;
  /** There are gates, locks or dependencies: a duty may have to move jobs. */
  readonly blocked: boolean;
  /** A slot is due of a schedule that living workers tick: `dueSchedules` may answer it. */
  readonly slotDue: boolean;
  /** Jobs without a turn wait in a fair lane: `giveTurns` looks whether they need one. */
  readonly fair: boolean;
}

/** What a gate holds back. The one gate of the installation has the name `all`. */
export interface GateName {
  readonly kind: "lane" | "type" | "tenant" | "service" | "installation";
  readonly name: string;
}

/** What an intake refuses: a job is not enqueued for a service. */
export interface IntakeName extends GateName {
  readonly kind: Exclude<GateName["kind"], "service">;
}

/** `resumed`: the worker takes work. `stopping`: an operator has asked the worker to stop. */
export type WorkerResumed = "resumed" | "stopping" | "unknown";

/** Jobs that run now, by what they belong to or by their worker. */
export type RunTarget = GateName | { readonly kind: "worker"; readonly name: WorkerId };

/** How many jobs of a target a worker holds, prefetched jobs included. */
export interface RunningJobCount {
  readonly jobs: number;
  /** False: not all of them were counted. */
  readonly isExact: boolean;
  /** Some of them, in no order. */
  readonly ids: readonly JobId[];
  /**
   * Claims under way, which may have read the gates before the last `pause` and may still take
   * jobs. The names are those of the database.
   */
  readonly claims: readonly string[];
}

/** A closed gate, which holds jobs back. A gate that is not listed is open. */
export interface Gate extends GateName {
  readonly reason: string;
  readonly by: string | null;
  /** When it was closed. A repeated `pause` does not change it. */
  readonly closedAt: number;
  /** Null: until it is opened by `resume`. */
  readonly until: number | null;
}

/** How many due jobs of its lane come before a due job. */
export interface CountAhead {
  readonly jobs: number;
  /** False: not all of them were counted. */
  readonly isExact: boolean;
}

/** How many queued jobs a gate holds back, or would. */
export interface CountBehind {
  /** Jobs that no other closed gate holds back. */
  readonly jobs: number;
  /** False: not all of them were counted. */
  readonly isExact: boolean;
  /** Jobs that another closed gate holds back as well. */
  readonly shared: number;
  readonly isSharedExact: boolean;
}

/**
 * A closed gate, a concurrency key that another run holds, a limit that is used up, or dependencies
 * that are not final.
 */
export type HeldBy =
  | GateName
  | { readonly kind: "limit"; readonly of: GateName }
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "after" };

export type CancelAnswer =
  | { readonly status: "cancelled" }
  | { readonly status: "requested" }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "unknown" };

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

/** The part of a job that never changes: what was enqueued. */
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
  /** The first due time; a retry does not change it. */
  readonly scheduledAt: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
}

export interface JobRecord extends JobSpec {
  readonly key: JobKey;
  readonly state: State;
  /** The due time of the next run, while the job waits. */
  readonly runAt: number | null;
  /** Attempts charged so far. */
  readonly attempts: number;
  readonly crashes: number;
  /** How the last run ended. */
  readonly outcome: OutcomeName | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly result: JsonText | null;
  readonly fault: Fault | null;
  /** The phase and the overall progress of the last run; null: no progress was reported. */
  readonly phase: string | null;
  readonly overall: number | null;
  /** The reason given for the cancellation. */
  readonly cancelReason: string | null;
  /**
   * What holds a queued job back. A closed gate does so at once; a taken key and a used-up limit
   * from the moment at which `hold` has moved the job.
   */
  readonly heldBy: HeldBy | null;
  /** The job has expired and will be removed; see {@link JobStore.markStale}. */
  readonly isStale: boolean;
  readonly cancelRequested: boolean;
}

/** The part of a final job that a caller of `wait` gets. */
export interface FinalJob extends Pick<
  JobRecord,
  "id" | "type" | "result" | "fault" | "cancelReason"
> {
  readonly state: FinalState;
}

/** Whether a job has ended. `missing`: there is no such job. */
export type JobEnd =
  | { readonly status: "missing" | "open" }
  | { readonly status: "final"; readonly job: FinalJob };

export interface AttemptRecord {
  readonly n: number;
  /** Attempts and crashes charged so far, this run included. */
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
  /** The reason given for the cancellation of this run. */
  readonly reason: string | null;
  readonly nextRunAt: number | null;
}

/**
 * The review record of a failed job, with its own copy of the job's spec. It has the job's id.
 */
export interface DeadLetterRecord {
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded";
  readonly fault: Fault;
  readonly attempts: number;
  readonly diedAt: number;
  /** The last review: by whom, when, and with which notes. */
  readonly reviewedBy: string | null;
  readonly reviewedAt: number | null;
  readonly notes: string | null;
  /** The job that repeats the failed one, once the letter is reprocessed. */
  readonly successor: JobId | null;
  /** The {@link JobSpec} of the failed job, as JSON. */
  readonly spec: JsonText;
  /** Equal for letters whose jobs failed for the same cause. */
  readonly cause: string;
  /** The person who takes care of the letter. */
  readonly assignedTo: string | null;
  /** The errors of the newest 50 failed runs, oldest first. */
  readonly history: readonly FailedRunRecord[];
  /** What reviewers have done: the newest 100 entries, oldest first. */
  readonly reviews: readonly ReviewEntry[];
}

/** What a person decided about a dead letter. */
export interface Review {
  readonly status: "acknowledged" | "discarded";
  readonly by: string;
  readonly notes: string | null;
}

export type ReviewAnswer =
  | { readonly status: "reviewed"; readonly letter: DeadLetterRecord }
  /** Reprocessed and discarded letters do not change. */
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
  /** The end of its lease by the store's clock; in the past for a silent worker. */
  readonly until: number;
  /** The time until this end by the store's clock; below 0 after the end. */
  readonly leaseLeftMs: number;
  /** The time between two heartbeats, and the time since the last one by the store's clock. */
  readonly beatMs: number;
  readonly beatAgoMs: number;
  /** The heartbeat counter. A rescuer compares it instead of clocks. */
  readonly beats: number;
  readonly quiet: boolean;
  /** An operator has asked it to stop. Then it is quiet as well. */
  readonly stopping: boolean;
  /** What the worker runs, as given when it registered. */
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  readonly slots: number;
  readonly laneSlots: SlotsByLane;
  readonly tenant: string | null;
  /** The version of the application, as given when it registered. */
  readonly appVersion: string | null;
  /** What its last renewals have told; null: none has. */
  readonly memoryBytes: number | null;
  readonly loopLagMs: number | null;
  /** The database role whose session has taken one task from SQL; null: a registered worker. */
  readonly takenBy: string | null;
  /** Jobs under its leases: those that have started, and those that are prefetched. */
  readonly running: number;
  readonly prefetched: number;
  /** Of the started jobs, how many there are of each lane. A lane without any is left out. */
  readonly runningByLane: SlotsByLane;
  /** Of the started jobs, those that had crashed once before, and those with more crashes. */
  readonly crashedOnce: number;
  readonly crashedOften: number;
}

/** The worker that runs a job, or has prefetched it. */
export type JobHolder = Pick<
  WorkerRecord,
  "id" | "host" | "pid" | "until" | "beatMs" | "beatAgoMs"
>;

/**
 * Counts over all jobs (004-16). Each count stops at a limit. A due job behind a closed gate is
 * held as soon as the gate is closed, also if no worker has moved it.
 */
export interface Stats {
  readonly scheduled: number;
  /** Of the scheduled jobs, those that have run before. */
  readonly retrying: number;
  readonly queued: number;
  readonly held: number;
  readonly running: number;
  readonly failed: number;
  /** How long the queued job with the earliest due time has been due; null when there is none. */
  readonly oldestQueuedMs: number | null;
  /** False: the search for the oldest job stopped at its maximum, and an older job may exist. */
  readonly isOldestExact: boolean;
  /** Counts that have not read all jobs, and may be larger. */
  readonly cutShort: readonly CountName[];
}

/** The counts of {@link Stats} for the jobs of one type, lane and tenant. */
export interface JobGroup extends Pick<JobSpec, "type" | "lane" | "tenant"> {
  /** Null: the jobs have none, or were not asked for it. */
  readonly category: string | null;
  readonly scheduled: number;
  /** Of the scheduled jobs, those that have run before. */
  readonly retrying: number;
  readonly queued: number;
  readonly held: number;
  readonly running: number;
  readonly failed: number;
  /** As in {@link Stats}, among the jobs of the group that were read. */
  readonly oldestQueuedMs: number | null;
}

/** How many rows of each place `groupedStats` reads, and how many groups it answers. */
export interface GroupLimits {
  readonly rows: number;
  readonly groups: number;
  /** True: jobs of different categories are in different groups. Costs a read of each job. */
  readonly categories?: boolean;
}

export interface GroupedStats {
  readonly groups: readonly JobGroup[];
  /** Counts that have not read all jobs: they may be larger, and groups may be missing. */
  readonly cutShort: readonly CountName[];
  /** There are more groups. */
  readonly hasMore: boolean;
}

export type CountName = "scheduled" | "queued" | "held" | "running" | "failed";

/** The answer of `intervene` and `hurry`. */
export type InterveneAnswer =
  | { readonly status: "done"; readonly state: State }
  | { readonly status: "final"; readonly state: FinalState }
  | { readonly status: "unknown" };

/**
 * An event of a batch of jobs. Entries are in the order of commits. `jobs` are the jobs that still
 * exist, except in `job:deleted`, which names the removed jobs.
 */
export interface FeedEntry {
  readonly position: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly jobs: readonly JobId[];
  /**
   * One per job: its index in the stored entry, in ascending order. An index into `jobs` changes
   * when a job before it is removed; the place stays, so that a reader can resume inside an entry.
   */
  readonly places: readonly number[];
  /**
   * One {@link PhaseDetail}, {@link ProgressDetail}, {@link UnitsDetail} or {@link DeletedDetail}
   * per job, as JSON. Null: the kind has no details, or the entry is older than its details.
   */
  readonly details: readonly JsonText[] | null;
  /** One per job, if facts of this kind were requested; null: the job was removed. */
  readonly facts?: readonly (JobFacts | null)[];
}

/** Current facts of a job, which the feed itself does not store. */
export type JobFacts = Pick<
  JobRecord,
  | "type"
  | "tenant"
  | "correlationId"
  | "state"
  | "attempts"
  | "runAt"
  | "finishedAt"
  | "fault"
  | "phase"
  | "overall"
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
  /** JSON text, passed on without parsing. */
  readonly data: JsonText | null;
}

/** The detail of `job:unit`: the units of one note that have ended. */
export interface UnitsDetail {
  readonly units: readonly {
    /** Empty: the job has no phases. */
    readonly phase: string;
    readonly unit: string;
    readonly state: "completed" | "failed";
    /** Cut as in lists; null: the unit has completed. */
    readonly fault: Fault | null;
  }[];
}

/**
 * The detail of `job:deleted`: facts of the removed job, without which a reader could not tell
 * whose job it was.
 */
export type DeletedDetail = Pick<JobFacts, "type" | "tenant" | "correlationId">;

export type EventKind =
  | "job:enqueued"
  | "job:started"
  | "job:progress"
  | "job:unit"
  | "job:phase:completed"
  | "job:completed"
  | "job:retrying"
  | "job:failed"
  | "job:cancelled"
  | "job:stale"
  | "job:deleted";

/** How long jobs are kept after their end, in milliseconds before the store's current time. */
export interface Periods {
  readonly finishedMs: Readonly<Record<FinalState, number>>;
  /** Types with periods of their own. */
  readonly types?: Readonly<Record<string, Readonly<Record<FinalState, number>>>>;
}

/** A position in the order in which jobs finished: by instant, then by key. */
export interface FinishPosition {
  readonly at: number;
  readonly key: JobKey;
}

/** A page of expired jobs. */
export interface ExpiredPage {
  /** Only jobs that are not marked as stale yet. */
  readonly fresh: boolean;
  readonly limit: number;
  /** Jobs after this position; null starts a sweep. */
  readonly from: FinishPosition | null;
}

export interface ExpiredJobs {
  /** Longest ended first. */
  readonly jobs: readonly JobRecord[];
  /** The position that the scan reached, where the next call continues. Null: the sweep is done. */
  readonly next: FinishPosition | null;
}

/** How long final jobs, dead letters, keys, events and figures are kept. */
export interface Retention extends Periods {
  readonly deadLetterMs: number;
  /** Counted from the end of the job. */
  readonly idempotencyMs: number;
  readonly eventMs: number;
  /** Counted from the end of the minute or hour. */
  readonly minutesMs: number;
  /** Counted from the end of the day of an audit entry, in UTC. */
  readonly auditMs: number;
}

export interface Pruned {
  readonly jobs: number;
  readonly deadLetters: number;
  readonly idempotencyKeys: number;
  readonly events: number;
  readonly tokens: number;
  /** Rows of minutes and hours. */
  readonly minutes: number;
  readonly audits: number;
  /**
   * True when the limit was reached, so that more may be left. Other pruners may have removed a
   * part of the batch, or all of it.
   */
  readonly more: boolean;
}
