/** Declared types, and the services that their jobs call. */
import type { PermitCount } from "../../core/control/permits.ts";
import type { Breaker, BreakerLimits, BreakerRun } from "../../core/breaker.ts";
import type { JobId, JsonText } from "../../core/job.ts";
import type { ClaimedJob, Lease } from "./jobs-and-runs.ts";
import type { StoredRule } from "./limits.ts";

/** What a worker says about one of its types when it joins. */
export interface TypeDeclaration {
  readonly type: string;
  readonly lane: string;
  readonly priority: number;
  readonly maxAttempts: number;
  /** Null: no limit. */
  readonly timeoutMs: number | null;
  /** The external services that the jobs of the type call. */
  readonly services: readonly string[];
  /** The limit that the code states; null: none. `declareLimits` stores the limit. */
  readonly limit: StoredRule | null;
  readonly category: string | null;
  /** The version of payloads that the code writes; null: the code names none. */
  readonly payloadVersion: string | null;
  /** The JSON Schema of the payload; null: the code can give none. */
  readonly payloadSchema: JsonText | null;
  readonly appVersion: string | null;
  /** What jobs get that are enqueued by the name of the type, as in `NewJob`. */
  readonly onOrphan: "retry" | "fail";
  readonly retryOwner: "queue" | "supervisor";
}

/** A declared type: the declaration of the worker that joined last. */
export interface TypeRecord extends Omit<TypeDeclaration, "limit"> {
  readonly declaredAt: number;
  /** The living workers that have declared the type. */
  readonly workers: number;
  /** How many different declarations they have. Versions of the application do not count. */
  readonly declarations: number;
  /** What an operator has set; null: nothing. */
  readonly override: (TypeOverride & { readonly by: string | null; readonly setAt: number }) | null;
}

/** What an operator sets in place of a declaration; null: the declaration counts. */
export interface TypeOverride {
  readonly lane: string | null;
  readonly priority: number | null;
  readonly maxAttempts: number | null;
  /** 0: no limit. */
  readonly timeoutMs: number | null;
}

/** How long the call of a function may last. */
export interface CallLimits {
  /** The time that is left; null: there is no limit. */
  readonly leftMs?: number | null;
  /** An abort cancels the call. */
  readonly signal?: AbortSignal;
}

/** A run, by the key of its job and its number in the ledger. */
export type ServiceRun = BreakerRun;

/** A run is about to call a service. */
export interface ServiceCall {
  readonly service: string;
  readonly run: ServiceRun;
  readonly tenant: string;
}

/**
 * `allowed`: the call may be made. `probe`: it may, and its result decides whether the breaker
 * closes. `refused`: it must not be made before `waitMs`; null: the time is not known.
 */
export type CallAnswer =
  | { readonly status: "allowed" | "probe" }
  | { readonly status: "refused"; readonly waitMs: number | null; readonly reason: string };

/** What has become of calls of a service. */
export type CallReport = CallSuccess | CallImplied | CallFailure | CallUndecided;

interface CallSuccess {
  readonly outcome: "succeeded";
  readonly service: string;
  /** The probe; null: calls of any number of other runs. */
  readonly run: ServiceRun | null;
  readonly count: number;
}

/** A probe of several services has succeeded, and has not said which of them it has called. */
interface CallImplied {
  readonly outcome: "implied";
  readonly service: string;
  readonly run: ServiceRun;
}

interface CallFailure {
  readonly outcome: "failed";
  readonly service: string;
  readonly run: ServiceRun;
  /** Stored and shown: at most 500 characters. */
  readonly reason: string;
  readonly limits: BreakerLimits;
  /** The service has asked for a pause. */
  readonly park?: {
    readonly forMs: number;
    /** Only calls for this tenant have to wait, and the breaker does not count the failure. */
    readonly tenant: string | null;
  };
  /** The tenant of the job. */
  readonly tenant: string;
}

/** A run that may be the probe has ended, and says nothing about the service. */
interface CallUndecided {
  readonly outcome: "undecided";
  readonly service: string;
  readonly run: ServiceRun;
  readonly limits: BreakerLimits;
}

/**
 * `isCounted`: the failure costs the job an attempt. Otherwise the service was closed already, and
 * the job waits for `waitMs`; null: the time is not known. `changedTo` is a new state.
 */
export interface ReportAnswer {
  readonly isCounted: boolean;
  readonly waitMs: number | null;
  readonly changedTo: Breaker["state"] | null;
}

/** A job that is the probe of services. Its run has started. */
export interface ProbeClaim {
  readonly lease: Lease;
  readonly job: ClaimedJob;
  readonly services: readonly string[];
  /** Permits that the worker holds from now on, besides those it has lent. */
  readonly granted?: readonly PermitCount[];
}

/** The breaker of a service, and the pauses that the service has asked for. */
export interface BreakerRecord extends Omit<Breaker, "probe"> {
  readonly service: string;
  /** The types that use the service. */
  readonly types: readonly string[];
  /** Null: the breaker was never changed. */
  readonly updatedAtMs: number | null;
  readonly probe: { readonly job: JobId; readonly n: number } | null;
  readonly parks: readonly ServicePark[];
}

/** A pause that a service has asked for. */
export interface ServicePark {
  /** Null: for all tenants. */
  readonly tenant: string | null;
  readonly until: number;
  readonly reason: string;
}

/** A change of the state of a breaker. */
export interface BreakerChange {
  readonly at: number;
  readonly state: Breaker["state"];
  readonly failures: number;
  readonly reason: string | null;
  readonly by: string | null;
}
