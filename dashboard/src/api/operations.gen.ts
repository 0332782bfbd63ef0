/**
 * The calls of the HTTP API, made from its routes by scripts/embed-api.ts. Not edited by hand.
 */
export type Attempt = { readonly number: number; readonly attempts: number; readonly crashes: number; readonly outcome: string; readonly fence: number | null; readonly worker: string | null; readonly startedAt: string | null; readonly finishedAt: string; readonly error: Fault; readonly nextRunAt: string | null };

export type Attention = { readonly checkedAt: string; readonly findings: readonly (Finding)[]; readonly checked: readonly (AttentionCheck)[] };

export type AttentionCheck = { readonly rule: string; readonly about: string; readonly status: "well" | "found" | "unread"; readonly findings: number; readonly isPartial: boolean };

export type AuditEntry = { readonly id: number; readonly at: string; readonly tenant: string | null; readonly name: string; readonly actor: string | null; readonly reason: string | null; readonly subject: { readonly kind: string; readonly name: string }; readonly before?: unknown; readonly after?: unknown };

export type AuditHead = { readonly tenant: string | null; readonly day: string; readonly position: number; readonly hash: string };

export type AuditVerdict = { readonly isIntact: boolean; readonly findings: readonly ({ readonly kind: string; readonly tenant: string | null; readonly day: string | null; readonly position: number | null; readonly entryId: number | null; readonly message: string })[]; readonly more: number; readonly sealed: number; readonly unsealed: number; readonly heads: readonly (AuditHead)[] };

export type Breaker = { readonly service: string; readonly state: "closed" | "open" | "half_open"; readonly failures: number; readonly successes: number; readonly lastFailureAt: string | null; readonly openedAt: string | null; readonly halfOpenedAt: string | null; readonly probeAt: string | null; readonly probeJobId: string | null; readonly reason: string | null; readonly changedBy: string | null; readonly updatedAt: string | null; readonly types: readonly (string)[]; readonly waiting: { readonly count: number; readonly atLeast: boolean }; readonly parkedUntil: readonly ({ readonly tenant: string | null; readonly until: string; readonly reason: string })[] };

export type BreakerChange = { readonly at: string; readonly state: "closed" | "open" | "half_open"; readonly failures: number; readonly reason: string | null; readonly changedBy: string | null };

export type BulkDeadLetterFilter = { readonly status?: "pending_review" | "acknowledged" | "reprocessed" | "discarded"; readonly type?: string; readonly tenant?: string; readonly category?: string; readonly correlationId?: string; readonly cause?: string; readonly errorClass?: "transient" | "retryable" | "non_retryable" | "rate_limited"; readonly assignedTo?: string; readonly createdAfter?: string; readonly createdBefore?: string };

