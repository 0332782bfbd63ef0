/** What `jobs.explain` answers: one sentence, and the data behind it for each reason. */
import type { CountedJobs } from "../jobs.ts";

/**
 * The reason why a job does not run. `reason` says which `details` there are: after
 * `if (explanation.reason === "paused")`, the editor knows `explanation.details.by`.
 */
export type Explanation = {
  readonly [Reason in ExplanationReason]: ExplanationOf<Reason>;
}[ExplanationReason];

/** The reason as one word, for programs. */
export type ExplanationReason = keyof ExplanationDetails;

/** An explanation with this reason. */
export interface ExplanationOf<Reason extends ExplanationReason> {
  readonly sentence: string;
  /** The reason as one word, for programs. */
  readonly reason: Reason;
  /** What to do. */
  readonly hint: string;
  /** The time at which the reason ends by itself. */
  readonly until?: Date;
  /** The data behind the sentence. */
  readonly details: ExplanationDetails[Reason];
}

/** The data behind the sentence, by reason. */
export interface ExplanationDetails {
  /** The job is due at a time. */
  readonly scheduled: { readonly at: Date };
  /** The job waits for its next attempt. `error` is the name of the last error. */
  readonly retrying: {
    readonly at: Date;
    readonly attempts: number;
    readonly maxAttempts: number;
    readonly error: string | null;
  };
  /** The job waits for other jobs. No job in the list: they are final, or of another tenant. */
  readonly after: { readonly jobs: readonly string[]; readonly more: boolean };
  /** The job repeats a final job whose handler has not returned. */
  readonly handler: HandlerDetails;
  readonly paused: PauseDetails;
  readonly breaker: BreakerDetails;
  /** A service has asked for a pause; `tenant` is null if the pause is for all tenants. */
  readonly rate_limited: {
    readonly service: string;
    readonly tenant: string | null;
    readonly until: Date;
    /** The jobs that wait for the service. */
    readonly waiting: CountedJobs;
  };
  /** No worker runs. A worker must take this type, lane and tenant. */
  readonly no_worker: { readonly type: string; readonly lane: string; readonly tenant: string };
  /** All workers are quiet. */
  readonly quiet: { readonly workers: number };
  /** No worker takes the type. `didYouMean` is the nearest of the types that are taken. */
  readonly type_not_taken: NotTakenDetails & {
    readonly type: string;
    readonly didYouMean: string | null;
  };
  readonly lane_not_taken: NotTakenDetails & { readonly lane: string };
  readonly tenant_not_taken: NotTakenDetails & { readonly tenant: string };
  /** Another job holds the concurrency key. Null: the key is free again. */
  readonly key: { readonly name: string; readonly holder: string | null };
  /** A limit of running jobs is used up. `used` is null if jobs of other tenants count as well. */
  readonly limit: LimitSubject & { readonly concurrency: number; readonly used: number | null };
  /** A rate allows the next start at a time. */
  readonly rate: LimitSubject & { readonly nextStartAt: Date };
  /** Workers of the job have died; from `cap` crashes on the job runs alone. */
  readonly crashed: CrashDetails;
  readonly alone: CrashDetails;
  /** All slots that the job may use are taken. */
  readonly busy: SlotDetails;
  /** A slot is free. */
  readonly waiting: SlotDetails;
  /** A worker has prefetched the job. */
  readonly buffered: RunDetails;
  readonly running: RunDetails;
  /** The job runs and was asked to stop. */
  readonly cancelling: RunDetails;
  readonly completed: EndDetails;
  readonly completed_with_errors: EndDetails;
  readonly cancelled: EndDetails;
  readonly failed: EndDetails;
}

/** The final job, and the worker that still runs its handler. */
export interface HandlerDetails {
  readonly job: string;
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  /** The end of the worker's lease, unless a heartbeat renews it. */
  readonly leaseUntil: Date;
}

export interface PauseDetails {
  readonly kind: "lane" | "type" | "tenant" | "service" | "installation";
  readonly name: string;
  readonly by: string | null;
  readonly reason: string;
  /** Null: until it is resumed. */
  readonly until: Date | null;
  /** The jobs that wait for the service; null for another kind. */
  readonly waiting: CountedJobs | null;
}

export interface BreakerDetails {
  readonly service: string;
  readonly state: "open" | "half_open";
  /** Failures in a row. */
  readonly failures: number;
  /** The last failure, or why an operator has opened the breaker. */
  readonly reason: string | null;
  readonly by: string | null;
  /** Null: an operator keeps the breaker open, or the probe runs. */
  readonly probeAt: Date | null;
  /** The job that tries the service now. */
  readonly probe: string | null;
  /** The jobs that wait for the service. */
  readonly waiting: CountedJobs;
}

/** What the workers that run take, by name, at most 100; `more`: there are others. */
export interface NotTakenDetails {
  readonly known: readonly string[];
  readonly more: boolean;
}

/** What a limit applies to. The name of the installation is `all`. */
export interface LimitSubject {
  readonly kind: "type" | "tenant" | "service" | "installation" | "key";
  readonly name: string;
}

export interface CrashDetails {
  readonly crashes: number;
  /** From this number of crashes on, the job runs alone. */
  readonly cap: number;
}

export interface SlotDetails {
  readonly lane: string;
  /** The workers that take the job, and their slots that it may use: its lane's and `general`. */
  readonly workers: number;
  readonly slots: number;
  /** How many of them are in use; null for the mill of a tenant, because all tenants share them. */
  readonly running: number | null;
  /**
   * The due jobs of the lane that come before the job, without those that something holds back.
   * The mill of a tenant counts its own. Null: the job is not in the queue yet.
   */
  readonly ahead: CountedJobs | null;
  /** The lane is fair, and this is the weight of the tenant. Null: the lane is not fair. */
  readonly fair: { readonly weight: number } | null;
}

export interface RunDetails {
  /** Null: the run has not started yet. */
  readonly startedAt: Date | null;
  /** Attempts charged so far, without this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

export interface EndDetails {
  readonly finishedAt: Date | null;
}
