/**
 * Ready-made values for tests. A test names only what matters to it; the rest is filled in here.
 */
import { newId } from "../../src/core/ids.ts";
import type { JobId, JsonText } from "../../src/core/job.ts";
import type { Fault, Settlement } from "../../src/core/outcome.ts";
import { PROTOCOL } from "../../src/store/store.ts";
import type { NewJob, WorkerId, WorkerInfo } from "../../src/store/types/jobs-and-runs.ts";
import type { JobFacts, Retention } from "../../src/store/types/records.ts";
import type { NewOperation, OperationPlan } from "../../src/store/types/operations.ts";
import type { JobTemplate, ScheduleSpec } from "../../src/store/types/schedules.ts";
import type { TypeDeclaration } from "../../src/store/types/services.ts";
import type { TokenToStore } from "../../src/store/types/tokens.ts";
import { seededDice } from "./seeded-dice.ts";

const ID_TIME = Date.UTC(2026, 0, 5, 9);
const dice = seededDice(2026);

/** An id that no other job of this run bears. */
export function jobId(): JobId {
  return newId(ID_TIME, dice);
}

/** An id that no other worker of this run bears. */
export function workerId(): WorkerId {
  return newId(ID_TIME, dice);
}

/** A job that is due at once. */
export function newJob(overrides: Partial<NewJob> = {}): NewJob {
  return {
    id: jobId(),
    type: "email",
    tenant: "default",
    lane: "general",
    category: null,
    priority: 100,
    due: { delayMs: 0 },
    maxAttempts: 5,
    timeoutMs: null,
    payload: null,
    payloadVersion: null,
    correlationId: null,
    parentId: null,
    retryOf: null,
    concurrencyKey: null,
    after: [],
    onFailed: "cancel",
    idempotency: null,
    dedup: null,
    webhookUrl: null,
    tags: {},
    createdBy: null,
    onOrphan: "retry",
    retryOwner: "queue",
    ...overrides,
  };
}

/** As many jobs as asked for, all alike but for their ids. */
export function newJobs(count: number, overrides: Partial<NewJob> = {}): readonly NewJob[] {
  return Array.from({ length: count }, () => newJob(overrides));
}

/** What a worker says about a type. */
export function declaration(overrides: Partial<TypeDeclaration> = {}): TypeDeclaration {
  return {
    type: "email",
    lane: "general",
    priority: 100,
    maxAttempts: 5,
    timeoutMs: 60_000,
    services: [],
    limit: null,
    category: null,
    payloadVersion: null,
    payloadSchema: null,
    appVersion: null,
    onOrphan: "retry",
    retryOwner: "queue",
    ...overrides,
  };
}

/** A worker in a process of its own, with a lease of 30 seconds. */
export function workerInfo(overrides: Partial<WorkerInfo> = {}): WorkerInfo {
  return {
    id: workerId(),
    process: workerId(),
    host: "mill",
    pid: 4_000,
    version: "0.1.0",
    protocol: PROTOCOL,
    leaseMs: 30_000,
    // Workers of tests send no heartbeats.
    beatMs: 600_000,
    types: ["email"],
    lanes: ["general"],
    slots: 1,
    laneSlots: { general: 1 },
    tenant: null,
    appVersion: null,
    quiet: false,
    ...overrides,
  };
}

/** A schedule of every hour that queues a job without a payload. */
export function newSchedule(
  overrides: Partial<Omit<ScheduleSpec, "job">> & { readonly job?: Partial<JobTemplate> } = {},
): ScheduleSpec {
  const { id: _id, due: _due, ...template } = newJob(overrides.job);
  return {
    name: "hourly",
    cron: "@hourly",
    timeZone: "UTC",
    missedMax: 1,
    overlap: "queue",
    jitterMs: 0,
    startsAt: null,
    endsAt: null,
    ...overrides,
    job: template,
  };
}

