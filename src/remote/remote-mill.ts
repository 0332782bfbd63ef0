/** A mill behind a server: the same verbs as a {@link Millrace}, over HTTP. */
import type {
  DeadLetter,
  DeadLetters,
  JobPage,
  Jobs,
  JobView,
  Millrace,
  Pause,
  PauseTarget,
  Resumed,
  WaitOptions,
  Workers,
  WorkerView,
} from "../api/client.ts";
import type { Finished } from "../api/enqueue.ts";
import type { AttemptView } from "../api/jobs.ts";
import type { UnitHolderView } from "../api/progress.ts";
import type { Tokens } from "../api/tokens.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { isFinal } from "../core/job.ts";
import { withDates } from "./dates.ts";
import { ServerCalls, type ServerAddress } from "./server-calls.ts";
import { listenTo } from "./server-events.ts";

/** What a server offers. Workers need the store. */
export type RemoteMillrace = Pick<
  Millrace,
  | "enqueue"
  | "wait"
  | "on"
  | "jobs"
  | "deadLetters"
  | "workers"
  | "tokens"
  | "pause"
  | "resume"
  | "pauses"
  | "close"
>;

const WAIT = "30s";
/** The largest page of a server. */
const PAGE_MAX = 200;

export function remoteMill(address: ServerAddress): RemoteMillrace {
  const calls = new ServerCalls(address);
  const streams = new AbortController();
  return {
    jobs: remoteJobs(calls),
    deadLetters: remoteDeadLetters(calls),
    workers: remoteWorkers(calls),
    tokens: remoteTokens(calls),
    // The server knows the settings of the types that its job file declares.
    enqueue: ({ type }, ...[payload, options]) =>
      calls.json("/api/v1/jobs", { method: "POST", body: { type, payload, options } }),
    wait: async ({ id }, options = {}) => finishedOf(await untilFinal(calls, id, options)),
    async pause(target, reason) {
      await calls.json(pausePath(target), { method: "PUT", body: { reason } });
    },
    resume: (target) => calls.json<Resumed>(pausePath(target), { method: "DELETE" }),
    async pauses() {
      return withDates((await calls.json<{ pauses: Pause[] }>("/api/v1/pauses")).pauses);
    },
    on: (event, listener) => listenTo(calls, event, listener, streams.signal),
    async close() {
      streams.abort();
    },
  };
}

