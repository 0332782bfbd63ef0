/** A mill behind a server: the same verbs as a {@link Millrace}, over HTTP. */
import type { ActedBy } from "../api/control/audit.ts";
import type { LaneOverview, LaneView } from "../api/control/lanes.ts";
import type { DeadLetterCountFilter, DeadLetterStats } from "../api/control/letters.ts";
import type {
  DeadLetter,
  DeadLetters,
  JobView,
  Millrace,
  Pause,
  PauseTarget,
  Resumed,
  WaitOptions,
  Workers,
  WorkerView,
} from "../api/client.ts";
import { pauseTargetOf } from "../api/control/targets.ts";
import type { Finished } from "../api/enqueue.ts";
import type { DeployView, Metrics, MetricsQuery, RunMetrics } from "../api/metrics/metrics.ts";
import type { Tokens, TokenView } from "../api/tokens.ts";
import { wait } from "../core/clock.ts";
import { durationMs, formatDuration, instantMs, type Instant } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { isFinal } from "../core/job.ts";
import { systemClock } from "../lib/system.ts";
import { remoteDrain, remoteRunning, targetPath, workerPath } from "./remote-drain.ts";
import { withDates } from "./dates.ts";
import { remoteFairness } from "./remote-fairness.ts";
import { remoteLimits } from "./remote-limits.ts";
import { readPages } from "./pages.ts";
import { remoteFailures } from "./remote-failures.ts";
import { reasonOf } from "./reason.ts";
import { remoteAttention } from "./remote-attention.ts";
import { remoteAudit } from "./remote-audit.ts";
import { remoteOperations } from "./remote-operations.ts";
import { remoteIntake } from "./remote-intake.ts";
import { remotePayloadRules } from "./remote-payload-rules.ts";
import { remoteTenants, type RemoteTenants } from "./remote-tenants.ts";
import { remoteSchedules } from "./remote-schedules.ts";
import { instantText, jobPath, remoteJobs, type RemoteJobs } from "./remote-jobs.ts";
import { remoteBreakers, remoteTypes } from "./remote-services.ts";
import { ServerCalls, type ServerAddress } from "./server-calls.ts";

/** What a server offers. Workers and listeners need the store. */
export type RemoteMillrace = Pick<
  Millrace,
  | "enqueue"
  | "wait"
  | "deadLetters"
  | "failures"
  | "operations"
  | "workers"
  | "metrics"
  | "schedules"
  | "types"
  | "breakers"
  | "limits"
  | "fairness"
  | "lanes"
  | "attention"
  | "intake"
  | "audit"
  | "payloadRules"
  | "pause"
  | "resume"
  | "pauses"
  | "drain"
  | "running"
> & {
  readonly jobs: RemoteJobs;
  readonly tenants: RemoteTenants;
  readonly tokens: Omit<Tokens, "verify">;
  /** Whom the server takes the caller for. Its records name this person. */
  readonly actor: () => Promise<string>;
};

/** How long the server is asked to wait in one request. */
const WAIT = "30s";
/** The least time between two such requests: a server that stops answers at once. */
const WAIT_MS_MIN = 500;

