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

const UNKNOWN = "01M7GQMY55ECET74219MBT9GXQ";

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
    streamJobEvents: { path: `${job}/events` },
    listEvents: { path: "/api/v1/feed" },
    listDeadLetters: { path: "/api/v1/dead-letters" },
    getDeadLetter: { path: letter },
    acknowledgeDeadLetter: { path: `${letter}/acknowledge`, json: { notes: "seen" } },
    discardDeadLetter: { path: `${letter}/discard`, json: { notes: "old" } },
    reprocessDeadLetter: { path: `${letter}/reprocess`, json: { notes: "mended" } },
    listPauses: { path: "/api/v1/pauses" },
    pause: { path: "/api/v1/pauses/tenant/acme", json: { reason: "asked" } },
    resume: { path: "/api/v1/pauses/tenant/acme" },
    listWorkers: { path: "/api/v1/workers" },
    quietWorker: { path: `/api/v1/workers/${UNKNOWN}/quiet` },
    stopWorker: { path: `/api/v1/workers/${UNKNOWN}/stop` },
    getStats: { path: "/api/v1/stats" },
    getStatsBy: { path: "/api/v1/stats/type" },
    listTokens: { path: "/api/v1/tokens" },
    createToken: {
      path: "/api/v1/tokens",
      json: { kind: "person", name: "ada", roles: ["viewer"] },
    },
    revokeToken: { path: `/api/v1/tokens/${tokenId}` },
    createStreamToken: { path: `${job}/stream-token` },
  };
}