export type BulkJobFilter = { readonly state?: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled" | "pending" | readonly ("scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled" | "pending")[]; readonly type?: string; readonly tenant?: string; readonly category?: string; readonly lane?: string; readonly correlationId?: string; readonly parentId?: string; readonly tags?: Readonly<Record<string, string>>; readonly createdAfter?: string; readonly createdBefore?: string; readonly runningLongerThan?: number | string; readonly error?: string; readonly payload?: Readonly<Record<string, string>>; readonly text?: string };

export type ClosedIntake = { readonly kind: "lane" | "type" | "tenant" | "installation"; readonly name: string; readonly reason: string; readonly closedBy: string | null; readonly closedAt: string };

export type DeadLetter = { readonly id: string; readonly jobId: string; readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded"; readonly error: Fault; readonly cause: string; readonly type: string; readonly tenant: string; readonly attempts: number; readonly diedAt: string; readonly reviewedBy: string | null; readonly reviewedAt: string | null; readonly notes: string | null; readonly assignedTo: string | null; readonly reviews: readonly ({ readonly at: string; readonly by: string; readonly act: "acknowledged" | "discarded" | "reprocessed" | "assigned" | "noted"; readonly notes: string | null; readonly to: string | null; readonly changes: readonly ({ readonly path: string; readonly before?: unknown; readonly after?: unknown })[] })[]; readonly category: string | null; readonly correlationId: string | null; readonly idempotencyKey: string | null; readonly dedupKey: string | null; readonly concurrencyKey: string | null; readonly originalCreatedAt: string | null; readonly history: readonly ({ readonly number: number; readonly outcome: string; readonly finishedAt: string; readonly error: Fault })[]; readonly successorId: string | null; readonly payload?: unknown; readonly damaged?: readonly ("payload")[] };

export type DeadLetterStats = { readonly count: number; readonly atLeast: boolean; readonly oldestAt: string | null; readonly oldestPendingAt: string | null; readonly last24Hours: number; readonly byStatus: { readonly pending_review: number; readonly acknowledged: number; readonly reprocessed: number; readonly discarded: number }; readonly byCategory: readonly ({ readonly name: string | null; readonly count: number })[]; readonly byType: readonly ({ readonly name: string | null; readonly count: number })[]; readonly byErrorClass: readonly ({ readonly name: string | null; readonly count: number })[] };

export type Deploy = { readonly appVersion: string; readonly at: string };

export type Enqueued = { readonly id: string; readonly type: string; readonly state: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled" | null; readonly created: boolean };

export type Explanation = { readonly sentence: string; readonly reason: "scheduled"; readonly hint: string; readonly until?: string; readonly details: { readonly at: string } } | { readonly sentence: string; readonly reason: "retrying"; readonly hint: string; readonly until?: string; readonly details: { readonly at: string; readonly attempts: number; readonly maxAttempts: number; readonly error: string | null } } | { readonly sentence: string; readonly reason: "after"; readonly hint: string; readonly until?: string; readonly details: { readonly jobs: readonly (string)[]; readonly more: boolean } } | { readonly sentence: string; readonly reason: "handler"; readonly hint: string; readonly until?: string; readonly details: { readonly job: string; readonly worker: string; readonly host: string; readonly pid: number; readonly leaseUntil: string } } | { readonly sentence: string; readonly reason: "paused"; readonly hint: string; readonly until?: string; readonly details: { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string; readonly by: string | null; readonly reason: string; readonly until: string | null; readonly waiting: { readonly count: number; readonly atLeast: boolean } | null } } | { readonly sentence: string; readonly reason: "breaker"; readonly hint: string; readonly until?: string; readonly details: { readonly service: string; readonly state: "open" | "half_open"; readonly failures: number; readonly reason: string | null; readonly by: string | null; readonly probeAt: string | null; readonly probe: string | null; readonly waiting: { readonly count: number; readonly atLeast: boolean } } } | { readonly sentence: string; readonly reason: "rate_limited"; readonly hint: string; readonly until?: string; readonly details: { readonly service: string; readonly tenant: string | null; readonly until: string; readonly waiting: { readonly count: number; readonly atLeast: boolean } } } | { readonly sentence: string; readonly reason: "no_worker"; readonly hint: string; readonly until?: string; readonly details: { readonly type: string; readonly lane: string; readonly tenant: string } } | { readonly sentence: string; readonly reason: "quiet"; readonly hint: string; readonly until?: string; readonly details: { readonly workers: number } } | { readonly sentence: string; readonly reason: "type_not_taken"; readonly hint: string; readonly until?: string; readonly details: { readonly type: string; readonly didYouMean: string | null; readonly known: readonly (string)[]; readonly more: boolean } } | { readonly sentence: string; readonly reason: "lane_not_taken"; readonly hint: string; readonly until?: string; readonly details: { readonly lane: string; readonly known: readonly (string)[]; readonly more: boolean } } | { readonly sentence: string; readonly reason: "tenant_not_taken"; readonly hint: string; readonly until?: string; readonly details: { readonly tenant: string; readonly known: readonly (string)[]; readonly more: boolean } } | { readonly sentence: string; readonly reason: "key"; readonly hint: string; readonly until?: string; readonly details: { readonly name: string; readonly holder: string | null } } | { readonly sentence: string; readonly reason: "limit"; readonly hint: string; readonly until?: string; readonly details: { readonly kind: "type" | "tenant" | "service" | "installation" | "key"; readonly name: string; readonly concurrency: number; readonly used: number | null } } | { readonly sentence: string; readonly reason: "rate"; readonly hint: string; readonly until?: string; readonly details: { readonly kind: "type" | "tenant" | "service" | "installation" | "key"; readonly name: string; readonly nextStartAt: string } } | { readonly sentence: string; readonly reason: "crashed"; readonly hint: string; readonly until?: string; readonly details: { readonly crashes: number; readonly cap: number } } | { readonly sentence: string; readonly reason: "alone"; readonly hint: string; readonly until?: string; readonly details: { readonly crashes: number; readonly cap: number } } | { readonly sentence: string; readonly reason: "busy"; readonly hint: string; readonly until?: string; readonly details: { readonly lane: string; readonly workers: number; readonly slots: number; readonly running: number | null; readonly ahead: { readonly count: number; readonly atLeast: boolean } | null; readonly fair: { readonly weight: number } | null } } | { readonly sentence: string; readonly reason: "waiting"; readonly hint: string; readonly until?: string; readonly details: { readonly lane: string; readonly workers: number; readonly slots: number; readonly running: number | null; readonly ahead: { readonly count: number; readonly atLeast: boolean } | null; readonly fair: { readonly weight: number } | null } } | { readonly sentence: string; readonly reason: "buffered"; readonly hint: string; readonly until?: string; readonly details: { readonly startedAt: string | null; readonly attempts: number; readonly maxAttempts: number } } | { readonly sentence: string; readonly reason: "running"; readonly hint: string; readonly until?: string; readonly details: { readonly startedAt: string | null; readonly attempts: number; readonly maxAttempts: number } } | { readonly sentence: string; readonly reason: "cancelling"; readonly hint: string; readonly until?: string; readonly details: { readonly startedAt: string | null; readonly attempts: number; readonly maxAttempts: number } } | { readonly sentence: string; readonly reason: "completed"; readonly hint: string; readonly until?: string; readonly details: { readonly finishedAt: string | null } } | { readonly sentence: string; readonly reason: "completed_with_errors"; readonly hint: string; readonly until?: string; readonly details: { readonly finishedAt: string | null } } | { readonly sentence: string; readonly reason: "cancelled"; readonly hint: string; readonly until?: string; readonly details: { readonly finishedAt: string | null } } | { readonly sentence: string; readonly reason: "failed"; readonly hint: string; readonly until?: string; readonly details: { readonly finishedAt: string | null } };

export type FailureGroup = { readonly cause: string; readonly count: number; readonly atLeast: boolean; readonly status: "new" | "open" | "acknowledged" | "snoozed" | "returned"; readonly types: readonly (string)[]; readonly firstSeenAt: string; readonly lastSeenAt: string; readonly trend: readonly (number)[]; readonly sample: { readonly jobId: string; readonly tenant: string; readonly error: Fault }; readonly decidedBy: string | null; readonly decidedAt: string | null; readonly until: string | null; readonly notes: string | null };

export type FairLane = { readonly lane: string; readonly weights: Readonly<Record<string, number>>; readonly owner: "code" | "operator"; readonly setBy: string | null; readonly setAt: string };

export type FairnessRule = { readonly reason?: string; readonly weights?: Readonly<Record<string, number>> };

export type Fault = { readonly class: "transient" | "retryable" | "non_retryable" | "rate_limited"; readonly name: string; readonly message: string; readonly stack?: string; readonly service?: string; readonly cause?: string } | null;

export type FeedMessage = { readonly id: string; readonly type: "event" | "reset"; readonly at?: string; readonly event?: "job:enqueued" | "job:started" | "job:progress" | "job:unit" | "job:phase:completed" | "job:completed" | "job:retrying" | "job:failed" | "job:cancelled" | "job:stale" | "job:deleted" | "job:webhook:delivered" | "job:webhook:failed"; readonly job?: { readonly type: string; readonly tenant: string } | null; readonly data?: { readonly id: string; readonly [name: string]: unknown } };

export type Finding = { readonly rule: "breaker"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly service: string; readonly state: "open" | "half_open"; readonly failures: number; readonly types: readonly (string)[]; readonly waiting: { readonly count: number; readonly atLeast: boolean }; readonly probeAt: string | null; readonly reason: string | null; readonly by: string | null }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "failure_cause"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly cause: string; readonly status: "new" | "open" | "acknowledged" | "snoozed" | "returned"; readonly jobs: { readonly count: number; readonly atLeast: boolean }; readonly types: readonly (string)[]; readonly jobId: string; readonly error: Fault }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "waiting"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly lane: string; readonly ageMs: number; readonly targetMs: number; readonly waiting: { readonly count: number; readonly atLeast: boolean } }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "error_rate"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly type: string; readonly errorRate: number; readonly errors: number; readonly runs: number; readonly withinMs: number }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "worker_silent"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly worker: string; readonly host: string; readonly pid: number; readonly heartbeatAgoMs: number; readonly running: number }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "not_taken"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly type: string; readonly missing: "type" | "lane" | "tenant"; readonly name: string; readonly waiting: { readonly count: number; readonly atLeast: boolean }; readonly didYouMean: string | null }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "no_worker"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly waiting: { readonly count: number; readonly atLeast: boolean }; readonly quiet: number }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "schedule"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly schedule: string; readonly type: string; readonly problem: "late" | "undeclared" | "missed" | "refused" | "over_quota" | "intake_closed" | "failed"; readonly slotAt: string | null; readonly jobId: string | null }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "pause"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly name: string; readonly reason: string; readonly by: string | null; readonly kind: "lane" | "type" | "tenant" | "installation" | "service"; readonly isOfEngine: boolean }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "intake"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly name: string; readonly reason: string; readonly by: string | null; readonly kind: "lane" | "type" | "tenant" | "installation" }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "dead_letters"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly deadLetters: { readonly count: number; readonly atLeast: boolean }; readonly types: readonly (string)[]; readonly oldestAt: string }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } } | { readonly rule: "operation"; readonly level: "broken" | "look"; readonly subject: { readonly kind: string; readonly name: string }; readonly sentence: string; readonly details: { readonly operation: string; readonly action: string; readonly problem: "failed" | "no_runner"; readonly error: { readonly name: string; readonly message: string } | null }; readonly since: string | null; readonly screen: string; readonly action: { readonly operation: string | null; readonly command: string } };

export type GroupedStats = { readonly by: "lane" | "type" | "tenant" | "category"; readonly groups: readonly ({ readonly name: string; readonly scheduled: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number })[]; readonly atLeast: readonly (string)[]; readonly cutShort: boolean };

export type HeldBy = { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string } | { readonly kind: "limit"; readonly of: { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string } } | { readonly kind: "key"; readonly name: string } | { readonly kind: "after" } | null;

