/** The audit entries of the verbs of operators, as both stores write them. */
import { auditContent, auditReason } from "../../../core/audit/content.ts";
import type { AuditName } from "../../../core/audit/names.ts";
import type { Breaker } from "../../../core/breaker.ts";
import type { JobId, JsonText, State } from "../../../core/job.ts";
import { HIDDEN } from "../../../core/redaction.ts";
import type { Act, AuditSubject } from "../../types/audit.ts";
import type { NewGroupDecision } from "../../types/failures.ts";
import type { DueTime } from "../../types/jobs-and-runs.ts";
import type { LimitName, StoredRule } from "../../types/limits.ts";
import type { OperationPlan, OperationRecord } from "../../types/operations.ts";
import type { GateName, IntakeName } from "../../types/records.ts";
import type { SavedViewKey } from "../../types/saved-views.ts";
import type { ScheduleSpec } from "../../types/schedules.ts";
import type { TypeOverride } from "../../types/services.ts";
import type { TokenKind, TokenRecord, TokenToStore } from "../../types/tokens.ts";

type Content = Readonly<Record<string, unknown>>;

/** An entry to write. The store adds its id and its time. */
export interface AuditDraft {
  readonly name: AuditName;
  /** A number is an interned name. Null: the whole installation. */
  readonly tenant: string | number | null;
  readonly subject: AuditSubject;
  readonly act: Act;
  readonly before?: Content | null;
  readonly after?: Content | null;
}

/** An entry as a query takes it. */
export interface AuditLine {
  readonly tenant: string | null;
  readonly tenant_id: number | null;
  readonly name: AuditName;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly kind: string;
  readonly subject: string;
  readonly before: JsonText | null;
  readonly after: JsonText | null;
}

export function auditLine({ name, tenant, subject, act, before, after }: AuditDraft): AuditLine {
  return {
    tenant: typeof tenant === "number" ? null : (tenant ?? ""),
    tenant_id: typeof tenant === "number" ? tenant : null,
    name,
    actor: act.by,
    reason: auditReason(act.reason),
    kind: subject.kind,
    subject: subject.name,
    before: auditContent(before ?? null),
    after: auditContent(after ?? null),
  };
}

/** A job, and the interned name of its tenant. */
export interface ActedJob {
  readonly id: JobId;
  readonly tenant: string | number;
}

function aboutJob(
  name: AuditName,
  { id, tenant }: ActedJob,
  act: Act,
  states: { readonly before?: Content | null; readonly after?: Content | null },
): AuditDraft {
  return { name, tenant, subject: { kind: "job", name: id }, act, ...states };
}

export function cancelled(
  job: ActedJob,
  act: Act,
  states: { readonly before: State; readonly isRequested: boolean },
): AuditDraft {
  const { before: state, isRequested } = states;
  const after = isRequested ? { state, cancelRequested: true } : { state: "cancelled" };
  return aboutJob("job_cancel_requested", job, act, { before: { state }, after });
}

export function hurried(job: ActedJob, act: Act, state: State): AuditDraft {
  return aboutJob("job_hurried", job, act, { after: { state } });
}

export function intervened(
  job: ActedJob,
  act: Act,
  states: { readonly before: State; readonly after: State },
): AuditDraft {
  const name = states.after === "failed" ? "job_failed" : "job_retried";
  const [before, after] = [{ state: states.before }, { state: states.after }];
  return aboutJob(name, job, act, { before, after });
}

export function prioritised(job: ActedJob, act: Act, priority: number): AuditDraft {
  return aboutJob("job_prioritised", job, act, { after: { priority } });
}

export function rescheduled(job: ActedJob, act: Act, due: DueTime): AuditDraft {
  return aboutJob("job_rescheduled", job, act, { after: { ...due } });
}

export function deleted(job: ActedJob, act: Act, state: State): AuditDraft {
  return aboutJob("job_deleted", job, act, { before: { state } });
}

export function operationStarted({ id, tenant, ...given }: OperationRecord): AuditDraft {
  const { actor: by, reason } = given;
  const plan = auditedPlan(given.plan);
  const subject = { kind: "operation", name: id } as const;
  return { name: "operation_started", tenant, subject, act: { by, reason }, after: { plan } };
}

/**
 * The items have entries of their own: a list of ids is counted. An entry outlives the jobs, so it
 * has no values that were searched in payloads and errors.
 */
function auditedPlan(plan: OperationPlan): object {
  if ("ids" in plan) return { ...plan, ids: plan.ids.length };
  if (!("jobs" in plan)) return plan;
  const { payload, text, error, ...jobs } = plan.jobs;
  const paths = Object.keys(payload ?? {}).map((path) => [path, HIDDEN]);
  return {
    ...plan,
    jobs: {
      ...jobs,
      ...(payload === undefined ? {} : { payload: Object.fromEntries(paths) }),
      ...(text === undefined ? {} : { text: HIDDEN }),
      ...(error === undefined ? {} : { error: HIDDEN }),
    },
  };
}