export function remoteMill(address: ServerAddress): RemoteMillrace {
  const calls = new ServerCalls(address);
  return {
    jobs: remoteJobs(calls),
    deadLetters: remoteDeadLetters(calls),
    failures: remoteFailures(calls, reasonOf),
    operations: remoteOperations(calls),
    workers: remoteWorkers(calls),
    metrics: remoteMetrics(calls),
    types: remoteTypes(calls),
    breakers: remoteBreakers(calls),
    limits: remoteLimits(calls),
    fairness: remoteFairness(calls),
    lanes: remoteLanes(calls),
    attention: () => remoteAttention(calls),
    tokens: remoteTokens(calls),
    schedules: remoteSchedules(calls),
    intake: remoteIntake(calls),
    audit: remoteAudit(calls),
    payloadRules: remotePayloadRules(calls),
    tenants: remoteTenants(calls),
    // The server knows the settings of the types that its job file declares.
    enqueue: ({ type }, ...[payload, options]) =>
      calls.json("/api/v1/jobs", { method: "POST", body: { type, payload, options } }),
    wait: async ({ id }, options = {}) => finishedOf(await untilFinal(calls, id, options)),
    async pause(target, reason) {
      await calls.json(pausePath("pause", target), { method: "PUT", body: { reason } });
    },
    resume: async (target, { reason } = {}) =>
      calls.json<Resumed>(pausePath("resume", target), { method: "DELETE", query: { reason } }),
    async pauses() {
      return withDates((await calls.json<{ pauses: Pause[] }>("/api/v1/pauses")).pauses);
    },
    drain: (target, options) => remoteDrain(calls, target, options),
    running: (target, options) => remoteRunning(calls, target, options),
    actor: async () => (await calls.json<{ actor: string }>("/api/v1/session")).actor,
  };
}

function pausePath(verb: string, target: PauseTarget): string {
  return targetPath("pauses", pauseTargetOf(verb, target));
}

function remoteDeadLetters(calls: ServerCalls): DeadLetters {
  const path = (id: string, verb = ""): string =>
    `/api/v1/dead-letters/${encodeURIComponent(id)}${verb}`;
  const review = (id: string, verb: string, body: object): Promise<any> =>
    calls.json(path(id, `/${verb}`), { method: "POST", body });
  return {
    get: async (id) => withDates(await calls.json<DeadLetter>(path(id))),
    texts: (id) => calls.json(path(id, "/texts")),
    async list({ limit, after, ...filter } = {}) {
      const { entries } = await readPages({ limit, after }, async (page) => {
        const query = { ...letterQuery(filter), ...page };
        const found = await calls.json<any>("/api/v1/dead-letters", { query });
        return { entries: withDates<DeadLetter[]>(found.deadLetters), next: found.next };
      });
      return entries;
    },
    async count(filter = {}) {
      const query = { ...letterQuery(filter), count: "true", limit: 1 };
      return (await calls.json<any>("/api/v1/dead-letters", { query })).total;
    },
    stats: async () => withDates(await calls.json<DeadLetterStats>("/api/v1/dead-letters/stats")),
    acknowledge: (id, { notes }) => review(id, "acknowledge", { notes }),
    note: (id, { notes }) => review(id, "notes", { notes }),
    assign: (id, { to, notes }) => review(id, "assign", { to, notes }),
    discard: async (id, { notes }) => review(id, "discard", { notes: reasonOf(notes) }),
    reprocess: async (id, { notes, payload }) =>
      review(id, "reprocess", { notes: reasonOf(notes), payload }),
  };
}

function letterQuery(filter: DeadLetterCountFilter): Record<string, string | undefined> {
  const { correlationId, errorClass, assignedTo, createdAfter, createdBefore, ...same } = filter;
  return {
    ...same,
    correlation_id: correlationId,
    error_class: errorClass,
    assigned_to: assignedTo,
    created_after: instantText(createdAfter),
    created_before: instantText(createdBefore),
  };
}

function remoteWorkers(calls: ServerCalls): Workers {
  const change = async (id: string, verb: string, { reason }: ActedBy = {}): Promise<void> =>
    calls.json(workerPath(id, verb), { method: "POST", body: { reason } });
  return {
    async list() {
      return withDates((await calls.json<{ workers: WorkerView[] }>("/api/v1/workers")).workers);
    },
    quiet: (id, by) => change(id, "quiet", by),
    resume: (id, by) => change(id, "resume", by),
    stop: (id, by) => change(id, "stop", by),
  };
}

function remoteLanes(calls: ServerCalls): LaneOverview {
  return {
    list: async () => withDates((await calls.json<{ lanes: LaneView[] }>("/api/v1/lanes")).lanes),
  };
}

