/**
 * What a person does about jobs, gates, workers and dead letters. Each verb writes an audit entry
 * in the transaction of the act, with the person and the reason; a call that changes nothing writes
 * none.
 */
import type { TenantWeights } from "../../core/control/fairness.ts";
import type { Quota } from "../../core/control/quotas.ts";
import type { JobId, JsonText } from "../../core/job.ts";
import type { Act } from "../types/audit.ts";
import type { PayloadRule, RuleTarget } from "../../core/payload-rules/rule.ts";
import type { Remark } from "../types/quotas.ts";
import type { NewSavedView, SavedViewKey } from "../types/saved-views.ts";
import type { RemovalStep } from "../types/tenants.ts";
import type { Annotation } from "../types/reviews.ts";
import type { Settlement } from "../../core/outcome.ts";
import type { FailureScope, NewGroupDecision, ReprocessOutcome } from "../types/failures.ts";
import type { EnqueueAnswer, InterveneFacts, NewJob, WorkerId } from "../types/jobs-and-runs.ts";
import type { LimitName, StoredRule } from "../types/limits.ts";
import type { DeclaredRule, OperatorRemark } from "../types/payload-rules.ts";
import type { TypeOverride } from "../types/services.ts";
import type {
  CancelAnswer,
  GateName,
  IntakeName,
  InterveneAnswer,
  ReprocessAnswer,
  Review,
  ReviewAnswer,
  WorkerResumed,
} from "../types/records.ts";