export function operationStopped(before: OperationRecord, by: string): AuditDraft {
  const { id, tenant, status } = before;
  const subject = { kind: "operation", name: id } as const;
  const act = { by, reason: null };
  return { name: "operation_stopped", tenant, subject, act, before: { status } };
}

export function retriedAsNew(job: ActedJob, act: Act, successor: JobId): AuditDraft {
  return aboutJob("job_retried", job, act, { after: { successor } });
}

const REVIEWS = {
  acknowledged: "job_dlq_acknowledged",
  discarded: "job_dlq_discarded",
} as const;

export function reviewed(
  letter: ActedJob,
  act: Act,
  statuses: { readonly before: string; readonly after: keyof typeof REVIEWS },
): AuditDraft {
  const [before, after] = [{ status: statuses.before }, { status: statuses.after }];
  return aboutJob(REVIEWS[statuses.after], letter, act, { before, after });
}

export function noted(letter: ActedJob, act: Act): AuditDraft {
  return aboutJob("job_dlq_noted", letter, act, {});
}

export function assigned(
  letter: ActedJob,
  act: Act,
  to: { readonly before: string | null; readonly after: string | null },
): AuditDraft {
  const [before, after] = [{ assignedTo: to.before }, { assignedTo: to.after }];
  return aboutJob("job_dlq_assigned", letter, act, { before, after });
}

export function reprocessRequested(
  letter: ActedJob,
  act: Act,
  request: { readonly status: string; readonly changes: JsonText | null },
): AuditDraft {
  const { status, changes } = request;
  const after = changes === null ? null : { changes: JSON.parse(changes) };
  return aboutJob("job_dlq_reprocess_requested", letter, act, { before: { status }, after });
}

export function reprocessed(
  letter: ActedJob,
  act: Act,
  done: { readonly before: string; readonly successor: JobId },
): AuditDraft {
  const after = { status: "reprocessed", successor: done.successor };
  const before = { status: done.before };
  return aboutJob("job_dlq_reprocess_success", letter, act, { before, after });
}

const DECISIONS = {
  acknowledged: "failure_group_acknowledged",
  snoozed: "failure_group_snoozed",
  retried: "failure_group_retried",
  discarded: "failure_group_discarded",
} as const;

export function groupDecided(
  cause: string,
  tenant: string | undefined,
  decision: NewGroupDecision,
): AuditDraft {
  const { kind, by, notes } = decision;
  return {
    name: DECISIONS[kind],
    tenant: tenant ?? null,
    subject: { kind: "cause", name: cause },
    act: { by, reason: notes },
    after: kind === "snoozed" ? { forMs: decision.forMs } : null,
  };
}

/** Why a gate or an intake is closed. */
interface Closing {
  readonly reason: string;
  readonly by: string | null;
  readonly until?: number | null;
}

function closingState(closing: Closing | null | undefined): Content | null {
  if (closing === null || closing === undefined) return null;
  const { reason, by, until = null } = closing;
  return { reason, by, ...(until === null ? {} : { until }) };
}

export function paused(gate: GateName, act: Act, before: Closing | undefined): AuditDraft {
  const name = `${gate.kind}_paused` as const;
  return { name, ...aboutGate(gate), act, before: closingState(before), after: { paused: true } };
}

export function resumed(gate: GateName, act: Act, before: Closing | undefined): AuditDraft {
  const name = `${gate.kind}_resumed` as const;
  return { name, ...aboutGate(gate), act, before: closingState(before), after: { paused: false } };
}

export function intakeClosed(gate: IntakeName, act: Act, before: Closing | undefined): AuditDraft {
  const after = { closed: true };
  return { name: "intake_closed", ...aboutGate(gate), act, before: closingState(before), after };
}

export function intakeOpened(gate: IntakeName, act: Act, before: Closing | undefined): AuditDraft {
  const after = { closed: false };
  return { name: "intake_opened", ...aboutGate(gate), act, before: closingState(before), after };
}

function aboutGate({ kind, name }: GateName): Pick<AuditDraft, "tenant" | "subject"> {
  return { tenant: kind === "tenant" ? name : null, subject: { kind, name } };
}

export function breakerChanged(
  name: "breaker_opened" | "breaker_reset",
  service: string,
  act: Act,
  states: { readonly before: Breaker; readonly after: Breaker },
): AuditDraft {
  const told = ({ state, failures }: Breaker): Content => ({ state, failures });
  const [before, after] = [told(states.before), told(states.after)];
  return { name, tenant: null, subject: { kind: "service", name: service }, act, before, after };
}