function jobPath(id: string, part = ""): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}${part}`;
}

function remoteJobs(calls: ServerCalls): Jobs {
  const post = (id: string, verb: string, body: object): Promise<any> =>
    calls.json(jobPath(id, `/${verb}`), { method: "POST", body }).then(withDates);
  return {
    get: async (id) => withDates(await calls.json<JobView>(jobPath(id))),
    details: async (id) => withDates(await calls.json(jobPath(id, "/details"))),
    async findIds(prefix, limit) {
      const query = { prefix, limit };
      return (await calls.json<{ ids: string[] }>("/api/v1/job-ids", { query })).ids;
    },
    list: (filter = {}) => listJobs(calls, filter),
    count: async ({ state, ...filter } = {}) => {
      const { jobs, next } = await listJobs(calls, { ...filter, ...(state && { state }) });
      return { count: jobs.length, atLeast: next !== null };
    },
    cancel: (id, reason) => post(id, "cancel", reason === undefined ? {} : { reason }),
    retry: (id, options = {}) => post(id, "retry", options),
    fail: (id, message, options = {}) => post(id, "fail", { message, ...options }),
    release: (id, options = {}) => post(id, "release", { force: options.force ?? true }),
    async attempts(id) {
      const path = jobPath(id, "/attempts");
      return withDates((await calls.json<{ attempts: AttemptView[] }>(path)).attempts);
    },
    progress: async (id) => withDates(await calls.json(jobPath(id, "/progress"))),
    units: async (id, filter = {}) =>
      withDates(await calls.json(jobPath(id, "/units"), { query: { ...filter } })),
    async holders(key) {
      const query = { key };
      const path = "/api/v1/unit-holders";
      return withDates((await calls.json<{ holders: UnitHolderView[] }>(path, { query })).holders);
    },
    logs: async (id, page = {}) =>
      withDates(await calls.json(jobPath(id, "/logs"), { query: { ...page } })),
    explain: async (id) => withDates(await calls.json(jobPath(id, "/explain"))),
    stats: () => calls.json("/api/v1/stats"),
    statsBy: (by) => calls.json(`/api/v1/stats/${by}`),
  };
}

async function listJobs(
  calls: ServerCalls,
  filter: Parameters<Jobs["list"]>[0] = {},
): Promise<JobPage> {
  const { state, tags, correlationId, parentId, createdAfter, createdBefore, limit, ...rest } =
    filter;
  const query = {
    ...rest,
    state: state === undefined || Array.isArray(state) ? state : [String(state)],
    tag: tags && Object.entries(tags).map(([name, value]) => `${name}:${value}`),
    correlation_id: correlationId,
    parent_id: parentId,
    created_after: instantText(createdAfter),
    created_before: instantText(createdBefore),
    limit: limit === undefined ? undefined : Math.min(limit, PAGE_MAX),
  };
  return withDates(await calls.json<JobPage>("/api/v1/jobs", { query }));
}

function instantText(instant: Date | number | string | undefined): string | undefined {
  if (instant === undefined || typeof instant === "string") return instant;
  return new Date(instant).toISOString();
}

function remoteDeadLetters(calls: ServerCalls): DeadLetters {
  const path = (id: string, verb = ""): string =>
    `/api/v1/dead-letters/${encodeURIComponent(id)}${verb}`;
  return {
    get: async (id) => withDates(await calls.json<DeadLetter>(path(id))),
    async list({ limit, ...filter } = {}) {
      const query = {
        ...filter,
        limit: limit === undefined ? undefined : Math.min(limit, PAGE_MAX),
      };
      const page = await calls.json<{ deadLetters: DeadLetter[] }>("/api/v1/dead-letters", {
        query,
      });
      return withDates(page.deadLetters);
    },
    async acknowledge(id, { notes }) {
      const body = notes === undefined ? {} : { notes };
      await calls.json(path(id, "/acknowledge"), { method: "POST", body });
    },
    async discard(id, { notes }) {
      await calls.json(path(id, "/discard"), { method: "POST", body: { notes } });
    },
    reprocess: (id, { notes, payload }) =>
      calls.json(path(id, "/reprocess"), { method: "POST", body: { notes, payload } }),
  };
}

function remoteWorkers(calls: ServerCalls): Workers {
  const change = (id: string, verb: string): Promise<void> =>
    calls.json(`/api/v1/workers/${encodeURIComponent(id)}/${verb}`, { method: "POST" });
  return {
    async list() {
      return withDates((await calls.json<{ workers: WorkerView[] }>("/api/v1/workers")).workers);
    },
    quiet: (id) => change(id, "quiet"),
    stop: (id) => change(id, "stop"),
  };
}

function remoteTokens(calls: ServerCalls): Tokens {
  return {
    create: async (token) =>
      withDates(await calls.json("/api/v1/tokens", { method: "POST", body: token })),
    async list(filter = {}) {
      const page = await calls.json<{ tokens: any[] }>("/api/v1/tokens", { query: { ...filter } });
      return withDates(page.tokens);
    },
    async revoke(id) {
      await calls.json(`/api/v1/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
    verify() {
      throw new MillraceError(
        "OPTION_INVALID",
        "a server verifies the tokens of its callers itself",
      );
    },
  };
}

function pausePath(target: PauseTarget): string {
  const [[kind, name] = ["", ""]] = Object.entries(target);
  return `/api/v1/pauses/${kind}/${encodeURIComponent(name)}`;
}

/** Asks again and again: the server answers when the job has ended, or after a while. */
async function untilFinal(
  calls: ServerCalls,
  id: string,
  { signal, timeout }: WaitOptions,
): Promise<JobView> {
  const limit = timeout === undefined ? null : AbortSignal.timeout(durationMs(timeout, "timeout"));
  const signals = [signal, limit].filter((each) => each !== undefined && each !== null);
  for (;;) {
    try {
      const call = { query: { wait: WAIT }, signal: AbortSignal.any(signals) };
      const job = withDates(await calls.json<JobView>(jobPath(id), call));
      if (isFinal(job.state)) return job;
    } catch (error) {
      if (limit?.aborted !== true) throw error;
      throw new MillraceError("WAIT_TIMED_OUT", `job ${id} did not end in time`, { cause: error });
    }
  }
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