function remoteMetrics(calls: ServerCalls): Metrics {
  const stretchOf = ({ from, to }: Pick<MetricsQuery, "from" | "to">): object => ({
    ...(from === undefined ? {} : { from: momentText(from, "from") }),
    ...(to === undefined ? {} : { to: momentText(to, "to") }),
  });
  return {
    async deploys(given = {}) {
      const query = { ...stretchOf(given) };
      const path = "/api/v1/metrics/deploys";
      return withDates((await calls.json<{ deploys: DeployView[] }>(path, { query })).deploys);
    },
    async read(given = {}) {
      const { from: _from, to: _to, step, ...filter } = given;
      const query = {
        ...filter,
        ...stretchOf(given),
        ...(step === undefined ? {} : { step: `${durationMs(step, "step")}ms` }),
      };
      return withDates(await calls.json<RunMetrics>("/api/v1/metrics/minutes", { query }));
    },
  };
}

function momentText(instant: Instant, name: string): string {
  return new Date(instantMs(instant, name)).toISOString();
}

function remoteTokens(calls: ServerCalls): Omit<Tokens, "verify"> {
  return {
    create: async (token, { reason } = {}) =>
      withDates(await calls.json("/api/v1/tokens", { method: "POST", body: { ...token, reason } })),
    async list({ limit, after, ...filter } = {}) {
      const { entries } = await readPages({ limit, after }, async (page) => {
        const query = { ...filter, ...page };
        const found = await calls.json<any>("/api/v1/tokens", { query });
        return { entries: withDates<TokenView[]>(found.tokens), next: found.next };
      });
      return entries;
    },
    async revoke(id, { reason } = {}) {
      const call = { method: "DELETE", query: { reason } } as const;
      await calls.json(`/api/v1/tokens/${encodeURIComponent(id)}`, call);
    },
  };
}

/** Asks again and again: the server answers when the job has ended, or after a while. */
async function untilFinal(
  calls: ServerCalls,
  id: string,
  { signal, timeout }: WaitOptions,
): Promise<JobView> {
  const limitMs = timeout === undefined ? null : durationMs(timeout, "timeout");
  const limit = limitMs === null ? null : AbortSignal.timeout(limitMs);
  const signals = [signal, limit].filter((each) => each !== undefined && each !== null);
  for (;;) {
    const since = systemClock.monotonic();
    try {
      const call = { query: { wait: WAIT }, signal: AbortSignal.any(signals) };
      const job = withDates(await calls.json<JobView>(jobPath(id), call));
      if (isFinal(job.state)) return job;
    } catch (error) {
      if (limitMs === null || limit?.aborted !== true || signal?.aborted === true) throw error;
      return finalNow(calls, id, limitMs);
    }
    const tookMs = systemClock.monotonic() - since;
    if (tookMs < WAIT_MS_MIN) await wait(systemClock, WAIT_MS_MIN - tookMs);
  }
}

/** The job, if it has ended by now. */
async function finalNow(calls: ServerCalls, id: string, limitMs: number): Promise<JobView> {
  const job = withDates(await calls.json<JobView>(jobPath(id)));
  if (isFinal(job.state)) return job;
  const message = `job ${id} is still ${job.state} after ${formatDuration(limitMs)}`;
  throw new MillraceError("WAIT_TIMED_OUT", message, { details: { id, state: job.state } });
}

function finishedOf({ id, type, state, result, error, cancelReason }: JobView): Finished<any> {
  if (state === "failed") {
    const unknown = { class: "retryable", name: "Error", message: "" } as const;
    return { id, type, state, error: error ?? unknown, deadLetterId: id };
  }
  if (state === "cancelled") return { id, type, state, reason: cancelReason };
  if (state === "completed_with_errors") return { id, type, state, result, failedUnits: 0 };
  return { id, type, state: "completed", result };
}