export type Job = { readonly id: string; readonly type: string; readonly state: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled"; readonly tenant: string; readonly lane: string; readonly category: string | null; readonly priority: number; readonly payload?: unknown; readonly payloadVersion: string | null; readonly result?: unknown; readonly damaged?: readonly ("payload" | "result")[]; readonly outcome: string | null; readonly error: Fault; readonly progress: number; readonly phase: string | null; readonly attempts: number; readonly maxAttempts: number; readonly correlationId: string; readonly parentId: string | null; readonly retryOf: string | null; readonly idempotencyKey: string | null; readonly dedupKey: string | null; readonly concurrencyKey: string | null; readonly tags: Readonly<Record<string, string>>; readonly createdBy: string | null; readonly createdAt: string; readonly scheduledAt: string; readonly runAt: string | null; readonly startedAt: string | null; readonly finishedAt: string | null; readonly cancelReason: string | null; readonly heldBy: HeldBy; readonly stale: boolean };

export type JobDetails = { readonly job: Job; readonly progress: Progress; readonly failedUnits: readonly (Unit)[]; readonly attempts: readonly (Attempt)[]; readonly worker: { readonly id: string; readonly host: string; readonly pid: number; readonly isAlive: boolean; readonly heartbeatAgoMs: number } | null; readonly waitsFor: { readonly ids: readonly (string)[]; readonly more: boolean }; readonly awaitedBy: { readonly ids: readonly (string)[]; readonly more: boolean }; readonly children: { readonly count: number; readonly atLeast: boolean } };

export type JobPage = { readonly jobs: readonly (Job)[]; readonly next: string | null; readonly cutShort: boolean; readonly total?: { readonly count: number; readonly atLeast: boolean } };

export type Lane = { readonly lane: string; readonly slots: number; readonly running: number; readonly waiting: { readonly count: number; readonly atLeast: boolean }; readonly held: { readonly count: number; readonly atLeast: boolean }; readonly oldestAgeMs: number | null; readonly targetMs: number; readonly pause: { readonly reason: string; readonly pausedBy: string | null; readonly pausedAt: string; readonly until: string | null } | null; readonly fair: boolean; readonly workers: number };

export type Limit = { readonly kind: "type" | "tenant" | "service" | "installation" | "key"; readonly name: string; readonly tenant: string | null; readonly concurrency: number | null; readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null; readonly used: number | null; readonly nextStartMs: number | null; readonly owner: "code" | "operator"; readonly setBy: string | null; readonly setAt: string; readonly queued: number; readonly atLeast: boolean };

export type LimitRule = { readonly concurrency?: number; readonly rate?: { readonly limit: number; readonly perMs: number; readonly burst?: number }; readonly reason: string };

export type LogLine = { readonly line: number; readonly attempt: number; readonly at: string; readonly level: "debug" | "info" | "warn" | "error"; readonly message: string; readonly fields: Readonly<Record<string, unknown>> | null };

export type LongRuns = { readonly runs: readonly ({ readonly job: Job; readonly units: UnitCounts })[]; readonly cutShort: boolean };

export type NewJob = { readonly type: string; readonly payload?: unknown; readonly options?: { readonly tenant?: string; readonly runAt?: string | number; readonly delay?: string | number; readonly priority?: "critical" | "high" | "normal" | "low" | number; readonly maxAttempts?: number; readonly correlationId?: string; readonly idempotencyKey?: string | { readonly key: string; readonly onConflict: "return-existing" | "error" }; readonly dedupKey?: string | { readonly key: string; readonly onConflict: "skip" | "replace" | "extend" }; readonly concurrencyKey?: string; readonly after?: readonly (string)[]; readonly onFailed?: "cancel" | "run"; readonly tags?: Readonly<Record<string, string>>; readonly payloadVersion?: string; readonly webhookUrl?: string; readonly createdBy?: string } };

export type NewJobs = { readonly jobs: readonly (unknown)[] };

export type NewSchedule = { readonly name: string; readonly when: { readonly cron: string; readonly timeZone?: string; readonly missed?: "skip" | "once" | { readonly all: number }; readonly overlap?: "skip" | "queue" | "replace"; readonly jitter?: string | number; readonly start?: string | number; readonly end?: string | number }; readonly type: string; readonly payload?: unknown; readonly options?: { readonly tenant?: string; readonly priority?: "critical" | "high" | "normal" | "low" | number; readonly maxAttempts?: number; readonly concurrencyKey?: string; readonly tags?: Readonly<Record<string, string>> }; readonly reason: string };

export type NewToken = { readonly kind: "person" | "producer" | "worker"; readonly name: string; readonly actor?: string; readonly roles?: readonly ("viewer" | "operator" | "manager" | "admin")[]; readonly tenant?: string; readonly types?: readonly (string)[]; readonly ttl?: string; readonly reason?: string };

export type Operation = { readonly id: string; readonly status: "pending" | "running" | "completed" | "stopped" | "failed"; readonly action: "cancel" | "retry" | "delete" | "priority" | "reschedule" | "reprocess" | "discard" | "acknowledge"; readonly target: "jobs" | "deadLetters"; readonly filter: { readonly states?: readonly ("scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled")[]; readonly status?: "pending_review" | "acknowledged" | "reprocessed" | "discarded"; readonly type?: string; readonly tenant?: string; readonly category?: string; readonly lane?: string; readonly correlationId?: string; readonly parentId?: string; readonly cause?: string; readonly errorClass?: "transient" | "retryable" | "non_retryable" | "rate_limited"; readonly assignedTo?: string; readonly tags?: Readonly<Record<string, string>>; readonly createdFrom?: number; readonly createdBefore?: number; readonly runningMs?: number; readonly error?: string; readonly payload?: Readonly<Record<string, string>>; readonly text?: string } | null; readonly ids: number | null; readonly tenant: string | null; readonly actor: string; readonly reason: string; readonly rate: number; readonly chunk: number; readonly expected: number; readonly expectedAtLeast: boolean; readonly items: number; readonly done: number; readonly failed: number; readonly skipped: { readonly state?: number; readonly existing?: number; readonly held?: number; readonly closed?: number; readonly kept?: number; readonly nothing_to_retry?: number; readonly unknown?: number }; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly stoppedBy: string | null; readonly error: { readonly name: string; readonly message: string } | null };

export type OperationItems = { readonly items: readonly ({ readonly n: number; readonly jobId: string; readonly outcome: "done" | "skipped" | "failed"; readonly code: string | null; readonly successorId: string | null })[]; readonly next: number | null };

export type OperationPreview = { readonly action: "cancel" | "retry" | "delete" | "priority" | "reschedule" | "reprocess" | "discard" | "acknowledge"; readonly count: number; readonly atLeast: boolean; readonly skipped: { readonly state?: number; readonly existing?: number; readonly held?: number; readonly closed?: number; readonly kept?: number; readonly nothing_to_retry?: number; readonly unknown?: number }; readonly jobs: readonly (Job)[]; readonly deadLetters: readonly (DeadLetter)[] };

export type PartProblem = { readonly type: string; readonly title: string; readonly status: number; readonly detail: string; readonly code: string; readonly hint: string; readonly holder?: string; readonly errors?: readonly ({ readonly path: string; readonly message: string })[] };

export type Pause = { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string; readonly reason: string; readonly pausedBy: string | null; readonly pausedAt: string; readonly until: string | null; readonly queued: number; readonly atLeast: boolean; readonly shared: number; readonly sharedAtLeast: boolean };

export type PayloadRule = { readonly required?: Readonly<Record<string, "any" | "integer" | "uuid" | "string">>; readonly softBytes?: number; readonly hardBytes?: number; readonly forbidden?: readonly (string)[]; readonly sensitive?: { readonly passwords?: "warn" | "redact" | "reject"; readonly tokens?: "warn" | "redact" | "reject"; readonly keys?: "warn" | "redact" | "reject"; readonly cards?: "warn" | "redact" | "reject"; readonly mail_bodies?: "warn" | "redact" | "reject"; readonly document_content?: "warn" | "redact" | "reject" }; readonly strict?: boolean };

export type Phase = { readonly name: string; readonly state: "pending" | "running" | "completed" | "failed" | "cancelled"; readonly percent: number; readonly result?: unknown; readonly startedAt: string | null; readonly finishedAt: string | null; readonly units: UnitCounts };

export type Problem = { readonly type: string; readonly title: string; readonly status: number; readonly detail: string; readonly code: string; readonly hint: string; readonly holder?: string; readonly errors?: readonly ({ readonly path: string; readonly message: string })[]; readonly request_id: string };

export type Progress = { readonly state: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled"; readonly percent: number; readonly phase: string | null; readonly phasePercent: number; readonly data?: unknown; readonly at: string | null; readonly phases: readonly (Phase)[]; readonly units: UnitCounts };

export type Quantiles = { readonly mean: number | null; readonly p50: number | null; readonly p95: number | null; readonly p99: number | null };

export type QuotaRule = { readonly waiting?: number; readonly rate?: { readonly limit: number; readonly perMs: number; readonly burst?: number }; readonly payloadBytes?: number; readonly reason: string };

export type Reprocessed = { readonly id: string; readonly type: string; readonly state: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled" | null; readonly created: boolean; readonly deadLetterId: string; readonly idempotencyKey: string | null };

export type RunMetrics = { readonly fromAt: string; readonly toAt: string; readonly total: { readonly runs: number; readonly outcomes: { readonly succeeded: number; readonly failed: number; readonly timed_out: number; readonly crashed: number; readonly cancelled: number; readonly interrupted: number; readonly snoozed: number }; readonly perSecond: number; readonly errorRate: number | null; readonly wait: Quantiles; readonly run: Quantiles }; readonly groups: readonly ({ readonly at: string; readonly type: string; readonly lane: string; readonly runs: number; readonly outcomes: { readonly succeeded: number; readonly failed: number; readonly timed_out: number; readonly crashed: number; readonly cancelled: number; readonly interrupted: number; readonly snoozed: number }; readonly perSecond: number; readonly errorRate: number | null; readonly wait: Quantiles; readonly run: Quantiles })[]; readonly steps: readonly ({ readonly at: string; readonly runs: number; readonly outcomes: { readonly succeeded: number; readonly failed: number; readonly timed_out: number; readonly crashed: number; readonly cancelled: number; readonly interrupted: number; readonly snoozed: number }; readonly perSecond: number; readonly errorRate: number | null; readonly wait: Quantiles; readonly run: Quantiles })[]; readonly cutShort: boolean };

export type Running = { readonly running: number; readonly atLeast: boolean; readonly ids: readonly (string)[]; readonly claims: readonly (string)[] };

export type SavedView = { readonly tenant: string | null; readonly name: string; readonly screen: string; readonly query: string; readonly savedBy: string | null; readonly savedAt: string };

export type Schedule = { readonly name: string; readonly owner: "code" | "operator"; readonly description: string; readonly cron: string; readonly timeZone: string; readonly missed: "skip" | "once" | { readonly all: number }; readonly overlap: "skip" | "queue" | "replace"; readonly jitterMs: number; readonly start: string | null; readonly end: string | null; readonly type: string; readonly tenant: string; readonly lane: string; readonly nextRuns: readonly (string)[]; readonly lastTick: string | null; readonly lastJobId: string | null; readonly pausedAt: string | null; readonly pausedBy: string | null; readonly pauseReason: string | null; readonly isDeclared: boolean; readonly createdBy: string | null; readonly createdAt: string; readonly updatedAt: string };

export type Session = { readonly actor: string; readonly kind: "person" | "producer" | "worker" | "stream"; readonly roles: readonly ("viewer" | "operator" | "manager" | "admin")[]; readonly tenant: string | null; readonly types: readonly (string)[] | null };

export type Settings = { readonly version: string; readonly store: { readonly kind: "sqlite" | "postgres"; readonly name: string | null }; readonly retention: { readonly finishedMs: { readonly completed: number; readonly completed_with_errors: number; readonly failed: number; readonly cancelled: number }; readonly deadLetterMs: number; readonly idempotencyMs: number; readonly eventMs: number; readonly minutesMs: number; readonly auditMs: number } | null; readonly redactedFields: readonly (string)[]; readonly links: Readonly<Record<string, string>>; readonly basePath: string; readonly readOnly: boolean; readonly operations: readonly (string)[] };

export type Stats = { readonly scheduled: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number; readonly retrying: number; readonly oldestQueuedMs: number | null; readonly atLeast: readonly (string)[] };

export type StoredPayloadRule = { readonly scope: "installation" | "category" | "type"; readonly name: string; readonly rule: PayloadRule; readonly owner: "code" | "operator"; readonly setBy: string | null; readonly reason: string | null; readonly setAt: string };

export type Tenant = { readonly tenant: string; readonly counts: { readonly scheduled: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number }; readonly atLeast: readonly ("scheduled" | "queued" | "held" | "running" | "failed")[]; readonly pause: { readonly reason: string; readonly pausedBy: string | null; readonly pausedAt: string } | null; readonly intake: { readonly kind: "lane" | "type" | "tenant" | "installation"; readonly name: string; readonly reason: string; readonly closedBy: string | null; readonly closedAt: string } | null; readonly quota: { readonly tenant: string; readonly waiting: number | null; readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null; readonly payloadBytes: number | null; readonly reason: string; readonly setBy: string | null; readonly setAt: string } | null; readonly limit: { readonly concurrency: number | null; readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null } | null; readonly weights: Readonly<Record<string, number>> };

export type TenantDetails = { readonly tenant: string; readonly counts: { readonly scheduled: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number }; readonly atLeast: readonly ("scheduled" | "queued" | "held" | "running" | "failed")[]; readonly pause: { readonly reason: string; readonly pausedBy: string | null; readonly pausedAt: string } | null; readonly intake: { readonly kind: "lane" | "type" | "tenant" | "installation"; readonly name: string; readonly reason: string; readonly closedBy: string | null; readonly closedAt: string } | null; readonly quota: { readonly tenant: string; readonly waiting: number | null; readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null; readonly payloadBytes: number | null; readonly reason: string; readonly setBy: string | null; readonly setAt: string; readonly waitingNow: number | null; readonly tokens: number | null } | null; readonly limit: { readonly concurrency: number | null; readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null } | null; readonly weights: Readonly<Record<string, number>>; readonly removal: { readonly reason: string; readonly begunBy: string | null; readonly begunAt: string; readonly doneAt: string | null; readonly removed: number } | null };

export type TenantLine = { readonly kind: string; readonly of?: string; readonly data?: unknown };

export type TenantRemoval = { readonly reason: string; readonly begunBy: string | null; readonly begunAt: string; readonly doneAt: string | null; readonly removed: number; readonly rows: Readonly<Record<string, number>> };

export type TenantRemovalRequest = { readonly reason: string; readonly confirm: string };

export type Tick = { readonly slot: string; readonly since: string | null; readonly outcome: "made" | "skipped" | "replaced" | "missed" | "duplicate" | "refused" | "intake_closed" | "over_quota" | "run_now"; readonly jobId: string | null; readonly at: string };

export type Token = { readonly id: string; readonly kind: "person" | "producer" | "worker" | "stream" | "session"; readonly name: string; readonly actor: string; readonly roles: readonly ("viewer" | "operator" | "manager" | "admin")[]; readonly tenant: string | null; readonly types: readonly (string)[] | null; readonly jobId: string | null; readonly parentId: string | null; readonly createdBy: string; readonly createdAt: string; readonly expiresAt: string; readonly lastUsedAt: string | null; readonly revokedAt: string | null };

export type Type = { readonly type: string; readonly lane: string; readonly priority: number; readonly maxAttempts: number; readonly timeoutMs: number | null; readonly declared: { readonly lane: string; readonly priority: number; readonly maxAttempts: number; readonly timeoutMs: number | null }; readonly override: { readonly settings: readonly ("lane" | "priority" | "maxAttempts" | "timeoutMs")[]; readonly setBy: string | null; readonly setAt: string } | null; readonly services: readonly (string)[]; readonly category: string | null; readonly payloadVersion: string | null; readonly payloadSchema?: unknown; readonly appVersion: string | null; readonly onOrphan: "retry" | "fail"; readonly retryOwner: "queue" | "supervisor"; readonly declaredAt: string; readonly workers: number; readonly isDisputed: boolean };

export type TypeSettings = { readonly reason?: string; readonly lane?: string; readonly priority?: number; readonly maxAttempts?: number; readonly timeoutMs?: number | null };

export type Unit = { readonly key: string; readonly phase: string | null; readonly state: "planned" | "running" | "completed" | "failed"; readonly result?: unknown; readonly error: Fault; readonly at: string };

export type UnitCounts = { readonly total: number; readonly planned: number; readonly running: number; readonly completed: number; readonly failed: number };

export type Worker = { readonly id: string; readonly host: string; readonly pid: number; readonly version: string; readonly appVersion: string | null; readonly joinedAt: string; readonly isAlive: boolean; readonly heartbeatAgoMs: number; readonly isQuiet: boolean; readonly isStopping: boolean; readonly types: readonly (string)[]; readonly lanes: readonly (string)[]; readonly tenant: string | null; readonly slots: number; readonly running: number; readonly memoryBytes: number | null; readonly loopLagMs: number | null; readonly takenBy: string | null };

export interface Operations {
  readonly acknowledgeDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly notes?: string };
    readonly answer: undefined;
  };
  readonly acknowledgeFailure: {
    readonly params: { readonly cause: string };
    readonly query: {};
    readonly body: { readonly notes?: string; readonly tenant?: string };
    readonly answer: undefined;
  };
  readonly assignDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly to: string | null; readonly notes?: string };
    readonly answer: undefined;
  };
  readonly cancelJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: Job;
  };
  readonly closeIntake: {
    readonly params: { readonly kind: "lane" | "type" | "tenant" | "installation"; readonly name: string };
    readonly query: {};
    readonly body: { readonly reason: string };
    readonly answer: undefined;
  };
  readonly closeSession: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly compareAudit: {
    readonly params: {};
    readonly query: {};
    readonly body: { readonly heads: readonly (AuditHead)[] };
    readonly answer: AuditVerdict;
  };
  readonly countRunning: {
    readonly params: { readonly kind: "lane" | "type" | "tenant" | "service" | "installation" | "worker"; readonly name: string };
    readonly query: { readonly claims?: string };
    readonly body: undefined;
    readonly answer: Running;
  };
  readonly createSchedule: {
    readonly params: {};
    readonly query: {};
    readonly body: NewSchedule;
    readonly answer: Schedule;
  };
  readonly createStreamToken: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly secret: string; readonly path: string; readonly expiresAt: string };
  };
  readonly createToken: {
    readonly params: {};
    readonly query: {};
    readonly body: NewToken;
    readonly answer: { readonly token: Token; readonly secret: string };
  };
  readonly discardDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly notes: string };
    readonly answer: undefined;
  };
  readonly discardFailure: {
    readonly params: { readonly cause: string };
    readonly query: {};
    readonly body: { readonly notes: string; readonly tenant?: string; readonly limit?: number };
    readonly answer: { readonly discarded: number; readonly complete: boolean };
  };
  readonly enqueueJob: {
    readonly params: {};
    readonly query: {};
    readonly body: NewJob;
    readonly answer: Enqueued;
  };
  readonly enqueueJobs: {
    readonly params: {};
    readonly query: {};
    readonly body: NewJobs;
    readonly answer: { readonly jobs: readonly (Enqueued | { readonly problem: PartProblem })[]; readonly created: number; readonly existing: number; readonly refused: number };
  };
  readonly explainJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: Explanation;
  };
  readonly exportAudit: {
    readonly params: {};
    readonly query: { readonly tenant?: string; readonly installation?: boolean; readonly name?: "job_cancel_requested" | "job_hurried" | "job_retried" | "job_failed" | "job_prioritised" | "job_rescheduled" | "job_deleted" | "job_dlq_reprocess_requested" | "job_dlq_reprocess_success" | "job_dlq_discarded" | "job_dlq_acknowledged" | "job_dlq_assigned" | "job_dlq_noted" | "failure_group_acknowledged" | "failure_group_snoozed" | "failure_group_retried" | "failure_group_discarded" | "lane_paused" | "lane_resumed" | "type_paused" | "type_resumed" | "tenant_paused" | "tenant_resumed" | "service_paused" | "service_resumed" | "installation_paused" | "installation_resumed" | "intake_closed" | "intake_opened" | "breaker_opened" | "breaker_reset" | "type_overridden" | "type_reset" | "limit_set" | "limit_removed" | "fairness_set" | "fairness_removed" | "payload_rule_set" | "payload_rule_removed" | "quota_set" | "quota_removed" | "tenant_removal_requested" | "view_saved" | "view_removed" | "worker_quieted" | "worker_resumed" | "worker_stop_requested" | "schedule_created" | "schedule_updated" | "schedule_paused" | "schedule_resumed" | "schedule_run" | "schedule_removed" | "token_created" | "token_revoked" | "operation_started" | "operation_stopped"; readonly actor?: string; readonly subject_kind?: "job" | "cause" | "lane" | "type" | "category" | "tenant" | "service" | "installation" | "key" | "worker" | "schedule" | "token" | "operation" | "view"; readonly subject?: string; readonly from?: string; readonly to?: string };
    readonly body: undefined;
    readonly answer: string;
  };
  readonly exportTenant: {
    readonly params: { readonly tenant: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: string;
  };
  readonly failJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly message: string; readonly retry?: boolean };
    readonly answer: Job;
  };
  readonly findJobIds: {
    readonly params: {};
    readonly query: { readonly prefix: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly ids: readonly (string)[] };
  };
  readonly getAttention: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: Attention;
  };
  readonly getBreaker: {
    readonly params: { readonly service: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: Breaker;
  };
  readonly getDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: DeadLetter;
  };
  readonly getDeadLetterStats: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: DeadLetterStats;
  };
  readonly getDeadLetterTexts: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly payload: string | null };
  };
  readonly getFailure: {
    readonly params: { readonly cause: string };
    readonly query: { readonly tenant?: string };
    readonly body: undefined;
    readonly answer: FailureGroup;
  };
  readonly getJob: {
    readonly params: { readonly id: string };
    readonly query: { readonly wait?: string; readonly token?: string };
    readonly body: undefined;
    readonly answer: Job;
  };
  readonly getJobDetails: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: JobDetails;
  };
  readonly getJobProgress: {
    readonly params: { readonly id: string };
    readonly query: { readonly token?: string };
    readonly body: undefined;
    readonly answer: Progress;
  };
  readonly getJobTexts: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly payload: string | null; readonly result: string | null };
  };
  readonly getOpenApi: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  readonly getOperation: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: Operation;
  };
  readonly getOverview: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly states: readonly ({ readonly state: "scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled"; readonly count: number; readonly more: boolean })[] };
  };
  readonly getRemoval: {
    readonly params: { readonly tenant: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly removal: { readonly reason: string; readonly begunBy: string | null; readonly begunAt: string; readonly doneAt: string | null; readonly removed: number } | null };
  };
  readonly getRunMetrics: {
    readonly params: {};
    readonly query: { readonly from?: string; readonly to?: string; readonly step?: string; readonly type?: string; readonly lane?: string };
    readonly body: undefined;
    readonly answer: RunMetrics;
  };
  readonly getSchedule: {
    readonly params: { readonly name: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: Schedule;
  };
  readonly getSession: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: Session;
  };
  readonly getSettings: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: Settings;
  };
  readonly getStats: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: Stats;
  };
  readonly getStatsBy: {
    readonly params: { readonly by: "lane" | "type" | "tenant" | "category" };
    readonly query: {};
    readonly body: undefined;
    readonly answer: GroupedStats;
  };
  readonly getTenant: {
    readonly params: { readonly tenant: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: TenantDetails;
  };
  readonly isAlive: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly status: string };
  };
  readonly isHealthy: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly status: string; readonly checks: { readonly store: string } };
  };
  readonly isReady: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly status: string; readonly checks: { readonly store: string } };
  };
  readonly listAttempts: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly attempts: readonly (Attempt)[] };
  };
  readonly listAudit: {
    readonly params: {};
    readonly query: { readonly tenant?: string; readonly installation?: boolean; readonly name?: "job_cancel_requested" | "job_hurried" | "job_retried" | "job_failed" | "job_prioritised" | "job_rescheduled" | "job_deleted" | "job_dlq_reprocess_requested" | "job_dlq_reprocess_success" | "job_dlq_discarded" | "job_dlq_acknowledged" | "job_dlq_assigned" | "job_dlq_noted" | "failure_group_acknowledged" | "failure_group_snoozed" | "failure_group_retried" | "failure_group_discarded" | "lane_paused" | "lane_resumed" | "type_paused" | "type_resumed" | "tenant_paused" | "tenant_resumed" | "service_paused" | "service_resumed" | "installation_paused" | "installation_resumed" | "intake_closed" | "intake_opened" | "breaker_opened" | "breaker_reset" | "type_overridden" | "type_reset" | "limit_set" | "limit_removed" | "fairness_set" | "fairness_removed" | "payload_rule_set" | "payload_rule_removed" | "quota_set" | "quota_removed" | "tenant_removal_requested" | "view_saved" | "view_removed" | "worker_quieted" | "worker_resumed" | "worker_stop_requested" | "schedule_created" | "schedule_updated" | "schedule_paused" | "schedule_resumed" | "schedule_run" | "schedule_removed" | "token_created" | "token_revoked" | "operation_started" | "operation_stopped"; readonly actor?: string; readonly subject_kind?: "job" | "cause" | "lane" | "type" | "category" | "tenant" | "service" | "installation" | "key" | "worker" | "schedule" | "token" | "operation" | "view"; readonly subject?: string; readonly from?: string; readonly to?: string; readonly after?: number | null; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly entries: readonly (AuditEntry)[]; readonly next: number | null };
  };
  readonly listBreakerChanges: {
    readonly params: { readonly service: string };
    readonly query: { readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly changes: readonly (BreakerChange)[] };
  };
  readonly listBreakers: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly breakers: readonly (Breaker)[] };
  };
  readonly listDeadLetters: {
    readonly params: {};
    readonly query: { readonly status?: "pending_review" | "acknowledged" | "reprocessed" | "discarded"; readonly type?: string; readonly tenant?: string; readonly category?: string; readonly correlation_id?: string; readonly cause?: string; readonly error_class?: "transient" | "retryable" | "non_retryable" | "rate_limited"; readonly assigned_to?: string; readonly created_after?: string; readonly created_before?: string; readonly count?: "true" | "false"; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly deadLetters: readonly (DeadLetter)[]; readonly next: string | null; readonly total?: { readonly count: number; readonly atLeast: boolean } };
  };
  readonly listDeploys: {
    readonly params: {};
    readonly query: { readonly from?: string; readonly to?: string };
    readonly body: undefined;
    readonly answer: { readonly deploys: readonly (Deploy)[] };
  };
  readonly listEvents: {
    readonly params: {};
    readonly query: { readonly event?: readonly ("job:enqueued" | "job:started" | "job:progress" | "job:unit" | "job:phase:completed" | "job:completed" | "job:retrying" | "job:failed" | "job:cancelled" | "job:stale" | "job:deleted" | "job:webhook:delivered" | "job:webhook:failed")[]; readonly type?: string; readonly tenant?: string; readonly correlation_id?: string; readonly after?: string; readonly limit?: number; readonly wait?: string };
    readonly body: undefined;
    readonly answer: { readonly messages: readonly (FeedMessage)[]; readonly next: string | null };
  };
  readonly listFailures: {
    readonly params: {};
    readonly query: { readonly tenant?: string; readonly limit?: number; readonly after?: string };
    readonly body: undefined;
    readonly answer: { readonly failures: readonly (FailureGroup)[] };
  };
  readonly listFairLanes: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly lanes: readonly (FairLane)[] };
  };
  readonly listIntakes: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly intakes: readonly (ClosedIntake)[] };
  };
  readonly listJobs: {
    readonly params: {};
    readonly query: { readonly state?: readonly ("scheduled" | "queued" | "running" | "completed" | "completed_with_errors" | "failed" | "cancelled" | "pending")[]; readonly type?: string; readonly tenant?: string; readonly category?: string; readonly lane?: string; readonly correlation_id?: string; readonly parent_id?: string; readonly tag?: readonly (string)[]; readonly created_after?: string; readonly created_before?: string; readonly running_longer_than?: string; readonly error?: string; readonly payload?: readonly (string)[]; readonly text?: string; readonly count?: "true" | "false"; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: JobPage;
  };
  readonly listLanes: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly lanes: readonly (Lane)[] };
  };
  readonly listLimits: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly limits: readonly (Limit)[] };
  };
  readonly listLogLines: {
    readonly params: { readonly id: string };
    readonly query: { readonly after?: number; readonly limit?: number; readonly wait?: string };
    readonly body: undefined;
    readonly answer: { readonly lines: readonly (LogLine)[]; readonly next: number | null };
  };
  readonly listOperationItems: {
    readonly params: { readonly id: string };
    readonly query: { readonly outcome?: "done" | "skipped" | "failed"; readonly after?: number; readonly limit?: number };
    readonly body: undefined;
    readonly answer: OperationItems;
  };
  readonly listOperations: {
    readonly params: {};
    readonly query: { readonly status?: "pending" | "running" | "completed" | "stopped" | "failed"; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly operations: readonly (Operation)[]; readonly next: string | null };
  };
  readonly listPauses: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly pauses: readonly (Pause)[] };
  };
  readonly listPayloadRules: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly rules: readonly (StoredPayloadRule)[] };
  };
  readonly listRunning: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: LongRuns;
  };
  readonly listSchedules: {
    readonly params: {};
    readonly query: { readonly tenant?: string; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly schedules: readonly (Schedule)[]; readonly next: string | null };
  };
  readonly listTenants: {
    readonly params: {};
    readonly query: { readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly tenants: readonly (Tenant)[]; readonly next: string | null };
  };
  readonly listTicks: {
    readonly params: { readonly name: string };
    readonly query: { readonly before?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly ticks: readonly (Tick)[] };
  };
  readonly listTokens: {
    readonly params: {};
    readonly query: { readonly kind?: "person" | "producer" | "worker" | "stream" | "session"; readonly ended?: boolean; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly tokens: readonly (Token)[]; readonly next: string | null };
  };
  readonly listTypes: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly types: readonly (Type)[] };
  };
  readonly listUnitHolders: {
    readonly params: {};
    readonly query: { readonly key: string };
    readonly body: undefined;
    readonly answer: { readonly holders: readonly ({ readonly id: string; readonly phase: string | null; readonly at: string })[] };
  };
  readonly listUnits: {
    readonly params: { readonly id: string };
    readonly query: { readonly phase?: string; readonly state?: "planned" | "running" | "completed" | "failed"; readonly after?: string; readonly limit?: number };
    readonly body: undefined;
    readonly answer: { readonly units: readonly (Unit)[]; readonly next: string | null };
  };
  readonly listViews: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly views: readonly (SavedView)[] };
  };
  readonly listWorkers: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: { readonly workers: readonly (Worker)[] };
  };
  readonly noteDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly notes: string };
    readonly answer: undefined;
  };
  readonly openBreaker: {
    readonly params: { readonly service: string };
    readonly query: {};
    readonly body: { readonly reason: string };
    readonly answer: undefined;
  };
  readonly openIntake: {
    readonly params: { readonly kind: "lane" | "type" | "tenant" | "installation"; readonly name: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasClosed: boolean };
  };
  readonly openSession: {
    readonly params: {};
    readonly query: {};
    readonly body: { readonly token: string };
    readonly answer: Session;
  };
  readonly overrideType: {
    readonly params: { readonly type: string };
    readonly query: {};
    readonly body: TypeSettings;
    readonly answer: undefined;
  };
  readonly pause: {
    readonly params: { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string };
    readonly query: {};
    readonly body: { readonly reason: string };
    readonly answer: undefined;
  };
  readonly pauseSchedule: {
    readonly params: { readonly name: string };
    readonly query: {};
    readonly body: { readonly reason: string };
    readonly answer: undefined;
  };
  readonly previewOperation: {
    readonly params: {};
    readonly query: {};
    readonly body: { readonly action: "cancel" | "retry" | "delete" | "priority" | "reschedule" | "reprocess" | "discard" | "acknowledge"; readonly jobs?: BulkJobFilter; readonly deadLetters?: BulkDeadLetterFilter; readonly ids?: readonly (string)[]; readonly priority?: number | "critical" | "high" | "normal" | "low"; readonly runAt?: string; readonly delay?: number | string };
    readonly answer: OperationPreview;
  };
  readonly quietWorker: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: undefined;
  };
  readonly releaseJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly force?: boolean; readonly reason?: string };
    readonly answer: Job;
  };
  readonly removeFairness: {
    readonly params: { readonly lane: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasSet: boolean };
  };
  readonly removeLimit: {
    readonly params: { readonly kind: "type" | "tenant" | "service" | "installation" | "key"; readonly name: string };
    readonly query: { readonly tenant?: string; readonly reason: string };
    readonly body: undefined;
    readonly answer: { readonly wasSet: boolean };
  };
  readonly removePayloadRule: {
    readonly params: { readonly scope: "installation" | "category" | "type"; readonly name: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasSet: boolean };
  };
  readonly removeQuota: {
    readonly params: { readonly tenant: string };
    readonly query: { readonly reason: string };
    readonly body: undefined;
    readonly answer: { readonly wasSet: boolean };
  };
  readonly removeSchedule: {
    readonly params: { readonly name: string };
    readonly query: { readonly reason: string };
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly removeTenant: {
    readonly params: { readonly tenant: string };
    readonly query: {};
    readonly body: TenantRemovalRequest;
    readonly answer: TenantRemoval;
  };
  readonly removeView: {
    readonly params: { readonly name: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasSaved: boolean };
  };
  readonly reprocessDeadLetter: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly notes: string; readonly payload?: unknown };
    readonly answer: Reprocessed;
  };
  readonly rescheduleJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly runAt: string; readonly reason?: string } | { readonly delay: number | string; readonly reason?: string };
    readonly answer: Job;
  };
  readonly resetBreaker: {
    readonly params: { readonly service: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: { readonly changed: boolean };
  };
  readonly resetType: {
    readonly params: { readonly type: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasSet: boolean };
  };
  readonly resume: {
    readonly params: { readonly kind: "lane" | "type" | "tenant" | "service" | "installation"; readonly name: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasPaused: boolean; readonly queued: number; readonly atLeast: boolean };
  };
  readonly resumeSchedule: {
    readonly params: { readonly name: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: { readonly wasPaused: boolean };
  };
  readonly resumeWorker: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: undefined;
  };
  readonly retryFailure: {
    readonly params: { readonly cause: string };
    readonly query: {};
    readonly body: { readonly notes: string; readonly tenant?: string; readonly limit?: number };
    readonly answer: { readonly retried: number; readonly existing: number; readonly held: number; readonly refused: number; readonly complete: boolean };
  };
  readonly retryJob: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly restart?: boolean; readonly reason?: string };
    readonly answer: Enqueued;
  };
  readonly revokeToken: {
    readonly params: { readonly id: string };
    readonly query: { readonly reason?: string };
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly runSchedule: {
    readonly params: { readonly name: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: Enqueued;
  };
  readonly saveView: {
    readonly params: { readonly name: string };
    readonly query: {};
    readonly body: { readonly reason?: string; readonly screen: string; readonly query: string };
    readonly answer: undefined;
  };
  readonly setFairness: {
    readonly params: { readonly lane: string };
    readonly query: {};
    readonly body: FairnessRule;
    readonly answer: undefined;
  };
  readonly setJobPriority: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly priority: number | "critical" | "high" | "normal" | "low"; readonly reason?: string };
    readonly answer: Job;
  };
  readonly setLimit: {
    readonly params: { readonly kind: "type" | "tenant" | "service" | "installation" | "key"; readonly name: string };
    readonly query: { readonly tenant?: string };
    readonly body: LimitRule;
    readonly answer: undefined;
  };
  readonly setPayloadRule: {
    readonly params: { readonly scope: "installation" | "category" | "type"; readonly name: string };
    readonly query: {};
    readonly body: { readonly rule: PayloadRule; readonly reason?: string };
    readonly answer: undefined;
  };
  readonly setQuota: {
    readonly params: { readonly tenant: string };
    readonly query: {};
    readonly body: QuotaRule;
    readonly answer: undefined;
  };
  readonly snoozeFailure: {
    readonly params: { readonly cause: string };
    readonly query: {};
    readonly body: { readonly until: string; readonly notes?: string; readonly tenant?: string };
    readonly answer: undefined;
  };
  readonly startOperation: {
    readonly params: {};
    readonly query: {};
    readonly body: { readonly action: "cancel" | "retry" | "delete" | "priority" | "reschedule" | "reprocess" | "discard" | "acknowledge"; readonly jobs?: BulkJobFilter; readonly deadLetters?: BulkDeadLetterFilter; readonly ids?: readonly (string)[]; readonly priority?: number | "critical" | "high" | "normal" | "low"; readonly runAt?: string; readonly delay?: number | string; readonly reason: string; readonly rate?: number | string; readonly chunk?: number };
    readonly answer: Operation;
  };
  readonly stopOperation: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: undefined;
    readonly answer: Operation;
  };
  readonly stopWorker: {
    readonly params: { readonly id: string };
    readonly query: {};
    readonly body: { readonly reason?: string };
    readonly answer: undefined;
  };
  readonly streamChanges: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: string;
  };
  readonly streamEvents: {
    readonly params: {};
    readonly query: { readonly event?: readonly ("job:enqueued" | "job:started" | "job:progress" | "job:unit" | "job:phase:completed" | "job:completed" | "job:retrying" | "job:failed" | "job:cancelled" | "job:stale" | "job:deleted" | "job:webhook:delivered" | "job:webhook:failed")[]; readonly type?: string; readonly tenant?: string; readonly correlation_id?: string; readonly after?: string; readonly snapshot?: boolean };
    readonly body: undefined;
    readonly answer: string;
  };
  readonly streamJobEvents: {
    readonly params: { readonly id: string };
    readonly query: { readonly after?: string; readonly snapshot?: boolean; readonly token?: string };
    readonly body: undefined;
    readonly answer: string;
  };
  readonly updateSchedule: {
    readonly params: { readonly name: string };
    readonly query: {};
    readonly body: { readonly cron?: string; readonly timeZone?: string; readonly missed?: "skip" | "once" | { readonly all: number }; readonly overlap?: "skip" | "queue" | "replace"; readonly jitter?: string | number; readonly start?: string | number | null; readonly end?: string | number | null; readonly reason: string };
    readonly answer: Schedule;
  };
  readonly verifyAudit: {
    readonly params: {};
    readonly query: {};
    readonly body: undefined;
    readonly answer: AuditVerdict;
  };
}

