/** A request that each route accepts, by the name of the route. */

export interface SampleRequest {
  readonly path: string;
  readonly json?: unknown;
}

/** The things that sample requests name. */
export interface SampleWorld {
  /** A waiting job. */
  readonly jobId: string;
  /** A failed job with a dead letter. */
  readonly failedId: string;
  readonly tokenId: string;
}

const INTAKES = {
  listAudit: { path: "/api/v1/audit" },
  exportAudit: { path: "/api/v1/audit/export" },
  verifyAudit: { path: "/api/v1/audit/verify" },
  compareAudit: { path: "/api/v1/audit/verify", json: { heads: [] } },
  listIntakes: { path: "/api/v1/intakes" },
  closeIntake: { path: "/api/v1/intakes/tenant/acme", json: { reason: "asked" } },
  openIntake: { path: "/api/v1/intakes/tenant/acme" },
};

const TENANTS = {
  listTenants: { path: "/api/v1/tenants" },
  getTenant: { path: "/api/v1/tenants/acme" },
  setQuota: { path: "/api/v1/tenants/acme/quota", json: { waiting: 1_000_000, reason: "asked" } },
  removeQuota: { path: "/api/v1/tenants/acme/quota?reason=asked" },
  exportTenant: { path: "/api/v1/tenants/acme/export" },
  getRemoval: { path: "/api/v1/tenants/acme/removal" },
  removeTenant: {
    path: "/api/v1/tenants/unused/removal",
    json: { reason: "asked", confirm: "unused" },
  },
};

const UNKNOWN = "01M7GQMY55ECET74219MBT9GXQ";

/** Pauses, workers, breakers, types and limits. */
const CONTROL: Readonly<Record<string, SampleRequest>> = {
  listPauses: { path: "/api/v1/pauses" },
  pause: { path: "/api/v1/pauses/tenant/acme", json: { reason: "asked" } },
  resume: { path: "/api/v1/pauses/tenant/acme" },
  countRunning: { path: "/api/v1/running/tenant/acme" },
  listRunning: { path: "/api/v1/running" },
  listWorkers: { path: "/api/v1/workers" },
  quietWorker: { path: `/api/v1/workers/${UNKNOWN}/quiet` },
  resumeWorker: { path: `/api/v1/workers/${UNKNOWN}/resume` },
  stopWorker: { path: `/api/v1/workers/${UNKNOWN}/stop` },
  listBreakers: { path: "/api/v1/breakers" },
  getBreaker: { path: "/api/v1/breakers/bank" },
  listBreakerChanges: { path: "/api/v1/breakers/bank/history" },
  openBreaker: { path: "/api/v1/breakers/bank/open", json: { reason: "asked" } },
  resetBreaker: { path: "/api/v1/breakers/bank/reset" },
  listTypes: { path: "/api/v1/types" },
  overrideType: { path: "/api/v1/types/doomed", json: { priority: 5 } },
  resetType: { path: "/api/v1/types/doomed/override" },
  listLimits: { path: "/api/v1/limits" },
  setLimit: { path: "/api/v1/limits/tenant/acme", json: { concurrency: 50, reason: "asked" } },
  removeLimit: { path: "/api/v1/limits/tenant/acme?reason=asked" },
  getSettings: { path: "/api/v1/settings" },
  getAttention: { path: "/api/v1/attention" },
  listLanes: { path: "/api/v1/lanes" },
  listFairLanes: { path: "/api/v1/fairness" },
  setFairness: { path: "/api/v1/fairness/general", json: { weights: { acme: 3 } } },
  removeFairness: { path: "/api/v1/fairness/general" },
  listPayloadRules: { path: "/api/v1/payload-rules" },
  setPayloadRule: {
    path: "/api/v1/payload-rules/type/unused",
    json: { rule: { hardBytes: 5_000 }, reason: "asked" },
  },
  removePayloadRule: { path: "/api/v1/payload-rules/type/unused" },
};

