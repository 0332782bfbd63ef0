/** The public door. */

// Declaring jobs
export { defineJob, typed } from "./face/define.ts";
export { schedule } from "./face/schedule.ts";
export type { JobContract, JobRequest } from "./face/contract.ts";
export type { Job, JobBuilder, PhasedJob, PhaseName } from "./face/job.ts";
export type { JobSettings } from "./face/settings.ts";
export type { Schedule, Timing } from "./face/schedule.ts";

// What a handler is given
export type { Context, Logger, Units } from "./face/context.ts";

// The client
export { openMillrace } from "./open.ts";
export type {
  AttemptView,
  DeadLetter,
  DeadLetterFilter,
  DeadLetters,
  Explanation,
  JobFilter,
  Jobs,
  JobStats,
  JobView,
  Millrace,
  OpenOptions,
  PauseTarget,
  WaitOptions,
  Workers,
  WorkerView,
} from "./face/client.ts";
export type {
  Enqueued,
  EnqueueOptions,
  Finished,
  JobRef,
  NativeTransaction,
  PayloadArgs,
  Transaction,
} from "./face/enqueue.ts";
export type { Events } from "./face/events.ts";
export type {
  PhaseView,
  ProgressView,
  UnitCounts,
  UnitFilter,
  UnitHolderView,
  UnitView,
} from "./face/progress.ts";
export type { LogPage, LogView } from "./face/logs.ts";
export type { RetentionOptions, RetentionPeriods } from "./face/retention.ts";
export type { AnyJob, Worker, WorkOptions } from "./face/worker.ts";
export type { Store } from "./store/store.ts";

// Values
export type { Duration, Instant } from "./core/duration.ts";
export type { ErrorClass, FinalState, State } from "./core/job.ts";
export type { PhaseState } from "./core/phases.ts";
export type { Fault as JobFault } from "./core/outcome.ts";
export type { Json } from "./core/payload.ts";
export type { Faults, Refused, Stored } from "./face/json.ts";

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
export { docverse, jobqueue, lipas, lipasDev, periodic, practice } from "./core/presets.ts";
export type { Preset } from "./core/presets.ts";
