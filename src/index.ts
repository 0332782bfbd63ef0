/** `millrace`: the main entry point. */
// oxlint-disable-next-line import/no-unassigned-import -- It throws on an old Node.
import "./lib/require-node.ts";

// Declaring jobs
export { defineJob, typed } from "./api/define.ts";
export { schedule } from "./api/schedule.ts";
export { createPayload, validatePayload } from "./jobs/payloads/payload-functions.ts";
export type { PayloadParts, PayloadValidation } from "./jobs/payloads/payload-functions.ts";
export type {
  DeadLetterCountFilter,
  DeadLetterFilter,
  DeadLetterStats,
  DeadLetterStatus,
  NamedCount,
} from "./api/control/letters.ts";
export type { JobContract, JobRequest } from "./api/contract.ts";
export type { Job, JobBuilder, PhasedJob, PhaseName } from "./api/job.ts";
export type { FailingJob, JobSettings } from "./api/settings.ts";
export type {
  Schedule,
  Schedules,
  ScheduleView,
  TickView,
  Timing,
  TimingChange,
} from "./api/schedule.ts";

// What a handler receives
export type { Context, Logger, Units } from "./api/context.ts";
export type { NamedFunction, NamedFunctions } from "./api/channels/functions.ts";
export type { Envelope } from "./core/channels/envelope.ts";

// The client
export { openMillrace } from "./open.ts";
export type {
  AttemptView,
  DeadLetter,
  DeadLetters,
  Explanation,
  ExplanationDetails,
  ExplanationReason,
  GroupedJobStats,
  GroupName,
  JobFilter,
  JobGroupStats,
  JobHold,
  JobPage,
  Jobs,
  JobStats,
  JobView,
  Millrace,
  OpenOptions,
  Pause,
  PauseTarget,
  QueuedCount,
  Resumed,
  WaitOptions,
  TenantMillrace,
  Workers,
  WorkerView,
} from "./api/client.ts";
export type {
  DeployView,
  Metrics,
  MetricsQuery,
  Quantiles,
  RunFigures,
  RunGroup,
  RunMetrics,
} from "./api/metrics/metrics.ts";
export type { NewView, SavedView, SavedViews } from "./api/control/views.ts";
export type {
  Drained,
  DrainSettings,
  DrainProgress,
  DrainTarget,
  RunningCount,
} from "./api/control/drain.ts";
export type { BreakerChangeView, Breakers, BreakerView } from "./api/services/breakers.ts";
export type { Types, TypeView } from "./api/services/types.ts";
export type {
  DiscardedFailures,
  FailureActor,
  FailureFilter,
  FailureGroup,
  Failures,
  RetriedFailures,
} from "./api/control/failures.ts";
export type {
  DeadLetterBulkAction,
  JobBulkAction,
  Operation,
  OperationFilter,
  OperationItemPage,
  OperationItems,
  OperationItemView,
  OperationOptions,
  OperationPreview,
  OperationRequest,
  Operations,
} from "./api/control/operations.ts";
export type { JsonChange } from "./core/failures/json-difference.ts";
export type {
  ActedBy,
  Audit,
  AuditEntry,
  AuditFilter,
  AuditFindingView,
  AuditHead,
  AuditSubjectView,
  AuditVerdict,
} from "./api/control/audit.ts";
export type { ClosedIntake, Intake, IntakeTarget } from "./api/control/intake.ts";
export type {
  PayloadRules,
  PayloadRuleTarget,
  PayloadRuleView,
  RuleActor,
} from "./api/control/payload-rules.ts";
export type {
  TenantAct,
  QuotaRule,
  QuotaUsed,
  TenantDetails,
  TenantLine,
  TenantQuota,
  TenantRemoval,
  TenantRemoved,
  Tenants,
  TenantView,
} from "./api/control/tenants.ts";
export type { StreamEvent, StreamMessage, StreamOptions } from "./api/stream.ts";
export type {
  Enqueued,
  EnqueueOptions,
  Finished,
  JobRef,
  NativeTransaction,
  PayloadArgs,
  Transaction,
} from "./api/enqueue.ts";
export type { Events } from "./api/events.ts";
export type {
  PhaseView,
  ProgressView,
  UnitCounts,
  UnitFilter,
  UnitHolderView,
  UnitView,
} from "./api/progress.ts";
export type { JobCount, JobDetails, JobLinks, JobWorkerView } from "./api/details.ts";
export type { LogPage, LogView } from "./api/logs.ts";
export type { About, AboutRetention } from "./api/control/about.ts";
export type { StorePlace } from "./store/store.ts";
export type { Attention } from "./api/control/attention.ts";
export type { AttentionCheck } from "./core/attention/attention.ts";
export type {
  AttentionRule,
  AttentionFinding,
  FindingAction,
  FindingDetails,
  FindingOf,
  FindingScreen,
  FindingSubject,
} from "./core/attention/finding.ts";
export type { LaneOverview, LanePause, LaneView } from "./api/control/lanes.ts";
export type { Fairness, FairnessRule, FairLane } from "./api/control/fairness.ts";
export type { Limit, LimitRule, Limits, LimitTarget } from "./api/control/limits.ts";
export type { RetentionOptions, RetentionPeriods } from "./api/retention.ts";
export type { AnyJob, LaneOptions, Worker, WorkOptions } from "./api/worker.ts";
export type { Store } from "./store/store.ts";

// Values
export type { Duration, Instant } from "./core/duration.ts";
export type { ErrorClass, FinalState, State } from "./core/job.ts";
export type { PhaseState } from "./core/phases.ts";
export type { Fault as JobFault } from "./core/outcome.ts";
export type { Json } from "./core/payload.ts";
export type { Faults, Refused, Stored } from "./api/json.ts";

// Payload rules
export { JOB_CATEGORIES } from "./core/payload-rules/practice.ts";
export type { JobCategory, PresetRules } from "./core/payload-rules/practice.ts";
export type { PayloadProblem } from "./core/payload-rules/check.ts";
export type {
  FieldKind,
  PayloadRule,
  SensitiveAction,
  SensitiveSet,
} from "./core/payload-rules/rule.ts";

// Errors
export {
  MillraceError,
  NonRetryableError,
  RateLimitedError,
  RetryableError,
  TransientError,
} from "./core/errors.ts";
export type { ErrorCode } from "./core/errors.ts";

// Presets
export {
  defaults,
  docverse,
  jobqueue,
  lipas,
  lipasDev,
  periodic,
  practice,
} from "./core/presets.ts";
export type { Preset } from "./core/presets.ts";