export interface OperatorStore {
  /**
   * Cancels a waiting job at once. For a running job it stores a cancel request, which the worker
   * receives with its next renewal. A final job stays as it is.
   */
  cancel(id: JobId, by: string | null, reason: string | null): Promise<CancelAnswer>;
  /**
   * Makes a waiting job due now. The job keeps its priority. Running and final jobs stay as they
   * are.
   */
  hurry(id: JobId, act?: Act): Promise<InterveneAnswer | { readonly status: "running" }>;
  /**
   * Ends the run of a job, or its wait, in place of the worker. The settlement is stored as by
   * `settle`, whichever worker holds the lease. A later settlement by that worker is stale. A final
   * job stays as it is.
   */
  intervene(
    id: JobId,
    decide: (job: InterveneFacts) => Settlement,
    act?: Act,
  ): Promise<InterveneAnswer>;
  /**
   * Enqueues the successor of a final job, also if its intake is closed. If the dead letter of the
   * job is open, it is reprocessed by this successor.
   */
  retryAsNew(successor: NewJob & { readonly retryOf: JobId }, act?: Act): Promise<EnqueueAnswer>;
  /** Closes a gate. From the next claim on, no job behind the gate starts. */
  pause(
    gate: GateName,
    why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
  ): Promise<void>;
  /**
   * Opens a gate. `release` then returns the jobs that `hold` has moved behind it. Answers whether
   * the gate was closed.
   */
  resume(gate: GateName, act?: Act): Promise<boolean>;
  /** Opens the breaker of a service until `resetBreaker` closes it: no probe does. */
  openBreaker(
    service: string,
    why: { readonly reason: string; readonly by: string | null },
  ): Promise<void>;
  /**
   * Closes the breaker of a service, and ends the pauses that the service has asked for. Jobs that
   * are due later, and whose last run ended with an error that names the service, are due now: up
   * to 1,000 of them, among the 100,000 scheduled jobs that are due first. Answers whether anything
   * has changed. A pause of an operator stays.
   */
  resetBreaker(service: string, by: string | null, reason?: string | null): Promise<boolean>;
  /**
   * Sets settings of a declared type in place of its declaration; those that are null stay as they
   * are. `settings` null: the declaration counts again. Answers whether the type is declared, or
   * whether there was an override to remove.
   */
  overrideType(
    type: string,
    settings: TypeOverride | null,
    by: string | null,
    reason?: string | null,
  ): Promise<boolean>;
  /**
   * Sets a limit in place of the one that was set before. Permits that workers hold stay: if the
   * limit is lower now, no job starts until enough runs have ended. Rejected with OPTION_INVALID if
   * there are too many limits.
   */
  setLimit(
    limit: LimitName,
    rule: StoredRule,
    by: string | null,
    reason?: string | null,
  ): Promise<void>;
  /**
   * Removes what an operator has set. If the code of the type states a limit, that one counts
   * again. Answers whether an operator had set the limit.
   */
  removeLimit(limit: LimitName, act?: Act): Promise<boolean>;
  /**
   * Makes a lane fair, in place of what was set before: `giveTurns` gives turns by these weights
   * from now on. A tenant without a weight has weight 1. Rejected with OPTION_INVALID if there are
   * too many fair lanes.
   */
  setFairness(
    lane: string,
    weights: TenantWeights,
    by: string | null,
    reason?: string | null,
  ): Promise<void>;
  /**
   * Removes what an operator has set. If the code of a worker states that the lane is fair, that
   * counts again. Turns that were given stay. Answers whether an operator had set it.
   */
  removeFairness(lane: string, act?: Act): Promise<boolean>;
  /**
   * Closes an intake: from now on, new jobs of producers that the gate names are refused with
   * INTAKE_CLOSED. Children of runs, successors, and what repeats a job that exists are not
   * refused. An enqueue under way may still commit.
   */
  closeIntake(
    gate: IntakeName,
    why: { readonly reason: string; readonly by: string | null },
  ): Promise<void>;
  /** Opens an intake. Answers whether it was closed. */
  openIntake(gate: IntakeName, act?: Act): Promise<boolean>;
  /**
   * Sets a rule for payloads in place of the one that was set before for the same target. Clients
   * check the payloads of new jobs; waiting jobs stay. Rejected with OPTION_INVALID if there are
   * too many rules.
   */
  setPayloadRule(target: RuleTarget, rule: PayloadRule, why: OperatorRemark): Promise<void>;
  /**
   * Stores rules that the code of a process brings along, in place of those that code has declared
   * before for the same targets. What an operator has set or removed stays. Rejected with
   * OPTION_INVALID if there are too many rules.
   */
  declarePayloadRules(rules: readonly DeclaredRule[]): Promise<void>;
  /**
   * Removes a rule for payloads. Answers whether there was one. In place of a rule of code stays an
   * operator's rule without parts, so that code does not declare the rule again. Removed in turn,
   * it leaves nothing behind.
   */
  removePayloadRule(target: RuleTarget, why: OperatorRemark): Promise<boolean>;
  /**
   * Saves a view in place of the one before with this name. Rejected with OPTION_INVALID if the
   * tenant or the installation has too many.
   */
  saveView(view: NewSavedView, reason?: string | null): Promise<void>;
  /** Removes a saved view. Answers whether there was one. */
  removeView(view: SavedViewKey, act?: Act): Promise<boolean>;
  /**
   * Sets the quota of a tenant, or of every tenant without a quota of its own (null), in place of
   * the one before. The rate begins with all its tokens. Rejected with OPTION_INVALID if there are
   * too many quotas.
   */
  setQuota(tenant: string | null, quota: Quota, why: Remark): Promise<void>;
  /** Removes a quota. Answers whether it was set. */
  removeQuota(tenant: string | null, why: Remark): Promise<boolean>;
  /** Notes that all data of a tenant will be removed. A removal that is under way goes on. */
  beginRemoval(tenant: string, why: Remark): Promise<void>;
  /**
   * One step of a removal: deletes up to `limit` final jobs of the tenant with all their rows, and
   * when no job is left, up to `limit` dead letters and idempotency keys and everything else. When
   * nothing is left, counts the rows of each table that mention the tenant, and ends the removal.
   * Deletes nothing unless a removal of the tenant is under way: another process may have ended the
   * removal, and the tenant may have come back.
   */
  removeOfTenant(tenant: string, limit: number): Promise<RemovalStep>;
  /**
   * Asks a worker to take no new work. From now on its claims are empty, and its next renewal
   * reports the request. Answers whether the worker is known.
   */
  quiet(worker: WorkerId, act?: Act): Promise<boolean>;
  /**
   * Ends what `quiet` has asked for: the next claims of the worker take jobs again. A worker that
   * was asked to stop stays as it is.
   */
  resumeWorker(worker: WorkerId, act?: Act): Promise<WorkerResumed>;
  /**
   * Asks a worker to stop. From now on its claims are empty, as after `quiet`, and its renewals
   * report the request. Answers whether the worker is known.
   */
  stopWorker(worker: WorkerId, act?: Act): Promise<boolean>;
  /**
   * Stores what a person decided about a dead letter. A reprocessed or discarded letter does not
   * change: the answer is `closed`.
   */
  review(id: JobId, review: Review): Promise<ReviewAnswer>;
  /**
   * Adds notes to a dead letter, or assigns it. A reprocessed or discarded letter can get notes; an
   * assignment is answered with `closed`.
   */
  annotate(id: JobId, annotation: Annotation): Promise<ReviewAnswer>;
  /**
   * Stores a decision about the failures of one cause, in place of the one before. Answers false,
   * and stores nothing, for a tenant that has no jobs.
   */
  decideGroup(cause: string, scope: FailureScope, decision: NewGroupDecision): Promise<boolean>;
  /**
   * Reprocesses up to 500 dead letters, each named by the `retryOf` of its successor, in one
   * transaction. Answers in the order given. A repeat makes no second successor.
   */
  reprocessMany(
    successors: readonly (NewJob & { readonly retryOf: JobId })[],
    by: string,
    notes: string | null,
  ): Promise<readonly ReprocessOutcome[]>;
  /** Discards the open ones of up to 500 dead letters, in one transaction. Answers how many. */
  discardMany(ids: readonly JobId[], by: string, notes: string | null): Promise<number>;
  /**
   * Enqueues the successor of a failed job and closes its dead letter, in one transaction. Rejected
   * with OPTION_INVALID if the successor does not name the job as its `retryOf`. `changes` are
   * those of the payload, for the record. {@link AuditStore.requestReprocess} has recorded the
   * request; this verb records the success.
   */
  reprocess(
    id: JobId,
    successor: NewJob,
    by: string,
    notes: string | null,
    changes?: JsonText | null,
  ): Promise<ReprocessAnswer>;
}