export const PLACES: Readonly<
  Record<keyof Operations, { readonly method: string; readonly path: string }>
> = {
  acknowledgeDeadLetter: { method: "POST", path: "/api/v1/dead-letters/{id}/acknowledge" },
  acknowledgeFailure: { method: "POST", path: "/api/v1/failures/{cause}/acknowledge" },
  assignDeadLetter: { method: "POST", path: "/api/v1/dead-letters/{id}/assign" },
  cancelJob: { method: "POST", path: "/api/v1/jobs/{id}/cancel" },
  closeIntake: { method: "PUT", path: "/api/v1/intakes/{kind}/{name}" },
  closeSession: { method: "DELETE", path: "/api/v1/session" },
  compareAudit: { method: "POST", path: "/api/v1/audit/verify" },
  countRunning: { method: "GET", path: "/api/v1/running/{kind}/{name}" },
  createSchedule: { method: "POST", path: "/api/v1/schedules" },
  createStreamToken: { method: "POST", path: "/api/v1/jobs/{id}/stream-token" },
  createToken: { method: "POST", path: "/api/v1/tokens" },
  discardDeadLetter: { method: "POST", path: "/api/v1/dead-letters/{id}/discard" },
  discardFailure: { method: "POST", path: "/api/v1/failures/{cause}/discard" },
  enqueueJob: { method: "POST", path: "/api/v1/jobs" },
  enqueueJobs: { method: "POST", path: "/api/v1/jobs/batch" },
  explainJob: { method: "GET", path: "/api/v1/jobs/{id}/explain" },
  exportAudit: { method: "GET", path: "/api/v1/audit/export" },
  exportTenant: { method: "GET", path: "/api/v1/tenants/{tenant}/export" },
  failJob: { method: "POST", path: "/api/v1/jobs/{id}/fail" },
  findJobIds: { method: "GET", path: "/api/v1/job-ids" },
  getAttention: { method: "GET", path: "/api/v1/attention" },
  getBreaker: { method: "GET", path: "/api/v1/breakers/{service}" },
  getDeadLetter: { method: "GET", path: "/api/v1/dead-letters/{id}" },
  getDeadLetterStats: { method: "GET", path: "/api/v1/dead-letters/stats" },
  getDeadLetterTexts: { method: "GET", path: "/api/v1/dead-letters/{id}/texts" },
  getFailure: { method: "GET", path: "/api/v1/failures/{cause}" },
  getJob: { method: "GET", path: "/api/v1/jobs/{id}" },
  getJobDetails: { method: "GET", path: "/api/v1/jobs/{id}/details" },
  getJobProgress: { method: "GET", path: "/api/v1/jobs/{id}/progress" },
  getJobTexts: { method: "GET", path: "/api/v1/jobs/{id}/texts" },
  getOpenApi: { method: "GET", path: "/openapi.json" },
  getOperation: { method: "GET", path: "/api/v1/operations/{id}" },
  getOverview: { method: "GET", path: "/api/v1/overview" },
  getRemoval: { method: "GET", path: "/api/v1/tenants/{tenant}/removal" },
  getRunMetrics: { method: "GET", path: "/api/v1/metrics/minutes" },
  getSchedule: { method: "GET", path: "/api/v1/schedules/{name}" },
  getSession: { method: "GET", path: "/api/v1/session" },
  getSettings: { method: "GET", path: "/api/v1/settings" },
  getStats: { method: "GET", path: "/api/v1/stats" },
  getStatsBy: { method: "GET", path: "/api/v1/stats/{by}" },
  getTenant: { method: "GET", path: "/api/v1/tenants/{tenant}" },
  isAlive: { method: "GET", path: "/livez" },
  isHealthy: { method: "GET", path: "/healthz" },
  isReady: { method: "GET", path: "/readyz" },
  listAttempts: { method: "GET", path: "/api/v1/jobs/{id}/attempts" },
  listAudit: { method: "GET", path: "/api/v1/audit" },
  listBreakerChanges: { method: "GET", path: "/api/v1/breakers/{service}/history" },
  listBreakers: { method: "GET", path: "/api/v1/breakers" },
  listDeadLetters: { method: "GET", path: "/api/v1/dead-letters" },
  listDeploys: { method: "GET", path: "/api/v1/metrics/deploys" },
  listEvents: { method: "GET", path: "/api/v1/feed" },
  listFailures: { method: "GET", path: "/api/v1/failures" },
  listFairLanes: { method: "GET", path: "/api/v1/fairness" },
  listIntakes: { method: "GET", path: "/api/v1/intakes" },
  listJobs: { method: "GET", path: "/api/v1/jobs" },
  listLanes: { method: "GET", path: "/api/v1/lanes" },
  listLimits: { method: "GET", path: "/api/v1/limits" },
  listLogLines: { method: "GET", path: "/api/v1/jobs/{id}/logs" },
  listOperationItems: { method: "GET", path: "/api/v1/operations/{id}/items" },
  listOperations: { method: "GET", path: "/api/v1/operations" },
  listPauses: { method: "GET", path: "/api/v1/pauses" },
  listPayloadRules: { method: "GET", path: "/api/v1/payload-rules" },
  listRunning: { method: "GET", path: "/api/v1/running" },
  listSchedules: { method: "GET", path: "/api/v1/schedules" },
  listTenants: { method: "GET", path: "/api/v1/tenants" },
  listTicks: { method: "GET", path: "/api/v1/schedules/{name}/ticks" },
  listTokens: { method: "GET", path: "/api/v1/tokens" },
  listTypes: { method: "GET", path: "/api/v1/types" },
  listUnitHolders: { method: "GET", path: "/api/v1/unit-holders" },
  listUnits: { method: "GET", path: "/api/v1/jobs/{id}/units" },
  listViews: { method: "GET", path: "/api/v1/views" },
  listWorkers: { method: "GET", path: "/api/v1/workers" },
  noteDeadLetter: { method: "POST", path: "/api/v1/dead-letters/{id}/notes" },
  openBreaker: { method: "POST", path: "/api/v1/breakers/{service}/open" },
  openIntake: { method: "DELETE", path: "/api/v1/intakes/{kind}/{name}" },
  openSession: { method: "POST", path: "/api/v1/session" },
  overrideType: { method: "PATCH", path: "/api/v1/types/{type}" },
  pause: { method: "PUT", path: "/api/v1/pauses/{kind}/{name}" },
  pauseSchedule: { method: "PUT", path: "/api/v1/schedules/{name}/pause" },
  previewOperation: { method: "POST", path: "/api/v1/operations/preview" },
  quietWorker: { method: "POST", path: "/api/v1/workers/{id}/quiet" },
  releaseJob: { method: "POST", path: "/api/v1/jobs/{id}/release" },
  removeFairness: { method: "DELETE", path: "/api/v1/fairness/{lane}" },
  removeLimit: { method: "DELETE", path: "/api/v1/limits/{kind}/{name}" },
  removePayloadRule: { method: "DELETE", path: "/api/v1/payload-rules/{scope}/{name}" },
  removeQuota: { method: "DELETE", path: "/api/v1/tenants/{tenant}/quota" },
  removeSchedule: { method: "DELETE", path: "/api/v1/schedules/{name}" },
  removeTenant: { method: "POST", path: "/api/v1/tenants/{tenant}/removal" },
  removeView: { method: "DELETE", path: "/api/v1/views/{name}" },
  reprocessDeadLetter: { method: "POST", path: "/api/v1/dead-letters/{id}/reprocess" },
  rescheduleJob: { method: "POST", path: "/api/v1/jobs/{id}/reschedule" },
  resetBreaker: { method: "POST", path: "/api/v1/breakers/{service}/reset" },
  resetType: { method: "DELETE", path: "/api/v1/types/{type}/override" },
  resume: { method: "DELETE", path: "/api/v1/pauses/{kind}/{name}" },
  resumeSchedule: { method: "DELETE", path: "/api/v1/schedules/{name}/pause" },
  resumeWorker: { method: "POST", path: "/api/v1/workers/{id}/resume" },
  retryFailure: { method: "POST", path: "/api/v1/failures/{cause}/retry" },
  retryJob: { method: "POST", path: "/api/v1/jobs/{id}/retry" },
  revokeToken: { method: "DELETE", path: "/api/v1/tokens/{id}" },
  runSchedule: { method: "POST", path: "/api/v1/schedules/{name}/run" },
  saveView: { method: "PUT", path: "/api/v1/views/{name}" },
  setFairness: { method: "PUT", path: "/api/v1/fairness/{lane}" },
  setJobPriority: { method: "POST", path: "/api/v1/jobs/{id}/priority" },
  setLimit: { method: "PUT", path: "/api/v1/limits/{kind}/{name}" },
  setPayloadRule: { method: "PUT", path: "/api/v1/payload-rules/{scope}/{name}" },
  setQuota: { method: "PUT", path: "/api/v1/tenants/{tenant}/quota" },
  snoozeFailure: { method: "POST", path: "/api/v1/failures/{cause}/snooze" },
  startOperation: { method: "POST", path: "/api/v1/operations" },
  stopOperation: { method: "POST", path: "/api/v1/operations/{id}/stop" },
  stopWorker: { method: "POST", path: "/api/v1/workers/{id}/stop" },
  streamChanges: { method: "GET", path: "/api/v1/changes" },
  streamEvents: { method: "GET", path: "/api/v1/events" },
  streamJobEvents: { method: "GET", path: "/api/v1/jobs/{id}/events" },
  updateSchedule: { method: "PUT", path: "/api/v1/schedules/{name}" },
  verifyAudit: { method: "GET", path: "/api/v1/audit/verify" },
};