export function samplesOf(world: SampleWorld): Readonly<Record<string, SampleRequest>> {
  const { jobId, failedId, tokenId } = world;
  const job = `/api/v1/jobs/${jobId}`;
  const letter = `/api/v1/dead-letters/${failedId}`;
  return {
    isAlive: { path: "/livez" },
    isReady: { path: "/readyz" },
    isHealthy: { path: "/healthz" },
    getOpenApi: { path: "/openapi.json" },
    getOverview: { path: "/api/v1/overview" },
    getSession: { path: "/api/v1/session" },
    openSession: { path: "/api/v1/session", json: { token: "mr_person_unknown" } },
    closeSession: { path: "/api/v1/session" },
    enqueueJob: { path: "/api/v1/jobs", json: { type: "email", payload: { to: "ada" } } },
    enqueueJobs: { path: "/api/v1/jobs/batch", json: { jobs: [{ type: "email" }] } },
    listJobs: { path: "/api/v1/jobs?limit=5" },
    getJob: { path: job },
    getJobDetails: { path: `${job}/details` },
    getJobTexts: { path: `${job}/texts` },
    getJobProgress: { path: `${job}/progress` },
    listUnits: { path: `${job}/units` },
    listAttempts: { path: `${job}/attempts` },
    listLogLines: { path: `${job}/logs` },
    explainJob: { path: `${job}/explain` },
    listUnitHolders: { path: "/api/v1/unit-holders?key=one" },
    findJobIds: { path: `/api/v1/job-ids?prefix=${jobId.slice(0, 12)}` },
    cancelJob: { path: `${job}/cancel`, json: { reason: "asked" } },
    retryJob: { path: `${job}/retry`, json: {} },
    failJob: { path: `${job}/fail`, json: { message: "asked" } },
    releaseJob: { path: `${job}/release`, json: {} },
    streamEvents: { path: "/api/v1/events" },
    streamChanges: { path: "/api/v1/changes" },
    streamJobEvents: { path: `${job}/events` },
    listEvents: { path: "/api/v1/feed" },
    listDeadLetters: { path: "/api/v1/dead-letters" },
    getDeadLetterStats: { path: "/api/v1/dead-letters/stats" },
    getDeadLetter: { path: letter },
    getDeadLetterTexts: { path: `${letter}/texts` },
    acknowledgeDeadLetter: { path: `${letter}/acknowledge`, json: { notes: "seen" } },
    noteDeadLetter: { path: `${letter}/notes`, json: { notes: "asked the bank" } },
    assignDeadLetter: { path: `${letter}/assign`, json: { to: "bob" } },
    discardDeadLetter: { path: `${letter}/discard`, json: { notes: "old" } },
    reprocessDeadLetter: { path: `${letter}/reprocess`, json: { notes: "fixed" } },
    setJobPriority: { path: `${job}/priority`, json: { priority: "high" } },
    rescheduleJob: { path: `${job}/reschedule`, json: { delay: "2h" } },
    ...bulkSamples(jobId),
    ...failureSamples(),
    ...CONTROL,
    ...INTAKES,
    ...TENANTS,
    getStats: { path: "/api/v1/stats" },
    getStatsBy: { path: "/api/v1/stats/type" },
    getRunMetrics: { path: "/api/v1/metrics/minutes?from=2h&step=5m" },
    listDeploys: { path: "/api/v1/metrics/deploys?from=2h" },
    listViews: { path: "/api/v1/views" },
    saveView: { path: "/api/v1/views/mine", json: { screen: "jobs", query: "state=failed" } },
    removeView: { path: "/api/v1/views/mine" },
    ...scheduleSamples(`s${jobId}`),
    listTokens: { path: "/api/v1/tokens" },
    createToken: {
      path: "/api/v1/tokens",
      json: { kind: "person", name: "ada", roles: ["viewer"] },
    },
    revokeToken: { path: `/api/v1/tokens/${tokenId}` },
    createStreamToken: { path: `${job}/stream-token` },
  };
}

function scheduleSamples(fresh: string): Readonly<Record<string, SampleRequest>> {
  return {
    listSchedules: { path: "/api/v1/schedules" },
    createSchedule: {
      path: "/api/v1/schedules",
      json: { name: fresh, when: { cron: "@daily" }, type: "email", reason: "asked" },
    },
    getSchedule: { path: "/api/v1/schedules/none" },
    listTicks: { path: "/api/v1/schedules/none/ticks" },
    updateSchedule: { path: "/api/v1/schedules/none", json: { cron: "@daily", reason: "asked" } },
    removeSchedule: { path: "/api/v1/schedules/none?reason=asked" },
    pauseSchedule: { path: "/api/v1/schedules/none/pause", json: { reason: "asked" } },
    resumeSchedule: { path: "/api/v1/schedules/none/pause" },
    runSchedule: { path: "/api/v1/schedules/none/run" },
  };
}

/** An action on a job that no operation finds. */
function bulkSamples(jobId: string): Readonly<Record<string, SampleRequest>> {
  const path = "/api/v1/operations";
  const request = { action: "cancel", jobs: { type: `t${jobId}` } };
  return {
    previewOperation: { path: `${path}/preview`, json: request },
    startOperation: { path, json: { ...request, reason: "asked" } },
    listOperations: { path },
    getOperation: { path: `${path}/${jobId}` },
    listOperationItems: { path: `${path}/${jobId}/items` },
    stopOperation: { path: `${path}/${jobId}/stop` },
  };
}

function failureSamples(): Readonly<Record<string, SampleRequest>> {
  const group = "/api/v1/failures/0123456789abcdef";
  return {
    listFailures: { path: "/api/v1/failures" },
    getFailure: { path: group },
    acknowledgeFailure: { path: `${group}/acknowledge`, json: { notes: "seen" } },
    snoozeFailure: { path: `${group}/snooze`, json: { until: "2030-01-01T00:00:00Z" } },
    retryFailure: { path: `${group}/retry`, json: { notes: "fixed" } },
    discardFailure: { path: `${group}/discard`, json: { notes: "old" } },
  };
}