export function typeOverridden(
  type: string,
  act: Act,
  settings: { readonly before: TypeOverride | null; readonly after: TypeOverride | null },
): AuditDraft {
  return {
    name: settings.after === null ? "type_reset" : "type_overridden",
    tenant: null,
    subject: { kind: "type", name: type },
    act,
    before: overrideState(settings.before),
    after: overrideState(settings.after),
  };
}

function overrideState(settings: TypeOverride | null): Content | null {
  if (settings === null) return null;
  const { lane, priority, maxAttempts, timeoutMs } = settings;
  return { lane, priority, maxAttempts, timeoutMs };
}

export function limitChanged(
  limit: LimitName,
  act: Act,
  rules: { readonly before: StoredRule | null; readonly after: StoredRule | null },
): AuditDraft {
  const { kind, name } = limit;
  const tenant = kind === "tenant" ? name : kind === "key" ? (limit.tenant ?? null) : null;
  return {
    name: rules.after === null ? "limit_removed" : "limit_set",
    tenant,
    subject: { kind, name },
    act,
    before: ruleState(rules.before),
    after: ruleState(rules.after),
  };
}

function ruleState(rule: StoredRule | null): Content | null {
  return rule === null ? null : { concurrency: rule.concurrency, rate: rule.rate };
}

/** The rule of a stored limit. */
export function ruleOfRow(
  row:
    | {
        readonly cap?: number | null;
        readonly rate_count: number | null;
        readonly rate_ms: number | null;
        readonly burst: number | null;
      }
    | undefined,
): StoredRule | null {
  if (row === undefined) return null;
  const { cap: concurrency = null, rate_count: count, rate_ms: perMs, burst } = row;
  const hasRate = count !== null && perMs !== null && burst !== null;
  return { concurrency, rate: hasRate ? { count, perMs, burst } : null };
}

export function fairnessChanged(
  lane: string,
  act: Act,
  weights: { readonly before: Content | null; readonly after: Content | null },
): AuditDraft {
  const { before, after } = weights;
  return {
    name: after === null ? "fairness_removed" : "fairness_set",
    tenant: null,
    subject: { kind: "lane", name: lane },
    act,
    before: before === null ? null : { weights: before },
    after: after === null ? null : { weights: after },
  };
}

/** A view may search for values of payloads, which no entry has: only its screen is told. */
export function viewChanged(
  { tenant, name }: SavedViewKey,
  act: Act,
  screens: { readonly before: string | null; readonly after: string | null },
): AuditDraft {
  const told = (screen: string | null): Content | null => (screen === null ? null : { screen });
  return {
    name: screens.after === null ? "view_removed" : "view_saved",
    tenant,
    subject: { kind: "view", name },
    act,
    before: told(screens.before),
    after: told(screens.after),
  };
}

export function workerAsked(
  name: "worker_quieted" | "worker_resumed" | "worker_stop_requested",
  worker: string,
  act: Act,
): AuditDraft {
  return { name, tenant: null, subject: { kind: "worker", name: worker }, act };
}

type ScheduleAct =
  | "schedule_created"
  | "schedule_updated"
  | "schedule_paused"
  | "schedule_resumed"
  | "schedule_run"
  | "schedule_removed";

export function scheduleChanged(
  name: ScheduleAct,
  schedule: Pick<ScheduleSpec, "name" | "job">,
  act: Act,
  states: { readonly before?: Content | null; readonly after?: Content | null },
): AuditDraft {
  const subject = { kind: "schedule", name: schedule.name } as const;
  return { name, tenant: schedule.job.tenant, subject, act, ...states };
}

/** A schedule without the payload of its jobs. */
export function scheduleState(spec: ScheduleSpec): Content {
  const { cron, timeZone, missedMax, overlap, jitterMs, startsAt, endsAt, job } = spec;
  const { type, lane, priority } = job;
  return { cron, timeZone, missedMax, overlap, jitterMs, startsAt, endsAt, type, lane, priority };
}

/** A server makes sessions and streams itself. */
export function isAuditedToken(kind: TokenKind): boolean {
  return kind !== "session" && kind !== "stream";
}

export function tokenCreated(token: TokenToStore, reason: string | null): AuditDraft {
  const act = { by: token.createdBy, reason };
  return { name: "token_created", ...aboutToken(token), act, after: tokenState(token) };
}

export function tokenRevoked(token: TokenRecord, act: Act): AuditDraft {
  return { name: "token_revoked", ...aboutToken(token), act, before: tokenState(token) };
}

function aboutToken({ id, tenant }: TokenRecord | TokenToStore): {
  readonly tenant: string | null;
  readonly subject: AuditSubject;
} {
  return { tenant, subject: { kind: "token", name: id } };
}

function tokenState(token: TokenRecord | TokenToStore): Content {
  const { kind, name, actor, roles, types } = token;
  return { kind, name, actor, roles, types };
}