/** A token of a person that is valid for an hour. Its secret is not known. */
export function newToken(overrides: Partial<TokenToStore> = {}): TokenToStore {
  return {
    id: jobId(),
    kind: "person",
    name: "Ada's laptop",
    actor: "ada",
    roles: [],
    tenant: null,
    types: null,
    jobId: null,
    parentId: null,
    createdBy: "grace",
    hash: dice.bytes(32),
    ttlMs: 3_600_000,
    ...overrides,
  };
}

/** An operation that cancels jobs, unless its plan says otherwise. */
export function newOperation(
  plan: Partial<OperationPlan> = {},
  overrides: Partial<NewOperation> = {},
): NewOperation {
  const cancel = { action: "cancel", jobs: {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A test names a whole plan.
  const whole = {
    ...("ids" in plan || "deadLetters" in plan ? {} : cancel),
    ...plan,
  } as OperationPlan;
  return {
    id: jobId(),
    plan: whole,
    tenant: null,
    actor: "ada",
    reason: "wrong list",
    rate: 1_000,
    chunk: 100,
    expected: 0,
    isExpectedExact: true,
    ...overrides,
  };
}

export function fault(overrides: Partial<Fault> = {}): Fault {
  return { class: "retryable", name: "Error", message: "the mail server hung up", ...overrides };
}

type Completion = Extract<Settlement, { readonly failedUnits: number }>;
type Failure = Extract<Settlement, { readonly to: "failed" }>;
type Cancellation = Extract<Settlement, { readonly to: "cancelled" }>;
type NextRun = Extract<Settlement, { readonly delayMs: number }>;

export function completed(result: JsonText | null = null): Completion {
  const ended = { outcome: "succeeded", tries: 1, crashes: 0, fault: null } as const;
  return { ...ended, to: "completed", result, failedUnits: 0 };
}

export function completedWithErrors(failedUnits: number): Completion {
  return { ...completed(), to: "completed_with_errors", failedUnits };
}

export function failedWith(error: Fault = fault()): Failure {
  return { to: "failed", outcome: "failed", tries: 1, crashes: 0, fault: error };
}

export function cancelled(reason: string | null = null): Cancellation {
  return { to: "cancelled", outcome: "cancelled", tries: 0, crashes: 0, reason };
}

/** A failed first attempt that runs again after `delayMs`. */
export function retryIn(delayMs: number): NextRun {
  return { to: "scheduled", outcome: "failed", tries: 1, crashes: 0, delayMs, fault: fault() };
}

/** An interrupted run: due again at once, uncharged. */
export function runAgain(): NextRun {
  return { to: "queued", outcome: "interrupted", tries: 0, crashes: 0, delayMs: 0, fault: null };
}

/** A crash of the first attempt: due again at once, charged. */
export function crashedOnce(): NextRun {
  return { to: "queued", outcome: "crashed", tries: 1, crashes: 1, delayMs: 0, fault: null };
}

/** A crash that was not the first one and costs no attempt: due again at once. */
export function crashedTimes(crashes: number): NextRun {
  return { ...crashedOnce(), tries: 0, crashes };
}

/** A crash at the crash cap of a run that was alone: it ends the job and counts for its type. */
export function diedAlone(): Failure {
  return { ...failedWith(), outcome: "crashed", crashes: 1, hasDiedAlone: true };
}

/** Keeps everything for an hour. */
export function retention(overrides: Partial<Retention> = {}): Retention {
  const hour = 3_600_000;
  const finishedMs = {
    completed: hour,
    completed_with_errors: hour,
    failed: hour,
    cancelled: hour,
  };
  const others = {
    deadLetterMs: hour,
    idempotencyMs: hour,
    eventMs: hour,
    minutesMs: hour,
    auditMs: hour,
  };
  return { finishedMs, ...others, ...overrides };
}

/** What the feed says of a job of this type that waits for its first run. */
export function jobFacts(type: string): JobFacts {
  return {
    type,
    tenant: "default",
    correlationId: "order-1",
    state: "queued",
    attempts: 0,
    runAt: 0,
    finishedAt: null,
    fault: null,
    phase: null,
    overall: null,
  };
}
